import { describe, expect, it } from "vitest";
import { resultLink, type ServerOptions } from "#server";
import { assertRunLog } from "#testing";
import { park } from "#tools";
import { createMemoryStore } from "../../src/sessions/stores/memory/memory-store.ts";
import { begin, logOf, serve, type Served, statusOf, until } from "./serving.ts";

const KEY = "key-of-a-test-0123456789";
const TOKEN = "token-of-tenant-a-0123456789";
const TOKENS = [
  { token: TOKEN, tenant: "a" },
  { token: "token-of-tenant-b-0123456789", tenant: "b" },
];
const AUTHORIZED = { authorization: `Bearer ${TOKEN}` };

/** A server with a run whose only call is parked, and what a link to it is made of. */
async function parkedCall(options: Partial<ServerOptions> = {}, earlier?: Served) {
  const store = earlier?.store ?? createMemoryStore();
  const server = earlier ?? serve({ store, run: () => park(), ask: [], options: { linkKey: KEY, ...options } });
  const runId = await begin(server, options.tokens === undefined ? {} : AUTHORIZED);
  await until(async () => (await logOf(store, runId)).some((event) => event.type === "notice"));
  const callId = (await logOf(store, runId)).find((event) => event.type === "tool-call")?.callId ?? "";
  const call = {
    url: "https://agents.example.org",
    key: KEY,
    runId,
    callId,
    expiresAt: server.clock.now() + 3_600_000,
  };
  return { server, store, runId, callId, call };
}

/** What a service without a token gets that sends a result to a link. */
async function send(server: Served, link: string, headers: Record<string, string> = {}) {
  const { pathname, search } = new URL(link);
  const response = await server.ask("POST", `${pathname}${search}`, { output: "built" }, headers);
  return { status: response.status, body: (await response.json()) as unknown };
}

describe("Runs that survive: a signed link", () => {
  it("gives the result of its call without a token, once", async () => {
    const { server, store, runId, callId, call } = await parkedCall({ tokens: TOKENS });
    const link = resultLink(call);
    expect(link).toMatch(/^https:\/\/agents\.example\.org\/api\/runs\//);
    expect((await server.ask("POST", `/api/runs/${runId}/results/${callId}`, { output: "no" })).status).toBe(401);
    expect(await send(server, link)).toEqual({ status: 200, body: { accepted: true } });
    expect(await send(server, link)).toEqual({ status: 200, body: { accepted: false } });
    await until(async () => (await store.findRun("a", runId))?.status === "success");
    expect(await send(server, link)).toEqual({ status: 200, body: { accepted: false } });
    expect(await logOf(store, runId)).toContainEqual(expect.objectContaining({ type: "tool-result", output: "built" }));
    assertRunLog(await logOf(store, runId));
  });

  it("continues a run that waits, also in a later process with the same key", async () => {
    const { server, store, runId, call } = await parkedCall();
    await server.clock.advance(60_000);
    await until(async () => (await statusOf(server, runId)) === "waiting");
    const next = serve({ store, run: () => park(), ask: [], options: { linkKey: KEY } });
    expect(await send(next, resultLink(call))).toEqual({ status: 200, body: { accepted: true } });
    await until(async () => (await statusOf(next, runId)) === "success");
  });

  it("a service that is quicker than the tool that asked it is not refused", async () => {
    const store = createMemoryStore();
    let sent: ReturnType<typeof send> | undefined;
    const run: Parameters<typeof serve>[0]["run"] = async ({ runId, callId }) => {
      const expiresAt = server.clock.now() + 1000;
      sent = send(server, resultLink({ url: "http://localhost", key: KEY, runId, callId, expiresAt }));
      await new Promise((next) => setImmediate(next));
      return park();
    };
    const server: Served = serve({ store, run, ask: [], options: { linkKey: KEY } });
    const runId = await begin(server);
    await until(async () => (await statusOf(server, runId)) === "success");
    expect(await sent).toEqual({ status: 200, body: { accepted: true } });
    expect(await logOf(store, runId)).toContainEqual(expect.objectContaining({ type: "tool-result", output: "built" }));
  });

  it("is refused when it was forged, changed or made for another run, call or server, and the call still waits", async () => {
    for (const tokens of [undefined, TOKENS]) {
      const { server, runId, call } = await parkedCall(tokens && { tokens });
      const good = resultLink(call);
      const other = await parkedCall(tokens && { tokens }, server);
      expect(other.runId).not.toBe(runId);
      const { search } = new URL(resultLink(other.call));
      const links = {
        "another key": resultLink({ ...call, key: `${KEY}1` }),
        "another run": good.replace(runId, other.runId),
        "the signature of another run": `${good.split("?")[0]}${search}`,
        "another call": good.replace("/results/", "/results/x"),
        "a later expiry": good.replace(/expires=\d/, "expires=9"),
        "no expiry": good.replace(/expires=\d+&/, ""),
        "two expiries": good.replace("expires=", "expires=99999999999999&expires="),
        "two signatures": `${good}&signature=x`,
        "no signature": good.replace(/signature=.*/, "signature="),
        "half a signature": good.slice(0, -4),
        "a longer signature": `${good}A`,
        "other letters": good.replace(/signature=.*/, (text) => text.toLowerCase()),
      };
      for (const [how, link] of Object.entries(links)) {
        for (const headers of tokens === undefined ? [{}] : [{}, AUTHORIZED]) {
          const { status, body } = await send(server, link, headers);
          expect({ how, status, body }).toMatchObject({ how, status: 403, body: { error: { code: "forbidden" } } });
        }
      }
      expect(await send(server, good)).toEqual({ status: 200, body: { accepted: true } });
    }
  });

  it("F-A6: is let in however many wrong tokens and links come from the same address", async () => {
    const { server, call } = await parkedCall({ tokens: TOKENS, limits: { requestsPerMinute: 10 } });
    const good = resultLink(call);
    const wrong = resultLink({ ...call, key: `${KEY}1` });
    const statuses = new Set<number>();
    for (let at = 0; at < 12; at += 1) {
      statuses.add((await send(server, wrong)).status);
      statuses.add((await send(server, good.split("?")[0] ?? "", { authorization: "Bearer wrong" })).status);
    }
    expect(statuses).toEqual(new Set([401, 403, 429]));
    expect(await send(server, good)).toEqual({ status: 200, body: { accepted: true } });
    for (let at = 0; at < 9; at += 1) expect((await send(server, good)).status).toBe(200);
    expect((await send(server, good)).status).toBe(429);
    expect((await send(server, resultLink({ ...call, expiresAt: server.clock.now() }))).status).toBe(429);
  });

  it("is refused after its time, with the reason", async () => {
    const { server, call } = await parkedCall();
    const link = resultLink(call);
    await server.clock.advance(3_599_999);
    expect((await send(server, link)).status).toBe(200);
    await server.clock.advance(1);
    expect(await send(server, link)).toMatchObject({
      status: 403,
      body: { error: { message: "This link has expired." } },
    });
  });

  it("gives access to nothing else, and nothing to a server without a key", async () => {
    const { server, store, runId, callId, call } = await parkedCall({ tokens: TOKENS });
    const { search } = new URL(resultLink(call));
    for (const [method, path] of [
      ["GET", `/api/runs/${runId}`],
      ["GET", `/api/runs/${runId}/events`],
      ["POST", `/api/runs/${runId}/abort`],
      ["POST", `/api/runs/${runId}/permissions/${callId}`],
    ] as const) {
      expect((await server.ask(method, `${path}${search}`, method === "POST" ? {} : undefined)).status).toBe(401);
    }
    const closed = serve({ store, run: () => park(), ask: [], options: { tokens: TOKENS } });
    expect((await send(closed, resultLink(call))).status).toBe(403);
  });

  it("keeps odd call ids and the path of a proxy, and refuses what makes no link", () => {
    const call = { url: "https://example.org/agents/", key: KEY, runId: "r1", callId: "a/b?c#d", expiresAt: 5 };
    expect(resultLink(call)).toMatch(
      /^https:\/\/example\.org\/agents\/api\/runs\/r1\/results\/a%2Fb%3Fc%23d\?expires=5&/,
    );
    expect(resultLink({ ...call, expiresAt: new Date(5) })).toBe(resultLink(call));
    for (const wrong of [
      { url: "agents" },
      { url: "file:///etc" },
      { key: "short" },
      { runId: "../x" },
      { callId: "" },
      { expiresAt: Number.NaN },
      { expiresAt: new Date("never") },
      { expires: 5 },
    ]) {
      expect(() => resultLink({ ...call, ...wrong } as never)).toThrow(/resultLink/);
    }
    expect(() => resultLink({ ...call, key: "short" })).not.toThrow(/short/);
  });

  it("the key is no token, and long enough", () => {
    const store = createMemoryStore();
    const withKey = (linkKey: string) => () =>
      serve({ store, run: () => 1, options: { tokens: TOKENS, metricsToken: "metrics-0123456789", linkKey } });
    expect(withKey(TOKEN)).toThrow(/linkKey is a token too/);
    expect(withKey("metrics-0123456789")).toThrow(/linkKey is a token too/);
    expect(withKey("short")).toThrow(/linkKey must be at least 16/);
  });
});

import { inspect } from "node:util";
import { describe, expect, it } from "vitest";
import { command, explain, openSession, run } from "#runtime";
import { createServer } from "#server";
import { claudeCode, query } from "../../src/runtime/claude-code.ts";
import { openai } from "../../src/runtime/openai.ts";
import { createMemoryStore } from "../../src/runtime/stores/memory.ts";
import { KEY, leaks } from "./hosts.ts";

const store = createMemoryStore();

/** Calls that are refused before anything starts, with a key in what is named as wrong. */
const REFUSED: Readonly<Record<string, () => unknown>> = {
  "run: the address of a provider": () =>
    run("openai/m", "Hi", { openai: { apiKey: KEY, baseUrl: `nowhere:/${KEY}` } }),
  "run: an option's value": () => run("openai/m", "Hi", { openai: { apiKey: KEY }, limits: { turns: KEY as never } }),
  "run: an option's name": () => run("openai/m", "Hi", { openai: { apiKey: KEY, [KEY]: 1 } as never }),
  "run: a backend": () => run(`nowhere/${KEY}`, "Hi", { openai: { apiKey: KEY } }),
  "run: a tape's path": () => run("offline", "Hi", { openai: { apiKey: KEY }, record: `/nowhere/${KEY}.tape` }),
  "openSession: an option's name": () => openSession("openai/m", { openai: { apiKey: KEY }, [KEY]: 1 } as never),
  "explain: a backend": () => explain(`nowhere/${KEY}`, { openai: { apiKey: KEY } }),
  "openai: an address with a password": () =>
    openai({ model: "m", apiKey: "k", baseUrl: `http://me:${encodeURIComponent(KEY)}@host:999999` }),
  "openai.compatible: a name": () =>
    openai.compatible({ model: "m", apiKey: KEY, baseUrl: "http://h/v1", name: `no name ${KEY}` }),
  "claudeCode: a mode": () => claudeCode({ env: { MY_TOKEN: KEY }, permissionMode: KEY as never }),
  "query: a mode": () => query("Hi", { env: { MY_TOKEN: KEY }, permissionMode: KEY as never }),
  "command: a format": () => command(["x"], { env: { MY_TOKEN: KEY }, format: KEY }),
  "command: an argument": () => command(["x", "--token", KEY], { format: KEY }),
  "createServer: a target": () => createServer({ store, target: `nowhere/${KEY}`, tokens: [{ token: KEY }] }),
  "createServer: the metrics token": () => createServer({ store, target: `nowhere/${KEY}`, metricsToken: KEY }),
};

describe("F-A3 SEC16: what is refused before it starts", () => {
  it.each(Object.entries(REFUSED))("%s: the error holds no secret", async (_, call) => {
    const failure = await Promise.resolve()
      .then(call)
      .catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(Error);
    expect(leaks(inspect(failure, { depth: 10, showHidden: true }))).toEqual([]);
  });

  it("explain names no secret of a command", () => {
    const { text, reasons } = explain(command([`https://me:${encodeURIComponent(KEY)}@host/tool`]));
    expect(leaks([text, ...reasons].join("\n"))).toEqual([]);
  });

  it.each([
    ["a run", () => run(openai({ model: "m", apiKey: KEY, fetch: refuse }), "Hi", { retry: false })],
    ["a session", () => openSession(openai({ model: "m", apiKey: KEY }))],
    ["a backend", () => openai({ model: "m", apiKey: KEY, headers: { "x-auth": KEY } })],
    ["a command", () => command(["x", "--token", KEY], { env: { MY_TOKEN: KEY } })],
  ])("console.log of %s shows none", async (_, make) => {
    const shown = make();
    expect(leaks(inspect(shown, { depth: 20, showHidden: true, getters: true }))).toEqual([]);
    if ("result" in shown) expect(leaks(inspect(await shown.result(), { depth: 20 }))).toEqual([]);
  });
});

async function refuse(): Promise<never> {
  throw Object.assign(new Error(`refused ${KEY}`), { headers: { authorization: KEY }, cause: new Error(KEY) });
}

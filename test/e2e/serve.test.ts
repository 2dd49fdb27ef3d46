import { once } from "node:events";
import { readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { AgentEvent } from "#domain";
import { assertRunLog } from "#testing";
import { followSse } from "../server/support.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { startCli } from "./cli.ts";

const folder = temporaryFolder("serve");

const JSON_TYPE = { "content-type": "application/json" };

async function start(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const cli = startCli(["serve", "--port", "0", ...args], { env, cwd: folder });
  // The log on stderr says the address too, and may be faster.
  while (!cli.printed().includes("\n")) await Promise.race([once(cli.child.stdout, "data"), cli.left]);
  return { ...cli, url: cli.printed().trim() };
}

async function chat(url: string, input: string, headers: Readonly<Record<string, string>> = {}) {
  const all = { ...JSON_TYPE, ...headers };
  const created = await fetch(`${url}/api/threads`, { method: "POST", body: "{}", headers: all });
  const { id } = (await created.json()) as { id: string };
  const body = JSON.stringify({ input });
  const response = await fetch(`${url}/api/threads/${id}/chat`, { method: "POST", body, headers: all });
  const events: AgentEvent[] = [];
  await followSse(response.body as unknown as AsyncIterable<Uint8Array>, (event) => events.push(event));
  return { id, events };
}

describe("millrace serve", () => {
  it("serves the offline model with one command, keeps what was said over a restart, and ends cleanly", async () => {
    const data = join(folder, "one");
    const first = await start(["--data", data]);
    const { id, events } = await chat(first.url, "What is 25 + 17?");
    assertRunLog(events);
    expect(events.at(-1)).toMatchObject({
      type: "done",
      result: { status: "success", text: expect.stringContaining("42") },
    });
    first.child.kill("SIGTERM");
    const left = await first.left;
    expect(left.code).toBe(0);
    for (const line of left.stderr.trim().split("\n")) expect(() => JSON.parse(line)).not.toThrow();
    expect(left.stderr).toContain('"event":"run-end"');
    expect(statSync(data).mode & 0o777).toBe(0o700);
    for (const entry of readdirSync(data, { withFileTypes: true })) {
      expect(statSync(join(data, entry.name)).mode & 0o777).toBe(entry.isDirectory() ? 0o700 : 0o600);
    }

    const second = await start(["--data", data]);
    const found = await fetch(`${second.url}/api/threads/${id}`);
    expect(await found.json()).toMatchObject({ thread: { title: "What is 25 + 17?" }, runs: [{ status: "success" }] });
    second.child.kill("SIGTERM");
    await second.left;
  });

  it("a shutdown in mid-answer leaves the run to the next start, which continues it", async () => {
    const data = join(folder, "two");
    writeFileSync(
      join(folder, "slow.mjs"),
      `const backend = { kind: "model", name: "slow", model: "slow-1", async *stream(_, signal) {
         await new Promise((resolve) => signal.addEventListener("abort", resolve));
         yield [];
       } };
       export const config = { agents: [{ name: "slow", backend }], server: { limits: { shutdownMs: 200 } } };`,
    );
    const first = await start(["--data", data, "--config", "slow.mjs"]);
    const chatting = chat(first.url, "wait for ever");
    await first.seen('"event":"run-start"');
    first.child.kill("SIGTERM");
    const { events } = await chatting;
    expect(events.at(-1)).toMatchObject({ type: "notice", kind: "suspended" });
    expect((await first.left).code).toBe(0);
    writeFileSync(
      join(folder, "slow.mjs"),
      `const backend = { kind: "model", name: "slow", model: "slow-1", async *stream() {
         const blocks = [{ type: "text", text: "At last." }];
         yield [{ type: "message", id: "m", role: "assistant", blocks, stopReason: "end-turn" }];
       } };
       export const config = { agents: [{ name: "slow", backend }] };`,
    );
    const second = await start(["--data", data, "--config", "slow.mjs"]);
    const { runId } = events[0] as { runId: string };
    const after = await (await fetch(`${second.url}/api/runs/${runId}/events?after=${events.at(-1)?.seq}`)).text();
    expect(after).toContain('"kind":"resumed"');
    expect(after).toContain('"text":"At last."');
    expect(after.trim().split("\n\n").at(-1)).toContain('"type":"done"');
    second.child.kill("SIGTERM");
    await second.left;
  });

  it("SEC7: an address others can reach needs a token; with one nobody gets in without it", async () => {
    const refused = startCli(["serve", "--port", "0", "--host", "0.0.0.0", "--data", join(folder, "three")], {
      cwd: folder,
    });
    const left = await refused.left;
    expect([left.code, left.stdout]).toEqual([2, ""]);
    expect(left.stderr).toMatch(/0\.0\.0\.0.*--token/);
    const token = "a-token-from-the-environment";
    const open = await start(["--host", "0.0.0.0", "--data", join(folder, "three")], { MILLRACE_TOKEN: token });
    const url = open.url.replace("0.0.0.0", "127.0.0.1");
    expect((await fetch(`${url}/api/threads`)).status).toBe(401);
    const { events } = await chat(url, "Hello", { authorization: `Bearer ${token}` });
    expect(events.at(-1)?.type).toBe("done");
    open.child.kill("SIGTERM");
    const after = await open.left;
    expect(after.stderr + after.stdout).not.toContain(token);
  });

  it.each([
    [["--port", "x"], /port/i],
    [["--token", "short"], /16 characters/],
    [["--config", "nowhere.json"], /nowhere\.json/],
    [["--config", "typo.json"], /server\.token.*tokens/],
  ])("R16: %j is refused with what to do", async (args, named) => {
    writeFileSync(join(folder, "typo.json"), '{"server":{"token":"x"}}');
    const left = await startCli(["serve", "--data", join(folder, "four"), ...args], { cwd: folder }).left;
    expect(left.code).toBe(2);
    expect(left.stderr).toMatch(named);
    expect(left.stderr).not.toMatch(/\n\s+at /);
  });

  it("a second server over the same data is refused", async () => {
    const data = join(folder, "five");
    const first = await start(["--data", data]);
    const left = await startCli(["serve", "--port", "0", "--data", data], { cwd: folder }).left;
    expect(left.code).toBe(2);
    expect(left.stderr).toContain("in use by another program");
    first.child.kill("SIGTERM");
    await first.left;
  });
});

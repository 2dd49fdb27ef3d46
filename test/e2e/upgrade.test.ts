import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, vi } from "vitest";
import type { AgentEvent } from "#domain";
import { assertRunLog } from "#testing";
import { ROOT } from "../../scripts/set-up.mjs";
import { openStore } from "../../src/runtime/stores/postgres.ts";
import { readFrames } from "../server/support.ts";
import { describePostgres } from "../support/postgres.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { type Cli, runCli, startCli } from "./cli.ts";

const PATIENCE = { timeout: 60_000, interval: 100 };

/** The package as it may be later: another version, and tables with one more step, of which older programs need not know. */
function makeNext(oldest: number): string {
  const folder = join(temporaryFolder("next"), "package");
  mkdirSync(folder);
  for (const part of ["bin", "dist"]) cpSync(join(ROOT, part), join(folder, part), { recursive: true });
  symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
  const manifest = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  writeFileSync(join(folder, "package.json"), JSON.stringify({ ...manifest, version: "99.0.0" }));
  const path = join(folder, "dist", "folders", "sessions.js");
  const source = readFileSync(path, "utf8");
  const next = source
    .replace(/,\s*NODES_2\s*\];/, `, NODES_2, "ALTER TABLE @.threads ADD COLUMN colour text DEFAULT 'red'"];`)
    .replace(/steps = STEPS, oldest = 1\)/, `steps = STEPS, oldest = 0 + ${oldest})`);
  expect(next).toContain("ADD COLUMN colour");
  expect(next).toContain(`oldest = 0 + ${oldest})`);
  writeFileSync(path, next);
  return join(folder, "bin", "millrace.js");
}

interface Served {
  readonly cli: Cli;
  readonly url: string;
}

describePostgres("an upgrade", (postgres) => {
  const serve = async (url: string, name: string, program?: string): Promise<Served> => {
    const args = ["serve", "--no-config", "--port", "0", "--queue", "pg-boss", "-b", "offline", "--node", name];
    const cli = startCli(args, {
      env: { MILLRACE_STORE: url, HOME: temporaryFolder(name) },
      ...(program && { program }),
    });
    await cli.seen('"event":"listening"');
    await vi.waitFor(() => expect(cli.printed()).toMatch(/^http.*\n/), PATIENCE);
    return { cli, url: cli.printed().trim() };
  };
  const say = async ({ url }: Served): Promise<AgentEvent[]> => {
    const ask = (path: string, body: object): Promise<Response> =>
      fetch(url + path, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      });
    const { id } = (await (await ask("/api/threads", {})).json()) as { id: string };
    const text = await (await ask(`/api/threads/${id}/chat`, { input: "Hello" })).text();
    return readFrames(text).map(({ data }) => JSON.parse(data) as AgentEvent);
  };
  const succeeded = { type: "done", result: { status: "success" } };

  it("nodes of two versions serve together, and the new one goes on alone", async () => {
    const url = await postgres.createDatabase();
    const old = await serve(url, "old");
    expect((await say(old)).at(-1)).toMatchObject(succeeded);
    const next = await serve(url, "next", makeNext(1));
    expect(await postgres.admin("SELECT number, oldest FROM millrace.version", url)).toEqual([
      { number: 3, oldest: 1 },
    ]);
    const both = await Promise.all([old, next, old, next, old, next].map(say));
    for (const events of both) expect(events.at(-1)).toMatchObject(succeeded);
    const metrics = await (await fetch(`${next.url}/metrics`)).text();
    expect(metrics).toContain('millrace_node_info{node="next",version="99.0.0"} 1');
    await vi.waitFor(
      async () => expect(await (await fetch(`${old.url}/metrics`)).text()).toContain("millrace_nodes 2"),
      PATIENCE,
    );
    const looked = await runCli(["doctor", "-b", "offline", "--store", url, "--queue", "pg-boss"]);
    expect(looked).toMatchObject({ code: 0, stdout: expect.stringMatching(/! 1 of 2 nodes have another version/) });
    expect(looked.stdout).toContain("tables are those of a newer program (version 3), with which this one may work");

    // The old one is started anew, as a crash would: its program may still use the tables. Then it leaves.
    old.cli.child.kill("SIGKILL");
    await old.cli.left;
    const again = await serve(url, "old");
    const last = say(again);
    expect((await last).at(-1)).toMatchObject(succeeded);
    again.cli.child.kill("SIGTERM");
    expect(await again.cli.left).toMatchObject({ code: 0 });
    expect((await say(next)).at(-1)).toMatchObject(succeeded);

    const store = await openStore(url);
    const runs = await store.listRuns();
    expect(runs).toHaveLength(9);
    for (const { id, status } of runs) {
      expect(status).toBe("success");
      assertRunLog(await store.read(id));
    }
    await store.close();
  });

  it("a node that is too old for the tables does not start, and the new ones go on", async () => {
    const url = await postgres.createDatabase();
    const next = await serve(url, "next", makeNext(3));
    const refused = await runCli(["serve", "--no-config", "--port", "0", "--store", url]);
    expect(refused).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/version 3; this program knows versions up to 2/),
    });
    expect((await say(next)).at(-1)).toMatchObject(succeeded);
  });
});

import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createScriptedSpawn, type SpawnScript } from "#testing";
import { claudeCode, collectItems, type Spawn, withQuery } from "../../src/runtime/claude-code.ts";
import { run } from "../../src/runtime/run.ts";
import { StartError } from "#domain";
import { temporaryFolder } from "../temporary-folder.ts";
import { greet, INIT, result, says, writes } from "./scripted.ts";

const folder = temporaryFolder("own-spawn");

/** A CLI that says so, whatever it is asked. */
const answering =
  (text: string): SpawnScript =>
  ({ args }) => {
    if (args.includes("--version")) return [{ write: "2.1.197 (Claude Code)\n" }, { exit: 0 }];
    const answer = writes(INIT, says("m1", text), result(text));
    return args.includes("--input-format")
      ? [greet, { waitForInput: "line" }, answer, { waitForInput: "end" }, { exit: 0 }]
      : [{ waitForInput: "end" }, answer, { exit: 0 }];
  };

const nowhere = { executable: "claude-of-nowhere", cwd: folder };

describe("S0-34 S0-35 S1-144: spawn starts the CLI", () => {
  it.each(["plain", "control"] as const)("of a run in %s mode, which is on no PATH of this machine", async (mode) => {
    const spawn = createScriptedSpawn(answering("from elsewhere"));
    const answer = await run(claudeCode({ ...nowhere, mode, spawn }), "hello").result();
    expect(answer).toMatchObject({ status: "success", text: "from elsewhere" });
    expect(spawn.calls.map(({ executable, cwd }) => [executable, cwd])).toEqual([
      ["claude-of-nowhere", undefined],
      ["claude-of-nowhere", folder],
    ]);
    expect(spawn.calls[1]?.stdin).toContain("hello");
    expect(spawn.calls.every(({ isGone }) => isGone)).toBe(true);
  });

  it("of a backend that is given by name, and of a query", async () => {
    const spawn = createScriptedSpawn(answering("42"));
    const byName = await run("claude-code/sonnet", "hello", { claudeCode: { ...nowhere, spawn } }).result();
    expect(byName).toMatchObject({ status: "success", text: "42" });
    expect(spawn.calls[1]?.args.join(" ")).toContain("--model sonnet");
    const { items } = await withQuery("hello", { ...nowhere, spawn }, collectItems);
    expect(items).toHaveLength(3);
  });

  it("each has its own state: concurrent ones do not affect each other", async () => {
    const texts = await Promise.all(
      Array.from({ length: 8 }, async (_, index) => {
        const spawn = createScriptedSpawn(answering(`answer ${index}`));
        const { text } = await run(claudeCode({ ...nowhere, spawn, skipVersionCheck: true }), "hello").result();
        expect(spawn.calls).toHaveLength(1);
        return text;
      }),
    );
    expect(texts).toEqual(Array.from({ length: 8 }, (_, index) => `answer ${index}`));
  });

  it("an abort ends it by its handle, and no process of this machine is affected", async () => {
    const spawn = createScriptedSpawn([writes(INIT), { hang: true }]);
    const running = run(claudeCode({ ...nowhere, spawn, skipVersionCheck: true }), "hello");
    for await (const event of running) if (event.type === "start") void running.abort("enough");
    expect(await running.result()).toMatchObject({ status: "aborted" });
    await running.closed;
    expect(spawn.calls[0]).toMatchObject({ isGone: true, signals: expect.arrayContaining(["SIGTERM"]) });
  });

  it.each<[string, Spawn, string]>([
    [
      "an executable that is not there",
      () => Promise.reject(new StartError("cli-not-found", "No claude in the container.")),
      "cli-not-found",
    ],
    ["a start that fails", () => Promise.reject(new Error("The container is gone.")), "spawn"],
    [
      "one that throws at once",
      () => {
        throw new Error("no");
      },
      "spawn",
    ],
    ["no handle", (async () => undefined) as never, "invalid-option"],
    ["half a handle", (async () => ({ stdout: [], exit: 1 })) as never, "invalid-option"],
  ])("%s rejects a query with a StartError", async (_what, spawn, code) => {
    await expect(withQuery("hello", { ...nowhere, spawn, skipVersionCheck: true }, collectItems)).rejects.toMatchObject(
      {
        name: "StartError",
        code,
      },
    );
  });

  it("a value that is not a function is rejected by name", () => {
    expect(() => claudeCode({ spawn: "ssh" } as never)).toThrow('claudeCode.spawn is "ssh". Give a function');
  });

  it("a recorded run rejects it, because what it starts would not be on the tape", () => {
    const spawn = createScriptedSpawn(answering("x"));
    const record = join(folder, "a.tape");
    expect(() => run("claude-code", "hello", { record, claudeCode: { ...nowhere, spawn } })).toThrow(
      /claudeCode\.spawn/,
    );
    expect(spawn.calls).toEqual([]);
  });
});

import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  buildArgv,
  claudeCode,
  collectItems,
  collectMessages,
  detectFeatures,
  diagnoseExit,
  fold,
  parseVersion,
  query,
  requiresControl,
  route,
  versionMeetsMinimum,
  withQuery,
} from "../../src/runtime/claude-code.ts";
import { run } from "../../src/runtime/run.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { processesWith } from "./place.ts";

const folder = temporaryFolder("entry");

/** A CLI that says back what it was asked. */
const executable = join(folder, "claude");
writeFileSync(
  executable,
  `#!/bin/sh
if [ "$1" = --version ]; then echo '2.1.325 (Claude Code)'; exit 0; fi
asked=$(cat)
printf '%s\\n' '{"type":"system","subtype":"init","session_id":"s1","model":"m","tools":[]}'
printf '{"type":"assistant","message":{"id":"m1","role":"assistant","content":[{"type":"text","text":"%s"}]}}\\n' "$asked"
printf '{"type":"result","subtype":"success","is_error":false,"result":"%s","session_id":"s1"}\\n' "$asked"
`,
);
chmodSync(executable, 0o755);

const mark = `entry-${process.pid}`;
const options = { executable, cwd: folder, env: { ENTRY_MARK: mark } };

describe("millrace/claude-code", () => {
  it("S1-14: a query gives the CLI's own messages", async () => {
    const types: string[] = [];
    for await (const item of await query("hello", options)) if (item.kind === "message") types.push(item.message.type);
    expect(types).toEqual(["system", "assistant", "result"]);
    expect((await withQuery("hello", options, collectItems)).items).toHaveLength(3);
    expect(await withQuery("hello", options, collectMessages)).toMatchObject([{}, {}, { result: "hello" }]);
    expect(await withQuery("hello", options, (stream) => fold(stream, 0, (count) => count + 1))).toBe(3);
    expect(processesWith(mark)).toEqual([]);
  });

  it("S1-129: a failure to start a query rejects it", async () => {
    const missing = join(folder, "nowhere");
    await expect(query("hello", { executable: missing })).rejects.toMatchObject({ code: "cli-not-found" });
    await expect(query("hello", { modle: "x" } as never)).rejects.toMatchObject({
      message: expect.stringContaining("model"),
    });
    expect(() => claudeCode({ prewarm: "yes" } as never)).toThrow(/prewarm/);
  });

  it("the backend answers a run, and reports what it found", async () => {
    const backend = claudeCode(options);
    expect(backend).toMatchObject({ kind: "agent", name: "claude-code" });
    expect((await backend.find()).version?.raw).toBe("2.1.325");
    const started = run(backend, "What is new?");
    expect(await started.result()).toMatchObject({ status: "success", text: "What is new?", sessionId: "s1" });
    await started.closed;
    expect(processesWith(mark)).toEqual([]);
  });

  it("S1-37: the pure parts can be used separately", () => {
    expect(route(detectFeatures({ features: ["hooks"] })).mode).toBe("control");
    expect(requiresControl(["output"])).toBe(false);
    expect(buildArgv({}, { mode: "plain", prompt: "stdin" }).args).toContain("--verbose");
    const version = parseVersion("2.1.325 (Claude Code)");
    expect(version !== undefined && versionMeetsMinimum(version, version)).toBe(true);
    expect(diagnoseExit({ code: 127, stdoutWasEmpty: true }).hint).toMatch(/not found/i);
  });
});

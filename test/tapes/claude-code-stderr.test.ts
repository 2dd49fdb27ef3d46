import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { replay } from "../../src/runtime/replay.ts";
import { run } from "../../src/runtime/run.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { eventsOf, withoutMode, withoutTimes } from "./tape-world.ts";

const folder = temporaryFolder("stderr");

it("C24: a run with a stderr callback can be recorded and replayed, and a replay does not call it", async () => {
  const executable = join(folder, "claude");
  const result = JSON.stringify({
    type: "result",
    subtype: "success",
    is_error: false,
    result: "42",
    session_id: "s1",
  });
  writeFileSync(
    executable,
    `#!/bin/sh\nif [ "$1" = --version ]; then echo 2.1.197; exit 0; fi\ncat >/dev/null\necho aside >&2\necho '${result}'\n`,
  );
  chmodSync(executable, 0o755);
  const record = join(folder, "a.tape");
  const heard: string[] = [];
  const claudeCode = { executable, cwd: folder, stderr: (line: string) => void heard.push(line) };
  const events = await eventsOf(run("claude-code", "hello", { record, claudeCode }));
  expect(events.filter(({ type }) => type === "error")).toEqual([]);
  expect(heard).toEqual(["aside"]);
  expect(withoutTimes(withoutMode(await eventsOf(replay(record))))).toEqual(withoutTimes(withoutMode(events)));
  expect(heard).toEqual(["aside"]);
});

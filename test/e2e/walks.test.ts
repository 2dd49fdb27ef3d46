import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { ROOT } from "../../scripts/set-up.mjs";
import { readDocument } from "../pins/markdown.ts";

// ARCHITECTURE.md says which files a delta and an event pass through. Here they are counted in the built package.

/** They hold values, listeners, timers and secrets for any folder, and are no steps on a way. */
const USED_EVERYWHERE = /^src\/(domain|streams|secrets)\/|^src\/transports\/system-clock\.ts$/;

describe("the walks in ARCHITECTURE.md", () => {
  let counted: { readonly delta: readonly string[]; readonly event: readonly string[] };

  beforeAll(() => {
    const program = join(import.meta.dirname, "walk-files.mjs");
    const options = { encoding: "utf8", timeout: 60_000 } as const;
    counted = JSON.parse(execFileSync(process.execPath, [program, join(ROOT, "dist")], options));
  }, 60_000);

  it("name every file that a delta passes through, at most 25", () => {
    const passed = counted.delta.filter((file) => !USED_EVERYWHERE.test(file));
    expect(passed).toContain("src/run/event-gate.ts");
    expect(passed.length).toBeLessThanOrEqual(25);
    expect(passed.filter((file) => !filesOfWalk("a delta").includes(file))).toEqual([]);
  });

  it("name every file that an event passes through on the server", () => {
    const passed = counted.event.filter((file) => !USED_EVERYWHERE.test(file));
    const named = [...filesOfWalk("a delta"), ...filesOfWalk("an event")];
    expect(passed).toContain("src/server/event-stream.ts");
    expect(passed.filter((file) => !named.includes(file))).toEqual([]);
  });

  it("name no file of ours that a delta does not pass through", () => {
    const named = filesOfWalk("a delta").filter((file) => !file.startsWith("test/"));
    expect(named.filter((file) => !counted.delta.includes(file))).toEqual([]);
  });
});

/** The files that a walk names; one named without its folder is beside the first file of its row. */
function filesOfWalk(walked: string): readonly string[] {
  const walk =
    readDocument("ARCHITECTURE.md")
      .split(/^## /m)
      .find((part) => part.startsWith(`Life of ${walked}\n`)) ?? "";
  return walk.split("\n").flatMap((row) => {
    const files = [...row.matchAll(/`([\w./-]+\.tsx?)`/g)].map((match) => match[1] ?? "");
    const folder = files[0]?.replace(/[^/]*$/, "") ?? "";
    return files.map((file) => (file.includes("/") ? file : folder + file));
  });
}

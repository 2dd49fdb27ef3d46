import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ROOT } from "../../../scripts/set-up.mjs";

/** The lines of our sources in the stack trace of an error that a user's program prints. */
function traceOf(statement: string): string[] {
  const script = `import * as millrace from "millrace";
    try { ${statement} } catch (error) { console.log(error.stack); }`;
  const output = execFileSync(process.execPath, ["--enable-source-maps", "--input-type=module", "-e", script], {
    cwd: ROOT,
    encoding: "utf8",
  });
  return [...output.matchAll(/src\/([\w/-]+\.ts:\d+)/g)].map(([, place]) => place ?? "");
}

describe("the source maps of the package", () => {
  it("an error thrown in a user's program points to the line of our source file", () => {
    // From the check that threw to the function that was called; each frame names a line that calls the one above it.
    const frames = traceOf('millrace.tool("no name", "b", {}, () => 1);');
    const [file = "", line] = frames.at(-1)?.split(":") ?? [];
    const source = readFileSync(join(ROOT, "src", file), "utf8").split("\n")[Number(line) - 1];
    expect(file).toBe("tools/tool.ts");
    expect(source).toMatch(/return checkTool\(/);
  });

  it("contain the sources", () => {
    const { sources, sourcesContent } = JSON.parse(readFileSync(join(ROOT, "dist/folders/core.js.map"), "utf8"));
    expect(sources.length).toBeGreaterThan(100);
    expect(sourcesContent.every((text: unknown) => typeof text === "string" && text.length > 0)).toBe(true);
  });
});

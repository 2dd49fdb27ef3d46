import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../test/temporary-folder.ts";
import { writeReference } from "./api-reference.mjs";

const folder = temporaryFolder("api-test");

const SOURCE = `/**
 * A small package.
 *
 * @module
 */
/**
 * Does it, as {@link nobody} does.
 */
export function act(options: ActOptions): Inner { return options.inner }

export interface ActOptions {
  readonly inner: Inner;
  /**
   * For tests.
   *
   * @internal
   */
  readonly hidden?: Deep;
}

/**
 * Told well.
 *
 * @example
 * good()
 */
export function good(): void {}
`;

function write(path: string, text: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
}

describe("the API reference", () => {
  it("has a page for each entry and one for types without a name, and reports what nobody has told", async () => {
    write(
      "package.json",
      JSON.stringify({
        name: "small",
        exports: { ".": { types: "./dist/index.d.ts" }, "./other": { types: "./dist/other.d.ts" } },
      }),
    );
    write("tsconfig.json", JSON.stringify({ compilerOptions: { types: [], module: "nodenext" }, include: ["src"] }));
    write(
      "src/inner.ts",
      "export interface Inner { readonly size: number }\nexport interface Deep { readonly no: 1 }\n",
    );
    write("src/other.ts", "/** Something. */\nexport type Other = 1;\n");
    write("src/index.ts", `${SOURCE.replace(" */\n/**", ' */\nimport type { Deep, Inner } from "./inner.ts";\n/**')}`);

    const faults = await writeReference(folder, join(folder, "out"));

    expect(faults).toEqual([
      expect.stringMatching(/nobody/),
      "small: ActOptions has no comment.",
      "small: act has no @example.",
      "small/other has no comment that says what it is for (@module).",
    ]);
    const page = readFileSync(join(folder, "out/small.md"), "utf8");
    expect(page).toMatch(/^# `small`\n\nA small package\.\n/);
    expect(page).toContain("### good()");
    expect(page).not.toContain("hidden");
    const types = readFileSync(join(folder, "out/types.md"), "utf8");
    expect(types).toContain("### Inner");
    expect(types).not.toContain("### Deep");
  }, 60_000);
});

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { findUnproven, readIds, readRequirements, writePage } from "../../scripts/requirements.mjs";
import { ROOT } from "../../scripts/set-up.mjs";

describe("docs/requirements.md", () => {
  const rows = readRequirements(ROOT);

  /** What is still to be built. An id leaves this list with its test; none may be added. */
  const OPEN: readonly string[] = [];

  it("every id that must hold has a test that names it, or a note that says what holds instead", () => {
    expect(findUnproven(rows)).toEqual(OPEN);
  });

  it("is what the titles of the tests say: npm run requirements:write", () => {
    expect(readFileSync(join(ROOT, "docs/requirements.md"), "utf8")).toBe(writePage(rows));
  });

  it.each([
    ["S0-1 S0-14 AT-4: for every set", ["S0-1", "S0-14", "AT-4"]],
    ["F-B4 C2: background work, F-C3", ["C2"]],
    ["AT-1 … AT-3 and C26–28", ["AT-1", "AT-2", "AT-3", "C26", "C27", "C28"]],
    ["S1-119 … 121: messages", ["S1-119", "S1-120", "S1-121"]],
    ["S1-119…S1-120", ["S1-119", "S1-120"]],
    ["S0-79/80: model and agent", ["S0-79", "S0-80"]],
    ["S0-28,63 · all", ["S0-28", "S0-63"]],
    ["S0-45: 1,000 chunks", ["S0-45"]],
    ["no id, S5-1, XS0-1", []],
  ])("reads the ids of %s", (title, ids) => {
    expect(readIds(title)).toEqual(ids);
  });
});

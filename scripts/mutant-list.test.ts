import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { MUTANTS } from "./mutant-list.mjs";
import { ROOT } from "./set-up.mjs";

it.each(MUTANTS)(
  "the change $what: the text it replaces occurs once, and its tests exist",
  ({ file, find, replace, tests }) => {
    expect(readFileSync(join(ROOT, file), "utf8").split(find)).toHaveLength(2);
    expect(replace).not.toBe(find);
    expect(tests.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  },
);

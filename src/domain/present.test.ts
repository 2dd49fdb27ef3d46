import { expect, test } from "vitest";
import { present } from "./present.ts";

test("present omits what is undefined and keeps every other value", () => {
  expect(Object.entries(present({ a: undefined, b: null, c: 0, d: "", e: false }))).toEqual([
    ["b", null],
    ["c", 0],
    ["d", ""],
    ["e", false],
  ]);
});

import { expect, it } from "vitest";
import { describeMs } from "./elapsed.ts";

it.each([
  [0.4, "0 ms"],
  [999.4, "999 ms"],
  [999.6, "1.0 s"],
  [59_949, "59.9 s"],
  [59_960, "1 min 0 s"],
  [119_800, "2 min 0 s"],
  [125_000, "2 min 5 s"],
])("describes %d ms as %s, and never with 60 seconds", (ms, expected) => {
  expect(describeMs(ms)).toBe(expected);
});

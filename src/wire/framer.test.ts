import { describe, expect, it } from "vitest";
import { isStartError } from "#domain";
import type { Framing } from "./frame.ts";
import { createFramer } from "./framer.ts";

function codeOf(create: () => unknown): string {
  try {
    create();
  } catch (thrown) {
    if (isStartError(thrown)) return `${thrown.code}: ${thrown.message}`;
    throw thrown;
  }
  return "nothing thrown";
}

describe("createFramer", () => {
  it.each([
    ["ndjson", '{"a":1}\n'],
    ["sse", 'data: {"a":1}\n\n'],
    ["text", '{"a":1}'],
  ] as const)("%s", (framing, input) => {
    expect(createFramer(framing).push(new TextEncoder().encode(input))).toMatchObject([
      { kind: "data", text: '{"a":1}' },
    ]);
  });

  it.each(["xml", "", "NDJSON", "toString", "__proto__", undefined])(
    "AT-56: framing %j is rejected, naming the three",
    (framing) => {
      expect(codeOf(() => createFramer(framing as Framing))).toMatch(/^unknown-format: .*"ndjson", "sse", "text"/);
    },
  );

  it.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 1e12, "10" as unknown as number])(
    "maxLineBytes %j is rejected",
    (maxLineBytes) => {
      expect(codeOf(() => createFramer("ndjson", { maxLineBytes }))).toMatch(/^invalid-option: maxLineBytes is/);
      expect(codeOf(() => createFramer("sse", { maxLineBytes }))).toMatch(/^invalid-option: maxLineBytes is/);
    },
  );

  it("an unknown overflow is rejected", () => {
    expect(codeOf(() => createFramer("ndjson", { overflow: "drop" as "skip" }))).toMatch(
      /^invalid-option: overflow is "drop"/,
    );
  });
});

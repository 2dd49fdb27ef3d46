import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fuzzRuns } from "../../test/effort.ts";
import { createSseFramer } from "./sse-decoder.ts";
import { encodeEventSse, encodeSse } from "./sse-encoder.ts";

const RUNS = fuzzRuns(5000);

describe("encodeSse", () => {
  it.each([
    [{ data: "x" }, "data: x\n\n"],
    [{ id: "7", event: "text-delta", data: "{}" }, "id: 7\nevent: text-delta\ndata: {}\n\n"],
    [{ data: "a\nb\r\nc\rd" }, "data: a\ndata: b\ndata: c\ndata: d\n\n"],
    [{ data: "" }, "data: \n\n"],
    [{ data: "\n" }, "data: \ndata: \n\n"],
    [{ comment: "keep-alive" }, ": keep-alive\n\n"],
    [{ comment: "a\rdata: injected\n\nb" }, ": a\n: data: injected\n: \n: b\n\n"],
    [{ retry: 2000, data: "x" }, "retry: 2000\ndata: x\n\n"],
    [{ id: "", data: "x" }, "id: \ndata: x\n\n"],
  ])("S2-26: %j", (fields, expected) => {
    expect(encodeSse(fields)).toBe(expected);
  });

  it.each(["a\nb", "a\rb", "a\r\nb", "a\0b", "\n", "x\n\ndata: injected"])(
    "SEC9: %j is rejected as id and as name",
    (value) => {
      expect(() => encodeSse({ id: value, data: "" })).toThrow(TypeError);
      expect(() => encodeSse({ event: value, data: "" })).toThrow(/event is .* without CR, LF and NUL/);
    },
  );

  it.each([-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, "1\ndata: injected" as unknown as number])(
    "SEC9: retry %j is rejected",
    (retry) => {
      expect(() => encodeSse({ retry, data: "" })).toThrow(TypeError);
    },
  );

  it("SEC9 R1: what is encoded is decoded as exactly one event with the same fields, or rejected", () => {
    const hostile = fc.oneof(
      fc.string({ unit: "binary" }),
      fc
        .array(fc.constantFrom("\r", "\n", "\0", ":", " ", "data: x", "event: y", "id: 1", "\u2028", "🙂", "\uFEFF"), {
          maxLength: 8,
        })
        .map((parts) => parts.join("")),
    );
    const fields = fc.record(
      { id: hostile, event: hostile, data: hostile, comment: hostile, retry: fc.nat() },
      { requiredKeys: ["data"] },
    );
    const framer = createSseFramer();
    fc.assert(
      fc.property(fields, (given) => {
        const isRefused = [given.id, given.event].some((value) => value !== undefined && /[\r\n\0]/.test(value));
        if (isRefused) {
          expect(() => encodeSse(given)).toThrow(TypeError);
          return;
        }
        framer.reset();
        const frames = [...framer.push(new TextEncoder().encode(encodeSse(given))), ...framer.end()];
        const text = given.data.replace(/\r\n|\r/g, "\n");
        expect(frames).toMatchObject([{ kind: "data", name: given.event ?? "", id: given.id ?? "", text }]);
      }),
      { numRuns: RUNS },
    );
  });
});

describe("encodeEventSse", () => {
  const event = {
    type: "text-delta",
    seq: 3,
    ts: 5,
    runId: "r",
    messageId: "m",
    index: 0,
    text: "a\n\r\u2028b",
  } as const;

  it("writes number, type and one line of JSON", () => {
    expect(encodeEventSse(event)).toBe(`id: 3\nevent: text-delta\ndata: ${JSON.stringify(event)}\n\n`);
  });

  it("SEC9: rejects an invalid type or number", () => {
    expect(() => encodeEventSse({ ...event, type: "x\ndata: injected" as "text-delta" })).toThrow(TypeError);
    expect(() => encodeEventSse({ ...event, type: "toString" as "text-delta" })).toThrow(TypeError);
    expect(() => encodeEventSse({ ...event, seq: "1\n" as unknown as number })).toThrow(TypeError);
  });
});

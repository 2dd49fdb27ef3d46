import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { encodeSse } from "#wire";
import { createSseReader } from "./sse.ts";

describe("createSseReader", () => {
  it("reads what the server writes, cut into any pieces, and omits comments and retry times", () => {
    const frames = fc.array(fc.record({ id: fc.nat(), data: fc.string({ unit: "binary", maxLength: 40 }) }), {
      maxLength: 6,
    });
    fc.assert(
      fc.property(frames, fc.array(fc.nat(60), { maxLength: 12 }), (sent, cuts) => {
        const text = [
          encodeSse({ retry: 1000 }),
          ...sent.flatMap(({ id, data }) => [
            encodeSse({ id: String(id), event: "text-delta", data: JSON.stringify({ data }) }),
            encodeSse({ comment: "ping" }),
          ]),
        ].join("");
        const read = createSseReader();
        const got = [];
        let at = 0;
        for (const cut of cuts) {
          got.push(...read(text.slice(at, at + cut)));
          at += cut;
        }
        got.push(...read(text.slice(at)));
        expect(got).toEqual(
          sent.map(({ id, data }) => ({ id: String(id), event: "text-delta", data: JSON.stringify({ data }) })),
        );
      }),
    );
  });

  it("a frame that is not whole is not given", () => {
    const read = createSseReader();
    expect(read("id: 1\ndata: {}")).toEqual([]);
    expect(read("\n")).toEqual([]);
    expect(read("\n")).toEqual([{ id: "1", event: "message", data: "{}" }]);
  });
});

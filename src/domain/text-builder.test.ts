import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { TextBuilder } from "./text-builder.ts";

describe("a pile of text", () => {
  it("is the text of its pieces, however many, and whenever somebody looks", () => {
    fc.assert(
      fc.property(fc.string(), fc.array(fc.string(), { maxLength: 1200 }), fc.nat(1200), (start, pieces, look) => {
        const pile = new TextBuilder(start);
        for (const [index, piece] of pieces.entries()) {
          pile.add(piece);
          if (index === look) expect(pile.text()).toBe(start + pieces.slice(0, index + 1).join(""));
        }
        const text = start + pieces.join("");
        expect(pile.isEmpty).toBe(text === "");
        expect(pile.text()).toBe(text);
        expect(pile.isEmpty).toBe(text === "");
      }),
    );
  });
});

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { TextBuilder } from "./text-builder.ts";

describe("a text builder", () => {
  it("contains the text of its pieces, however many, whenever it is read", () => {
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

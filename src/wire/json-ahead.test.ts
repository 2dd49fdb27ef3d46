import { describe, expect, it } from "vitest";
import { JsonBuilder } from "./json-ahead.ts";

describe("F-B1: JsonBuilder", () => {
  it("has the text and its value, short or long", () => {
    for (const count of [10, 100_000]) {
      const value = { rows: Array.from({ length: count }, (_, at) => ({ at, name: `row ${at}` })) };
      const json = JSON.stringify(value);
      const pile = new JsonBuilder();
      for (let from = 0; from < json.length; from += 100) pile.add(json.slice(from, from + 100));
      expect(JSON.stringify(pile.parse().value) === json).toBe(true);
      expect(pile.parse()).toBe(pile.parse());
      expect(pile.text() === json).toBe(true);
    }
  });
});

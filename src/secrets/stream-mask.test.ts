import { describe, expect, it } from "vitest";
import { createRedactor } from "./redactor.ts";

const SECRET = "sk-canary-0123456789abcdef";

describe("F-A3: the mask of a stream", () => {
  it.each(["\n", ""])("finds a secret that ends in the last line, also if that ends with %j", (end) => {
    const mask = createRedactor({ THE_KEY: SECRET }).stream();
    const line = (text: string): string => JSON.stringify({ delta: { text } });
    const pieces = [`${line(`the key ${SECRET.slice(0, 12)}`)}\n`, `${line(`${SECRET.slice(12)} is it`)}${end}`].map(
      (text) => mask.push(new TextEncoder().encode(text)),
    );
    mask.settle(true);
    const written = pieces.map(({ bytes }) => new TextDecoder().decode(bytes)).join("");
    expect(pieces.map(({ isSettled }) => isSettled)).toEqual([true, true]);
    expect(written).toContain("the key ");
    expect(written).toContain(" is it");
    expect(written).not.toContain(SECRET.slice(0, 12));
    expect(written).not.toContain(SECRET.slice(12));
  });
});

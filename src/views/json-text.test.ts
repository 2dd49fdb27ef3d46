import { describe, expect, it } from "vitest";
import { asText, encodeJson } from "./json-text.ts";

describe("encodeJson", () => {
  it("AT-62: line separators that some readers split at are escaped, and read back the same", () => {
    const text = "a\u2028b\u2029c\u0085d\r\ne";
    expect(encodeJson(text)).toBe('"a\\u2028b\\u2029c\\u0085d\\r\\ne"');
    expect(JSON.parse(encodeJson(text))).toBe(text);
  });

  it("what JSON cannot represent becomes null, and nothing throws", () => {
    const circular: Record<string, unknown> = {};
    circular["self"] = circular;
    for (const value of [undefined, () => 1, 1n, circular]) expect(encodeJson(value)).toBe("null");
  });
});

describe("asText", () => {
  it("S2-35: text stays text, anything else becomes JSON", () => {
    expect(asText("plain")).toBe("plain");
    expect(asText({ a: [1] })).toBe('{"a":[1]}');
    expect(asText(undefined)).toBe("null");
  });
});

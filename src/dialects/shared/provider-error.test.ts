import type { DataFrame } from "#wire";
import { describe, expect, it } from "vitest";
import { codeOfStatus, providerError, readStatus } from "./provider-error.ts";

const FRAME: DataFrame = { kind: "data", name: "", id: "", text: "{}", value: {} };

describe("codeOfStatus", () => {
  it.each([
    [400, "provider-invalid-request"],
    [401, "provider-auth"],
    [402, "provider-auth"],
    [403, "provider-auth"],
    [404, "provider-invalid-request"],
    [413, "provider-invalid-request"],
    [422, "provider-invalid-request"],
    [429, "provider-rate-limited"],
    [500, "provider-error"],
    [502, "provider-error"],
    [503, "provider-overloaded"],
    [529, "provider-overloaded"],
    [undefined, "provider-error"],
  ] as const)("%j is %s", (status, code) => {
    expect(codeOfStatus(status)).toBe(code);
  });
});

describe("readStatus", () => {
  it.each([
    [429, 429],
    ["429", 429],
    ["4290", undefined],
    ["x", undefined],
    [42, undefined],
    [429.5, undefined],
    [null, undefined],
  ])("%j is %j", (value, status) => {
    expect(readStatus(value)).toBe(status);
  });
});

describe("providerError", () => {
  it("is terminal, keeps the frame and the vendor's text, and never has an empty or very long message", () => {
    const error = providerError({ message: "", status: 429, vendorCode: "slow_down" }, FRAME);
    expect(error).toMatchObject({
      type: "error",
      code: "provider-rate-limited",
      terminal: true,
      diagnostic: { status: 429, vendorCode: "slow_down" },
      raw: { json: "{}" },
    });
    expect(error.message).not.toBe("");
    expect(providerError({ message: "x".repeat(9000) }, FRAME).message).toHaveLength(2000);
  });
});

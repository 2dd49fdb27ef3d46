import { describe, expect, it } from "vitest";
import { secretsOfAddress, secretsOfArguments, secretsOfData } from "./sources.ts";

const S = "cnry-4f9K2mQ7zX1";

describe("F-A3: the secrets in options", () => {
  it.each([
    ["a key", { apiKey: S }],
    ["a name in camel case", { oauth: { clientSecret: S } }],
    ["a token of the server", { server: { metricsToken: S, tokens: [{ token: S }] } }],
    ["a header", { headers: { "X-Session": S } }],
    ["a variable", { env: { MY_TOKEN: S } }],
    ["an argument", { args: ["--api-key", S] }],
    ["an argument with its value", { args: [`--token=${S}`] }],
    ["JSON in a text", { mcpConfig: JSON.stringify({ a: { env: { A_TOKEN: S } } }) }],
    ["an address", { url: `https://me:${S}@host/` }],
    ["an address that is none", { url: `https://me:${S}@host:999999/` }],
    ["a token in an address", { url: `https://${S}@host/` }],
    ["a parameter", { url: `https://host/?a=b&api_key=${S}` }],
  ])("%s", (_, data) => {
    expect(secretsOfData(data)).toContain(S);
  });

  it.each([
    ["limits", { maxTokens: "1000000000000", limits: { tokens: "1000000000000" } }],
    ["addresses without a secret", { url: "https://example.com:8080/path?model=something-long" }],
    ["other arguments", { args: ["--model", "something-long", "--verbose"] }],
  ])("none in %s", (_, data) => {
    expect(secretsOfData(data)).toEqual([]);
  });

  it("a circle ends, and objects of a class are not looked into", () => {
    const circle: Record<string, unknown> = { apiKey: S };
    circle["self"] = [circle, circle];
    class Kept {
      readonly token = "not-looked-at-0";
    }
    circle["kept"] = new Kept();
    expect(new Set(secretsOfData(circle))).toEqual(new Set([S]));
  });

  it("an address gives its secrets as they are written and as they are meant", () => {
    expect(secretsOfAddress("http://me:a%2Fb%2Bc%3Dd@host")).toEqual(["a%2Fb%2Bc%3Dd", "a/b+c=d"]);
    expect(secretsOfArguments(["--token", "--verbose"])).toEqual([]);
  });
});

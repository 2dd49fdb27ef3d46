import { describe, expect, it } from "vitest";
import { createEmulator } from "#emulator";
import { HEADERS, post } from "../support.ts";

describe("AT-67: strict mode, whatever the vendor", () => {
  it("refuses a body that is not JSON, no object or no UTF-8", async () => {
    const emulator = createEmulator();
    for (const body of ["{", "[]", '"x"', ""]) {
      expect((await post(emulator, "/v1/messages", body, HEADERS.anthropic)).status).toBe(400);
    }
    const response = await emulator.fetch({
      method: "POST",
      url: "http://offline/v1/messages",
      headers: HEADERS.anthropic,
      body: new Uint8Array([0x7b, 0xff, 0x7d]),
    });
    expect(response.status).toBe(400);
  });

  it("refuses a body over 32 MB", async () => {
    const emulator = createEmulator();
    const huge = JSON.stringify({ text: "x".repeat(32 * 1024 * 1024) });
    expect((await post(emulator, "/v1/messages", huge, HEADERS.anthropic)).json).toMatchObject({
      error: { type: "request_too_large" },
    });
    expect((await post(emulator, "/v1/chat/completions", huge, HEADERS.openai)).status).toBe(413);
    expect((await post(emulator, "/v1beta/models/gemini-2.5-pro:generateContent", huge, HEADERS.google)).status).toBe(
      400,
    );
  });

  it("is not confused by keys that mean something to objects", async () => {
    const emulator = createEmulator();
    const hostile =
      '{"model":"m","max_tokens":9,"__proto__":{"x":1},"messages":[{"role":"user","content":"hi","__proto__":{"role":"system"}}]}';
    expect((await post(emulator, "/v1/messages", hostile, HEADERS.anthropic)).status).toBe(400);
    const fine = '{"model":"m","messages":[{"role":"user","content":"constructor toString __proto__ 1 + 1"}]}';
    expect((await post(emulator, "/v1/chat/completions", fine, HEADERS.openai)).text).toContain("1 + 1 = 2.");
    expect(({} as Record<string, unknown>).x).toBeUndefined();
  });
});

import { afterEach, describe, expect, it, vi } from "vitest";
import { createEmulator } from "#emulator";
import { createScriptedFetch } from "#testing";
import { anthropic } from "./anthropic.ts";
import { google } from "./google.ts";
import { openai } from "./openai.ts";
import { run } from "./run.ts";

afterEach(() => vi.unstubAllEnvs());

const emulator = createEmulator();
const place = { apiKey: "any", baseUrl: "http://offline.invalid/v1", fetch: emulator.fetch };

describe("backends with typed options", () => {
  it.each([
    ["anthropic", anthropic({ model: "m", ...place })],
    ["google", google({ model: "m", ...place })],
    ["openai", openai({ model: "m", ...place })],
    ["compatible", openai.compatible({ model: "m", ...place })],
    ["llama", openai.compatible({ name: "llama", model: "m", ...place })],
  ])("%s answers like the backend a string names", async (name, backend) => {
    expect(backend).toMatchObject({ kind: "model", name, model: "m" });
    const answer = run(backend, "Hello");
    const started = new Promise((resolve) => answer.once("start", resolve));
    expect(await answer.result()).toMatchObject({ status: "success" });
    expect(await started).toMatchObject({ type: "start", backend: name });
  });

  it("missing values come from the usual variables", async () => {
    vi.stubEnv("ANTHROPIC_API_KEY", "key-env");
    vi.stubEnv("ANTHROPIC_BASE_URL", "http://proxy.test");
    const fetch = createScriptedFetch([{ status: 400 }]);
    await run(anthropic({ model: "m", fetch }), "Hi").result();
    expect(fetch.requests[0]).toMatchObject({
      url: "http://proxy.test/v1/messages",
      headers: { "x-api-key": "key-env" },
    });
  });

  it("headers are sent along", async () => {
    const fetch = createScriptedFetch([{ status: 400 }]);
    await run(anthropic({ model: "m", apiKey: "k", headers: { "anthropic-beta": "x" }, fetch }), "Hi").result();
    expect(fetch.requests[0]?.headers).toMatchObject({ "anthropic-beta": "x" });
  });

  it("a missing key, an unknown option and a wrong address are rejected as everywhere", () => {
    vi.stubEnv("OPENAI_API_KEY", "");
    expect(() => openai({ model: "m" })).toThrow(/OPENAI_API_KEY is not set/);
    expect(() => google({ model: "", apiKey: "k" })).toThrow(/^google\.model is ""/);
    expect(() => google({ model: "m", apikey: "k" } as never)).toThrow(/Did you mean apiKey\?/);
    expect(() => anthropic({ model: "m", apiKey: "k", baseUrl: "nowhere" })).toThrow(/not an http\(s\) address/);
    expect(() => anthropic(null as never)).toThrow(/Give \{ model \}/);
    expect(() => anthropic({ model: "m", apiKey: "k", fetch: 1 } as never)).toThrow(/anthropic\.fetch is 1/);
  });
});

describe("openai.compatible", () => {
  const asked = async (options: Partial<Parameters<typeof openai.compatible>[0]>) => {
    const fetch = createScriptedFetch([{ status: 400 }]);
    const backend = openai.compatible({ model: "m", baseUrl: "http://host.test/v1/", fetch, ...options });
    await run(backend, "Hi", { maxTokens: 5, instructions: "Be brief." }).result();
    const [request] = fetch.requests;
    return { request, body: JSON.parse(request?.body ?? "") };
  };

  it("SEC3: reads no variable, so that no other host's key is sent there", async () => {
    vi.stubEnv("OPENAI_API_KEY", "key-of-openai");
    const { request } = await asked({});
    expect(request?.url).toBe("http://host.test/v1/chat/completions");
    expect(request?.headers).not.toHaveProperty("authorization");
    expect((await asked({ apiKey: "mine" })).request?.headers).toMatchObject({ authorization: "Bearer mine" });
  });

  it("uses the protocol that most hosts support, and another if configured", async () => {
    expect((await asked({})).body).toMatchObject({
      max_tokens: 5,
      stream_options: { include_usage: true },
      messages: [{ role: "system" }, { role: "user" }],
    });
    const { body } = await asked({
      limitField: "max_completion_tokens",
      instructionsRole: "developer",
      usageInStream: false,
    });
    expect(body).toMatchObject({ max_completion_tokens: 5, messages: [{ role: "developer" }, { role: "user" }] });
    expect(body).not.toHaveProperty("stream_options");
  });

  it("rejects what it cannot use", () => {
    const make = (options: object) => () => openai.compatible(options as never);
    expect(make({ model: "m" })).toThrow(/baseUrl is not given/);
    expect(make({ model: "m", baseUrl: "x" })).toThrow(/^compatible\.baseUrl is "x"/);
    expect(make({ model: "m", baseUrl: "http://h.test", name: "a b" })).toThrow(/^compatible\.name is "a b"/);
    expect(make({ model: "m", baseUrl: "http://h.test", limitField: "tokens" })).toThrow(/Give one of: max_tokens/);
    expect(make({ model: "m", baseUrl: "http://h.test", limitfield: 1 })).toThrow(/Did you mean limitField\?/);
  });
});

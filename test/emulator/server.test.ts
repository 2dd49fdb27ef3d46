import { request as httpRequest } from "node:http";
import { connect } from "node:net";
import { describe, expect, it } from "vitest";
import { isStartError } from "#domain";
import { createEmulator, type Emulator, FAULT_HEADER } from "#emulator";
import { createVirtualClock } from "#testing";
import { ASKINGS } from "./protocols.ts";
import { HEADERS, post, withEmulator } from "./support.ts";

const [asking = expect.fail()] = ASKINGS;

interface Answer {
  readonly status: number;
  readonly bytes: number;
  readonly error: string | undefined;
}

/** One exchange over a real socket, with how it ended. `leaveAfter`: goes away after the first bytes. */
function exchange(
  url: string,
  { fault, leaveAfter = false }: { fault?: object; leaveAfter?: boolean } = {},
): Promise<Answer> {
  return new Promise((resolve) => {
    let status = 0;
    let bytes = 0;
    const end = (error?: Error & { code?: string }) => resolve({ status, bytes, error: error?.code ?? error?.message });
    const headers = { ...asking.headers, ...(fault !== undefined && { [FAULT_HEADER]: JSON.stringify(fault) }) };
    const outgoing = httpRequest(`${url}${asking.path}`, { method: "POST", headers }, (response) => {
      status = response.statusCode ?? 0;
      response.on("data", (part: Uint8Array) => {
        bytes += part.length;
        if (leaveAfter) outgoing.destroy();
      });
      response.on("error", end);
      response.on("end", () => end());
    });
    outgoing.on("error", end);
    outgoing.end(JSON.stringify(asking.body("What is 25 + 17?")));
  });
}

const listening = <T>(use: (url: string, emulator: Emulator) => Promise<T>): Promise<T> =>
  withEmulator({}, async (emulator) => use((await emulator.listen()).url, emulator));

describe("the server on a socket", () => {
  it("plays faults as it does in process", async () => {
    await listening(async (url) => {
      const whole = await exchange(url);
      expect(whole).toMatchObject({ status: 200, error: undefined });
      expect(await exchange(url, { fault: { cutAfterBytes: 100 } })).toEqual({
        status: 200,
        bytes: 100,
        error: undefined,
      });
      expect(await exchange(url, { fault: { resetAfterBytes: 100 } })).toEqual({
        status: 200,
        bytes: 100,
        error: "ECONNRESET",
      });
      expect(await exchange(url, { fault: { resetAfterBytes: 0 } })).toMatchObject({
        status: 200,
        bytes: 0,
        error: "ECONNRESET",
      });
      expect(await exchange(url, { fault: { pieceBytes: 10 } })).toEqual(whole);
      expect(await exchange(url, { fault: { status: 503 } })).toMatchObject({ status: 503, error: undefined });
      expect(await exchange(url, { fault: { noEnd: true } })).toMatchObject({ status: 200, error: undefined });
    });
  });

  it("ends an exchange when the other side goes, and holds a stalled one open until then", async () => {
    await listening(async (url) => {
      expect(await exchange(url, { fault: { stallAfterEvents: 3 }, leaveAfter: true })).toMatchObject({ status: 200 });
    });
  });

  it("close ends what is under way, also what stalls, and may be called again", async () => {
    const emulator = createEmulator();
    const { url } = await emulator.listen();
    const stalled = exchange(url, { fault: { stallAfterEvents: 2 } });
    const never = exchange(url, { fault: { stallBeforeHeaders: true } });
    const inProcess = expect(
      emulator.fetch({
        method: "POST",
        url: `http://offline${asking.path}`,
        headers: { ...asking.headers, [FAULT_HEADER]: '{"stallBeforeHeaders":true}' },
        body: JSON.stringify(asking.body("hi")),
      }),
    ).rejects.toThrow("closed");
    const seen = async (): Promise<void> => {
      while (emulator.requests.length < 3) await new Promise((resolve) => setImmediate(resolve));
    };
    await seen();
    await emulator.close();
    await emulator.close();
    expect((await stalled).error).toBeDefined();
    expect((await never).error).toBeDefined();
    await inProcess;
    await expect(emulator.listen()).rejects.toThrow("closed");
    expect((await exchange(url)).error).toBe("ECONNREFUSED");
  });

  it.each(["0.0.0.0", "::", "192.168.1.5", "example.com", "128.0.0.1", "127.evil.com"])(
    "refuses to listen on %s",
    async (host) => {
      const refused = createEmulator().listen({ host });
      await expect(refused).rejects.toThrow(/this machine only/);
      await expect(refused.catch((error: unknown) => isStartError(error) && error.code)).resolves.toBe(
        "invalid-option",
      );
    },
  );

  it("rejects an invalid port or one in use, and reports it", async () => {
    await withEmulator({}, async (emulator) => {
      await expect(emulator.listen({ port: 70_000 })).rejects.toThrow(/port is 70000/);
      const { port } = await emulator.listen();
      await expect(emulator.listen({ port })).rejects.toThrow(/another port/);
      const other = await emulator.listen({ host: "localhost" });
      expect((await exchange(other.url)).status).toBe(200);
      await other.close();
    });
  });

  it("refuses a body over 32 MB without keeping it", async () => {
    await listening(async (url) => {
      const status = await new Promise<number>((resolve, reject) => {
        const outgoing = httpRequest(
          `${url}/v1/messages`,
          { method: "POST", headers: HEADERS.anthropic },
          (response) => {
            response.resume();
            resolve(response.statusCode ?? 0);
          },
        );
        outgoing.on("error", reject);
        const piece = new Uint8Array(1024 * 1024).fill(0x20);
        const write = (left: number): void => {
          if (left === 0) outgoing.end();
          else outgoing.write(piece, () => write(left - 1));
        };
        write(40);
      });
      expect(status).toBe(413);
    });
  });

  it("survives what is no HTTP", async () => {
    await listening(async (url) => {
      await new Promise<void>((resolve) => {
        const socket = connect(Number(new URL(url).port), "127.0.0.1", () =>
          socket.end("\u0000\u0001 nonsense\r\n\r\n"),
        );
        socket.on("error", () => undefined);
        socket.on("close", () => resolve());
        socket.resume();
      });
      expect((await exchange(url)).status).toBe(200);
    });
  });

  it("slows down to a reader that lags", async () => {
    const emulator = createEmulator({ script: { rules: [{ reply: { text: "word ".repeat(400_000) } }] } });
    const response = await emulator.fetch({
      method: "POST",
      url: `http://offline${asking.path}`,
      headers: asking.headers,
      body: JSON.stringify(asking.body("go")),
    });
    const body = response.body[Symbol.asyncIterator]();
    const { value } = await body.next();
    expect((value as Uint8Array).length).toBeLessThan(64 * 1024);
    await body.return?.();
    expect(await body.next()).toMatchObject({ done: true });
  });
});

describe("the server in process", () => {
  it("can be left while it stalls", async () => {
    const emulator = createEmulator({ clock: createVirtualClock() });
    const response = await emulator.fetch({
      method: "POST",
      url: `http://offline${asking.path}`,
      headers: { ...asking.headers, [FAULT_HEADER]: '{"stallAfterEvents":2}' },
      body: JSON.stringify(asking.body("hi")),
    });
    const body = response.body[Symbol.asyncIterator]();
    await body.next();
    const stalled = body.next().catch(() => "gone");
    await body.return?.();
    expect(await stalled).toBe("gone");
  });

  it("rejects at once when the signal is aborted already", async () => {
    const signal = AbortSignal.abort(new Error("too late"));
    const asked = createEmulator().fetch({ method: "GET", url: "http://offline/v1/models", headers: {}, signal });
    await expect(asked).rejects.toThrow("too late");
  });

  it("takes time and chance from outside", async () => {
    let count = 0;
    const random = { next: () => 0, id: () => `id-${(count += 1)}` };
    const clock = createVirtualClock(1_800_000_000_000);
    const { json } = await post(
      createEmulator({ clock, random }),
      "/v1/chat/completions",
      { model: "m", messages: [{ role: "user", content: "hi" }] },
      HEADERS.openai,
    );
    expect(json).toMatchObject({ id: "chatcmpl-id1", created: 1_800_000_000 });
  });
});

describe("what the server reports in addition to replies", () => {
  const get = async (path: string, headers: Record<string, string> = {}, method: "GET" | "POST" | "DELETE" = "GET") => {
    const response = await createEmulator({ models: ["a", "b"] }).fetch({
      method,
      url: `http://offline${path}`,
      headers,
    });
    let text = "";
    for await (const bytes of response.body) text += new TextDecoder().decode(bytes);
    return { status: response.status, json: JSON.parse(text) as unknown };
  };

  it("lists models in the shape of whoever asks", async () => {
    expect((await get("/v1/models", HEADERS.anthropic)).json).toMatchObject({
      data: [{ type: "model", id: "a" }, { id: "b" }],
      has_more: false,
    });
    expect((await get("/v1/models", HEADERS.openai)).json).toMatchObject({
      object: "list",
      data: [{ id: "a", object: "model" }, { id: "b" }],
    });
    expect((await get("/v1beta/models", HEADERS.google)).json).toMatchObject({
      models: [{ name: "models/a" }, { name: "models/b" }],
    });
    expect((await get("/v1/models/missing-x", HEADERS.openai)).status).toBe(404);
  });

  it("is well, and says no to the rest in the shape of whoever asks", async () => {
    expect((await get("/healthz")).status).toBe(200);
    expect((await get("/")).status).toBe(200);
    expect(await get("/v1/nothing", HEADERS.anthropic)).toMatchObject({
      status: 404,
      json: { type: "error", error: { type: "not_found_error" } },
    });
    expect(await get("/v1/nothing", HEADERS.openai)).toMatchObject({
      status: 404,
      json: { error: { type: "invalid_request_error" } },
    });
    expect(await get("/v1beta/nothing", HEADERS.google)).toMatchObject({
      status: 404,
      json: { error: { status: "NOT_FOUND" } },
    });
    expect((await get("/v1/messages", HEADERS.anthropic)).status).toBe(405);
    expect((await get("/v1/models", HEADERS.openai, "DELETE")).status).toBe(405);
    expect((await get("/v1/models")).status).toBe(401);
  });

  it("answers under any base URL", async () => {
    for (const path of ["/anthropic/v1/messages", "/api/v1/messages"]) {
      expect((await post(createEmulator(), path, asking.body("hi"), HEADERS.anthropic)).status).toBe(200);
    }
    for (const path of ["/chat/completions", "/api/v1/chat/completions", "/openai/v1/chat/completions"]) {
      expect((await post(createEmulator(), path, ASKINGS[1]?.body("hi"), HEADERS.openai)).status).toBe(200);
    }
  });

  it("streams Gemini's list form without alt=sse", async () => {
    const { json, headers } = await post(
      createEmulator(),
      "/v1beta/models/m:streamGenerateContent",
      ASKINGS[3]?.body("What is 1 + 1?"),
      HEADERS.google,
    );
    expect(headers["content-type"]).toContain("application/json");
    const texts = (json as { candidates: { content: { parts: { text: string }[] } }[] }[]).map(
      (chunk) => chunk.candidates[0]?.content.parts[0]?.text,
    );
    expect(texts.join("")).toBe("1 + 1 = 2.");
  });

  it("cuts a reply at its limit and at a stop sequence, and reports it", async () => {
    const body = { ...asking.body("Hello", { stream: false }), max_tokens: 1 };
    expect((await post(createEmulator(), asking.path, body, asking.headers)).json).toMatchObject({
      stop_reason: "max_tokens",
      content: [{ text: "I am" }],
    });
    const stop = { ...asking.body("Hello", { stream: false }), stop_sequences: ["offline"] };
    expect((await post(createEmulator(), asking.path, stop, asking.headers)).json).toMatchObject({
      stop_reason: "stop_sequence",
      stop_sequence: "offline",
      content: [{ text: "I am Millrace's " }],
    });
  });

  it("reports what was cached: written by the first request, read by the next ones", async () => {
    const cached = { type: "text", text: "word ".repeat(50), cache_control: { type: "ephemeral" } };
    const send = async (...messages: object[]) =>
      (
        await post(
          createEmulator(),
          asking.path,
          { model: "m", max_tokens: 50, system: [cached], messages },
          asking.headers,
        )
      ).json as { usage: object };
    const user = { role: "user", content: "hi" };
    expect((await send(user)).usage).toMatchObject({ cache_creation_input_tokens: 63, cache_read_input_tokens: 0 });
    expect((await send(user, { role: "assistant", content: "yes" }, user)).usage).toMatchObject({
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: expect.toSatisfy((count: number) => count > 63),
    });
  });

  it("keeps what it received, without the keys, and only the newest", async () => {
    const emulator = createEmulator();
    await post(emulator, "/v1/messages?beta=true&key=secret", asking.body("hi"), {
      ...asking.headers,
      "X-Api-Key": "secret",
      cookie: "secret",
    });
    expect(emulator.requests).toEqual([
      {
        method: "POST",
        path: "/v1/messages?beta=true&key=%5Bhidden%5D",
        headers: expect.objectContaining({
          "x-api-key": "[hidden]",
          cookie: "[hidden]",
          "anthropic-version": "2023-06-01",
        }),
        body: asking.body("hi"),
      },
    ]);
    for (let index = 0; index < 1005; index += 1) {
      await emulator.fetch({ method: "GET", url: `http://offline/healthz?${index}`, headers: {} });
    }
    expect(emulator.requests).toHaveLength(1000);
    expect(emulator.requests.at(-1)?.path).toBe("/healthz?1004=");
  });
});

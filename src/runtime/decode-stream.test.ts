import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { AgentEvent } from "#domain";
import { assertRunLog, createSeededRandom, createVirtualClock, createMemoryFiles, createScriptedSpawn } from "#testing";
import { decodeStream } from "./decode-stream.ts";
import { formatRegistry } from "./formats.ts";
import type { World } from "./world.ts";

const world: World = {
  clock: createVirtualClock(),
  random: createSeededRandom(1),
  fetch: () => Promise.reject(new Error("no network here")),
  env: {},
  spawn: createScriptedSpawn([]),
  files: createMemoryFiles(),
  onListenerError: () => undefined,
};

const format = (name: string) => formatRegistry().require(name);
const fixture = (name: string) =>
  new Uint8Array(readFileSync(new URL(`../../test/fixtures/claude-code/2.1.325/${name}.ndjson`, import.meta.url)));

async function* pieces(bytes: Uint8Array | string, size = 1000): AsyncGenerator<Uint8Array> {
  const whole = typeof bytes === "string" ? new TextEncoder().encode(bytes) : bytes;
  for (let at = 0; at < whole.length; at += size) yield whole.subarray(at, at + size);
}

async function read(name: string, bytes: AsyncIterable<Uint8Array>, options = {}): Promise<AgentEvent[]> {
  const log: AgentEvent[] = [];
  for await (const event of decodeStream(format(name), bytes, options, world)) log.push(event);
  assertRunLog(log);
  return log;
}

const resultOf = (log: readonly AgentEvent[]) => {
  const last = log.at(-1);
  if (last?.type !== "done") throw new Error("no done");
  return last.result;
};

const chat = (content: string) => `data: {"choices":[{"index":0,"delta":{"content":"${content}"}}]}\n\n`;
const CHAT_END =
  'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":2}}\n\ndata: [DONE]\n\n';

describe("a captured stream as a run", () => {
  it("a transcript of Claude Code: its own verdict, its session, one done", async () => {
    const log = await read("claude-code", pieces(fixture("plain-text")));
    const result = resultOf(log);
    expect(result.status).toBe("success");
    expect(result.text).not.toBe("");
    expect(result.sessionId).toMatch(/^[0-9a-f-]{36}$/);
    expect(log.filter((event) => event.type === "result")).toHaveLength(1);
  });

  it("I5: the same events however the bytes are split", async () => {
    const bytes = fixture("plain-text");
    const plain = async (size: number) =>
      (await read("claude-code", pieces(bytes, size))).map(({ runId: _, ...event }) => event);
    expect(await plain(7)).toEqual(await plain(bytes.length));
  });

  it("keepRaw keeps the exact frame on every event but the last", async () => {
    const log = await read("claude-code", pieces(fixture("plain-text")), { keepRaw: true });
    expect(log.slice(0, -1).every((event) => event.raw !== undefined)).toBe(true);
    expect((await read("claude-code", pieces(fixture("plain-text")))).some((event) => event.raw !== undefined)).toBe(
      false,
    );
  });

  it("a model's reply has no verdict: a proper end is a success, with its usage", async () => {
    const result = resultOf(await read("openai-chat", pieces(chat("Hel") + chat("lo") + CHAT_END)));
    expect(result).toMatchObject({
      status: "success",
      text: "Hello",
      turns: 1,
      usage: { inputTokens: 3, outputTokens: 2 },
    });
  });

  it.each(["claude-code", "anthropic-messages", "openai-chat", "gemini"])(
    "I4: %s: a stream that is empty, cut or not a stream is an error, never a success",
    async (name) => {
      const binary = Uint8Array.from({ length: 5000 }, (_, index) => (index * 7919) % 256);
      for (const bytes of ["", "\n\n", "hello", '{"type":"assis', chat("Hel"), binary]) {
        expect(resultOf(await read(name, pieces(bytes))).status).toBe("error");
      }
    },
  );

  it("a source that fails ends the run with what was received", async () => {
    const failing = (async function* () {
      yield* pieces(chat("Hel"));
      throw new Error("disk gone");
    })();
    const result = resultOf(await read("openai-chat", failing));
    expect(result).toMatchObject({
      status: "error",
      text: "Hel",
      error: { code: "source-failed", message: "disk gone" },
    });
  });

  it("an abort ends it at once, even while the source is silent, and no cut is reported", async () => {
    const silent: AsyncIterable<Uint8Array> = {
      [Symbol.asyncIterator]() {
        let first = true;
        return {
          next: () => {
            if (!first) return new Promise(() => undefined);
            first = false;
            return Promise.resolve({ done: false, value: new TextEncoder().encode(chat("Hel")) });
          },
        };
      },
    };
    const run = decodeStream(format("openai-chat"), silent, {}, world);
    const log: AgentEvent[] = [];
    run.on("*", (event) => log.push(event));
    await new Promise((resolve) => run.once("text-delta", resolve));
    // By now a read is pending that never resolves.
    await new Promise((resolve) => setImmediate(resolve));
    await run.abort();
    const result = await run.result();
    expect(result).toMatchObject({ status: "aborted", text: "Hel" });
    expect(log.some((event) => event.type === "error")).toBe(false);
  });

  it("the source is released when the reader leaves", async () => {
    let released = false;
    const endless = (async function* () {
      try {
        for (;;) yield* pieces(chat("a"));
      } finally {
        released = true;
      }
    })();
    for await (const event of decodeStream(format("openai-chat"), endless, {}, world)) {
      if (event.type === "text-delta") break;
    }
    expect(released).toBe(true);
  });

  it("a slow reader slows the source down", async () => {
    let pulled = 0;
    const long = (async function* () {
      for (let n = 0; n < 20_000; n += 1) {
        pulled += 1;
        yield new TextEncoder().encode(chat("abcdefgh"));
      }
    })();
    const events = decodeStream(format("openai-chat"), long, {}, world)[Symbol.asyncIterator]();
    await events.next();
    for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    expect(pulled).toBeLessThan(5000);
    await events.return?.();
  });
});

import { followSignal } from "#streams";
import { describe, expect, it } from "vitest";
import { messageItem, resultItem, textDelta } from "#domain";
import { createSeededRandom, createVirtualClock } from "#testing";
import { createSseFrames, SSE_VOCABULARIES } from "#views";
import { createSseFramer, decodeEvent } from "#wire";
import type { RunSource } from "./run.ts";
import { createRun } from "./handle.ts";

const say = (text: string) => [
  messageItem({ id: "m", role: "assistant", blocks: [{ type: "text", text }] }),
  resultItem({ subtype: "success", isError: false, usage: {} }),
];

function begin(source: RunSource) {
  const clock = createVirtualClock();
  const run = createRun(source, { clock, random: createSeededRandom(1), onListenerError: () => undefined });
  return { run, clock };
}

const greeting: RunSource = async (writer) => {
  await writer.write([textDelta("m", 0, "Grüß ")]);
  await writer.write([textDelta("m", 0, "dich"), ...say("Grüß dich")]);
};

/** A source that writes something and then waits until it is stopped. */
const silent: RunSource = async (writer) => {
  await writer.write([textDelta("m", 0, "Hello")]);
  await new Promise<void>((resolve) => followSignal(writer.signal, () => resolve()));
};

const failing: RunSource = async (writer) => {
  await writer.write([textDelta("m", 0, "Half an ans")]);
  throw new Error("the line is dead");
};

describe("F-D13: run.toResponse", () => {
  it("is a stream of server-sent events that no proxy may buffer", async () => {
    const { run } = begin(greeting);
    const response = run.toResponse();
    expect(response).toBeInstanceOf(Response);
    expect(response.status).toBe(200);
    expect(Object.fromEntries(response.headers)).toEqual({
      "content-type": "text/event-stream; charset=utf-8",
      "cache-control": "no-cache, no-transform",
      "x-accel-buffering": "no",
      "x-content-type-options": "nosniff",
      "x-run-id": run.id,
    });
    const framer = createSseFramer();
    const frames = [...framer.push(new Uint8Array(await response.arrayBuffer())), ...framer.end()];
    const events = frames.map((frame) => decodeEvent((frame as { text: string }).text).event);
    const own = [];
    for await (const event of run) own.push(event);
    expect(events).toEqual(own);
    expect(events.at(-1)?.type).toBe("done");
  });

  it.each(SSE_VOCABULARIES)("emits the run in the vocabulary of %s, as the server does", async (vocabulary) => {
    const { run } = begin(greeting);
    const text = await run.toResponse({ events: vocabulary }).text();
    const frames = createSseFrames(vocabulary);
    let expected = "";
    for await (const event of run) expected += frames.next(event).join("");
    expect(text).toBe(expected);
    expect(text).not.toBe("");
  });

  it("rejects an unknown vocabulary by name", () => {
    const { run } = begin(greeting);
    expect(() => run.toResponse({ events: "klingon" as never })).toThrow(
      'events is "klingon". Give one of: millrace, runner, chat.',
    );
  });

  it("accepts further headers, and replacements for its own", async () => {
    const { run } = begin(greeting);
    const response = run.toResponse({ headers: { "Access-Control-Allow-Origin": "*", "cache-control": "no-store" } });
    expect(response.headers.get("access-control-allow-origin")).toBe("*");
    expect(response.headers.get("cache-control")).toBe("no-store");
    await response.body?.cancel();
  });

  it("a run that fails ends with its done, and not with a broken stream", async () => {
    const text = await begin(failing).run.toResponse().text();
    expect(text).toContain('"code":"source-failed"');
    expect(text.trimEnd().split("\n\n").at(-1)).toContain("event: done");
  });

  it("comments are sent during silence, and nothing after them is lost", async () => {
    const { run, clock } = begin(silent);
    const reader = (run.toResponse().body as ReadableStream<Uint8Array>).getReader();
    const read = async () => new TextDecoder().decode((await reader.read()).value);
    expect(await read()).toContain("Hello");
    const next = read();
    await clock.advance(15_000);
    expect(await next).toBe(": ping\n\n");
    await run.abort();
    expect(await read()).toContain("event: done");
    expect((await reader.read()).done).toBe(true);
  });

  it("a slow client slows the source down", async () => {
    let written = 0;
    const { run } = begin(async (writer) => {
      for (; written < 100_000 && !writer.signal.aborted; written += 1) {
        await writer.write([textDelta(`m${written}`, 0, "x")]);
      }
    });
    const reader = (run.toResponse().body as ReadableStream<Uint8Array>).getReader();
    await reader.read();
    for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    expect(written).toBeLessThan(2000);
    await reader.cancel();
  });
});

describe("F-D13: run.toTextResponse", () => {
  it("is the text as it is written", async () => {
    const response = begin(greeting).run.toTextResponse();
    expect(response.headers.get("content-type")).toBe("text/plain; charset=utf-8");
    expect(response.headers.get("x-accel-buffering")).toBe("no");
    expect(await response.text()).toBe("Grüß dich");
  });

  it("ends with the error if the run fails in the middle", async () => {
    const response = begin(failing).run.toTextResponse();
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    expect(new TextDecoder().decode((await reader.read()).value)).toBe("Half an ans");
    await expect(reader.read()).rejects.toMatchObject({ code: "source-failed", message: "the line is dead" });
  });
});

describe.each(["toResponse", "toTextResponse"] as const)("F-D13: a client that leaves %s", (method) => {
  it("aborts the run at once, even while the model is silent", async () => {
    const { run } = begin(silent);
    const reader = (run[method]().body as ReadableStream<Uint8Array>).getReader();
    await reader.read();
    const waiting = reader.read();
    await reader.cancel();
    expect((await waiting).done).toBe(true);
    expect(await run.result()).toMatchObject({ status: "aborted" });
  });

  it("does not affect a detached run", async () => {
    const { run } = begin(silent);
    const reader = (run.detach()[method]().body as ReadableStream<Uint8Array>).getReader();
    await reader.read();
    await reader.cancel();
    expect(run.isComplete()).toBe(false);
    await run.abort();
  });
});

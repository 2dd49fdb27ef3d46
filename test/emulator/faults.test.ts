import { describe, expect, it } from "vitest";
import { createEmulator, type EmulatorScript, type Fault } from "#emulator";
import { createVirtualClock } from "#testing";
import { byEffort } from "../effort.ts";
import { ASKINGS, type Asking, DECODED, decode, readOutcome } from "./protocols.ts";
import { post, readAll, readSse, type Seen } from "./support.ts";

const reply = {
  thinking: "two sums, naïve 東京 🙂",
  text: "I will work it out: “25 + 17” and 6 × 7.",
  toolCalls: [
    { name: "add", input: { a: 25, b: 17 } },
    { name: "multiply", input: { a: 6, b: 7, note: "ü🙂" } },
  ],
};

const scripted = (fault?: Fault): EmulatorScript => ({ rules: [{ reply, ...(fault !== undefined && { fault }) }] });

/** A server whose clock stands still, because answers that are compared must not differ by the second they were made in. */
const fresh = (fault?: Fault) =>
  createEmulator({ script: scripted(fault), clock: createVirtualClock(1_800_000_000_000) });

/** The answer of a fresh server, so that all answers have the same ids. */
const play = (asking: Asking, fault?: Fault): Promise<Seen> =>
  post(fresh(fault), asking.path, asking.body("go"), asking.headers);

describe.each(ASKINGS)("faults in a stream of $name", (asking) => {
  it("cutAfterBytes sends exactly so many bytes and ends properly", async () => {
    const whole = (await play(asking)).bytes;
    for (const at of [0, 1, 100, 101, 102, whole.length - 1, whole.length, whole.length + 50]) {
      const { bytes, broken, status } = await play(asking, { cutAfterBytes: at });
      expect({ status, broken, bytes }).toEqual({ status: 200, broken: undefined, bytes: whole.slice(0, at) });
    }
  });

  it("cutAfterEvents sends so many events", async () => {
    const events = readSse((await play(asking)).text);
    for (const count of [0, 1, 3, events.length - 1, events.length]) {
      expect(readSse((await play(asking, { cutAfterEvents: count })).text)).toEqual(events.slice(0, count));
    }
  });

  it("resetAfterEvents and resetAfterBytes break the connection after what was sent", async () => {
    const whole = await play(asking);
    const afterEvents = await play(asking, { resetAfterEvents: 2 });
    expect(readSse(afterEvents.text)).toEqual(readSse(whole.text).slice(0, 2));
    expect(afterEvents.broken).toMatchObject({ name: "ConnectionBroken", code: "ECONNRESET" });
    const afterBytes = await play(asking, { resetAfterBytes: 40 });
    expect(afterBytes.text).toBe(whole.text.slice(0, 40));
    expect(afterBytes.broken).toMatchObject({ code: "ECONNRESET" });
  });

  it.each([{ stallAfterEvents: 2 }, { stallAfterBytes: 40 }])(
    "%j sends nothing more until the other side goes",
    async (fault) => {
      const controller = new AbortController();
      const emulator = fresh(fault);
      const response = await emulator.fetch({
        method: "POST",
        url: `http://offline${asking.path}`,
        headers: asking.headers,
        body: JSON.stringify(asking.body("go")),
        signal: controller.signal,
      });
      const body = response.body[Symbol.asyncIterator]();
      expect((await body.next()).done).toBe(false);
      const next = body.next();
      controller.abort(new Error("enough"));
      await expect(next).rejects.toThrow("enough");
    },
  );

  it("errorEventAfterEvents sends the vendor's error and ends the stream", async () => {
    const events = readSse((await play(asking)).text);
    const seen = readSse((await play(asking, { errorEventAfterEvents: 3, message: "out of breath" })).text);
    expect(seen.slice(0, 3)).toEqual(events.slice(0, 3));
    expect(seen).toHaveLength(4);
    expect(seen[3]?.data).toContain("out of breath");
  });

  it("malformedFrameAfterEvents inserts one unreadable frame, and continues", async () => {
    const events = readSse((await play(asking)).text);
    const seen = readSse((await play(asking, { malformedFrameAfterEvents: 2 })).text);
    expect(() => JSON.parse(seen[2]?.data ?? "") as unknown).toThrow();
    expect([...seen.slice(0, 2), ...seen.slice(3)]).toEqual(events);
  });

  it("invalidUtf8AfterEvents puts bytes in that are no text", async () => {
    const seen = await play(asking, { invalidUtf8AfterEvents: 2 });
    expect(seen.text).toContain("\uFFFD");
  });

  it("dropEvent and repeatEvent leave one event out or send it twice", async () => {
    const events = readSse((await play(asking)).text);
    expect(readSse((await play(asking, { dropEvent: 1 })).text)).toEqual(events.filter((_, index) => index !== 1));
    expect(readSse((await play(asking, { repeatEvent: 1 })).text)).toEqual(
      events.flatMap((event, index) => (index === 1 ? [event, event] : [event])),
    );
  });

  it("noEnd sends everything except the mark that the reply is complete", async () => {
    const whole = (await play(asking)).text;
    const { text } = await play(asking, { noEnd: true });
    expect(whole.startsWith(text)).toBe(true);
    expect(text).toContain("multiply");
    expect(text).not.toMatch(/message_stop|\[DONE\]|response\.completed|finishReason|"finish_reason":"/);
  });

  it("duplicateIds gives all calls one id", async () => {
    const { text } = await play(asking, { duplicateIds: true });
    const ids = new Set(text.match(/(?:toolu|call|fc)_[0-9a-f]{24}(?![0-9a-f])/g));
    expect(ids.size).toBe(1);
  });

  it("pieceBytes cuts the writes small, and the bytes stay the same", async () => {
    const emulator = fresh({ pieceBytes: 7 });
    const response = await emulator.fetch({
      method: "POST",
      url: `http://offline${asking.path}`,
      headers: asking.headers,
      body: JSON.stringify(asking.body("go")),
    });
    const sizes: number[] = [];
    let text = "";
    const decoder = new TextDecoder();
    for await (const bytes of response.body) {
      sizes.push(bytes.length);
      text += decoder.decode(bytes, { stream: true });
    }
    expect(Math.max(...sizes)).toBe(7);
    expect(text).toBe((await play(asking)).text);
  });

  it.each([429, 500, 503, 529])("status %i comes with the vendor's error body and its retry-after", async (status) => {
    const seen = await play(asking, { status, retryAfter: 7, message: "not now" });
    expect(seen.status).toBe(status);
    expect(seen.headers["retry-after"]).toBe("7");
    expect(seen.json).toMatchObject({ error: { message: "not now" } });
  });

  it("a status can come with any body and type", async () => {
    const seen = await play(asking, { status: 502, body: "<html>Bad Gateway</html>", contentType: "text/html" });
    expect({ status: seen.status, text: seen.text, type: seen.headers["content-type"] }).toEqual({
      status: 502,
      text: "<html>Bad Gateway</html>",
      type: "text/html",
    });
  });

  it("times fails so often, then answers", async () => {
    const emulator = createEmulator({ script: scripted({ status: 503, times: 2 }) });
    const statuses: number[] = [];
    for (let turn = 0; turn < 4; turn += 1)
      statuses.push((await post(emulator, asking.path, asking.body("go"), asking.headers)).status);
    expect(statuses).toEqual([503, 503, 200, 200]);
  });

  it("a header asks for a fault, and a wrong one is refused with the name of the field", async () => {
    const emulator = createEmulator();
    const send = (fault: string) =>
      post(emulator, asking.path, asking.body("1 + 1"), { ...asking.headers, "x-millrace-fault": fault });
    expect((await send('{"status":418}')).status).toBe(418);
    expect((await send('{"statsu":418}')).text).toContain("Did you mean");
    expect((await send('{"cutAfterBytes":-1}')).status).toBe(400);
    expect((await send("{")).status).toBe(400);
    const once = '{"status":503,"times":1}';
    expect([(await send(once)).status, (await send(once)).status]).toEqual([503, 200]);
  });

  it("delays, pauses and slow writes follow the clock, and nothing else", async () => {
    const clock = createVirtualClock();
    const emulator = createEmulator({
      clock,
      script: {
        rules: [{ reply: { text: "a b c", delayMs: 1000, betweenMs: 10 }, fault: { slowMs: 5, delayMs: 500 } }],
      },
    });
    let status = 0;
    const sizes: number[] = [];
    const done = (async () => {
      const response = await emulator.fetch({
        method: "POST",
        url: `http://offline${asking.path}`,
        headers: asking.headers,
        body: JSON.stringify(asking.body("go")),
      });
      status = response.status;
      for await (const bytes of response.body) sizes.push(bytes.length);
    })();
    await clock.advance(1499);
    expect(status).toBe(0);
    await clock.advance(1);
    expect({ status, writes: sizes.length }).toEqual({ status: 200, writes: 0 });
    await clock.advance(5);
    expect(sizes.length).toBe(1);
    await clock.advance(14);
    expect(sizes.length).toBe(1);
    await clock.advance(1);
    expect(sizes.length).toBe(2);
    await clock.advance(10_000);
    await done;
    expect(clock.pending()).toBe(0);
  });

  it("an abort takes its timer back, before the status and between two writes", async () => {
    for (const [advance, pending] of [
      [50, 1],
      [150, 1],
    ] as const) {
      const clock = createVirtualClock();
      const controller = new AbortController();
      const emulator = createEmulator({
        clock,
        script: { rules: [{ reply: { text: "a b c", delayMs: 100, betweenMs: 1000 } }] },
      });
      const done = emulator
        .fetch({
          method: "POST",
          url: `http://offline${asking.path}`,
          headers: asking.headers,
          body: JSON.stringify(asking.body("go")),
          signal: controller.signal,
        })
        .then(({ body }) => readAll(body))
        .catch((thrown: unknown) => ({ broken: thrown }));
      await clock.advance(advance);
      expect(clock.pending()).toBe(pending);
      controller.abort(new Error("enough"));
      expect((await done).broken).toMatchObject({ message: "enough" });
      expect(clock.pending()).toBe(0);
    }
  });

  it("a stall before the status ends with the request", async () => {
    const controller = new AbortController();
    const emulator = createEmulator({ script: scripted({ stallBeforeHeaders: true }) });
    const pending = emulator.fetch({
      method: "POST",
      url: `http://offline${asking.path}`,
      headers: asking.headers,
      body: JSON.stringify(asking.body("go")),
      signal: controller.signal,
    });
    controller.abort(new Error("enough"));
    await expect(pending).rejects.toThrow("enough");
  });
});

describe.each(DECODED)("R9: our own reader of $name", (asking) => {
  it("takes the whole stream for a success", async () => {
    const outcome = readOutcome(decode(asking.format, (await play(asking)).bytes));
    expect(outcome).toMatchObject({ text: reply.text, failed: false, calls: reply.toolCalls });
  });

  it("never takes a cut stream for a success and never sees a partial call, wherever it is cut", async () => {
    const { bytes } = await play(asking);
    const end = readOutcome(decode(asking.format, bytes));
    const wrong: unknown[] = [];
    for (let at = 0; at < bytes.length; at += byEffort({ quick: 7, full: 1 })) {
      const outcome = readOutcome(decode(asking.format, bytes.subarray(0, at)));
      const isWhole = outcome.messages.length > 0 && !outcome.failed;
      if (
        isWhole
          ? JSON.stringify(outcome.calls) !== JSON.stringify(end.calls)
          : outcome.calls.length > 0 || !outcome.failed
      ) {
        wrong.push({ at, outcome });
      }
    }
    expect(wrong).toEqual([]);
  });

  it.each<Fault>([
    { noEnd: true },
    { cutAfterEvents: 0 },
    { cutAfterEvents: 2 },
    { cutAfterBytes: 333 },
    { errorEventAfterEvents: 1 },
    { errorEventAfterEvents: 6 },
    { errorEventAfterEvents: 6, type: "rate_limit_error" },
    { errorEventAfterEvents: 6, type: "RESOURCE_EXHAUSTED" },
  ])("%j is a failure, and no call comes out of it", async (fault) => {
    const outcome = readOutcome(decode(asking.format, (await play(asking, fault)).bytes));
    expect({ failed: outcome.failed, calls: outcome.calls, messages: outcome.messages }).toEqual({
      failed: true,
      calls: [],
      messages: [],
    });
  });

  it("duplicate ids give distinct calls, or none", async () => {
    const outcome = readOutcome(decode(asking.format, (await play(asking, { duplicateIds: true })).bytes));
    expect(new Set(outcome.callIds).size).toBe(outcome.callIds.length);
  });
});

import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { AgentEvent, EventType } from "#domain";
import { decodeBase64, encodeBase64, EVENT_FAMILIES } from "#domain";
import { fuzzRuns } from "../../test/effort.ts";
import { decodeEvent, encodeEvent } from "./event-codec.ts";
import { createSseFramer } from "./sse-decoder.ts";
import { encodeEventSse } from "./sse-encoder.ts";

const RUNS = fuzzRuns(5000);
const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

// Lone surrogates included: JSON writes them as escapes.
const text = fc.oneof(
  fc.string({ unit: fc.nat(0xffff).map((unit) => String.fromCharCode(unit)), maxLength: 12 }),
  fc.constantFrom("\n\ndata: x", "\r", "\u2028\u2029", "\0", "__proto__", "🙂", '"\\'),
);
const json = fc.jsonValue({ maxDepth: 3 }).map((value) => JSON.parse(JSON.stringify(value)) as unknown);
const count = fc.nat();
const flag = fc.boolean();
const record = fc.dictionary(text, json).map((value) => JSON.parse(JSON.stringify(value)) as object);

const FIELDS: { readonly [Type in EventType]: Readonly<Record<string, fc.Arbitrary<unknown>>> } = {
  "text-delta": { messageId: text, index: count, text },
  "thinking-delta": { messageId: text, index: count, text },
  "tool-input-delta": { messageId: text, index: count, callId: text, name: text, json: text },
  start: { backend: text, mode: fc.constantFrom("plain", "control", "http", "tape") },
  message: { id: text, role: fc.constantFrom("assistant", "user"), blocks: fc.array(record, { maxLength: 3 }) },
  "tool-call": { callId: text, name: text, input: json, executedBy: fc.constantFrom("millrace", "backend") },
  "tool-result": { callId: text, name: text, output: json, isError: flag },
  permission: { callId: text, name: text, state: fc.constant("asked"), by: fc.constant("user"), reason: text },
  handoff: { from: text, to: text, message: text },
  notice: { kind: text, data: json },
  warning: { code: fc.constant("late-event"), message: text, context: json },
  error: { code: fc.constant("json-decode"), message: text, terminal: flag },
  result: { subtype: text, isError: flag, usage: record, structured: json },
  done: { result: record },
};

const raws = fc.oneof(
  fc.uint8Array({ maxLength: 20 }).map((bytes) => ({ json: "", bytes })),
  text.map((given) => ({ json: decoder.decode(encoder.encode(given)), bytes: encoder.encode(given) })),
  fc.record({ json: text, bytes: fc.uint8Array({ maxLength: 20 }) }),
);

const ENVELOPE = { seq: count, ts: count, runId: text };
const events = fc.constantFrom(...(Object.keys(FIELDS) as EventType[])).chain((type) => {
  const required: Record<string, fc.Arbitrary<unknown>> = { type: fc.constant(type), ...ENVELOPE, ...FIELDS[type] };
  const all = { ...required, agent: text, parent: text, raw: raws };
  return fc.record<Record<string, unknown>>(all, { requiredKeys: Object.keys(required) });
}) as unknown as fc.Arbitrary<AgentEvent>;

describe("laws", () => {
  it("R1: every event survives a round trip through JSON, on one line", () => {
    fc.assert(
      fc.property(events, (event) => {
        const line = encodeEvent(event);
        expect(/[\r\n]/.test(line)).toBe(false);
        expect(isDeepStrictEqual(decodeEvent(line), { event: plain(event) })).toBe(true);
      }),
      { numRuns: RUNS },
    );
  });

  it("SEC9 R1: every event survives a round trip through SSE, as exactly one frame with its number and type", () => {
    const framer = createSseFramer();
    fc.assert(
      fc.property(fc.array(events, { minLength: 1, maxLength: 3 }), (list) => {
        framer.reset();
        const frames = [...framer.push(encoder.encode(list.map(encodeEventSse).join(""))), ...framer.end()];
        expect(frames.map((frame) => (frame.kind === "data" ? [frame.name, frame.id] : frame))).toEqual(
          list.map((event) => [event.type, String(event.seq)]),
        );
        expect(
          isDeepStrictEqual(
            frames.map((frame) => decodeEvent(frame.text).event),
            list.map(plain),
          ),
        ).toBe(true);
      }),
      { numRuns: RUNS },
    );
  });

  it("R1: no text makes it throw", () => {
    const near = fc
      .record({
        type: fc.oneof(json, fc.constantFrom(...Object.keys(EVENT_FAMILIES))),
        seq: json,
        ts: json,
        runId: json,
        raw: json,
      })
      .map((value) => JSON.stringify(value));
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json(), near), (given) => {
        const decoded = decodeEvent(given);
        expect(decoded.event === undefined).toBe(typeof decoded.fault === "string");
      }),
      { numRuns: RUNS },
    );
  });

  it("bytes of any length survive a round trip through base64", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 50 }), (bytes) =>
        isDeepStrictEqual(decodeBase64(encodeBase64(bytes)), plainBytes(bytes)),
      ),
      { numRuns: RUNS },
    );
    const large = Uint8Array.from({ length: 100_001 }, (_, index) => index);
    expect(decodeBase64(encodeBase64(large))).toEqual(large);
    expect(encodeBase64(large)).toBe(Buffer.from(large).toString("base64"));
  });
});

/** fast-check makes records without a prototype; decoded ones have one. */
function plain(event: AgentEvent): AgentEvent {
  const { raw, ...rest } = event;
  return {
    ...rest,
    ...(raw === undefined ? {} : { raw: { json: raw.json, bytes: plainBytes(raw.bytes) } }),
  } as AgentEvent;
}

function plainBytes(bytes: Uint8Array): Uint8Array {
  return Uint8Array.from(bytes);
}

describe("writing raw", () => {
  const event = { type: "handoff", seq: 0, ts: 0, runId: "r", from: "a", to: "b", message: "c" } as const;
  const written = (raw: AgentEvent["raw"]) =>
    (JSON.parse(encodeEvent({ ...event, raw } as AgentEvent)) as { raw: unknown }).raw;

  it("bytes that are the UTF-8 of the text are not written twice", () => {
    expect(written({ json: "é", bytes: encoder.encode("é") })).toEqual({ json: "é" });
  });

  it("any other bytes are kept exactly", () => {
    expect(written({ json: "", bytes: Uint8Array.of(0xc3, 0x28) })).toEqual({ json: "", base64: "wyg=" });
    expect(written({ json: "a", bytes: encoder.encode("b") })).toEqual({ json: "a", base64: "Yg==" });
  });
});

describe("what is not an event", () => {
  const event = { type: "text-delta", seq: 1, ts: 2, runId: "r", messageId: "m", index: 0, text: "x" };

  it.each([
    ["not JSON", "{", /not JSON/],
    ["not an object", "[]", /not a JSON object/],
    ["no type", "{}", /type is missing/],
    ["an inherited name as type", { ...event, type: "constructor" }, /type is "constructor"/],
    ["an unknown type", { ...event, type: "text_delta" }, /not a known event type/],
    ["no seq", { ...event, seq: undefined }, /seq is not of kind number/],
    ["a negative seq", { ...event, seq: -1 }, /seq is -1/],
    ["half a seq", { ...event, seq: 1.5 }, /seq is 1.5/],
    ["a firstSeq past seq", { ...event, firstSeq: 2 }, /firstSeq is 2/],
    ["ts as text", { ...event, ts: "2" }, /ts is not of kind number/],
    ["no runId", { ...event, runId: undefined }, /runId/],
    ["agent as a number", { ...event, agent: 1 }, /agent/],
    ["no text", { ...event, text: undefined }, /text is not of kind string/],
    ["raw as text", { ...event, raw: "x" }, /raw/],
    ["raw with bad base64", { ...event, raw: { json: "", base64: "!" } }, /raw.base64/],
    ["raw with base64 as a number", { ...event, raw: { json: "", base64: 1 } }, /raw.base64/],
  ])("%s", (_, given, expected) => {
    expect(decodeEvent(typeof given === "string" ? given : JSON.stringify(given)).fault).toMatch(expected);
  });

  it("SEC12: an inherited field is ignored", () => {
    const { text: _, ...rest } = event;
    const given = `{"__proto__":{"text":"x"},${JSON.stringify(rest).slice(1)}`;
    expect(decodeEvent(given).fault).toMatch(/text/);
    expect(({} as Record<string, unknown>)["text"]).toBeUndefined();
  });
});

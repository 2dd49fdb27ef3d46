import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type AgentEvent,
  type Block,
  type Chunk,
  ERROR_CODES,
  errorItem,
  messageItem,
  noticeItem,
  permissionItem,
  resultItem,
  retractNotice,
  startItem,
  textDelta,
  thinkingDelta,
  toolCallItem,
  toolInputDelta,
  toolResultItem,
  handoffItem,
  WARNING_CODES,
  warningItem,
} from "#domain";
import { assertRunLog, closeRunLog } from "#testing";
import { fuzzRuns } from "../../test/effort.ts";
import {
  accumulateText,
  createChatEvents,
  createEventMaps,
  createItems,
  createRunnerEvents,
  createRunnerSse,
  createStreamChunks,
  createStreamingEvents,
  createStreamingResult,
  createTagged,
  type EventSource,
  toChatEvents,
  toEventMaps,
  toEvents,
  toItems,
  toRunnerEvents,
  toRunnerSse,
  toStreamChunks,
  toStreamingEvents,
  toTagged,
  type View,
} from "./index.ts";

const RUNS = Math.min(fuzzRuns(5000), 100_000);

function look<Out>(view: View<Out>, events: readonly AgentEvent[]): Out[] {
  const out: Out[] = [];
  for (const event of events) for (const given of view.next(event)) out.push(given);
  for (const given of view.end()) out.push(given);
  return out;
}

/** Appends pieces of text and removes void ones from the end, as a reader on a screen would. */
function readPieces(pieces: readonly { readonly text: string; readonly taken?: string | undefined }[]): string {
  let shown = "";
  for (const { text, taken } of pieces) {
    if (taken !== undefined) {
      expect(shown.endsWith(taken)).toBe(true);
      shown = shown.slice(0, shown.length - taken.length);
    }
    shown += text;
  }
  return shown;
}

/** How a reader of each vocabulary obtains the text of a run. */
const READERS: Record<string, (events: readonly AgentEvent[]) => string> = {
  "S0 deltas": (events) =>
    readPieces(
      look(createEventMaps(), events).flatMap((map) => {
        if (map.type === "text_delta") return [{ text: map.text }];
        return map.type === "retract" ? [{ text: "", taken: map.text }] : [];
      }),
    ),
  "S0 messages": (events) =>
    look(createEventMaps(), events)
      .flatMap((map) => (map.type === "message_stop" ? [map.final_text] : []))
      .join(""),
  "S1 messages": (events) => {
    const texts = new Map<string, string>();
    for (const item of look(createItems(), events)) {
      if (item.type !== "Message" || item.message.type !== "Assistant") continue;
      if (item.message.parent_tool_use_id !== null) continue;
      const { id, content } = item.message.message;
      texts.set(id, content.map((block) => (block.type === "TextBlock" ? block.text : "")).join(""));
    }
    return [...texts.values()].join("");
  },
  "S2 pieces": (events) =>
    readPieces(
      look(createRunnerEvents(), events).flatMap((event) =>
        event.type === "RawResponseEvent" ? [{ text: event.content, taken: event.retracted?.text }] : [],
      ),
    ),
  "S3 chunks": (events) =>
    readPieces(
      look(createStreamChunks(), events).flatMap((chunk) =>
        chunk.chunk_type === "text" ? [{ text: chunk.content, taken: chunk.metadata?.retracted.text }] : [],
      ),
    ),
  "S3 chat": (events) => {
    const last = look(createChatEvents(), events).at(-1);
    return last?.event === "message_complete" ? last.data.content : "no message";
  },
  "S4 pieces": (events) =>
    readPieces(
      look(createStreamingEvents(), events).flatMap((event) =>
        event.type === "streaming:message" ? [{ text: event.chunk, taken: event.retracted?.text }] : [],
      ),
    ),
  "S4 result": (events) => {
    const accumulator = createStreamingResult();
    for (const event of events) accumulator.add(event);
    return accumulator.result().text ?? "";
  },
};

interface Plan {
  readonly blocks: readonly { readonly kind: "text" | "thinking" | "tool"; readonly pieces: readonly string[] }[];
  /** Whether the reader gets the deltas, or only finished items. */
  readonly deltas: boolean;
  /** Where the message began wrongly: at the first block, at a later one, or not at all. */
  readonly falseStart: number | undefined;
  readonly toldEarly: boolean;
  readonly aside: string | undefined;
}

const piece = fc.string({ minLength: 1, maxLength: 6, unit: "grapheme" });
const plan: fc.Arbitrary<Plan> = fc.record({
  blocks: fc.array(
    fc.record({
      kind: fc.constantFrom("text", "text", "thinking", "tool"),
      pieces: fc.array(piece, { minLength: 1, maxLength: 3 }),
    }),
    { maxLength: 4 },
  ),
  deltas: fc.boolean(),
  falseStart: fc.option(fc.nat(3), { nil: undefined }),
  toldEarly: fc.boolean(),
  aside: fc.option(piece, { nil: undefined }),
});

/** The chunks of one message and of its tools. */
function chunksOf({ blocks: parts, deltas, falseStart, toldEarly, aside }: Plan, number: number): Chunk[] {
  const id = `m${number}`;
  const callOf = (index: number) => ({ callId: `${id}-${index}`, name: "tool" });
  const chunks: Chunk[] = [];
  const calls: Chunk[] = [];
  const results: Chunk[] = [];
  const blocks = parts.map(({ kind, pieces }, index): Block => {
    const text = pieces.join("");
    return kind === "tool" ? { type: "tool-call", ...callOf(index), input: { text } } : { type: kind, text };
  });
  const show = (index: number, text: string, kind = parts[index]?.kind ?? "text"): void => {
    if (kind === "text") chunks.push(textDelta(id, index, text));
    else if (kind === "thinking") chunks.push(thinkingDelta(id, index, text));
  };
  parts.forEach(({ kind, pieces }, index) => {
    if (deltas && index === falseStart) {
      show(index, "wrong");
      show(index + 1, "worse", "text");
      chunks.push(retractNotice(index === 0 ? { messageId: id } : { messageId: id, fromIndex: index }));
    }
    if (deltas) for (const text of pieces) show(index, text);
    if (kind !== "tool") return;
    const input = { text: pieces.join("") };
    const json = JSON.stringify(input);
    if (deltas) chunks.push(toolInputDelta(id, index, callOf(index), json));
    const call = toolCallItem({ ...callOf(index), input, executedBy: "backend" });
    // A message that cannot be delayed until its end is emitted as far as it goes, and again at its end.
    if (toldEarly) chunks.push(messageItem({ id, role: "assistant", blocks: blocks.slice(0, index + 1) }), call);
    else calls.push(call);
    results.push(toolResultItem({ ...callOf(index), output: "ok", isError: index % 2 === 1 }));
  });
  if (aside !== undefined) {
    chunks.push(textDelta(`${id}-aside`, 0, aside, "sub"));
    const blocksAside = [{ type: "text", text: aside } as const];
    chunks.push(messageItem({ id: `${id}-aside`, role: "assistant", blocks: blocksAside, parent: "sub" }));
  }
  return [...chunks, messageItem({ id, role: "assistant", blocks }), ...calls, ...results];
}

/** A successful run that keeps the invariants. */
const log = fc.array(plan, { maxLength: 4 }).map((plans) => {
  const verdict = resultItem({ subtype: "success", isError: false, usage: {} });
  const chunks = [startItem({ backend: "x", mode: "plain" }), ...plans.flatMap(chunksOf), verdict];
  const texts = plans.map(({ blocks }) =>
    blocks.flatMap(({ kind, pieces }) => (kind === "text" ? pieces : [])).join(""),
  );
  return { events: closeRunLog(chunks), text: texts.join(""), final: texts.at(-1) ?? "" };
});

const id = fc.constantFrom("m1", "m2", "constructor");
const index = fc.integer({ min: -1, max: 3 });
const anything = fc.jsonValue({ maxDepth: 2 });
const parent = fc.constantFrom({}, {}, { parent: "sub" });
const raw = fc
  .constantFrom('{"type":"assistant"}', '{"type":"system","__proto__":{"x":1}}', "7", "no json", "")
  .map((json) => ({ raw: { json, bytes: new TextEncoder().encode(json) } }));
const block: fc.Arbitrary<Block> = fc.oneof(
  fc.record({ type: fc.constantFrom("text", "thinking"), text: fc.string({ maxLength: 3 }) }),
  fc.record({ type: fc.constant("tool-call"), callId: id, name: id, input: anything }),
  fc.record({ type: fc.constant("tool-result"), callId: id, output: anything, isError: fc.boolean() }),
  fc.record({ type: fc.constant("unknown"), raw: anything }),
  fc.constant({ type: "image" } as const),
);

/** Any events, in any order. */
const chunk: fc.Arbitrary<Chunk> = fc
  .tuple(
    fc.oneof(
      fc.tuple(id, index, fc.string({ maxLength: 3 })).map(([m, i, t]): Chunk => textDelta(m, i, t)),
      fc.tuple(id, index, fc.string({ maxLength: 3 })).map(([m, i, t]): Chunk => thinkingDelta(m, i, t)),
      fc.tuple(id, index, id).map(([m, i, c]): Chunk => toolInputDelta(m, i, { callId: c, name: c }, "{")),
      fc.constant(startItem({ backend: "x", mode: "tape" })),
      fc
        .record({ id, role: fc.constantFrom("assistant", "user"), blocks: fc.array(block, { maxLength: 3 }) })
        .map((given): Chunk => messageItem(given)),
      fc
        .record({ callId: id, name: id, input: anything, executedBy: fc.constantFrom("millrace", "backend") })
        .map((given): Chunk => toolCallItem(given)),
      fc
        .record({ callId: id, name: id, output: anything, isError: fc.boolean() })
        .map((given): Chunk => toolResultItem(given)),
      fc.constant(permissionItem({ callId: "c", name: "n", state: "denied", by: "rule" })),
      fc.constant<Chunk>(handoffItem({ from: "a", to: "b", message: "" })),
      fc
        .tuple(
          fc.constantFrom("retract", "status", "unknown:x"),
          fc.oneof(anything, fc.record({ messageId: id, fromIndex: index })),
        )
        .map(([kind, content]): Chunk => noticeItem(kind, content)),
      fc
        .tuple(fc.constantFrom(...WARNING_CODES), anything)
        .map(([code, context]): Chunk => warningItem({ code, message: "", context })),
      fc
        .tuple(fc.constantFrom(...ERROR_CODES), fc.boolean())
        .map(([code, terminal]): Chunk => errorItem({ code, message: "", terminal })),
      fc.boolean().map((isError): Chunk => resultItem({ subtype: "x", isError, usage: {} })),
    ),
    parent,
    fc.oneof(fc.constant({}), raw),
  )
  .map(([event, ...more]) => Object.assign({ ...event }, ...more) as Chunk);

const anyEvents = fc
  .tuple(fc.array(chunk, { maxLength: 12 }), fc.nat(14))
  .map(([chunks, cut]) => [...closeRunLog(chunks).slice(0, cut), ...closeRunLog(chunks)]);

describe("every view", () => {
  it.each(Object.keys(READERS))("S3-15 AT-11: the text of a run is the same, read as %s", (name) => {
    const read = READERS[name] as (events: readonly AgentEvent[]) => string;
    fc.assert(
      fc.property(log, ({ events, text }) => {
        expect(read(events)).toBe(text);
      }),
      { numRuns: Math.ceil(RUNS / 10) },
    );
  });

  it("S2-19: the logs of these tests are valid, and the completion has the text of the final message", () => {
    fc.assert(
      fc.property(log, ({ events, final }) => {
        assertRunLog(events);
        expect(events.at(-1)).toMatchObject({ type: "done", result: { status: "success", text: final } });
        const completion = look(createRunnerEvents(), events).at(-1);
        expect(completion).toMatchObject({ type: "RunCompleteEvent", result: { text: final } });
      }),
      { numRuns: Math.ceil(RUNS / 10) },
    );
  });

  it("S0-71: the growing text ends with the whole text", async () => {
    await fc.assert(
      fc.asyncProperty(log, async ({ events, text }) => {
        let last = "";
        for await (const grown of accumulateText(events)) last = grown;
        expect(last).toBe(text);
      }),
      { numRuns: Math.ceil(RUNS / 10) },
    );
  });

  it("S0-48: starts and stops of the maps of a valid log match", () => {
    fc.assert(
      fc.property(log, ({ events }) => {
        const within: Partial<Record<string, string>> = {
          text_delta: "text_block_start",
          thinking_delta: "thinking_start",
          tool_input_delta: "tool_use_start",
        };
        let block: string | undefined;
        let inMessage = false;
        for (const map of look(createEventMaps(), events)) {
          const { type } = map;
          if (type in within) expect(block).toBe(within[type]);
          if (type === "message_start") {
            expect(inMessage).toBe(false);
            inMessage = true;
          } else if (type.endsWith("_start")) {
            expect([inMessage, block]).toEqual([true, undefined]);
            block = type;
          } else if (type === "content_block_stop") {
            expect(block).toBeDefined();
            block = undefined;
          } else if (type === "message_stop") {
            expect([inMessage, block]).toEqual([true, undefined]);
            inMessage = false;
          } else if (map.type === "retract") {
            // Void needs no stop: the message continues before the void block, or begins again.
            block = undefined;
            inMessage = map.from_index > 0;
          }
        }
      }),
      { numRuns: Math.ceil(RUNS / 10) },
    );
  });

  it.each([
    ["event maps", createEventMaps],
    ["tagged", createTagged],
    ["items", createItems],
    ["runner events", createRunnerEvents],
    ["stream chunks", createStreamChunks],
    ["chat events", createChatEvents],
    ["streaming events", createStreamingEvents],
  ] as const)("C25: a view is pure: it changes no event, and gives the same twice: %s", (_, create) => {
    fc.assert(
      fc.property(log, ({ events }) => {
        const before = JSON.stringify(events);
        const view = (): unknown[] => look<unknown>(create(), events);
        expect(JSON.stringify(view())).toBe(JSON.stringify(view()));
        expect(JSON.stringify(events)).toBe(before);
      }),
      { numRuns: Math.ceil(RUNS / 20) },
    );
  });

  it("nothing throws on any events in any order, and the endings are correct", () => {
    fc.assert(
      fc.property(anyEvents, (events) => {
        look(createEventMaps(), events);
        look(createTagged(), events);
        look(createStreamingEvents({ showAll: true }), events);
        const ends = (type: string, given: readonly { type: string }[]) =>
          given.filter((one) => one.type === type).length;
        const items = look(createItems({ partialMessages: true }), events);
        expect([items.at(-1)?.type, ends("EndOfStream", items)]).toEqual(["EndOfStream", 1]);
        const steps = look(createRunnerEvents(), events);
        expect([steps.at(-1)?.type, ends("RunCompleteEvent", steps)]).toEqual(["RunCompleteEvent", 1]);
        const chunks = look(createStreamChunks(), events).map(({ chunk_type }) => ({ type: chunk_type }));
        expect([chunks.at(-1)?.type, ends("complete", chunks)]).toEqual(["complete", 1]);
        const chat = look(createChatEvents(), events).map(({ event }) => ({ type: event }));
        expect(ends("message_complete", chat) + ends("error", chat)).toBe(1);
        expect(["message_complete", "error"]).toContain(chat.at(-1)?.type);
        for (const frame of look(createRunnerSse(), events)) {
          expect(frame).toMatch(/^event: [A-Za-z]+\ndata: \{[^\n\r]*\}\n\n$/);
        }
        const accumulator = createStreamingResult({ keepRawEvents: true });
        for (const event of events) accumulator.add(event);
        accumulator.result();
        expect(({} as Record<string, unknown>)["x"]).toBeUndefined();
      }),
      { numRuns: Math.ceil(RUNS / 4) },
    );
  });

  const forms: [string, (events: EventSource) => AsyncIterableIterator<unknown>][] = [
    ["toEventMaps", toEventMaps],
    ["toTagged", toTagged],
    ["toItems", toItems],
    ["toRunnerEvents", toRunnerEvents],
    ["toRunnerSse", toRunnerSse],
    ["toStreamChunks", toStreamChunks],
    ["toChatEvents", toChatEvents],
    ["toStreamingEvents", (events) => toStreamingEvents(events, { showAll: true })],
    ["toEvents", (events) => toEvents(toEventMaps(events))],
  ];
  it.each(forms)("%s reads lazily and closes the source of a reader that leaves", async (_, form) => {
    let pulled = 0;
    let closed = false;
    async function* source(): AsyncGenerator<AgentEvent> {
      try {
        for (const event of closeRunLog([startItem({ backend: "x", mode: "http" }), textDelta("m", 0, "a")])) {
          pulled += 1;
          yield event;
        }
      } finally {
        closed = true;
      }
    }
    const view = form(source());
    expect(pulled).toBe(0);
    for await (const given of view) {
      expect(given).toBeDefined();
      break;
    }
    expect([pulled < 3, closed]).toEqual([true, true]);
  });
});

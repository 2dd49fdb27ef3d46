import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Chunk } from "#domain";
import { claudeCode } from "#dialects";
import { closeRunLog, findViolation } from "#testing";
import { fuzzRuns } from "../effort.ts";
import { asFrame, readTranscripts, valuesOf } from "./claude-code-transcripts.ts";
import { describeChunk } from "./describe-chunk.ts";

const RUNS = fuzzRuns(5000);

/** Words of the protocol, so that random values meet the code behind them. */
const WORDS = [
  ...["type", "subtype", "message", "content", "event", "delta", "index", "id", "name", "input", "usage", "uuid"],
  ...["tool_use_id", "parent_tool_use_id", "api_message_id", "content_block", "abandoned_blocks", "from_block_index"],
  ...[
    "stream_event",
    "assistant",
    "user",
    "result",
    "system",
    "init",
    "success",
    "permission_denied",
    "control_request",
  ],
  ...["message_start", "message_delta", "message_stop", "content_block_start", "content_block_delta"],
  ...["content_block_stop", "text_delta", "thinking_delta", "input_json_delta", "signature_delta", "partial_json"],
  ...["text", "thinking", "tool_use", "tool_result", "redacted_thinking", "stop_reason", "end_turn", "modelUsage"],
  ...["msg_1", "msg_2", "call_1", "call_2", "__proto__", "constructor", "toString", "is_error", "errors", "signature"],
];

const word = fc.constantFrom(...WORDS);
const leaf = fc.oneof(word, fc.constantFrom(null, true, false, 0, 1, 2, -1, 1e21, 0.5, ""), fc.string());
const { value: anyValue } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    leaf,
    fc.array(tie("value"), { maxLength: 3 }),
    // Through JSON, as on the wire: a `__proto__` key becomes an own property and changes nothing.
    fc
      .array(fc.tuple(word, tie("value")), { maxLength: 6 })
      .map((entries) => JSON.parse(`{${entries.map(([k, v]) => `${JSON.stringify(k)}:${JSON.stringify(v)}`).join()}}`)),
  ),
}));

const transcripts = readTranscripts()
  .map(valuesOf)
  .filter((values) => values.length > 0 && values.length < 80);

const change = fc.record({
  kind: fc.constantFrom("set", "remove", "repeat", "drop", "move"),
  frame: fc.nat(),
  place: fc.nat(),
  value: anyValue,
});

function decode(values: readonly unknown[]): Chunk[] {
  const adapter = claudeCode.createAdapter();
  return [...adapter.feed(values.map(asFrame)), ...adapter.flush()];
}

function expectSound(chunks: readonly Chunk[]): void {
  const violation = findViolation(closeRunLog(chunks));
  if (violation === undefined) return;
  throw new Error(`${violation.invariant}: ${violation.message}\n${chunks.map(describeChunk).join("\n")}`);
}

describe("claude-code against streams nobody would write", () => {
  test("S1-128 S0-58: any JSON values as frames throw nothing and keep every guarantee of a run log", () => {
    fc.assert(
      fc.property(fc.array(anyValue, { maxLength: 8 }), (values) => expectSound(decode(values))),
      { numRuns: RUNS },
    );
  });

  test("S1-128: no frame is lost: one that gives nothing else gives a notice with its exact bytes", () => {
    fc.assert(
      fc.property(anyValue, (value) => {
        const chunks = claudeCode.createAdapter().feed([asFrame(value)]);
        const unknown = chunks.filter((chunk) => chunk.type === "notice" && chunk.kind.startsWith("unknown:"));
        for (const notice of unknown) expect(notice.raw?.json).toBe(JSON.stringify(value));
        const isMap = typeof value === "object" && value !== null && !Array.isArray(value);
        const type = isMap ? (value as { type?: unknown }).type : undefined;
        const isKnown = ["stream_event", "assistant", "user", "result", "system", "control_request"].some(
          (name) => name === type,
        );
        if (!isKnown) {
          expect(unknown).toHaveLength(1);
        }
      }),
      { numRuns: RUNS },
    );
  });

  test("C15: captured streams with frames changed, lost, repeated and moved keep every guarantee of a run log", () => {
    fc.assert(
      fc.property(fc.nat(), fc.array(change, { minLength: 1, maxLength: 6 }), (pick, changes) => {
        const values = structuredClone(transcripts[pick % transcripts.length] ?? []);
        for (const step of changes) applyChange(values, step);
        expectSound(decode(values));
      }),
      // Whole transcripts are dear.
      { numRuns: Math.ceil(RUNS / 5) },
    );
  });
});

interface Change {
  readonly kind: string;
  readonly frame: number;
  readonly place: number;
  readonly value: unknown;
}

function applyChange(values: unknown[], { kind, frame, place, value }: Change): void {
  if (values.length === 0) return;
  const at = frame % values.length;
  switch (kind) {
    case "repeat":
      values.splice(place % (values.length + 1), 0, structuredClone(values[at]));
      return;
    case "drop":
      values.splice(at, 1);
      return;
    case "move":
      values.splice(place % values.length, 0, ...values.splice(at, 1));
      return;
    default: {
      const places = placesIn(values[at]);
      const [owner, key] = places[place % places.length] ?? [];
      if (owner === undefined || key === undefined) return;
      if (kind === "remove") Reflect.deleteProperty(owner, key);
      else Object.defineProperty(owner, key, { value, enumerable: true, configurable: true, writable: true });
      // A hole in a list is nothing JSON could say.
      if (Array.isArray(owner)) for (const [index, entry] of owner.entries()) owner[index] = entry ?? null;
    }
  }
}

/** Every place inside a value, except in the long lists of names that nobody reads. */
function placesIn(value: unknown, found: [object, string][] = []): [object, string][] {
  if (typeof value !== "object" || value === null) return found;
  for (const [key, member] of Object.entries(value)) {
    found.push([value, key]);
    if (!["tools", "slash_commands", "commands", "models", "agents", "skills"].includes(key)) placesIn(member, found);
  }
  return found;
}

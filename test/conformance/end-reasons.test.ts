import { Readable } from "node:stream";
import type { StopReason as AnthropicReason } from "@anthropic-ai/sdk/resources/messages/messages";
import { FinishReason } from "@google/genai";
import type { ChatCompletion } from "openai/resources/chat/completions/completions";
import { describe, expect, it } from "vitest";
import type { ModelBackend } from "#backends";
import { type Chunk, type Fetch, messageItem, type StopReason, toolCallItem } from "#domain";
import { startRun } from "#runtime";
import { tool } from "#tools";
import { createTestWorld, runToEnd } from "./model-backends.ts";

/** What a vendor says about a reply with the reason for its end. */
type Meaning =
  | { readonly kind: "complete" }
  /** Complete because of its calls, so that a reply without a call is suspicious. */
  | { readonly kind: "calls" }
  | { readonly kind: "cut" }
  | { readonly kind: "paused" }
  | { readonly kind: "malformed" }
  | { readonly kind: "unknown" }
  | { readonly kind: "failed"; readonly code: string };

const COMPLETE = { kind: "complete" } as const;
const CALLS = { kind: "calls" } as const;
const CUT = { kind: "cut" } as const;
const failed = (code: string) => ({ kind: "failed", code }) as const;

/** The compiler asks for a row when the vendor's package has another reason. */
const ANTHROPIC: Readonly<Record<AnthropicReason, Meaning>> = {
  end_turn: COMPLETE,
  stop_sequence: COMPLETE,
  tool_use: CALLS,
  max_tokens: CUT,
  model_context_window_exceeded: CUT,
  pause_turn: { kind: "paused" },
  refusal: failed("refused"),
};

const OPENAI: Readonly<Record<ChatCompletion.Choice["finish_reason"], Meaning>> = {
  stop: COMPLETE,
  tool_calls: CALLS,
  function_call: CALLS,
  length: CUT,
  content_filter: failed("content-filtered"),
};

/** Words of hosts that speak OpenAI's dialect. */
const OPENAI_HOSTS: Readonly<Record<string, Meaning>> = {
  eos: COMPLETE,
  model_length: CUT,
  sensitive: failed("content-filtered"),
  error: failed("provider-error"),
  abort: failed("provider-error"),
  network_error: failed("provider-error"),
  insufficient_system_resource: failed("provider-overloaded"),
};

const FILTERED = failed("content-filtered");
const GAVE_UP = failed("provider-error");
const GEMINI: Readonly<Record<FinishReason, Meaning>> = {
  // The same as no reason at all.
  [FinishReason.FINISH_REASON_UNSPECIFIED]: failed("stream-cut"),
  [FinishReason.STOP]: COMPLETE,
  [FinishReason.MAX_TOKENS]: CUT,
  [FinishReason.SAFETY]: FILTERED,
  [FinishReason.RECITATION]: FILTERED,
  [FinishReason.LANGUAGE]: FILTERED,
  [FinishReason.BLOCKLIST]: FILTERED,
  [FinishReason.PROHIBITED_CONTENT]: FILTERED,
  [FinishReason.SPII]: FILTERED,
  [FinishReason.IMAGE_SAFETY]: FILTERED,
  [FinishReason.IMAGE_PROHIBITED_CONTENT]: FILTERED,
  [FinishReason.IMAGE_RECITATION]: FILTERED,
  [FinishReason.CONTINUATION]: CUT,
  [FinishReason.OTHER]: GAVE_UP,
  [FinishReason.TOO_MANY_TOOL_CALLS]: GAVE_UP,
  [FinishReason.NO_IMAGE]: GAVE_UP,
  [FinishReason.IMAGE_OTHER]: GAVE_UP,
  [FinishReason.MALFORMED_FUNCTION_CALL]: { kind: "malformed" },
  [FinishReason.UNEXPECTED_TOOL_CALL]: { kind: "malformed" },
};

/** Reasons that only the documentation names. */
const GEMINI_DOCUMENTED: Readonly<Record<string, Meaning>> = {
  MALFORMED_RESPONSE: GAVE_UP,
  MISSING_THOUGHT_SIGNATURE: failed("provider-invalid-request"),
};

const INVENTED: Readonly<Record<string, Meaning>> = { never_heard_of: { kind: "unknown" } };

type Call = "no call" | "a whole call" | "half a call" | "a whole and half a call";
const CALL_KINDS: readonly Call[] = ["no call", "a whole call", "half a call", "a whole and half a call"];
const WHOLE = '{"a":1}';
const HALF = '{"a":';

function argumentsOf(call: Call): readonly string[] {
  if (call === "no call") return [];
  if (call === "a whole call") return [WHOLE];
  return call === "half a call" ? [HALF] : [WHOLE, HALF];
}

interface Dialect {
  readonly target: string;
  readonly reasons: Readonly<Record<string, Meaning>>;
  /** The reason of a reply that is complete. */
  readonly end: string;
  encode(text: string, calls: readonly string[], reason: string): readonly object[];
}

const DIALECTS: readonly Dialect[] = [
  {
    target: "anthropic/test",
    reasons: { ...ANTHROPIC, ...INVENTED },
    end: "end_turn",
    encode: (text, calls, reason) => [
      { type: "message_start", message: { id: "m", role: "assistant", model: "test", content: [], usage: {} } },
      ...anthropicBlock(0, { type: "text", text: "" }, { type: "text_delta", text }),
      ...calls.flatMap((json, index) =>
        anthropicBlock(
          index + 1,
          { type: "tool_use", id: `toolu_${index}`, name: "count", input: {} },
          { type: "input_json_delta", partial_json: json },
        ),
      ),
      { type: "message_delta", delta: { stop_reason: reason }, usage: { output_tokens: 1 } },
      { type: "message_stop" },
    ],
  },
  {
    target: "openai/test",
    reasons: { ...OPENAI, ...OPENAI_HOSTS, ...INVENTED },
    end: "stop",
    encode: (text, calls, reason) => [
      { choices: [{ index: 0, delta: { role: "assistant", content: text } }] },
      ...calls.map((json, index) => ({
        choices: [
          {
            index: 0,
            delta: {
              tool_calls: [{ index, id: `c${index}`, type: "function", function: { name: "count", arguments: json } }],
            },
          },
        ],
      })),
      { choices: [{ index: 0, delta: {}, finish_reason: reason }] },
    ],
  },
  {
    target: "google/test",
    reasons: { ...GEMINI, ...GEMINI_DOCUMENTED, ...INVENTED },
    end: "STOP",
    encode: (text, calls, reason) => [
      { candidates: [{ content: { parts: [{ text }], role: "model" }, index: 0 }] },
      ...calls.map((json) => ({
        candidates: [{ content: { parts: [{ functionCall: geminiCall(json) }], role: "model" }, index: 0 }],
      })),
      { candidates: [{ content: { parts: [{ text: "" }], role: "model" }, finishReason: reason, index: 0 }] },
    ],
  },
];

function anthropicBlock(index: number, content_block: object, delta: object): readonly object[] {
  return [
    { type: "content_block_start", index, content_block },
    { type: "content_block_delta", index, delta },
    { type: "content_block_stop", index },
  ];
}

function geminiCall(json: string): object {
  return json === WHOLE ? { name: "count", args: { a: 1 } } : { name: "count", willContinue: true };
}

interface Played {
  readonly requests: number;
  readonly runs: number;
  readonly calls: number;
  readonly result: Awaited<ReturnType<ReturnType<typeof startRun>["result"]>>;
  readonly warnings: readonly string[];
}

/** Runs against a host that sends these replies, the last of them for every further request. */
async function play({ target, encode }: Dialect, replies: readonly Parameters<Dialect["encode"]>[]): Promise<Played> {
  let requests = 0;
  let runs = 0;
  const count = tool("count", "Counts", { a: "number" }, () => ++runs);
  const place = createTestWorld();
  const fetch: Fetch = () => {
    const reply = replies[Math.min(requests, replies.length - 1)] ?? ["", [], ""];
    requests += 1;
    const frames = encode(...reply).map((frame) => `data: ${JSON.stringify(frame)}\n\n`);
    const body = Readable.from([Buffer.from(frames.join(""))]);
    return Promise.resolve({ status: 200, headers: { "content-type": "text/event-stream" }, body });
  };
  const world = { ...place.world, fetch };
  const log = await runToEnd(target, "go", { tools: [count], retry: false }, { ...place, world });
  const done = log.at(-1);
  if (done?.type !== "done") throw new Error("The log has no done.");
  return {
    requests,
    runs,
    calls: log.filter(({ type }) => type === "tool-call").length,
    result: done.result,
    warnings: done.result.warnings.map(({ code }) => code),
  };
}

interface Row {
  readonly dialect: Dialect;
  readonly target: string;
  readonly word: string;
  readonly meaning: Meaning;
  readonly call: Call;
}

const ROWS: readonly Row[] = DIALECTS.flatMap((dialect) =>
  Object.entries(dialect.reasons).flatMap(([word, meaning]) =>
    CALL_KINDS.map((call) => ({ dialect, target: dialect.target, word, meaning, call })),
  ),
);

describe("F-B2: the calls of a reply run only if the vendor declared the reply complete", () => {
  it.each(ROWS)("$target, $word, $call", async ({ dialect, word, meaning, call }) => {
    const calls = argumentsOf(call);
    const played = await play(dialect, [
      ["First.", calls, word],
      ["Done.", [], dialect.end],
    ]);
    expect(played.runs).toBe(expectedRuns(dialect, meaning, call));
    const { result } = played;
    switch (meaning.kind) {
      case "failed":
        expect(result).toMatchObject({ status: "error", error: { code: meaning.code } });
        expect(played).toMatchObject({ requests: 1, calls: 0 });
        return;
      case "cut":
        expect(result).toMatchObject({ status: "error", subtype: "error_max_tokens" });
        expect(played).toMatchObject({ requests: 1, calls: 0 });
        break;
      case "malformed":
      case "paused":
        expect(result).toMatchObject({ status: "success", text: "Done." });
        expect(played).toMatchObject({ requests: 2, calls: 0 });
        break;
      case "unknown":
        expect(result).toMatchObject({ status: "success", text: call === "no call" ? "First." : "Done." });
        expect(played).toMatchObject({ requests: call === "no call" ? 1 : 2, calls: 0 });
        expect(played.warnings).toContain("unknown-stop-reason");
        break;
      default:
        expect(result).toMatchObject({ status: "success", text: call === "no call" ? "First." : "Done." });
        expect(played.requests).toBe(call === "no call" ? 1 : 2);
        expect(played.warnings.includes("unknown-stop-reason")).toBe(meaning.kind === "calls" && call === "no call");
        return;
    }
    if (call !== "no call") expect(played.warnings).toContain("tool-call-incomplete");
  });

  it.each(DIALECTS)("$target: an unknown reason for calls that is given again ends the run", async (dialect) => {
    const played = await play(dialect, [["", [WHOLE], "never_heard_of"]]);
    expect(played.result).toMatchObject({ status: "error", error: { code: "malformed-tool-call" } });
    expect(played.result.error?.message).toContain("never_heard_of");
    expect(played).toMatchObject({ requests: 2, runs: 0, calls: 0 });
  });
});

/** A complete reply runs its whole calls. Gemini cannot be told about one call alone, so half a call stops them all. */
function expectedRuns({ target }: Dialect, { kind }: Meaning, call: Call): number {
  if (kind !== "complete" && kind !== "calls") return 0;
  return call === "a whole call" || (call === "a whole and half a call" && target !== "google/test") ? 1 : 0;
}

const OWN: Readonly<Record<StopReason, { readonly runs: number; readonly subtype: string }>> = {
  "end-turn": { runs: 1, subtype: "success" },
  "tool-use": { runs: 1, subtype: "success" },
  "stop-sequence": { runs: 1, subtype: "success" },
  "max-tokens": { runs: 0, subtype: "error_max_tokens" },
  refusal: { runs: 0, subtype: "refused" },
  "content-filter": { runs: 0, subtype: "content-filtered" },
  pause: { runs: 0, subtype: "success" },
  "malformed-call": { runs: 0, subtype: "success" },
  unknown: { runs: 0, subtype: "success" },
};

describe("F-B2: a backend of your own whose reply is incomplete and has a call", () => {
  it.each(Object.entries(OWN))("%s", async (stopReason, { runs, subtype }) => {
    let ran = 0;
    let requests = 0;
    const backend: ModelBackend = {
      kind: "model",
      name: "own",
      model: "own-1",
      async *stream() {
        requests += 1;
        yield requests === 1 ? firstReply(stopReason as StopReason) : [lastReply];
      },
    };
    const count = tool("count", "Counts", { a: "number" }, () => ++ran);
    const { world } = createTestWorld();
    const result = await startRun(backend, "go", { tools: [count] }, world).result();
    expect(result.subtype).toBe(subtype);
    expect(ran).toBe(runs);
    expect(result.toolCalls).toHaveLength(runs);
    expect(result.warnings.map(({ code }) => code)).toEqual(runs === 1 ? [] : ["tool-call-incomplete"]);
  });
});

const call = { callId: "c", name: "count", input: { a: 1 } };
const firstReply = (stopReason: StopReason): readonly Chunk[] => [
  messageItem({ id: "m1", role: "assistant", blocks: [{ type: "tool-call", ...call }], stopReason }),
  toolCallItem({ ...call, executedBy: "millrace" }),
];
const lastReply = messageItem({
  id: "m2",
  role: "assistant",
  blocks: [{ type: "text", text: "Done." }],
  stopReason: "end-turn",
});

import { describe, expect, test } from "vitest";
import type { Chunk, ChunkOf, EventOf, Retraction } from "#domain";
import { claudeCode } from "#dialects";
import { assertRunLog, closeRunLog } from "#testing";
import { createNdjsonFramer } from "#wire";
import { byEffort, fuzzRuns, isQuick } from "../effort.ts";
import {
  expectedFile,
  readTranscript,
  readTranscripts,
  type Transcript,
  VERSIONS,
  valuesOf,
} from "./claude-code-transcripts.ts";
import { describeChunk } from "./describe-chunk.ts";

/** The transcripts to begin with, as the fixtures' README lists them. */
const START_HERE = [
  ...["plain-text", "plain-text-partial", "plain-thinking-partial", "plain-unicode-partial", "plain-bash-tool"],
  ...["plain-parallel-tools", "plain-bad-tool-json", "plain-unknown-block", "plain-bash-denied", "plain-subagent-tool"],
  ...["plain-bgbash", "plain-max-turns", "plain-max-budget", "plain-json-schema", "plain-refusal", "fail-401"],
  ...["retry-429-once", "retry-drop-once", "fail-sse-error", "fail-fallback-model", "flag-bad", "flag-bad-resume"],
  ...["flag-permission-prompt-tool-missing", "kill-sigterm-stream", "kill-sigint-stream", "ctl-day1-gate"],
  ...[
    "ctl-hooks-all",
    "ctl-hook-deny",
    "ctl-hook-error",
    "ctl-hook-timeout",
    "ctl-can-allow",
    "ctl-can-deny-interrupt",
  ],
  ...["ctl-can-interrupt-pending", "ctl-mcp-full", "ctl-mcp-parallel-ro", "ctl-mcp-interrupt", "ctl-interrupt"],
  ...["ctl-queue", "ctl-queue-during-tool", "ctl-clear", "ctl-compact", "ctl-tour", "in-malformed-json"],
  ...["in-eof-pending-can"],
  // Not on the list, but the only ones of their kind: a stream that breaks behind a finished block.
  ...["retry-after-block", "sse-error-after-block"],
];

/** One scripted reply uses the same tool call id in two turns; no real model does. */
const ORPHANS: ReadonlySet<string> = new Set(["2.1.325/ctl-can-allow-always"]);

const all = readTranscripts();
const startHere = all.filter(({ name }) => START_HERE.includes(name.slice(name.indexOf("/") + 1)));

function decode(transcript: Transcript, cuts: readonly number[] = []): Chunk[] {
  const framer = createNdjsonFramer();
  const adapter = claudeCode.createAdapter({
    mode: transcript.kind,
    ownTool: (name) => (name.startsWith("mcp__calc__") ? name.slice("mcp__calc__".length) : undefined),
  });
  const chunks: Chunk[] = [];
  let from = 0;
  for (const to of [...cuts, transcript.bytes.length]) {
    chunks.push(...adapter.feed(framer.push(transcript.bytes.subarray(from, to))));
    from = to;
  }
  chunks.push(...adapter.feed(framer.end()), ...adapter.flush());
  return chunks;
}

function ofType<Type extends Chunk["type"]>(chunks: readonly Chunk[], type: Type): EventOf<Type>[] {
  return chunks.filter((chunk): chunk is Chunk & EventOf<Type> => chunk.type === type);
}

describe("S1-146: every captured transcript", () => {
  test("there are some of each version", () => {
    expect(VERSIONS.map((version) => all.filter(({ name }) => name.startsWith(version)).length)).toEqual([218, 67]);
  });

  test.each(all)("$name: keeps every promise of a run log", (transcript) => {
    assertRunLog(closeRunLog(decode(transcript)));
  });

  test.each(all)("S1-119 $name: no frame of it is unknown, no answer without a call", (transcript) => {
    const kinds = ofType(decode(transcript), "notice").map((notice) => notice.kind);
    expect(kinds.filter((kind) => kind.startsWith("unknown:"))).toEqual([]);
    expect(kinds.includes("orphan-tool-result")).toBe(ORPHANS.has(transcript.name));
  });

  test.each(all)("$name: a message is emitted once", (transcript) => {
    const ids = ofType(decode(transcript), "message").map(({ id }) => id);
    expect(ids.filter((id, at) => ids.indexOf(id) !== at)).toEqual([]);
  });

  test.each(all)("S3-15 C18 $name: the text of every message is shown and told exactly once", (transcript) => {
    const chunks = decode(transcript);
    const truth = textsOfFrames(transcript);
    expect(textsOfMessages(chunks)).toEqual(truth);
    expect(textsShown(chunks)).toEqual(truth);
  });

  test.each(all)("S3-17 $name: a stream without a result ends in a terminal error, any other in none", (transcript) => {
    const chunks = decode(transcript);
    const terminal = ofType(chunks, "error").filter((error) => error.terminal);
    const expected = ofType(chunks, "result").length === 0 ? ["no-result"] : [];
    expect(terminal.map(({ code }) => code)).toEqual(expected);
  });
});

describe("the transcripts to begin with", () => {
  test("none of the list is missing", () => {
    const names = new Set(startHere.map(({ name }) => name.slice(name.indexOf("/") + 1)));
    expect(START_HERE.filter((name) => !names.has(name))).toEqual([]);
  });

  test.each(startHere)("S3-39: $name: gives the reviewed events", async (transcript) => {
    const lines = decode(transcript).map(describeChunk);
    await expect(`${lines.join("\n")}\n`).toMatchFileSnapshot(expectedFile(transcript.name));
  });

  const plain = startHere.filter(({ kind, bytes }) => kind === "plain" && bytes.length > 0);
  test.each(plain)("R2 $name: cut anywhere, it gives the same events", (transcript) => {
    const whole = JSON.stringify(decode(transcript));
    for (const cut of cutsOf(transcript)) {
      // Texts, because comparing thousands of logs value by value takes longer than making them.
      if (JSON.stringify(decode(transcript, [cut])) !== whole)
        expect(decode(transcript, [cut])).toEqual(decode(transcript));
    }
  });

  test("R2: byte by byte it gives the same events", () => {
    const transcript = readTranscript("2.1.325/plain-unicode-partial");
    const everywhere = Array.from({ length: transcript.bytes.length }, (_, at) => at);
    expect(decode(transcript, everywhere)).toEqual(decode(transcript));
  });
});

/** What whole `assistant` frames say, by message: the truth that was captured, read as simply as can be. */
function textsOfFrames(transcript: Transcript): Map<string, string> {
  const texts = new Map<string, string>();
  for (const value of valuesOf(transcript)) {
    const frame = value as { type: string; message?: { id: string; content: { type: string; text: string }[] } };
    if (frame.type !== "assistant" || frame.message === undefined) continue;
    for (const block of frame.message.content) if (block.type === "text") append(texts, frame.message.id, block.text);
  }
  return texts;
}

/** What finished messages say, by message. */
function textsOfMessages(chunks: readonly Chunk[]): Map<string, string> {
  const texts = new Map<string, string>();
  for (const message of ofType(chunks, "message")) {
    if (message.role !== "assistant") continue;
    for (const block of message.blocks) if (block.type === "text") append(texts, message.id, block.text);
  }
  return texts;
}

/** What a reader of deltas has on the screen in the end, by message. */
function textsShown(chunks: readonly Chunk[]): Map<string, string> {
  let shown: ChunkOf<EventOf<"text-delta">>[] = [];
  for (const chunk of chunks) {
    if (chunk.type === "text-delta") shown.push(chunk);
    if (chunk.type !== "notice" || chunk.kind !== "retract") continue;
    const { messageId, fromIndex = 0 } = chunk.data as Retraction;
    shown = shown.filter((delta) => delta.messageId !== messageId || delta.index < fromIndex);
  }
  const texts = new Map<string, string>();
  for (const delta of shown) append(texts, delta.messageId, delta.text);
  return texts;
}

function append(texts: Map<string, string>, id: string, text: string): void {
  texts.set(id, (texts.get(id) ?? "") + text);
}

/** Every place in a short transcript of the newest version; spread ones in any other, and in the quick set. */
function cutsOf({ name, bytes: { length } }: Transcript): number[] {
  const isShort = length <= 8192 && name.startsWith(VERSIONS[0]);
  const isThorough = fuzzRuns(0) >= 100_000 || (isShort && !isQuick);
  const count = isThorough ? length : byEffort({ quick: 30, full: 300 });
  return Array.from({ length: count }, (_, at) => Math.floor((at * length) / count));
}

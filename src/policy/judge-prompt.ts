import { type Block, type Message, textOf } from "#domain";
import { type Combined, combine } from "./combine.ts";
import { runGuards } from "./guards.ts";
import { copyJson } from "./large-json.ts";
import { occasionOf, type CompiledPolicy } from "./compiled-policy.ts";
import type { PromptVerdict } from "./policy.ts";
import { runHooks } from "./run-hooks.ts";
import { warnOfFailures } from "./warn.ts";

const ABORTED: PromptVerdict = {
  kind: "blocked",
  by: "hook",
  reason: "The run was aborted before the prompt had passed.",
  notes: [],
  stop: undefined,
};

/** Passes a prompt to the input guards, then to the hooks. A stop blocks the prompt as well: the model is not asked. */
export async function judgePrompt(messages: readonly Message[], parts: CompiledPolicy): Promise<PromptVerdict> {
  const { place, hooks } = parts;
  if (place.signal.aborted) return ABORTED;
  const guarded = await guardMessages(messages, parts);
  if (guarded.kind !== "go") return guarded;
  if (hooks.prompt.length === 0) return guarded;
  const combined = await runPromptHooks(guarded.messages, parts);
  if (combined.isAborted || place.signal.aborted) return ABORTED;
  warnOfFailures("prompt", combined, place);
  const refusal = combined.block ?? combined.stop;
  if (refusal !== undefined) {
    const reason = refusal === "" ? "A prompt hook said no." : refusal;
    return { kind: "blocked", by: "hook", reason, notes: combined.notes, stop: combined.stop };
  }
  // The notes are part of the messages now, so none are left to add.
  return { kind: "go", messages: addNotes(guarded.messages, combined.notes), notes: [], stop: undefined };
}

/** Only user messages are checked here; the model's messages have passed the output guards. */
async function guardMessages(messages: readonly Message[], parts: CompiledPolicy): Promise<PromptVerdict> {
  const { guards } = parts;
  const passed: Message[] = [];
  for (const message of messages) {
    const text = textOf(message.blocks);
    if (guards.input.length === 0 || message.role !== "user" || text === "") {
      passed.push(message);
      continue;
    }
    const verdict = await runGuards(guards.input, { value: text }, parts);
    if (verdict.kind === "aborted") return ABORTED;
    if (verdict.kind === "denied") {
      return { kind: "blocked", by: "guard", reason: verdict.reason, notes: [], stop: undefined };
    }
    passed.push(verdict.isReplaced ? { ...message, blocks: replaceText(message.blocks, verdict.value) } : message);
  }
  return { kind: "go", messages: passed, notes: [], stop: undefined };
}

/** The new text replaces the first text block; the other text blocks are removed. */
function replaceText(blocks: readonly Block[], text: unknown): readonly Block[] {
  const first = blocks.findIndex((block) => block.type === "text");
  return blocks.flatMap((block, index): readonly Block[] => {
    if (block.type !== "text") return [block];
    return index === first ? [{ type: "text", text: String(text) }] : [];
  });
}

async function runPromptHooks(
  messages: readonly Message[],
  { hooks, place, watch }: CompiledPolicy,
): Promise<Combined> {
  const prompt = messages.findLast((message) => message.role === "user");
  const text = prompt === undefined ? "" : textOf(prompt.blocks);
  const copies: (readonly Message[])[] = [];
  for (const _ of hooks.prompt) copies.push(((await copyJson(messages, place.nextTurn)) ?? []) as readonly Message[]);
  const outcomes = await runHooks({
    point: "prompt",
    hooks: hooks.prompt,
    occasion: (signal) => ({ ...occasionOf(place, signal), text, messages: copies.shift() ?? [] }),
    watch,
    clock: place.clock,
  });
  return combine(outcomes);
}

/** Appends notes to the last user message. */
function addNotes(messages: readonly Message[], notes: readonly string[]): readonly Message[] {
  if (notes.length === 0) return messages;
  const blocks = notes.map((text): Block => ({ type: "text", text }));
  const last = messages.findLastIndex((message) => message.role === "user");
  if (last === -1) return [...messages, { id: `note-${messages.length}`, role: "user", blocks }];
  return messages.map((message, index) =>
    index === last ? { ...message, blocks: [...message.blocks, ...blocks] } : message,
  );
}

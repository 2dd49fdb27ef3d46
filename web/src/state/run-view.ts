import type { AgentEvent, Block, EventOf, Usage } from "../../../src/domain/index.ts";
import { changeTool, type Item, makeNote, type TextItem } from "./items.ts";
import { applyNotice } from "./run-notices.ts";
import { titleOf, wordsOf } from "./titles.ts";

/** The visible state of one run. */
export interface RunView {
  readonly items: readonly Item[];
  /** The last event that was applied; the cursor to resume from. */
  readonly seq: number;
  readonly status: "running" | "success" | "error" | "aborted" | "interrupted" | "waiting";
  readonly usage: Usage;
  readonly costUsd: number | undefined;
  readonly startedAt: number | undefined;
  readonly ms: number | undefined;
  readonly model: string | undefined;
  /** The id of the user's message that this run answers. */
  readonly inputId: string | undefined;
}

export const EMPTY_RUN: RunView = {
  items: [],
  seq: -1,
  status: "running",
  usage: {},
  costUsd: undefined,
  startedAt: undefined,
  ms: undefined,
  model: undefined,
  inputId: undefined,
};

/**
 * Applies the next event. One that was applied before changes nothing, so a stream may be read again from any cursor.
 */
export function reduceRun(view: RunView, event: AgentEvent): RunView {
  if (event.seq <= view.seq) return view;
  // A merged delta that begins before the cursor repeats known text; the finished message will contain the rest.
  const isKnownInPart = event.firstSeq !== undefined && event.firstSeq <= view.seq;
  const next = isKnownInPart ? view : applyEvent(view, event);
  return { ...next, seq: event.seq, startedAt: view.startedAt ?? event.ts };
}

/** Applies many events. */
export function reduceRunAll(view: RunView, events: readonly AgentEvent[]): RunView {
  return events.reduce(reduceRun, view);
}

function applyEvent(view: RunView, event: AgentEvent): RunView {
  switch (event.type) {
    case "text-delta":
    case "thinking-delta":
      return { ...view, items: addText(view.items, event) };
    case "tool-input-delta":
    case "tool-call":
    case "tool-result":
    case "permission":
      return { ...view, items: applyToolEvent(view.items, event) };
    case "start":
      return event.model === undefined ? view : { ...view, model: event.model };
    case "message":
      return event.role === "user" ? applyUserMessage(view, event) : applyAnswer(view, event);
    case "handoff":
      return { ...view, items: applyHandoff(view.items, event) };
    case "notice":
      return { ...view, items: applyNotice(view.items, event) };
    case "warning": {
      if (event.expected === true) return view;
      const words = wordsOf(event.code, event.message);
      return addItem(view, makeNote(`note-${event.seq}`, "warning", words));
    }
    case "error": {
      // The end of an aborted run already shows this.
      if (event.terminal && event.code === "aborted") return view;
      const words = wordsOf(event.code, event.message);
      return addItem(
        view,
        makeNote(`note-${event.seq}`, event.terminal ? "error" : "warning", words, event.diagnostic),
      );
    }
    case "result":
      return { ...view, usage: event.usage };
    case "done":
      return finish(view, event);
  }
}

function addItem(view: RunView, item: Item): RunView {
  return { ...view, items: [...view.items, item] };
}

type Delta = EventOf<"text-delta" | "thinking-delta">;

/** Consecutive deltas mostly belong to one block, nearly always the last item of the page. */
function addText(items: readonly Item[], event: Delta): readonly Item[] {
  const key = `${event.messageId}:${event.index}`;
  const at = items.findLastIndex((item) => item.key === key);
  const known = items[at];
  if (known !== undefined && (known.kind === "text" || known.kind === "thinking")) {
    return items.with(at, { ...known, text: known.text + event.text });
  }
  const { messageId, index, text, agent, parent } = event;
  const kind = event.type === "text-delta" ? "text" : "thinking";
  return [...items, { kind, key, messageId, index, text, agent, parent, isOpen: true }];
}

type ToolEvent = EventOf<"tool-input-delta" | "tool-call" | "tool-result" | "permission">;

function applyToolEvent(items: readonly Item[], event: ToolEvent): readonly Item[] {
  return changeTool(items, event, (tool) => {
    switch (event.type) {
      case "tool-input-delta":
        return { ...tool, json: tool.json + event.json };
      case "tool-call": {
        const state = tool.state === "writing" ? "running" : tool.state;
        return { ...tool, input: event.input, state, startedAt: event.ts };
      }
      case "tool-result": {
        const { output, isError, skipped, ts, ms } = event;
        // The reported time includes the wait for a person's decision.
        const seen = tool.startedAt === undefined ? undefined : ts - tool.startedAt;
        const took = ms === undefined || seen === undefined ? (ms ?? seen) : Math.min(ms, seen);
        return { ...tool, output, isError, skipped, ms: took, state: "done", question: undefined };
      }
      case "permission": {
        if (event.state === "asked") {
          return { ...tool, state: "asked", question: event.reason, input: event.input ?? tool.input };
        }
        const verdict = event.state === "denied" ? (event.reason ?? "Denied.") : undefined;
        // The time that a person took to decide does not count for the tool.
        const startedAt = tool.state === "asked" ? event.ts : tool.startedAt;
        const state = tool.state === "asked" ? "running" : tool.state;
        return { ...tool, state, question: undefined, verdict, startedAt, input: event.input ?? tool.input };
      }
    }
  });
}

function applyUserMessage(view: RunView, event: EventOf<"message">): RunView {
  // The first one is the person's input. Later ones are messages between agents and from tools.
  if (view.inputId !== undefined || event.parent !== undefined) return view;
  const shown: Item = { kind: "user", key: `${event.id}:user`, text: textOf(event.blocks) };
  return { ...addItem(view, shown), inputId: event.id };
}

/** The finished message replaces what its deltas showed. */
function applyAnswer(view: RunView, event: EventOf<"message">): RunView {
  const places = new Map(view.items.map((item, at) => [item.key, at]));
  const items = [...view.items];
  event.blocks.forEach((block, index) => {
    if (block.type !== "text" && block.type !== "thinking") return;
    const key = `${event.id}:${index}`;
    const { agent, parent } = event;
    const whole: TextItem = {
      kind: block.type,
      key,
      messageId: event.id,
      index,
      text: block.text,
      agent,
      parent,
      isOpen: false,
    };
    const at = places.get(key);
    if (at !== undefined) items[at] = whole;
    else if (block.text !== "") items.push(whole);
  });
  return { ...view, items };
}

function applyHandoff(items: readonly Item[], event: EventOf<"handoff">): readonly Item[] {
  // The row contains everything that the handoff call shows.
  const call = items.findLastIndex(
    (item) => item.kind === "tool" && item.name === "handoff" && item.agent === event.from,
  );
  const { from, to, message, seq } = event;
  const others = call === -1 ? items : items.toSpliced(call, 1);
  return [...others, { kind: "handoff", key: `handoff-${seq}`, from, to, message }];
}

function finish(view: RunView, { seq, result }: EventOf<"done">): RunView {
  const { status, usage, costUsd, ms, model, error } = result;
  const ended: RunView = {
    ...view,
    items: view.items.map(closeItem),
    status,
    usage,
    costUsd,
    ms,
    model: model ?? view.model,
  };
  const end = (level: "info" | "warning" | "error", title: string, text: string): RunView => {
    const words = { ...wordsOf(error?.code ?? "", text), title };
    return addItem(ended, makeNote(`note-${seq}`, level, words, level === "error" ? error?.diagnostic : undefined));
  };
  switch (status) {
    case "success":
      // Otherwise a reader could not tell an empty answer from a page that shows nothing.
      return ended.items.every(({ kind }) => kind === "user" || kind === "thinking") && view.inputId !== undefined
        ? addItem(ended, makeNote(`note-${seq}`, "info", { title: "", text: "The answer is empty." }))
        : ended;
    case "waiting":
      return ended;
    case "aborted":
      return end("info", "Stopped", "This answer was stopped before it was finished.");
    case "interrupted":
      return end("warning", "Interrupted", "The server went down while this was being answered. Ask again to go on.");
    case "error": {
      const wasShown = view.items.some((item) => item.kind === "note" && item.level === "error");
      return wasShown ? ended : end("error", titleOf(result.subtype), error?.message ?? "The run failed.");
    }
  }
}

function closeItem(item: Item): Item {
  return item.kind === "text" || item.kind === "thinking" ? { ...item, isOpen: false } : item;
}

function textOf(blocks: readonly Block[]): string {
  return blocks.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
}

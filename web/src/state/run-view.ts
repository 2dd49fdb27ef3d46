import type { AgentEvent, Block, Message, Usage } from "../../../src/domain/index.ts";

/** One thing on the page. */
export type Item =
  | { readonly kind: "user"; readonly key: string; readonly text: string }
  | TextPart
  | ToolPart
  | { readonly kind: "handoff"; readonly key: string; readonly from: string; readonly to: string; readonly message: string }
  | NotePart;

export interface TextPart {
  readonly kind: "text" | "thinking";
  readonly key: string;
  readonly messageId: string;
  readonly index: number;
  readonly text: string;
  readonly agent: string | undefined;
  /** Whether more may come. */
  readonly isOpen: boolean;
}

export type ToolState = "writing" | "asked" | "running" | "done";

export interface ToolPart {
  readonly kind: "tool";
  readonly key: string;
  readonly callId: string;
  readonly messageId: string | undefined;
  readonly name: string;
  readonly agent: string | undefined;
  /** The arguments, while they are being written. */
  readonly json: string;
  readonly input: unknown;
  readonly output: unknown;
  readonly isError: boolean;
  readonly skipped: string | undefined;
  readonly ms: number | undefined;
  readonly state: ToolState;
  /** Why somebody is asked. */
  readonly question: string | undefined;
  readonly verdict: string | undefined;
}

export interface NotePart {
  readonly kind: "note";
  readonly key: string;
  readonly level: "info" | "warning" | "error";
  readonly title: string;
  readonly text: string;
  readonly help: string | undefined;
}

/** What a reader sees of one run. */
export interface RunView {
  readonly items: readonly Item[];
  /** The last event that was taken in; the cursor to resume from. */
  readonly seq: number;
  readonly status: "running" | "success" | "error" | "aborted" | "interrupted";
  readonly usage: Usage;
  readonly costUsd: number | undefined;
  readonly ms: number | undefined;
  readonly model: string | undefined;
  /** The id of the user's message this run answers. */
  readonly inputId: string | undefined;
}

export const EMPTY_RUN: RunView = {
  items: [],
  seq: -1,
  status: "running",
  usage: {},
  costUsd: undefined,
  ms: undefined,
  model: undefined,
  inputId: undefined,
};

/**
 * Takes in the next event. An event that was taken in before changes nothing, so a stream may be read again from any
 * cursor.
 */
export function reduceRun(view: RunView, event: AgentEvent): RunView {
  if (event.seq <= view.seq) return view;
  return { ...applyEvent(view, event), seq: event.seq };
}

function applyEvent(view: RunView, event: AgentEvent): RunView {
  switch (event.type) {
    case "text-delta":
    case "thinking-delta":
      return withItems(view, addText(view.items, event));
    case "tool-input-delta":
      return withItems(view, changeTool(view.items, event, (tool) => ({ ...tool, json: tool.json + event.json })));
    case "start":
      return event.model === undefined ? view : { ...view, model: event.model };
    case "message":
      return applyMessage(view, event);
    case "tool-call":
      return withItems(
        view,
        changeTool(view.items, event, (tool) => ({ ...tool, input: event.input, state: tool.state === "writing" ? "running" : tool.state })),
      );
    case "tool-result":
      return withItems(
        view,
        changeTool(view.items, event, (tool) => ({
          ...tool,
          output: event.output,
          isError: event.isError,
          skipped: event.skipped,
          ms: event.ms,
          state: "done",
        })),
      );
    case "permission":
      return withItems(view, applyPermission(view.items, event));
    case "handoff":
      return addItem(view, {
        kind: "handoff",
        key: `handoff-${event.seq}`,
        from: event.from,
        to: event.to,
        message: event.message,
      });
    case "notice":
      return applyNotice(view, event);
    case "warning":
      return event.expected === true ? view : addNote(view, event.seq, "warning", "Warning", event.message);
    case "error":
      return addNote(view, event.seq, event.terminal ? "error" : "warning", titleOf(event.code), event.message, event.diagnostic);
    case "result":
      return view;
    case "done":
      return finish(view, event.result);
  }
}

function finish(view: RunView, result: Extract<AgentEvent, { type: "done" }>["result"]): RunView {
  const { status, usage, costUsd, ms, model, error } = result;
  const closed = view.items.map((item) =>
    item.kind === "text" || item.kind === "thinking" ? { ...item, isOpen: false } : item,
  );
  const ended: RunView = { ...view, items: closed, status, usage, costUsd, ms, model: model ?? view.model };
  if (status === "aborted") return addNote(ended, view.seq + 1, "info", "Stopped", "This answer was stopped.");
  if (status === "interrupted") {
    return addNote(ended, view.seq + 1, "warning", "Interrupted", "The server was restarted while it answered. Ask again to go on.");
  }
  const wasShown = view.items.some((item) => item.kind === "note" && item.level === "error");
  if (status !== "error" || wasShown || error === undefined) return ended;
  return addNote(ended, view.seq + 1, "error", titleOf(result.subtype), error.message, error.diagnostic);
}

function withItems(view: RunView, items: readonly Item[]): RunView {
  return items === view.items ? view : { ...view, items };
}

function addItem(view: RunView, item: Item): RunView {
  return { ...view, items: [...view.items, item] };
}

function addNote(
  view: RunView,
  seq: number,
  level: NotePart["level"],
  title: string,
  text: string,
  diagnostic?: { readonly hint?: string; readonly troubleshooting?: string },
): RunView {
  const help = [diagnostic?.hint, diagnostic?.troubleshooting].filter(Boolean).join(" ");
  return addItem(view, { kind: "note", key: `note-${seq}-${level}`, level, title, text, help: help === "" ? undefined : help });
}

type Delta = Extract<AgentEvent, { type: "text-delta" | "thinking-delta" }>;

/** Deltas come in long rows of one block, which is nearly always the last thing on the page. */
function addText(items: readonly Item[], event: Delta): readonly Item[] {
  const key = `${event.messageId}:${event.index}`;
  const at = items.findLastIndex((item) => item.key === key);
  const known = items[at];
  if (known !== undefined && (known.kind === "text" || known.kind === "thinking")) {
    return items.with(at, { ...known, text: known.text + event.text });
  }
  const { messageId, index, text, agent } = event;
  const kind = event.type === "text-delta" ? "text" : "thinking";
  return [...items, { kind, key, messageId, index, text, agent, isOpen: true }];
}

type Called = { readonly callId: string; readonly name: string; readonly agent?: string; readonly messageId?: string };

function changeTool(items: readonly Item[], call: Called, change: (tool: ToolPart) => ToolPart): readonly Item[] {
  const at = items.findLastIndex((item) => item.kind === "tool" && item.callId === call.callId);
  if (at !== -1) return items.with(at, change(items[at] as ToolPart));
  return [...items, change(newTool(call))];
}

function newTool({ callId, name, agent, messageId }: Called): ToolPart {
  return {
    kind: "tool",
    key: `tool-${callId}`,
    callId,
    messageId,
    name,
    agent,
    json: "",
    input: undefined,
    output: undefined,
    isError: false,
    skipped: undefined,
    ms: undefined,
    state: "writing",
    question: undefined,
    verdict: undefined,
  };
}

function applyPermission(items: readonly Item[], event: Extract<AgentEvent, { type: "permission" }>): readonly Item[] {
  return changeTool(items, event, (tool) => {
    if (event.state === "asked") {
      return { ...tool, state: "asked", question: event.reason, input: event.input ?? tool.input };
    }
    const verdict = event.state === "denied" ? (event.reason ?? "Denied.") : undefined;
    return { ...tool, state: tool.state === "asked" ? "running" : tool.state, question: undefined, verdict };
  });
}

function applyMessage(view: RunView, event: Extract<AgentEvent, { type: "message" }>): RunView {
  if (event.role === "user") {
    const text = textOf(event.blocks);
    if (text === "" || event.parent !== undefined) return view;
    const inputId = view.inputId ?? event.id;
    return { ...addItem(view, { kind: "user", key: `user-${event.id}`, text }), inputId };
  }
  // The finished message is the truth about what its deltas showed.
  const known = new Map(view.items.map((item, at) => [item.key, at]));
  const items = [...view.items];
  event.blocks.forEach((block, index) => {
    if (block.type !== "text" && block.type !== "thinking") return;
    const key = `${event.id}:${index}`;
    const at = known.get(key);
    const part: TextPart = {
      kind: block.type,
      key,
      messageId: event.id,
      index,
      text: block.text,
      agent: event.agent,
      isOpen: false,
    };
    if (at !== undefined) items[at] = part;
    else if (block.text !== "") items.push(part);
  });
  return { ...view, items };
}

const SHOWN_NOTICES: Readonly<Record<string, (data: Readonly<Record<string, unknown>>) => string>> = {
  retry: ({ attempt, attempts, message }) => `Trying again (${attempt} of ${attempts})${text(message)}`,
  fallback: ({ from, to, message }) => `${from} is not available, ${to} goes on${text(message)}`,
  stall: ({ silentMs }) => `Silent for ${Math.round(Number(silentMs) / 1000)} s …`,
  "rate-limit": () => "The provider limits the rate of requests.",
};

const text = (message: unknown): string => (typeof message === "string" ? `: ${message}` : ".");

function applyNotice(view: RunView, event: Extract<AgentEvent, { type: "notice" }>): RunView {
  const data = (typeof event.data === "object" && event.data !== null ? event.data : {}) as Record<string, unknown>;
  if (event.kind === "retract") {
    const from = typeof data["fromIndex"] === "number" ? data["fromIndex"] : 0;
    const items = view.items.filter((item) => !isRetracted(item, String(data["messageId"]), from));
    return { ...view, items };
  }
  const show = Object.hasOwn(SHOWN_NOTICES, event.kind) ? SHOWN_NOTICES[event.kind] : undefined;
  return show === undefined ? view : addNote(view, event.seq, "info", "", show(data));
}

function isRetracted(item: Item, messageId: string, fromIndex: number): boolean {
  if (item.kind === "text" || item.kind === "thinking") return item.messageId === messageId && item.index >= fromIndex;
  return item.kind === "tool" && item.messageId === messageId && item.state === "writing";
}

/** Stored messages as things on the page. */
export function itemsOf(messages: readonly Message[]): readonly Item[] {
  let view: RunView = EMPTY_RUN;
  for (const message of messages) {
    for (const [index, block] of message.blocks.entries()) view = addBlock(view, message, block, index);
  }
  return view.items;
}

function addBlock(view: RunView, message: Message, block: Block, index: number): RunView {
  const key = `${message.id}:${index}`;
  switch (block.type) {
    case "text":
      if (message.role === "user") return addItem(view, { kind: "user", key, text: block.text });
      return addItem(view, { kind: "text", key, messageId: message.id, index, text: block.text, agent: undefined, isOpen: false });
    case "thinking":
      return addItem(view, { kind: "thinking", key, messageId: message.id, index, text: block.text, agent: undefined, isOpen: false });
    case "tool-call":
      return withItems(view, changeTool(view.items, block, (tool) => ({ ...tool, input: block.input, state: "done" })));
    case "tool-result": {
      const call = view.items.find((item) => item.kind === "tool" && item.callId === block.callId);
      const name = call?.kind === "tool" ? call.name : "tool";
      return withItems(
        view,
        changeTool(view.items, { callId: block.callId, name }, (tool) => ({
          ...tool,
          output: block.output,
          isError: block.isError,
          state: "done",
        })),
      );
    }
    case "image":
    case "document":
      return addItem(view, { kind: "note", key, level: "info", title: "", text: `(${block.type})`, help: undefined });
    default:
      return view;
  }
}

function textOf(blocks: readonly Block[]): string {
  return blocks.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
}

/** `provider-rate-limited` → `Provider rate limited`. */
function titleOf(code: string): string {
  const words = code.replaceAll(/[-_]/g, " ").replace(/^error /, "");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

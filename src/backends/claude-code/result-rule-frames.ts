import { type ChunkOf, type Chunk, isDelta, type NoticeItem } from "#domain";
import { isRecord, type JsonRecord, ownArray, ownString } from "#wire";
import type { RuleInput } from "./result-rule.ts";

/** Frame types that the CLI is known to write. */
const KNOWN_TYPES: ReadonlySet<string> = new Set([
  "system",
  "assistant",
  "user",
  "result",
  "stream_event",
  "rate_limit_event",
  "tool_progress",
  "command_lifecycle",
  "conversation_reset",
  "control_request",
  "control_response",
  "control_cancel_request",
  "keep_alive",
  "auth_status",
  "prompt_suggestion",
  "tool_use_summary",
  "active_goal",
]);

/** Background work that may never end: shells, monitors, and the CLI's own upkeep of its memory. */
const ENDLESS_TYPES: ReadonlySet<string> = new Set(["local_bash", "monitor_mcp", "monitor_ws", "dream"]);

/** A shell or a sub-agent that the CLI runs in the background. */
export interface BackgroundWork {
  readonly id: string;
  readonly description?: string;
}

/** The background work of one process, according to its frames. */
export interface TaskCount {
  /** Work that ends and then starts another turn: it is awaited. */
  readonly count: number;
  /** That work, by name. */
  readonly agents: readonly BackgroundWork[];
  /** Shells, and other work that may never end: a server, a monitor. It is not awaited. */
  readonly shells: readonly BackgroundWork[];
  /** There is background work, or there was. */
  readonly wasAnnounced: boolean;
  note(frame: JsonRecord): void;
}

export function createTaskCount(): TaskCount {
  const tasks = new Map<string, BackgroundWork>();
  const shells = new Map<string, BackgroundWork>();
  let wasAnnounced = false;

  const add = (task: JsonRecord): void => {
    const id = ownString(task, "task_id") ?? ownString(task, "id");
    if (id === undefined) return;
    wasAnnounced = true;
    const kind = ENDLESS_TYPES.has(ownString(task, "task_type") ?? "") ? shells : tasks;
    if (kind.has(id)) return;
    const description = ownString(task, "description");
    kind.set(id, { id, ...(description !== undefined && { description }) });
  };

  return {
    get count() {
      return tasks.size;
    },
    get agents() {
      return [...tasks.values()];
    },
    get shells() {
      return [...shells.values()];
    },
    get wasAnnounced() {
      return wasAnnounced;
    },
    note(frame) {
      if (frame.type !== "system") return;
      switch (frame.subtype) {
        case "background_tasks_changed":
          tasks.clear();
          shells.clear();
          for (const task of ownArray(frame, "tasks") ?? []) if (isRecord(task)) add(task);
          return;
        case "task_started":
          // Older versions do not mark background tasks; foreground tasks end before the result.
          if (frame.is_backgrounded !== false) add(frame);
          return;
        case "task_notification": {
          const id = ownString(frame, "task_id") ?? "";
          tasks.delete(id);
          shells.delete(id);
          return;
        }
        default:
          return;
      }
    },
  };
}

/** A frame as input of the result rule; `undefined` for an unknown type. */
export function readRuleInput(frame: JsonRecord, tasks: TaskCount): RuleInput | undefined {
  const type = ownString(frame, "type");
  if (type === undefined || !KNOWN_TYPES.has(type)) return undefined;
  tasks.note(frame);
  if (type === "result") {
    const result = { isError: frame.is_error === true, text: ownString(frame, "result") };
    return { kind: "message", result, ...backgroundOf(tasks) };
  }
  return { kind: "message", opensTurn: opensTurn(frame), ...backgroundOf(tasks) };
}

/** Whether a frame shows that the CLI is working on a turn. */
export function opensTurn(frame: JsonRecord): boolean {
  switch (frame.type) {
    case "assistant":
    case "stream_event":
      return true;
    case "system":
      return frame.subtype === "init";
    default:
      return false;
  }
}

/**
 * A decoded chunk as input of the result rule; `undefined` if it can neither end nor begin anything. `isLate`: there
 * was a result before.
 */
export function readChunk(chunk: Chunk, tasks: TaskCount, isLate: boolean): RuleInput | undefined {
  switch (chunk.type) {
    case "result":
      return { kind: "message", result: { isError: chunk.isError, text: chunk.text }, ...backgroundOf(tasks) };
    case "error":
      return { kind: "fault", error: chunk, seen: chunk.raw?.json || (chunk.diagnostic?.seen ?? chunk.message) };
    case "notice":
      return readNotice(chunk, tasks, isLate);
    case "warning":
    case "permission":
    case "handoff":
      return undefined;
    default:
      if (!isLate) return undefined;
      return tasks.wasAnnounced ? { kind: "message", opensTurn: true } : readLateContent(chunk);
  }
}

/**
 * A chunk of the control channel as input of the result rule: there the CLI reports when a turn begins, and whether our
 * message (`uuid`) is queued behind another turn.
 */
export function readControlChunk(
  chunk: Chunk,
  tasks: TaskCount,
  { isLate, uuid }: { readonly isLate: boolean; readonly uuid: string },
): RuleInput | undefined {
  if (chunk.type === "start") return isLate ? readLateContent(chunk) : { kind: "message", begins: true };
  if (chunk.type === "notice" && isRecord(chunk.data)) {
    if (chunk.kind === "init") return { kind: "message", begins: true };
    const isOurs = chunk.kind === "command-lifecycle" && ownString(chunk.data, "command_uuid") === uuid;
    if (isOurs) return { kind: "message", queued: ownString(chunk.data, "state") === "queued" };
  }
  const input = readChunk(chunk, tasks, isLate);
  return input?.kind === "message" && input.opensTurn === true ? { kind: "message" } : input;
}

/**
 * No further turn was announced, so the verdict is final. Deltas are skipped: they only preview what the item names.
 */
function readLateContent(chunk: Chunk): RuleInput {
  if (isDelta(chunk)) return { kind: "pull" };
  const error = {
    code: "unexpected-message",
    message: `Claude Code went on with a ${chunk.type} after its result.`,
    terminal: false,
  } as const;
  return { kind: "fault", error, seen: seenOf(chunk) };
}

function seenOf(chunk: Chunk): string {
  return (chunk.raw?.json ?? JSON.stringify(chunk)).slice(0, MAX_SEEN);
}

/** How much of a late message the warning contains. */
const MAX_SEEN = 4096;

function backgroundOf(tasks: TaskCount) {
  return { tasks: tasks.count, announced: tasks.wasAnnounced };
}

function readNotice(chunk: ChunkOf<NoticeItem>, tasks: TaskCount, isLate: boolean): RuleInput | undefined {
  const { kind, data, raw } = chunk;
  if (kind === "task" && isRecord(data)) {
    tasks.note(data);
    return { kind: "message", ...backgroundOf(tasks) };
  }
  if (!isLate) return undefined;
  if (!kind.startsWith("unknown:")) return { kind: "message", opensTurn: kind === "init" };
  const error = {
    code: "unexpected-message",
    message: `A frame of an unknown type came: ${kind}`,
    terminal: false,
  } as const;
  return { kind: "fault", error, seen: raw?.json ?? "" };
}

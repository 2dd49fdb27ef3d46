import type { Chunk, NoticeItem } from "#domain";
import { isRecord, type JsonRecord, ownArray, ownString } from "#wire";
import type { RuleInput } from "./result-rule.ts";

/** Frame types the CLI is known to write. */
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
]);

/** Counts the background work of one process from its frames. */
export interface TaskCount {
  readonly count: number;
  note(frame: JsonRecord): void;
}

export function createTaskCount(): TaskCount {
  const tasks = new Set<string>();
  return {
    get count() {
      return tasks.size;
    },
    note(frame) {
      if (frame.type !== "system") return;
      switch (frame.subtype) {
        case "background_tasks_changed":
          tasks.clear();
          for (const task of ownArray(frame, "tasks") ?? []) {
            const id = isRecord(task) ? (ownString(task, "task_id") ?? ownString(task, "id")) : undefined;
            if (id !== undefined) tasks.add(id);
          }
          return;
        case "task_started":
          // Older versions do not say which tasks are in the background; those in front end before the result.
          if (frame.is_backgrounded !== false) tasks.add(ownString(frame, "task_id") ?? "");
          return;
        case "task_notification":
          tasks.delete(ownString(frame, "task_id") ?? "");
          return;
        default:
          return;
      }
    },
  };
}

/** A frame as the result rule sees it; `undefined` for a type nobody knows. */
export function readRuleInput(frame: JsonRecord, tasks: TaskCount): RuleInput | undefined {
  const type = ownString(frame, "type");
  if (type === undefined || !KNOWN_TYPES.has(type)) return undefined;
  tasks.note(frame);
  if (type === "result") {
    return { kind: "message", result: { isError: frame.is_error === true }, tasks: tasks.count };
  }
  return { kind: "message", opensTurn: opensTurn(frame), tasks: tasks.count };
}

/** Whether a frame shows that the CLI is at work on a turn. */
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
 * A decoded chunk as the result rule sees it; `undefined` for what can neither end nor begin anything. `isLate`: there
 * was a result before.
 */
export function readChunk(chunk: Chunk, tasks: TaskCount, isLate: boolean): RuleInput | undefined {
  switch (chunk.type) {
    case "result":
      return { kind: "message", result: { isError: chunk.isError }, tasks: tasks.count };
    case "error":
      return { kind: "fault", error: chunk, seen: chunk.raw?.json || (chunk.diagnostic?.seen ?? chunk.message) };
    case "notice":
      return readNotice(chunk, tasks, isLate);
    case "warning":
    case "permission":
    case "handoff":
      return undefined;
    default:
      return isLate ? { kind: "message", opensTurn: true } : undefined;
  }
}

function readNotice(chunk: NoticeItem, tasks: TaskCount, isLate: boolean): RuleInput | undefined {
  const { kind, data, raw } = chunk;
  if (kind === "task" && isRecord(data)) {
    tasks.note(data);
    return { kind: "message", tasks: tasks.count };
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

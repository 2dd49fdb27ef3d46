import type { TapeAction, TapeEntry } from "./tape.ts";

/** The key of the receivers to which an entry can be delivered; `undefined` for an action of the program itself. */
export function keyOf(entry: TapeEntry): string | undefined {
  switch (entry.type) {
    case "request":
    case "spawn":
    case "stdin":
    case "stdin-end":
    case "kill":
    case "end":
      return undefined;
    case "head":
    case "no-answer":
      return `head:${entry.id}`;
    case "body":
    case "body-end":
    case "body-break":
      return `body:${entry.id}`;
    case "spawned":
    case "not-spawned":
      return `spawned:${entry.id}`;
    case "stdin-refused":
      return `stdin:${entry.id}`;
    case "stdout":
    case "stdout-end":
      return `stdout:${entry.id}`;
    case "stderr":
    case "stderr-end":
      return `stderr:${entry.id}`;
    case "exit":
      return `exit:${entry.id}`;
    case "answer":
      return `answer:${entry.key}`;
    case "progress":
      return `progress:${entry.key}`;
    case "decision":
      return `decision:${entry.callId}`;
    case "timer":
      return "timer";
    case "abort":
      return "abort";
  }
}

/** Describes an entry, for messages. */
export function describeEntry(entry: TapeEntry): string {
  const action = entry as TapeAction;
  switch (action.type) {
    case "request":
      return `the request ${action.method} ${action.url}`;
    case "spawn":
      return `the process ${action.executable} to be started`;
    default:
      return `"${entry.type}"`;
  }
}

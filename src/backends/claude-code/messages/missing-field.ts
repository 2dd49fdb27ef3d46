import { isRecord, type JsonRecord, ownRecord, ownString, ownValue } from "#wire";

/** The name of a required field that a message lacks; `undefined` if it has all of them. */
export function missingField(message: JsonRecord): string | undefined {
  switch (message.type) {
    case "result":
      return ownString(message, "subtype") === undefined ? "subtype" : undefined;
    case "assistant":
      return Array.isArray(contentOf(message)) ? undefined : "message.content";
    case "user":
      return typeof contentOf(message) === "string" || Array.isArray(contentOf(message))
        ? undefined
        : "message.content";
    case "stream_event":
      return ownString(ownRecord(message, "event") ?? {}, "type") === undefined ? "event.type" : undefined;
    default:
      return undefined;
  }
}

function contentOf(message: JsonRecord): unknown {
  const inner = ownValue(message, "message");
  return isRecord(inner) ? ownValue(inner, "content") : undefined;
}

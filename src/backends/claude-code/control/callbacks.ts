import { RunError } from "#domain";
import type { ToolServer } from "#tools";
import { followSignal } from "#streams";
import { isRecord, type JsonRecord, ownString, ownValue } from "#wire";
import { answerHook, denyTool, HOOK_IDS, type ControlContext } from "./hooks.ts";
import { answerPermission, denyPermission } from "./permissions.ts";

/** Answers what the CLI asks of us. A request we do not know is refused, and refused only. */
export function createCallbacks(
  context: ControlContext,
  server: ToolServer | undefined,
): (request: JsonRecord, signal: AbortSignal) => Promise<JsonRecord | undefined> {
  return async (request, signal) => {
    const subtype = ownString(request, "subtype");
    switch (subtype) {
      case "hook_callback":
        return answerHook(request, context, signal);
      case "can_use_tool":
        return answerPermission(request, context, signal);
      case "mcp_message":
        return { mcp_response: await answerServer(request, server, signal) };
      default:
        throw new RunError("control-failed", `Unsupported control request subtype: ${subtype ?? "none"}`);
    }
  };
}

async function answerServer(
  request: JsonRecord,
  server: ToolServer | undefined,
  signal: AbortSignal,
): Promise<unknown> {
  const name = ownString(request, "server_name");
  if (server === undefined || name !== server.name) {
    throw new RunError("control-failed", `There is no tool server named "${name ?? ""}".`);
  }
  const message = ownValue(request, "message");
  const id = isRecord(message) ? message.id : undefined;
  const unfollow = followSignal(signal, () => {
    // A request that is taken back is a call that is: in the words of the protocol inside it.
    const params = { requestId: id, reason: "The request was withdrawn." };
    server.receive({ jsonrpc: "2.0", method: "notifications/cancelled", params })?.catch(() => undefined);
  });
  try {
    // The CLI wants an answer to every message, also to those that have none.
    return (await server.receive(message)) ?? { jsonrpc: "2.0", id: 0, result: {} };
  } finally {
    unfollow();
  }
}

/** The "no" to a question that nobody will answer any more; `undefined` where nothing is at stake. */
export function denialOf(request: JsonRecord): JsonRecord | undefined {
  const reason = "Not run: the conversation was ended.";
  switch (ownString(request, "subtype")) {
    case "hook_callback":
      return ownString(request, "callback_id") === HOOK_IDS.PreToolUse ? denyTool(reason) : undefined;
    case "can_use_tool":
      return denyPermission(reason);
    default:
      return undefined;
  }
}

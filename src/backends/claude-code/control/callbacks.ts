import { RunError } from "#domain";
import type { ToolServer } from "#tools";
import { followSignal } from "#streams";
import { isRecord, type JsonRecord, ownString, ownValue } from "#wire";
import type { CallWait } from "./call-wait.ts";
import type { IncomingAnswer } from "./channel.ts";
import { answerHook, denyTool, HOOK_IDS, type ControlContext } from "./hooks.ts";
import { answerPermission, denyPermission } from "./permissions.ts";

/**
 * Answers the CLI's requests, those about a call after the call was emitted. An unknown request is refused, without
 * further effect.
 */
export function createCallbacks(
  context: ControlContext,
  server: ToolServer | undefined,
  calls: CallWait,
): IncomingAnswer {
  return async (request, signal) => {
    const wait = calls.before(request, signal);
    if (wait !== undefined) await wait;
    if (signal.aborted) return undefined;
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
    // Cancelling the request cancels its call, in terms of the inner protocol.
    const params = { requestId: id, reason: "The request was withdrawn." };
    server.receive({ jsonrpc: "2.0", method: "notifications/cancelled", params })?.catch(() => undefined);
  });
  try {
    // The CLI expects an answer to every message, even to notifications.
    return (await server.receive(message)) ?? { jsonrpc: "2.0", id: 0, result: {} };
  } finally {
    unfollow();
  }
}

/** The denial of a request that will not be answered any more; `undefined` if nothing is at stake. */
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

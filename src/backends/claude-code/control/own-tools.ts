import { present, toolCallItem, toolResultItem } from "#domain";
import type { ServerCall, ServerOutcome, Tool, ToolServer } from "#tools";
import { createToolServer } from "#tools";
import { type JsonRecord, ownString } from "#wire";
import type { ControlContext } from "./hooks.ts";
import type { CallDecisions } from "./call-decisions.ts";

/** The name of our tool server in the CLI. There its tools are called `mcp__millrace__<name>`, here never. */
export const TOOL_SERVER = "millrace";

const PREFIX = `mcp__${TOOL_SERVER}__`;

/** The field in which the CLI names the model's call that a request belongs to. */
const CALL_ID = "claudecode/toolUseId";

/** The model's call that a request to the tool server belongs to, from its `_meta`. */
export function callIdOf(meta: JsonRecord): string | undefined {
  return ownString(meta, CALL_ID);
}

/** Returns the caller's name of one of our tools; `undefined` for any other tool. */
export function createOwnTool(tools: readonly Tool[]): (vendorName: string) => string | undefined {
  const names = new Set(tools.map((tool) => tool.name));
  return (vendorName) => {
    if (!vendorName.startsWith(PREFIX)) return undefined;
    const name = vendorName.slice(PREFIX.length);
    return names.has(name) ? name : undefined;
  };
}

/** Our tools as an MCP server for the CLI. Every call is checked by the policy of its turn. */
export function createOwnToolServer(
  tools: readonly Tool[],
  version: string,
  context: Pick<ControlContext, "turn" | "newCallId">,
): ToolServer {
  return createToolServer({
    name: TOOL_SERVER,
    version,
    tools,
    async call(call) {
      const turn = context.turn();
      if (turn === undefined) return refuse("Not run: no turn is active.");
      const callId = callIdOf(call.meta);
      return callId === undefined
        ? runUnnamed(turn, context.newCallId(call.name), call)
        : runOwnTool(turn, callId, call);
    },
  });
}

/** Runs a call that the CLI does not relate to any call of the model, and so never announces or answers. */
async function runUnnamed(turn: CallDecisions, callId: string, call: ServerCall): Promise<ServerOutcome> {
  const { name, input } = call;
  const { link } = turn;
  await link.write([toolCallItem({ callId, name, input, executedBy: "millrace" })]);
  const outcome = await runOwnTool(turn, callId, call);
  const skipped = turn.find(callId)?.denial === undefined ? undefined : ("denied" as const);
  await link.write([toolResultItem({ callId, name, ...outcome, ...present({ skipped }) })]);
  return outcome;
}

async function runOwnTool(turn: CallDecisions, callId: string, call: ServerCall): Promise<ServerOutcome> {
  const { name, input, signal } = call;
  const { policy } = turn.link;
  const record = turn.call(callId, name, "millrace");
  // A second request for the same call: the tool may have side effects, so it is not run again.
  if (record.hasRun) return refuse("Not run: this call was run already.");
  if (!policy.isSilentOnTools || record.verdict !== undefined) {
    const verdict = await turn.decide(callId, record, { input, signal });
    if (verdict.kind === "denied") return refuse(verdict.reason);
    await verdict.grant.prepare?.(input);
    if (record.hasRun || !verdict.grant.redeem(input)) {
      record.denial = "Not run: the arguments are not the ones that were allowed.";
      return refuse(record.denial);
    }
  }
  record.hasRun = true;
  const outcome = await turn.link.runTool({ callId, name, input, signal });
  const isError = outcome.kind === "failed";
  if (policy.isSilentOnTools) return (record.answer = { output: outcome.output, isError });
  const ran = { callId, name, input, executedBy: "millrace", signal } as const;
  const checked = await policy.checkResult(ran, { ...outcome, isError });
  record.notes.push(...checked.notes);
  if (checked.stop !== undefined) turn.stopReason ??= checked.stop;
  return (record.answer = { output: checked.output, isError: checked.isError });
}

function refuse(output: string): ServerOutcome {
  return { output, isError: true };
}

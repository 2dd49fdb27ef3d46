import { createScriptedSpawn, type SpawnStep, type VirtualClock } from "#testing";
import { answers, calls, greet, INIT, line, result, says, writes } from "../claude-code/scripted.ts";
import type { Dice } from "./dice.ts";

/** Claude Code's process as a script: the control protocol with our tools, permissions, and faults of a process. */
export function createSimulatedAgent(dice: Dice, clock: VirtualClock, tools: readonly string[]) {
  let isHopeless = false;
  const script = (): readonly SpawnStep[] => {
    const steps: SpawnStep[] = [greet, { waitForInput: "line" }, ...pause(dice), writes(INIT)];
    for (let turn = 0; turn < dice.upTo(2); turn += 1) steps.push(...callTool(dice, tools, turn), ...pause(dice));
    steps.push(writes(says("last", "All is done.")), ...pause(dice));
    const end = dice.upTo(9);
    isHopeless = end < 3;
    if (end === 0) steps.push({ exit: 1 });
    else if (end === 1) steps.push({ write: '{"type":"result","subt' }, { exit: 0 });
    else if (end === 2) steps.push({ exit: 0 });
    else if (end === 3) steps.push({ ignore: ["SIGTERM"] }, writes(result("All is done.")), { hang: true });
    else steps.push(writes(result("All is done.")), { exit: dice.pick([0, 0, 0, 1]) });
    return steps;
  };
  return {
    spawn: createScriptedSpawn(script, { clock }),
    get isHopeless() {
      return isHopeless;
    },
  };
}

function pause(dice: Dice): SpawnStep[] {
  return dice.percent(40) ? [{ waitMs: dice.upTo(5000) }] : [];
}

const request = (id: string, body: object) => ({ type: "control_request", request_id: id, request: body });

function callTool(dice: Dice, tools: readonly string[], turn: number): SpawnStep[] {
  const name = dice.pick(tools);
  const input = { n: dice.upTo(9) };
  return callOwnTool({ name, input, turn, asksFirst: dice.percent(80) });
}

interface OwnCall {
  readonly name: string;
  readonly input: unknown;
  /** Tells the calls of one script apart. */
  readonly turn: number;
  /** A CLI that asks no hook first is one of ours gone wrong: the tool itself has to be judged then. */
  readonly asksFirst: boolean;
}

/** One of our tools, called as the CLI does it: the hook, then the call, then what came of it. */
export function callOwnTool({ name, input, turn, asksFirst }: OwnCall): SpawnStep[] {
  const callId = `call-${turn}`;
  const vendorName = `mcp__millrace__${name}`;
  const hook = request(`hook-${turn}`, {
    subtype: "hook_callback",
    callback_id: "before-tool",
    tool_use_id: callId,
    input: { hook_event_name: "PreToolUse", tool_name: vendorName, tool_input: input, tool_use_id: callId },
  });
  const message = {
    jsonrpc: "2.0",
    id: turn + 1,
    method: "tools/call",
    params: { name, arguments: input, _meta: { "claudecode/toolUseId": callId } },
  };
  const call = request(`mcp-${turn}`, { subtype: "mcp_message", server_name: "millrace", message });
  const after = request(`after-${turn}`, {
    subtype: "hook_callback",
    callback_id: "after-tool",
    input: { hook_event_name: "PostToolUse", tool_name: vendorName, tool_input: input, tool_use_id: callId },
  });
  if (!asksFirst) {
    return [writes(calls(`m${turn}`, callId, vendorName, input), call), { reply: (text) => answerOf(text, callId) }];
  }
  let isDenied = false;
  return [
    writes(calls(`m${turn}`, callId, vendorName, input), hook),
    {
      reply: (text) => {
        isDenied = text.includes('"deny"') || text.includes('"block"');
        // What was denied is answered by the CLI itself; the last hook keeps the number of lines the same.
        return isDenied ? line(answers(callId, "Denied.", true)) + line(after) : line(call);
      },
    },
    { reply: (text) => (isDenied ? "" : answerOf(text, callId)) },
  ];
}

/** The CLI's frame for the answer of our tool. */
function answerOf(text: string, callId: string): string {
  const { response } = JSON.parse(text) as {
    response?: { response?: { mcp_response?: { result?: { content?: unknown; isError?: boolean } } } };
  };
  const result = response?.response?.mcp_response?.result;
  return line(answers(callId, JSON.stringify(result?.content ?? null), result?.isError === true));
}

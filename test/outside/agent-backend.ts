import type { AgentBackend, AgentConversation, AgentLink, Chunk } from "millrace";
import {
  errorItem,
  messageItem,
  resultItem,
  startItem,
  textDelta,
  toolCallItem,
  toolResultItem,
} from "millrace/formats";
import type { AgentSituation } from "millrace/testing";
import { aborted } from "./model-backend.ts";

/** An agent that does what the situation says. */
export function createAgent(situation: AgentSituation): AgentBackend {
  return {
    kind: "agent",
    name: "outside-agent",
    model: undefined,
    explain: ({ features }) => ({
      backend: "outside-agent",
      mode: "plain",
      features,
      requiresControl: false,
      override: undefined,
      reasons: ["It has one mode."],
      ignored: [],
      text: "Backend: outside-agent",
    }),
    open: async ({ tools }) => openConversation(situation, tools[0]?.name),
  };
}

function openConversation(situation: AgentSituation, tool: string | undefined): AgentConversation {
  let turns = 0;
  return {
    sessionId: undefined,
    async send(_, link) {
      turns += 1;
      const write = async (...chunks: Chunk[]) => link.write(chunks);
      await write(startItem({ backend: "outside-agent", mode: "plain" }));
      if (situation === "failure") {
        await write(errorItem({ code: "source-failed", message: "The agent is out.", terminal: true }));
        return;
      }
      if (situation === "tool-call" && tool !== undefined) await callTool(link, `call-${turns}`, tool);
      const id = `answer-${turns}`;
      await write(textDelta(id, 0, "Done."));
      if (situation === "stall") await aborted(link.signal);
      if (link.signal.aborted) return;
      await write(
        messageItem({ id, role: "assistant", blocks: [{ type: "text", text: "Done." }], stopReason: "end-turn" }),
      );
      await write(resultItem({ subtype: "success", isError: false, text: "Done.", usage: {} }));
    },
    interrupt: async () => undefined,
    setModel: () => Promise.reject(new Error("It has one model.")),
    setPermissionMode: () => Promise.reject(new Error("It has no permission modes.")),
    close: async () => undefined,
  };
}

/** The order that the contract asks for: written, checked, redeemed, run, checked again, answered. */
async function callTool(link: AgentLink, callId: string, name: string): Promise<void> {
  const call = { callId, name, input: { text: "hello" }, executedBy: "millrace" } as const;
  const { input } = call;
  await link.write([
    messageItem({ id: `plan-${callId}`, role: "assistant", blocks: [{ type: "tool-call", callId, name, input }] }),
  ]);
  await link.write([toolCallItem(call)]);
  const verdict = await link.policy.checkCall(call);
  if (verdict.kind === "denied" || !verdict.grant.redeem(verdict.input)) {
    const output = verdict.kind === "denied" ? verdict.reason : "The permission was used before.";
    await link.write([toolResultItem({ callId, name, output, isError: true, skipped: "denied" })]);
    return;
  }
  const outcome = await link.runTool({ callId, name, input: verdict.input });
  const result = await link.policy.checkResult(call, { output: outcome.output, isError: outcome.kind === "failed" });
  await link.write([toolResultItem({ callId, name, output: result.output, isError: result.isError })]);
}

import type { AgentBackend, AgentLink } from "#backends";
import { type Chunk, messageItem, resultItem, startItem, toolCallItem, toolResultItem } from "#domain";

interface AgentCall {
  readonly name: string;
  readonly input: unknown;
  /** The agent asks about the call without having announced it. */
  readonly isUnannounced?: boolean;
}

/**
 * An agent with its own loop that makes these calls one after the other and then says "Done.". As with Claude Code in
 * control mode, its calls have other ids in every process.
 */
export function agentOf(calls: readonly AgentCall[], processName: string): AgentBackend {
  return {
    kind: "agent",
    name: "scripted-agent",
    model: undefined,
    explain: ({ features }) => ({
      backend: "scripted-agent",
      mode: "control",
      features,
      requiresControl: false,
      override: undefined,
      reasons: [],
      ignored: [],
      text: "Backend: scripted-agent",
    }),
    open: async () => ({
      sessionId: undefined,
      async send(_, link) {
        const write = async (...chunks: Chunk[]) => link.write(chunks);
        await write(startItem({ backend: "scripted-agent", mode: "control" }));
        for (const [at, call] of calls.entries()) await makeCall(link, `${processName}-${at}`, call);
        if (link.signal.aborted) return;
        const id = `answer-${processName}`;
        await write(messageItem({ id, role: "assistant", blocks: [{ type: "text", text: "Done." }] }));
        await write(resultItem({ subtype: "success", isError: false, text: "Done.", usage: {} }));
      },
      interrupt: async () => undefined,
      setModel: () => Promise.reject(new Error("It has one model.")),
      setPermissionMode: () => Promise.reject(new Error("It has no permission modes.")),
      close: async () => undefined,
    }),
  };
}

async function makeCall(link: AgentLink, callId: string, { name, input, isUnannounced }: AgentCall): Promise<void> {
  const call = { callId, name, input, executedBy: "millrace" } as const;
  const announcement = [
    messageItem({ id: `plan-${callId}`, role: "assistant", blocks: [{ type: "tool-call", callId, name, input }] }),
    toolCallItem(call),
  ];
  if (isUnannounced !== true) await link.write(announcement);
  const verdict = await link.policy.checkCall(call);
  if (isUnannounced === true) await link.write(announcement);
  if (verdict.kind === "denied" || !verdict.grant.redeem(verdict.input)) {
    const output = verdict.kind === "denied" ? verdict.reason : "The permission was used before.";
    await link.write([toolResultItem({ callId, name, output, isError: true, skipped: "denied" })]);
    return;
  }
  const outcome = await link.runTool({ callId, name, input: verdict.input });
  const isError = outcome.kind === "failed";
  await link.write([toolResultItem({ callId, name, output: outcome.output, isError })]);
}

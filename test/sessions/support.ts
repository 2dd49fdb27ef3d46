import { createRunSource, type Leg } from "#agents";
import type { Run } from "#run";
import type { AgentEvent, Message } from "#domain";
import {
  type Conversation,
  type ConversationChanges,
  type ConversationOptions,
  createConversation,
  createLiveAgents,
  createSession,
  type SessionSeams,
} from "#sessions";
import { assertRunLog, createSeededRandom, createVirtualClock } from "#testing";

/** A session over legs, put together as the runtime does it. */
export function openTestSession(
  legsFor: readonly Leg[] | ((changes: ConversationChanges) => readonly Leg[]),
  more: Partial<ConversationOptions> & Pick<SessionSeams, "onRun" | "onQueueLength"> & { readonly seed?: number } = {},
) {
  const clock = createVirtualClock(1000);
  const random = createSeededRandom(more.seed ?? 3);
  const agents = createLiveAgents({ clock });
  const legs = (changes: ConversationChanges): readonly Leg[] =>
    typeof legsFor === "function" ? legsFor(changes) : legsFor;
  const conversation: Conversation = createConversation({
    agents,
    next: (changes) => {
      const all = legs(changes);
      return (all.find(({ agent }) => agent === changes.agent) ?? all[0]) as Leg;
    },
    agentNames: typeof legsFor === "function" ? [] : legsFor.flatMap(({ agent }) => agent ?? []),
    start: (messages, changes) =>
      createRunSource(
        {
          legs: legs(changes),
          start: changes.agent,
          context: undefined,
          limits: {},
          clock,
          random,
          price: async () => undefined,
          conversations: agents,
        },
        messages,
      ),
    ...more,
  });
  const { onRun, onQueueLength } = more;
  const session = createSession(conversation, {
    clock,
    random,
    onListenerError: () => undefined,
    onRun,
    onQueueLength,
  });
  return { session, clock };
}

/** The whole log of a run, checked. */
export async function logOf(run: Run): Promise<AgentEvent[]> {
  const events: AgentEvent[] = [];
  for await (const event of run) events.push(event);
  assertRunLog(events);
  return events;
}

/** A transcript as one line per message. */
export function shown(messages: readonly Message[]): string[] {
  return messages.map((message) => {
    const parts = message.blocks.map((block) => {
      if (block.type === "text") return block.text;
      if (block.type === "tool-call") return `${block.name}(${JSON.stringify(block.input)})`;
      if (block.type === "tool-result") return `${block.isError ? "failed" : "gave"} ${JSON.stringify(block.output)}`;
      return block.type;
    });
    return `${message.role}: ${parts.join(" | ")}`;
  });
}

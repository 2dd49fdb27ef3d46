import type { ModelBackend } from "#backends";
import { type Chunk, type Clock, messageItem, textDelta, toolCallItem } from "#domain";
import { agent, type Agent } from "#runtime";
import { park, tool } from "#tools";
import type { Dice } from "../dice.ts";

/** What a run is asked to do: the tools to call, one in each turn. */
export interface Plan {
  readonly steps: readonly ("quick" | "slow" | "asked" | "late")[];
}

/** What tools did, in order. */
export interface Effect {
  readonly runId: string;
  readonly callId: string;
  readonly step: number;
  /** Its call was in the store when it began. */
  readonly isStored: boolean;
}

interface WorkOptions {
  readonly clock: Clock;
  readonly dice: Dice;
  note(effect: Omit<Effect, "isStored">): void;
}

export const lastWords = (plan: Plan): string => `Done after ${plan.steps.length}.`;

/** The agent of a node. Its model knows only the conversation; the clock is that of the node. */
export function createWorker({ clock, dice, note }: WorkOptions): Agent {
  const wait = (ms: number): Promise<void> => new Promise((resolve) => void clock.after(ms, resolve));
  const backend: ModelBackend = {
    kind: "model",
    name: "worker",
    model: "worker-1",
    async *stream({ messages }) {
      const [asked] = messages.find(({ role }) => role === "user")?.blocks ?? [];
      const plan = JSON.parse(asked?.type === "text" ? asked.text : "{}") as Plan;
      const turn = messages.filter(({ role }) => role === "assistant").length;
      const id = `m${turn}`;
      const name = plan.steps[turn];
      const text = name === undefined ? lastWords(plan) : `Turn ${turn} has a few words.`;
      const half = Math.ceil(text.length / 2);
      yield [textDelta(id, 0, text.slice(0, half))];
      if (dice.percent(50)) await wait(dice.upTo(400));
      yield [textDelta(id, 0, text.slice(half))];
      const call = name === undefined ? undefined : { callId: `c${turn}`, name, input: { step: turn } };
      const chunks: Chunk[] = [
        messageItem({
          id,
          role: "assistant",
          blocks: [{ type: "text", text }, ...(call === undefined ? [] : [{ type: "tool-call" as const, ...call }])],
          stopReason: call === undefined ? "end-turn" : "tool-use",
          usage: { inputTokens: 1, outputTokens: 1 },
        }),
        ...(call === undefined ? [] : [toolCallItem({ ...call, executedBy: "millrace" })]),
      ];
      yield chunks;
    },
  };
  const make = (name: string, work: () => unknown) =>
    tool(name, name, { step: "number" }, async ({ step }, { runId, callId }) => {
      note({ runId, callId, step });
      return work();
    });
  const pause = (most: number) => async (): Promise<string> => {
    await wait(dice.upTo(most));
    return "done";
  };
  return agent({
    name: "worker",
    backend,
    tools: [
      make("quick", () => "done"),
      make("slow", pause(12_000)),
      make("asked", pause(1000)),
      make("late", () => park()),
    ],
    permissions: { ask: ["asked"], otherwise: "allow" },
  });
}

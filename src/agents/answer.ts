import type { OutputSpec, ToolSpec } from "#backends";
import type { ModelLeg } from "./leg.ts";
import { DEFAULT_OUTPUT_REPAIRS, planOutput, readOutput, repairMessage } from "./structured.ts";
import type { AnswerTool } from "./tool-batch.ts";

/** How a leg's final answer is asked for and read. */
export interface AnswerPlan {
  /** For vendors that can be asked for a shape. */
  readonly spec: OutputSpec | undefined;
  /** For the others: a tool whose call is the answer. */
  readonly toolSpec: ToolSpec | undefined;
  readonly tool: AnswerTool | undefined;
  /** How often the model may correct itself. */
  readonly maxRepairs: number;
  /** Reads a reply that asks for nothing more. */
  read(text: string): Promise<FinalAnswer>;
}

export type FinalAnswer =
  | { readonly kind: "text" }
  | { readonly kind: "value"; readonly value: unknown }
  | { readonly kind: "misfit"; readonly feedback: string /** What is wrong with it. */; readonly problem: string };

const PLAIN: AnswerPlan = {
  spec: undefined,
  toolSpec: undefined,
  tool: undefined,
  maxRepairs: 0,
  read: async () => ({ kind: "text" }),
};

/** Plans how a leg gets its answer in the wanted shape: natively where the vendor can, by a tool where it cannot. */
export function planAnswer(leg: ModelLeg): AnswerPlan {
  if (leg.output === undefined) return PLAIN;
  const hasTools = leg.tools.length > 0 || (leg.handoffs?.length ?? 0) > 0;
  const output = leg.output;
  const plans = [leg.backend, ...leg.fallback].map((backend) => planOutput(output, backend, hasTools));
  // A tool works everywhere; so when one of those who may answer needs it, it is the way for all of them.
  const plan = plans.find(({ way }) => way === "tool") ?? planOutput(output, leg.backend, hasTools);
  const { spec, tool } = plan;
  return {
    spec,
    toolSpec: tool,
    tool: tool && {
      name: tool.name,
      async read(input) {
        const read = await readOutput(plan, input);
        if (read.fits) return read;
        return { fits: false, problem: read.problem, feedback: repairMessage(read.problem, "tool") };
      },
    },
    maxRepairs: leg.outputRepairs ?? DEFAULT_OUTPUT_REPAIRS,
    async read(text) {
      const read = await readOutput(plan, text);
      if (read.fits) return { kind: "value", value: read.value };
      // A model that was given a tool for its answer and writes something else instead is reminded of it.
      const feedback =
        tool === undefined ? repairMessage(read.problem) : `Give your answer by calling the tool "${tool.name}".`;
      return { kind: "misfit", feedback, problem: read.problem };
    },
  };
}

import type { OutputSpec, ToolSpec } from "#backends";
import type { NextTurn } from "#domain";
import type { ModelLeg } from "./leg.ts";
import { DEFAULT_OUTPUT_REPAIRS, planOutput, readOutput, repairMessage } from "./structured.ts";
import type { AnswerTool } from "./tool-batch.ts";

/** How the final answer of a leg is requested and read. */
export interface AnswerPlan {
  /** For vendors with native output. */
  readonly spec: OutputSpec | undefined;
  /** For the others: a tool whose call is the answer. */
  readonly toolSpec: ToolSpec | undefined;
  readonly tool: AnswerTool | undefined;
  /** How many repairs the model is allowed. */
  readonly maxRepairs: number;
  /** Reads a reply without tool calls. */
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

/** Plans how a leg gets an answer that fits the schema: by native output if the vendor has it, otherwise by a tool. */
export function planAnswer(leg: ModelLeg, nextTurn: NextTurn | undefined): AnswerPlan {
  if (leg.output === undefined) return PLAIN;
  const hasTools = leg.tools.length > 0 || (leg.handoffs?.length ?? 0) > 0;
  const output = leg.output;
  const plans = [leg.backend, ...leg.fallback].map((backend) => planOutput(output, backend, hasTools));
  // A tool works with every backend. If one of the fallbacks needs it, all of them use it.
  const plan = plans.find(({ way }) => way === "tool") ?? planOutput(output, leg.backend, hasTools);
  const { spec, tool } = plan;
  return {
    spec,
    toolSpec: tool,
    tool: tool && {
      name: tool.name,
      async read(input) {
        const read = await readOutput(plan, input, nextTurn);
        if (read.fits) return read;
        return { fits: false, problem: read.problem, feedback: repairMessage(read.problem, "tool") };
      },
    },
    maxRepairs: leg.outputRepairs ?? DEFAULT_OUTPUT_REPAIRS,
    async read(text) {
      const read = await readOutput(plan, text, nextTurn);
      if (read.fits) return { kind: "value", value: read.value };
      // A model that was offered a tool for its answer and answers in text instead is reminded of the tool.
      const feedback =
        tool === undefined ? repairMessage(read.problem) : `Give your answer by calling the tool "${tool.name}".`;
      return { kind: "misfit", feedback, problem: read.problem };
    },
  };
}

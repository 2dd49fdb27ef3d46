import type { LegLimits } from "./leg.ts";
import { LEG_LIMITS } from "./leg.ts";
import { RUN_BUDGET, type RunLimits } from "./budget.ts";

/** What a sentence about an end may name. */
export interface EndFacts {
  /** The limits of the run. */
  readonly run: RunLimits;
  /** The limits of the agent whose leg ended it. */
  readonly leg: LegLimits;
  readonly maxTokens?: number | undefined;
  /** The vendor's own word for why a reply was cut, where it is not `maxTokens` that cut it. */
  readonly vendorStopReason?: string | undefined;
  /** What the backend, a hook or a schema had to say. */
  readonly detail?: string | undefined;
}

type Describe = (facts: EndFacts) => string;

const dollars = (amount: number | undefined): string => (amount === undefined ? "" : ` ($${amount})`);
const count = (amount: number | undefined, unit = ""): string =>
  amount === undefined ? "" : ` (${amount}${unit === "" ? "" : ` ${unit}`})`;

const SENTENCES: Readonly<Record<string, Describe>> = {
  error_max_turns: ({ leg }) =>
    `The run reached limits.turns${count(leg.turns ?? LEG_LIMITS.turns)}. Raise it, or give the agent less to do in one run.`,
  error_max_handoffs: ({ run }) =>
    `The run reached limits.handoffs${count(run.handoffs ?? RUN_BUDGET.handoffs)}. Raise it, or let fewer agents hand over to each other.`,
  error_max_budget_usd: ({ run }) =>
    `The run reached limits.costUsd${dollars(run.costUsd)}. Raise it, or use a cheaper model.`,
  error_max_total_tokens: ({ run }) =>
    `The run reached limits.tokens${count(run.tokens)}. Raise it, or send and ask for less text.`,
  error_timeout: ({ run }) =>
    `The run reached limits.timeoutMs${count(run.timeoutMs, "ms")}. Raise it, or give the agent less to do in one run.`,
  error_max_tokens: ({ maxTokens, vendorStopReason }) =>
    vendorStopReason !== undefined
      ? `The answer was cut by a limit of the model itself (${vendorStopReason}), which maxTokens does not change. Shorten the conversation, or use a model with a larger context.`
      : maxTokens === undefined
        ? "The answer was cut: the model reached its limit of output tokens. Set maxTokens higher, or ask for a shorter answer."
        : `The answer was cut: the model reached maxTokens (${maxTokens}). Raise it, or ask for a shorter answer.`,
  error_max_structured_output_retries: ({ detail }) =>
    `The answer does not fit the output schema, also after it was sent back${detail === undefined ? "" : `: ${asClause(detail)}`}. Describe the fields in the schema, simplify it, or allow more repairs (output: { schema, repairs }).`,
  hook_stopped: ({ detail }) =>
    `A hook ended the run${detail === undefined || detail === "" ? "" : `: ${asClause(detail)}`}.`,
};

/**
 * Why a run ended as this subtype says: which limit, how much of it, and what to do. For other subtypes what the
 * backend said, or `undefined` when it said nothing.
 */
export function describeEnd(subtype: string, facts: EndFacts): string | undefined {
  const describe = Object.hasOwn(SENTENCES, subtype) ? SENTENCES[subtype] : undefined;
  if (describe !== undefined) return describe(facts);
  // The subtype stands beside the message, so that what the backend said can stand alone.
  return facts.detail;
}

/** Without the full stop that the sentence around it has. */
function asClause(detail: string): string {
  return detail.trim().replace(/\.$/u, "");
}

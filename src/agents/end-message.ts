import type { LegLimits } from "./leg.ts";
import { LEG_LIMITS } from "./leg.ts";
import { RUN_BUDGET, type RunLimits } from "./budget.ts";

/** The facts that a sentence about the end of a run can name. */
export interface EndFacts {
  /** The limits of the run. */
  readonly run: RunLimits;
  /** The limits of the agent whose leg ended it. */
  readonly leg: LegLimits;
  readonly maxTokens?: number | undefined;
  /** The vendor's own stop reason for a reply that was cut by something other than `maxTokens`. */
  readonly vendorStopReason?: string | undefined;
  /** The explanation of the backend, the hook or the schema. */
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
    `The answer does not fit the output schema${detail === undefined ? "" : `: ${asClause(detail)}`}. Describe the fields in the schema, simplify it, or allow more repairs (output: { schema, repairs }).`,
  hook_stopped: ({ detail }) =>
    `A hook ended the run${detail === undefined || detail === "" ? "" : `: ${asClause(detail)}`}.`,
};

/**
 * Explains a subtype: which limit was reached, its value, and what to do. For other subtypes, returns the backend's
 * explanation, or `undefined` if there is none.
 */
export function describeEnd(subtype: string, facts: EndFacts): string | undefined {
  const describe = Object.hasOwn(SENTENCES, subtype) ? SENTENCES[subtype] : undefined;
  if (describe !== undefined) return describe(facts);
  // The subtype is a separate field, so the message need not repeat it.
  return facts.detail;
}

/** Our limit for each subtype that an agent may also end with because of a limit of its own. */
const OUR_LIMITS: Readonly<Record<string, (facts: EndFacts) => number | undefined>> = {
  error_max_turns: ({ leg }) => leg.turns,
  error_max_budget_usd: ({ run }) => run.costUsd,
  error_max_total_tokens: ({ run }) => run.tokens,
  error_timeout: ({ run }) => run.timeoutMs,
};

/** The same for an agent with its own loop. If the run sets no such limit, the agent reached one of its own. */
export function describeAgentEnd(subtype: string, facts: EndFacts): string | undefined {
  const limit = Object.hasOwn(OUR_LIMITS, subtype) ? OUR_LIMITS[subtype] : undefined;
  if (limit === undefined || limit(facts) !== undefined) return describeEnd(subtype, facts);
  return facts.detail ?? `The agent reached a limit of its own (${subtype}).`;
}

/** Removes the final full stop, because the surrounding sentence has its own. */
function asClause(detail: string): string {
  return detail.trim().replace(/\.$/u, "");
}

import { onlyIf } from "./option-row.ts";

/** Later models of Claude think as they see fit; the CLI takes the number for them, and drops it. */
const TAKES_BUDGET = /^claude-(3-7-sonnet|(sonnet|opus|haiku)-4(-[0-6])?(-|$))/;

export const numberedThinking = onlyIf("for models up to Claude 4.6, named in full", ({ backend: { model = "" } }) =>
  TAKES_BUDGET.test(model)
    ? undefined
    : `only models up to Claude 4.6 take a number, and this run's is ${model === "" ? "the CLI's choice" : model}. Name such a model, or set claudeCode.effort`,
);

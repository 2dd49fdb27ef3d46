import { onlyIf } from "./option-row.ts";

/** Later Claude models decide themselves how much to think; for them the CLI accepts the number and ignores it. */
const TAKES_BUDGET = /^claude-(3-7-sonnet|(sonnet|opus|haiku)-4(-[0-6])?(-|$))/;

export const numberedThinking = onlyIf("for models up to Claude 4.6, named in full", ({ backend: { model = "" } }) =>
  TAKES_BUDGET.test(model)
    ? undefined
    : `only models up to Claude 4.6 take a number, and this run's is ${model === "" ? "the CLI's choice" : model}. Name such a model, or set claudeCode.effort`,
);

import { type Chunk, errorItem, warningItem } from "#domain";
import {
  mayWait,
  RULE_START,
  type RuleInput,
  type RuleOptions,
  type RuleState,
  type RuleStep,
  stepRule,
} from "../result-rule.ts";

/** Applies the result rule to one turn of a conversation, and produces the chunks for readers. */
export class TurnRule {
  private readonly _options: RuleOptions;
  private _state: RuleState;

  constructor(options: RuleOptions, start: RuleState = RULE_START) {
    this._options = options;
    this._state = start;
  }

  get state(): RuleState {
    return this._state;
  }

  get hasResult(): boolean {
    return this._state.result !== undefined;
  }

  /** A result has arrived: what follows belongs to a further turn, or is too late. */
  get isLate(): boolean {
    return this._state.phase !== "streaming";
  }

  /** The rule is closed; further input is ignored. */
  get isClosed(): boolean {
    return this._state.phase === "closed";
  }

  /** The verdict has arrived, and only the exit is awaited. */
  get isJudged(): boolean {
    return mayWait(this._state) === "drain";
  }

  /** What readers get instead of a chunk; `undefined`: nothing. `input`: the chunk as input of the rule. */
  pass(chunk: Chunk, input: RuleInput | undefined): Chunk | undefined {
    if (input === undefined && !this.isLate) return chunk;
    const { item } = this._step(input ?? { kind: "message" });
    // Nothing that can be read follows a terminal fault, so no later input would close the rule.
    if (this._state.phase === "pending-end") this._step({ kind: "pull" });
    if (item === undefined || item.kind === "end") return undefined;
    return item.kind === "warning" ? warningItem(item.warning) : chunk;
  }

  /**
   * Applies an event that is not a chunk. Returns the chunks for readers; after a terminal error the rule is closed.
   */
  note(input: RuleInput): Chunk[] {
    const told: Chunk[] = [];
    let { item } = this._step(input);
    while (item !== undefined && item.kind !== "end") {
      if (item.kind === "error") return [...told, errorItem(item.error)];
      if (item.kind === "warning") told.push(warningItem(item.warning));
      // For a message stream this is an end; a run without a result has not succeeded (I4).
      if (item.kind === "warning" && item.warning.code === "clean-exit-no-result") return [...told, noResult(input)];
      ({ item } = this._step({ kind: "pull" }));
    }
    return told;
  }

  private _step(input: RuleInput): RuleStep {
    const step = stepRule(this._state, input, this._options);
    this._state = step.state;
    return step;
  }
}

function noResult(input: RuleInput): Chunk {
  if (input.kind === "exit") return errorItem(input.error);
  const message = "Claude Code closed its output without a result.";
  return errorItem({ code: "no-result", message, terminal: true });
}

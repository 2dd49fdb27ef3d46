import { type ChunkOf, addUsage, type Message, type NextTurn, present, type ResultItem, resultItem } from "#domain";
import type { Schema } from "#tools";
import { DEFAULT_OUTPUT_REPAIRS, readOutput, repairMessage, showSchema } from "./structured.ts";

/** How an agent's answer is settled: it becomes the verdict of the leg, or it is sent back for a repair. */
export type SettledOutput =
  | { readonly kind: "verdict"; readonly result: ChunkOf<ResultItem> }
  | {
      readonly kind: "repair";
      /** The message to the agent. */
      readonly feedback: string;
      /** Returns the answer as a message, for a transcript that does not contain it otherwise. */
      readonly answer: () => Message;
    };

/**
 * Holds back an agent's verdict until its answer fits the schema. The caller's schema decides, whatever the agent
 * guarantees about its answer: only this schema has the caller's refinements and transforms.
 */
export class AgentOutput {
  private readonly _schema: Schema;
  private readonly _repairs: number;
  private readonly _nextTurn: NextTurn | undefined;
  private _made = 0;
  private _held: ChunkOf<ResultItem> | undefined;
  /** The sum of the discarded verdicts. Their usage was billed as well. */
  private _spent: ChunkOf<ResultItem> | undefined;

  constructor(schema: Schema, repairs = DEFAULT_OUTPUT_REPAIRS, nextTurn?: NextTurn) {
    this._schema = schema;
    this._repairs = repairs;
    this._nextTurn = nextTurn;
  }

  /** Holds back a successful verdict. Returns `false` for any other verdict, which is not held. */
  hold(result: ChunkOf<ResultItem>): boolean {
    if (result.isError || result.subtype !== "success") return false;
    if (this._held !== undefined) this._spent = together(this._spent, this._held);
    this._held = result;
    return true;
  }

  /**
   * Validates the answer of the held verdict, if there is one. `limit` is a limit that the run has reached, so that no
   * further repair is allowed.
   */
  async settle(limit: string | undefined): Promise<SettledOutput | undefined> {
    const held = this._held;
    if (held === undefined) return undefined;
    this._held = undefined;
    const { shown, isWrapped } = showSchema(this._schema.jsonSchema);
    const given = held.structured ?? held.text ?? "";
    const read = await readOutput({ schema: this._schema, isWrapped }, given, this._nextTurn);
    const total = together(this._spent, held);
    const { structured: _, ...rest } = total;
    if (read.fits) {
      return { kind: "verdict", result: { ...rest, ...(read.value !== undefined && { structured: read.value }) } };
    }
    if (limit !== undefined || this._made >= this._repairs) {
      const subtype = limit ?? "error_max_structured_output_retries";
      return { kind: "verdict", result: resultItem({ ...rest, subtype, isError: true, message: read.problem }) };
    }
    this._made += 1;
    this._spent = total;
    const id = `answer-${this._made}`;
    const text = (): string => (held.structured === undefined ? (held.text ?? "") : JSON.stringify(held.structured));
    // An agent that returned no structured value may never have received the schema.
    const reminder = held.structured === undefined ? ` The schema is: ${JSON.stringify(shown)}` : "";
    return {
      kind: "repair",
      feedback: repairMessage(read.problem) + reminder,
      answer: () => ({ id, role: "assistant", blocks: [{ type: "text", text: text() }] }),
    };
  }
}

/** Returns the last verdict with the usage, cost and turns of the ones before it added. */
function together(before: ChunkOf<ResultItem> | undefined, last: ChunkOf<ResultItem>): ChunkOf<ResultItem> {
  if (before === undefined) return last;
  const costUsd = before.costUsd === undefined ? last.costUsd : before.costUsd + (last.costUsd ?? 0);
  const turns = before.turns === undefined ? last.turns : before.turns + (last.turns ?? 0);
  return {
    ...last,
    usage: addUsage(before.usage, last.usage),
    ...present({ costUsd, turns }),
  };
}

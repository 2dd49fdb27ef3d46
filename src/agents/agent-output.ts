import { addUsage, type Message, type ResultItem, resultItem } from "#domain";
import type { Schema } from "#tools";
import { DEFAULT_OUTPUT_REPAIRS, readOutput, repairMessage, showSchema } from "./structured.ts";

/** What becomes of an agent's answer: the verdict of the leg, or another try. */
export type SettledOutput =
  | { readonly kind: "verdict"; readonly result: ResultItem }
  | {
      readonly kind: "repair";
      /** What the agent is told. */
      readonly feedback: string;
      /** Its answer, for a transcript that has nothing else of it. */
      readonly answer: Message;
    };

/**
 * Holds an agent's verdict back until its answer fits the schema. Whatever the agent promises about its answer, the
 * schema that counts is the caller's: only that one knows its refinements and makes its transforms.
 */
export class AgentOutput {
  private readonly _schema: Schema;
  private readonly _repairs: number;
  private _made = 0;
  private _held: ResultItem | undefined;
  /** Verdicts that were held and came to nothing: what they used was paid for. */
  private _spent: ResultItem | undefined;

  constructor(schema: Schema, repairs = DEFAULT_OUTPUT_REPAIRS) {
    this._schema = schema;
    this._repairs = repairs;
  }

  /** Keeps a successful verdict. `false`: it is none, and goes its way. */
  hold(result: ResultItem): boolean {
    if (result.isError || result.subtype !== "success") return false;
    if (this._held !== undefined) this._spent = together(this._spent, this._held);
    this._held = result;
    return true;
  }

  /** Judges the verdict that is held, if there is one. `limit` is a limit of the run that allows no further try. */
  async settle(limit: string | undefined): Promise<SettledOutput | undefined> {
    const held = this._held;
    if (held === undefined) return undefined;
    this._held = undefined;
    const { shown, isWrapped } = showSchema(this._schema.jsonSchema);
    const read = await readOutput({ schema: this._schema, isWrapped }, held.structured ?? held.text ?? "");
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
    const answer = held.structured === undefined ? (held.text ?? "") : JSON.stringify(held.structured);
    // An agent that gave no value at all may never have been shown the schema.
    const reminder = held.structured === undefined ? ` The schema is: ${JSON.stringify(shown)}` : "";
    return {
      kind: "repair",
      feedback: repairMessage(read.problem) + reminder,
      answer: { id: `answer-${this._made}`, role: "assistant", blocks: [{ type: "text", text: answer }] },
    };
  }
}

/** A verdict with what those before it used. */
function together(before: ResultItem | undefined, last: ResultItem): ResultItem {
  if (before === undefined) return last;
  const costUsd = before.costUsd === undefined ? last.costUsd : before.costUsd + (last.costUsd ?? 0);
  const turns = before.turns === undefined ? last.turns : before.turns + (last.turns ?? 0);
  return {
    ...last,
    usage: addUsage(before.usage, last.usage),
    ...(costUsd !== undefined && { costUsd }),
    ...(turns !== undefined && { turns }),
  };
}

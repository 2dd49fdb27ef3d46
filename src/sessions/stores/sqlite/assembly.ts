import { JsonReader } from "#domain";
import type { AssemblyStep } from "./worker/requests.ts";

/** A value that arrived in parts and was put together again. */
export class Assembled {
  readonly value: unknown;

  constructor(value: unknown) {
    this.value = value;
  }
}

/** Puts a large JSON value together, step by step. A long string that occurs several times in it is stored once. */
export class Assembler {
  // Any depth: what was written has to be readable, and nothing here is recursive.
  private readonly _reader = new JsonReader(true);
  private readonly _texts = new Map<number, string[] | string>();

  add(step: AssemblyStep): void {
    switch (step[0]) {
      case "json":
        return this._reader.push(step[1]);
      case "piece": {
        const pieces = this._texts.get(step[1]);
        if (Array.isArray(pieces)) pieces.push(step[2]);
        else this._texts.set(step[1], [step[2]]);
        return;
      }
      case "text":
        return this._reader.pushText(this._text(step[1]));
      default:
    }
  }

  /** The value, once every step was added. Throws if what was stored is not JSON. */
  end(): Assembled {
    const { value, fault } = this._reader.end();
    if (fault !== undefined) throw new SyntaxError(fault);
    return new Assembled(value);
  }

  private _text(number: number): string {
    const pieces = this._texts.get(number) ?? "";
    const text = Array.isArray(pieces) ? pieces.join("") : pieces;
    this._texts.set(number, text);
    return text;
  }
}

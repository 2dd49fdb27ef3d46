import type { AssemblyStep } from "./engine.ts";

/** A value that came in parts, and is whole again. */
export class Assembled {
  readonly value: unknown;

  constructor(value: unknown) {
    this.value = value;
  }
}

/** Puts a large JSON value together, step by step. A text that stands in it several times is there once. */
export class Assembler {
  private readonly _root: unknown[] = [];
  private readonly _open: (unknown[] | object)[] = [this._root];
  private readonly _texts: (string[] | string)[] = [];

  add(step: AssemblyStep): void {
    switch (step[0]) {
      case "value":
        return this._put(step[1], step[2]);
      case "members":
        return this._putAll(step[1]);
      case "list":
      case "object": {
        const container = step[0] === "list" ? [] : {};
        this._put(step[1], container);
        this._open.push(container);
        return;
      }
      case "end":
        this._open.pop();
        return;
      case "piece": {
        const pieces = (this._texts[step[1]] ??= []);
        if (Array.isArray(pieces)) pieces.push(step[2]);
        return;
      }
      case "text":
        return this._put(step[1], this._text(step[2]));
      default:
    }
  }

  /** The value, once every step was added. */
  get value(): unknown {
    return this._root[0];
  }

  private _text(number: number): string {
    const pieces = this._texts[number] ?? "";
    const text = Array.isArray(pieces) ? pieces.join("") : pieces;
    this._texts[number] = text;
    return text;
  }

  private _putAll(members: readonly unknown[]): void {
    const container = this._open.at(-1);
    for (const member of members) {
      if (Array.isArray(container)) container.push(member);
      else this._put(...(member as readonly [string, unknown]));
    }
  }

  private _put(key: string, value: unknown): void {
    const container = this._open.at(-1);
    if (Array.isArray(container)) container.push(value);
    // Defined and not assigned: a key may be `__proto__`.
    else if (container !== undefined) {
      Object.defineProperty(container, key, { value, writable: true, enumerable: true, configurable: true });
    }
  }
}

/**
 * A truncated secret is masked if at least this many characters, and half of it, are present: fewer are of no use to an
 * attacker.
 */
const SHORTEST_CUT = 12;

/** Codes below this are looked up in a table when no form has begun. */
const TABLE_SIZE = 128;

/**
 * How many characters a form keeps visible at its beginning when it is masked. Must not grow faster than the length.
 */
export type Kept = (length: number) => number;

/**
 * Finds forms in a text of any length that may come in pieces: the Aho-Corasick automaton. A state stands for the
 * longest suffix of the text so far that is the beginning of a form, which is exactly what decides how much of the text
 * must be held back. Linear in the text, whatever the forms are.
 */
export class FormAutomaton {
  /**
   * By state: how many characters at the end of the text must be held back because a form may have begun. State 0:
   * none.
   */
  readonly held: number[] = [0];
  /** By state: how many characters at the end of the text must be masked because they complete a form. */
  readonly found: number[] = [0];
  /** By state: how many must be masked if the text ends here, because a form was cut off. */
  readonly cut: number[] = [0];
  /** By state: how many characters at the end of the text have begun a form. */
  readonly depth: number[] = [0];
  /** The maximum number of characters of a form that may be shown before something is held back. */
  readonly reach: number;
  private readonly _fallback: number[] = [0];
  /** Nearly every state has one successor; the others are in `_branches`. */
  private readonly _code: number[] = [-1];
  private readonly _next: number[] = [0];
  private readonly _branches = new Map<number, Map<number, number>>();
  private readonly _first = new Uint32Array(TABLE_SIZE);

  constructor(forms: readonly string[], kept: Kept) {
    this.reach = Math.max(0, ...forms.map((form) => kept(form.length)));
    const shortest: number[] = [0];
    for (const form of forms) this._add(form, shortest, kept);
    for (let code = 0; code < TABLE_SIZE; code += 1) this._first[code] = this._child(0, code);
    this._link(shortest, kept);
  }

  /** The state after one more character. */
  step(state: number, code: number): number {
    if (state === 0 && code < TABLE_SIZE) return this._first[code] as number;
    for (let from = state; ; from = this._fallback[from] as number) {
      const next = this._child(from, code);
      if (next !== 0 || from === 0) return next;
    }
  }

  private _child(state: number, code: number): number {
    if (this._code[state] === code) return this._next[state] as number;
    return this._branches.get(state)?.get(code) ?? 0;
  }

  private _add(form: string, shortest: number[], kept: Kept): void {
    let state = 0;
    for (let at = 0; at < form.length; at += 1) {
      state = this._child(state, form.charCodeAt(at)) || this._grow(state, form.charCodeAt(at));
      shortest[state] = Math.min(shortest[state] ?? form.length, form.length);
    }
    this.found[state] = form.length - kept(form.length);
  }

  private _grow(from: number, code: number): number {
    const state = this.depth.length;
    this.depth.push((this.depth[from] as number) + 1);
    this.held.push(0);
    this.found.push(0);
    this.cut.push(0);
    this._fallback.push(0);
    this._code.push(-1);
    this._next.push(0);
    if (this._code[from] === -1) {
      this._code[from] = code;
      this._next[from] = state;
    } else {
      const branches = this._branches.get(from) ?? new Map<number, number>();
      this._branches.set(from, branches.set(code, state));
    }
    return state;
  }

  /** Gives every state the longest shorter state to fall back to, breadth first. */
  private _link(shortest: readonly number[], kept: Kept): void {
    const queue = [0];
    for (const from of queue) {
      this._eachChild(from, (code, state) => {
        const fallback = from === 0 ? 0 : this.step(this._fallback[from] as number, code);
        this._fallback[state] = fallback;
        this.found[state] = Math.max(this.found[state] as number, this.found[fallback] as number);
        const depth = this.depth[state] as number;
        const length = shortest[state] as number;
        const held = depth - kept(length);
        // Where every form has ended, nothing can continue, except what a shorter suffix of the text has begun.
        this.held[state] = Math.max(this._code[state] === -1 ? 0 : held, this.held[fallback] as number);
        const isCut = depth >= SHORTEST_CUT && depth * 2 >= length;
        this.cut[state] = isCut ? held : (this.cut[fallback] as number);
        queue.push(state);
      });
    }
  }

  private _eachChild(state: number, take: (code: number, child: number) => void): void {
    const code = this._code[state] as number;
    if (code !== -1) take(code, this._next[state] as number);
    for (const [other, child] of this._branches.get(state) ?? []) take(other, child);
  }
}

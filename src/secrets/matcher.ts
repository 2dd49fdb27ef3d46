/**
 * A truncated secret is masked if at least this many characters, and half of it, are present: fewer are of no use to an
 * attacker.
 */
const SHORTEST_CUT = 12;

/** Codes below this are looked up in a table when no form has begun. */
const TABLE_SIZE = 128;

/** A text of this length is not searched twice. */
const LONG_TEXT = 65_536;

/**
 * How many characters a form keeps visible at its beginning when it is masked. Must not grow faster than the length.
 */
export type Kept = (length: number) => number;

/**
 * A long form keeps its first characters visible, at most three. They are of no use to an attacker, and otherwise
 * nearly every text would have to be held back at some letter with which one of the forms begins.
 */
export const KEEP_FIRST: Kept = (length) => Math.min(3, Math.floor(length / 8));

export const KEEP_NOTHING: Kept = () => 0;

/**
 * Finds forms of secrets in a text of any length that may come in pieces: the Aho-Corasick automaton. A state stands
 * for the longest suffix of the text so far that is the beginning of a form, which is exactly what decides how much of
 * the text must be held back. Linear in the text, whatever the forms are.
 */
export class SecretMatcher {
  /**
   * By state: how many characters at the end of the text must be held back because a form may have begun. State 0:
   * none.
   */
  readonly held: number[] = [0];
  /** By state: how many characters at the end of the text must be masked because they complete a form. */
  readonly found: number[] = [0];
  /** By state: how many must be masked if the text ends here, because a form was cut off. */
  readonly cut: number[] = [0];
  private readonly _depth: number[] = [0];
  private readonly _fallback: number[] = [0];
  /** Nearly every state has one successor; the others are in `_branches`. */
  private readonly _code: number[] = [-1];
  private readonly _next: number[] = [0];
  private readonly _branches = new Map<number, Map<number, number>>();
  private readonly _first = new Uint32Array(TABLE_SIZE);
  /** The maximum number of characters of a form that may be shown before something is held back. */
  private readonly _reach: number;
  /** The beginnings of forms that must not be shown: the characters they keep visible, and one more. */
  private readonly _openings: RegExp;
  /** The last long text without any: the same text comes as a delta, in its message and in the result. */
  private _clean = "";
  /** By state: the end of the text, for states in which no form holds anything back. */
  private readonly _begun = new Map<number, string>([[0, ""]]);

  constructor(given: Iterable<string>, kept: Kept = KEEP_NOTHING) {
    const forms = [...given];
    this._reach = Math.max(0, ...forms.map((form) => kept(form.length)));
    this._openings = patternOf(forms.map((form) => form.slice(0, kept(form.length) + 1)));
    const shortest: number[] = [0];
    for (const form of forms) this._add(form, shortest, kept);
    for (let code = 0; code < TABLE_SIZE; code += 1) this._first[code] = this._child(0, code);
    this._link(shortest, kept);
  }

  get isEmpty(): boolean {
    return this._depth.length === 1;
  }

  /** The state after one more character. */
  step(state: number, code: number): number {
    if (state === 0 && code < TABLE_SIZE) return this._first[code] as number;
    for (let from = state; ; from = this._fallback[from] as number) {
      const next = this._child(from, code);
      if (next !== 0 || from === 0) return next;
    }
  }

  /** `false`: the text contains no form, not even one that its end has cut off. */
  mayBeIn(text: string): boolean {
    if (text.length < LONG_TEXT) return this._openings.test(text);
    if (text === this._clean) return false;
    const isClean = !this._openings.test(text);
    if (isClean) this._clean = text;
    return !isClean;
  }

  /**
   * The state after a text of which nothing has to be held back or masked; `undefined` when something may have to be.
   * Nearly all texts are like this, and the regular expression engine scans them many times faster than one state per
   * character.
   */
  skip(state: number, text: string): number | undefined {
    const begun = this._begun.get(state);
    if (begun === undefined) return undefined;
    const all = begun + text;
    if (this.mayBeIn(all)) return undefined;
    // Without an opening in it, at most these characters can be the beginning of a form.
    let next = 0;
    for (let at = Math.max(0, all.length - this._reach); at < all.length; at += 1) {
      next = this.step(next, all.charCodeAt(at));
    }
    return next;
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
      if (at < this._reach) this._begun.set(state, form.slice(0, at + 1));
    }
    this.found[state] = form.length - kept(form.length);
  }

  private _grow(from: number, code: number): number {
    const state = this._depth.length;
    this._depth.push((this._depth[from] as number) + 1);
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
        const depth = this._depth[state] as number;
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

/** Matches any of these texts. Without any text, it matches nothing. */
function patternOf(texts: readonly string[]): RegExp {
  const escape = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
  const escaped = [...new Set(texts)].map((text) => text.replaceAll(/[^A-Za-z0-9]/g, escape));
  return new RegExp(escaped.length === 0 ? "(?!)" : escaped.join("|"));
}

/** A cut secret is covered from this many characters on, if they are half of it: fewer are of no use to anybody. */
const SHORTEST_CUT = 12;

/** Codes below this are looked up in a table, where a text is not inside a form. */
const TABLE_SIZE = 128;

/** Such a text is not looked through twice. */
const LONG_TEXT = 65_536;

/** How many characters a form keeps at its beginning when it is covered. It must not grow faster than the length. */
export type Kept = (length: number) => number;

/**
 * A long form keeps its first characters, at most three. They are of no use to anybody, and without them nearly every
 * text would have to be held back at some letter, because that is what one of the forms begins with.
 */
export const KEEP_FIRST: Kept = (length) => Math.min(3, Math.floor(length / 8));

export const KEEP_NOTHING: Kept = () => 0;

/**
 * Finds forms of secrets in a text of any length that may come in pieces: the automaton of Aho and Corasick. A state
 * stands for the longest end of the text so far that is the beginning of a form, which is exactly what decides how much
 * of the text must be held back. Linear in the text, whatever the forms are.
 */
export class SecretMatcher {
  /** How many characters at the end of the text must be held back, by state: a form may have begun. State 0: none. */
  readonly held: number[] = [0];
  /** How many characters at the end of the text must be covered, by state: they end a form. */
  readonly found: number[] = [0];
  /** How many must be covered should the text end here: a form was cut off. */
  readonly cut: number[] = [0];
  private readonly _depth: number[] = [0];
  private readonly _fallback: number[] = [0];
  /** Nearly every state has one way on; the others are in `_branches`. */
  private readonly _code: number[] = [-1];
  private readonly _next: number[] = [0];
  private readonly _branches = new Map<number, Map<number, number>>();
  private readonly _first = new Uint32Array(TABLE_SIZE);
  /** How many characters a form may show before something is held back, at most. */
  private readonly _reach: number;
  /** The beginnings of forms that must not be shown as they are: what they keep, and one character more. */
  private readonly _openings: RegExp;
  /** The last long text in which there was none: the same one comes as a delta, in its message and in the result. */
  private _clean = "";
  /** What stands at the end of the text, by state, for those that no form has to hold back. */
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

  /** `false`: there is no form in the text, nor one that its end has cut off. */
  mayBeIn(text: string): boolean {
    if (text.length < LONG_TEXT) return this._openings.test(text);
    if (text === this._clean) return false;
    const isClean = !this._openings.test(text);
    if (isClean) this._clean = text;
    return !isClean;
  }

  /**
   * The state after a text of which nothing is held back or covered; `undefined` when something may be. Nearly all texts
   * are such, and the engine looks through them with one pattern, many times as fast as a state for every character.
   */
  skip(state: number, text: string): number | undefined {
    const begun = this._begun.get(state);
    if (begun === undefined) return undefined;
    const all = begun + text;
    if (this.mayBeIn(all)) return undefined;
    // Without an opening in it no more than these characters can be the beginning of a form.
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

  /** Gives every state the longest shorter one it falls back to, breadth first. */
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
        // Where every form has ended nothing can go on, but for what a shorter end of the text has begun.
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

/** Finds any of these texts. A pattern of none finds nothing. */
function patternOf(texts: readonly string[]): RegExp {
  const escape = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
  const escaped = [...new Set(texts)].map((text) => text.replaceAll(/[^A-Za-z0-9]/g, escape));
  return new RegExp(escaped.length === 0 ? "(?!)" : escaped.join("|"));
}

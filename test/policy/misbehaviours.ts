/** A way in which a caller's function may go wrong. */
export interface Misbehaviour {
  readonly title: string;
  readonly make: () => (given: Record<string, unknown>) => unknown;
  /** It answers with nothing that counts as an answer: the same as no opinion. */
  readonly isHarmless?: boolean;
  /** It is given up only by its time limit; where there is none (a person may think), this is no case. */
  readonly hangs?: boolean;
}

/** The nine of RELIABILITY R12. */
export const MISBEHAVIOURS: readonly Misbehaviour[] = [
  {
    title: "throws",
    make: () => () => {
      throw new Error("boom");
    },
  },
  { title: "rejects", make: () => () => Promise.reject(new Error("boom")) },
  {
    title: "rejects with something that is no error",
    make: () => () => {
      return Promise.reject({ toString: () => "odd" });
    },
  },
  { title: "never answers", hangs: true, make: () => () => new Promise(() => undefined) },
  { title: "answers with a number", make: () => () => 42 },
  { title: "answers with a field nobody knows", make: () => () => ({ alow: true }) },
  { title: "answers with a wrong type", make: () => () => ({ allow: "yes", block: 7, deny: 7 }) },
  {
    title: "answers yes after its time is up",
    hangs: true,
    make: () => () => new Promise((resolve) => setTimeout(() => resolve({ allow: true }), 1500)),
  },
  {
    title: "changes what it was given and then fails",
    make: () => (given) => {
      for (const key of Object.keys(given)) Reflect.set(given, key, "changed");
      if (typeof given["input"] === "object") Object.assign(given["input"] ?? {}, { text: "changed" });
      throw new Error("boom");
    },
  },
];

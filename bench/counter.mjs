/** Counts what a contender passes to its reader. `onText` is called at the first text. */
export function createCounter(onText) {
  const got = { deltas: 0, characters: 0, fragments: 0, fragmentCharacters: 0, calls: 0, rows: 0, toolRuns: 0, sum: 0 };
  return {
    got,
    text(text) {
      if (got.deltas === 0) onText?.();
      got.deltas += 1;
      got.characters += text.length;
    },
    fragment(text) {
      got.fragments += 1;
      got.fragmentCharacters += text.length;
    },
    call(input) {
      got.calls += 1;
      got.rows += input.rows?.length ?? 0;
    },
    add({ a, b }) {
      got.toolRuns += 1;
      got.sum += a + b;
      return a + b;
    },
  };
}

/** The list in random order. */
export function shuffle<Value>(values: readonly Value[], draw: () => number): readonly Value[] {
  const list = [...values];
  for (let last = list.length - 1; last > 0; last -= 1) {
    const other = Math.floor(draw() * (last + 1));
    [list[last], list[other]] = [list[other] as Value, list[last] as Value];
  }
  return list;
}

/** Numbers in [0, 1) that are the same for the same seed (mulberry32). */
export function createDraw(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

import type { Random } from "#domain";

const ALPHABET = "abcdefghijklmnopqrstuvwxyz0123456789";
const ID_LENGTH = 20;

/**
 * Creates repeatable randomness: the same seed gives the same numbers and ids. For tests only, because the values can
 * be guessed.
 *
 * @example
 * createSeededRandom(7).id() === createSeededRandom(7).id() // true
 */
export function createSeededRandom(seed: number): Random {
  // splitmix32: a mixed counter. It has one word of state, and neighbouring seeds give unrelated numbers.
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x9e3779b9) >>> 0;
    let mixed = state ^ (state >>> 16);
    mixed = Math.imul(mixed, 0x21f0aaad);
    mixed ^= mixed >>> 15;
    mixed = Math.imul(mixed, 0x735a2d97);
    mixed ^= mixed >>> 15;
    return (mixed >>> 0) / 4_294_967_296;
  };
  return {
    next,
    id: () => Array.from({ length: ID_LENGTH }, () => ALPHABET[Math.floor(next() * ALPHABET.length)]).join(""),
  };
}

import { createSeededRandom } from "#testing";

/** Everything a simulation leaves to chance, drawn from its seed. The order of the draws is part of the seed's meaning. */
export interface Dice {
  /** A number from 0 to `most`. */
  upTo(most: number): number;
  /** True in so many of a hundred cases. */
  percent(chance: number): boolean;
  pick<Value>(values: readonly Value[]): Value;
  /** Dice of its own: what draws from it does not disturb the others. */
  fork(): Dice;
}

export function createDice(seed: number): Dice {
  const random = createSeededRandom(seed);
  const upTo = (most: number): number => Math.floor(random.next() * (most + 1));
  return {
    upTo,
    percent: (chance) => random.next() * 100 < chance,
    pick: (values) => values[upTo(values.length - 1)] as (typeof values)[number],
    fork: () => createDice(upTo(0xffff_fffe)),
  };
}

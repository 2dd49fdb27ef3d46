import type { Random } from "#domain";

/**
 * The randomness of this machine. Ids are random UUIDs (122 bits), so they never begin with a `-` that looks like a
 * flag.
 */
export const systemRandom: Random = {
  next: () => Math.random(),
  id: () => crypto.randomUUID(),
};

import type { Random } from "#domain";

/** The chance of this machine. Ids are random UUIDs (122 bits), so they never begin with a `-` that reads as a flag. */
export const systemRandom: Random = {
  next: () => Math.random(),
  id: () => crypto.randomUUID(),
};

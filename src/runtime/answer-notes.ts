import { type Chunk, type WarningDetail, warningItem } from "#domain";
import type { WireDifference, WirePlayer } from "#transports";

/** The differences that do not end the run, until they can be reported. */
export interface Notes {
  goesOn(difference: WireDifference): boolean;
  take(): readonly Chunk[];
  readonly isStrict: boolean;
}

export function createNotes(onDifference: "error" | "warn"): Notes {
  const isStrict = onDifference === "error";
  const waiting: Chunk[] = [];
  return {
    isStrict,
    goesOn(difference) {
      if (!isStrict) waiting.push(warningItem(warningOf(difference)));
      return !isStrict;
    },
    take: () => waiting.splice(0),
  };
}

/** Describes a difference as a warning. */
export function warningOf({ message, place, differences }: WireDifference): WarningDetail {
  return { code: "tape-difference", message, context: { place, differences } };
}

/** Runs code of the caller; meanwhile time passes normally. */
export function whileOccupied<Value>(player: WirePlayer, act: () => Value): Value {
  const release = player.occupy();
  let isLater = false;
  try {
    const value = act();
    if (typeof value !== "object" || value === null || !("then" in value) || typeof value.then !== "function")
      return value;
    isLater = true;
    const settled = value as unknown as Promise<unknown>;
    settled.then(release, release);
    return value;
  } finally {
    if (!isLater) release();
  }
}

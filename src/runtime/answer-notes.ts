import { type Chunk, type WarningDetail, warningItem } from "#domain";
import type { WireDifference, WirePlayer } from "#transports";

/** The differences that the run goes on with, until they can be told. */
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

/** A difference as a warning. */
export function warningOf({ message, place, differences }: WireDifference): WarningDetail {
  return { code: "tape-difference", message, context: { place, differences } };
}

/** Does something of the caller's; meanwhile time passes as it does. */
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

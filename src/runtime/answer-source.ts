import { alsoEndedBy, type RunSource, type RunWriter } from "#run";
import { type Chunk, errorItem, warningItem } from "#domain";
import type { WirePlayer } from "#transports";
import { type Notes, warningOf, whileOccupied } from "./answer-notes.ts";
import { saysTape } from "./says-tape.ts";

const TROUBLESHOOTING =
  'If the change is meant, record the tape again, or set replay: { tape, onDifference: "warn" } to go on with the recorded answers.';

/** The source of a run that is answered from a tape: it marks the start as such and reports differences. */
export function playSource(source: RunSource, player: WirePlayer, notes: Notes): RunSource {
  return async (writer) => {
    let hasStarted = false;
    const played: RunWriter = {
      ...alsoEndedBy(writer, player.signal),
      write(chunks, agent) {
        if (player.signal.aborted) return undefined;
        const taken = hasStarted ? notes.take() : [];
        hasStarted ||= chunks.some(({ type }) => type === "start");
        const room = writer.write([...taken, ...saysTape(chunks)], agent);
        if (room === undefined) return undefined;
        return room.finally(player.occupy());
      },
      ask: (callId) => whileOccupied(player, () => writer.ask(callId)),
    };
    try {
      await source(played);
    } catch (error) {
      if (!player.signal.aborted) throw error;
    }
    if (writer.signal.aborted) return;
    writer.write([...notes.take(), ...(await endOf(player, notes))])?.catch(() => undefined);
  };
}

/** The events still due at the end: why the replay ended, or what is left on the tape. */
async function endOf(player: WirePlayer, notes: Notes): Promise<readonly Chunk[]> {
  const fail = (message: string): Chunk =>
    errorItem({
      code: "tape-difference",
      message,
      terminal: true,
      diagnostic: { troubleshooting: TROUBLESHOOTING },
    });
  if (player.signal.aborted) return [fail((player.signal.reason as Error).message)];
  const left = await player.leftOver();
  const [first] = left;
  if (first === undefined) return [];
  if (!notes.isStrict) return left.map((difference) => warningItem(warningOf(difference)));
  const more =
    left.length === 1
      ? ""
      : ` So it is with ${left
          .slice(1, 5)
          .map(({ place }) => place)
          .join(", ")}.`;
  return [fail(`${first.message}${more}`)];
}

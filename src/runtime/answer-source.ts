import type { RunSource, RunWriter } from "#agents";
import { type Chunk, errorItem, warningItem } from "#domain";
import type { WirePlayer } from "#transports";
import { type Notes, warningOf, whileOccupied } from "./answer-notes.ts";
import { saysTape } from "./says-tape.ts";

const TROUBLESHOOTING =
  'If the change is meant, record the tape again, or set replay: { tape, onDifference: "warn" } to go on with the recorded answers.';

/** The source of a run that is answered from a tape: says that it is one, and where it differs. */
export function playSource(source: RunSource, player: WirePlayer, notes: Notes): RunSource {
  return async (writer) => {
    const latch = writer.latch.branch();
    const leave = (): void => latch.abort(player.signal.reason);
    player.signal.addEventListener("abort", leave, { once: true });
    let hasStarted = false;
    const played: RunWriter = {
      ...writer,
      latch,
      write(chunks, agent) {
        if (player.signal.aborted) return undefined;
        const told = hasStarted ? notes.take() : [];
        hasStarted ||= chunks.some(({ type }) => type === "start");
        const room = writer.write([...told, ...saysTape(chunks)], agent);
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
    if (writer.latch.aborted) return;
    writer.write([...notes.take(), ...(await endOf(player, notes))])?.catch(() => undefined);
  };
}

/** What is still to be said at the end: why the play ended, or what is left on the tape. */
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

import { describe, expect, it } from "vitest";
import type { Clock } from "#domain";
import { createVirtualClock } from "#testing";
import { AnswerTurns } from "./answer-turns.ts";

/** Lets everything happen that needs no time. */
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A clock whose turns are begun one by one. */
function createTurnClock(): { readonly clock: Clock; nextTurn(): Promise<void> } {
  const due: (() => void)[] = [];
  const after: Clock["after"] = (_, call) => (due.push(call), () => undefined);
  const nextTurn = (): Promise<void> => {
    for (const call of due.splice(0)) call();
    return settle();
  };
  return { clock: { ...createVirtualClock(), after }, nextTurn };
}

describe("F-B1: AnswerTurns", () => {
  it("lets a bounded amount through in one turn, in the order of asking", async () => {
    const { clock, nextTurn } = createTurnClock();
    const turns = new AnswerTurns(clock);
    const taken: number[] = [];
    for (let at = 0; at < 6; at += 1) void turns.take(100_000).then(() => taken.push(at));
    await settle();
    expect(taken).toEqual([0, 1]);
    await nextTurn();
    expect(taken).toEqual([0, 1, 2, 3]);
    await nextTurn();
    expect(taken).toEqual([0, 1, 2, 3, 4, 5]);
  });

  it("lets something small through at once, whatever waits", async () => {
    const turns = new AnswerTurns(createVirtualClock());
    const taken: string[] = [];
    for (const name of ["a", "b"]) void turns.take(1_000_000).then(() => taken.push(name));
    void turns.take(100).then(() => taken.push("small"));
    await settle();
    expect(taken).toEqual(["a", "small"]);
  });

  it("has room again after a turn in which nothing waited", async () => {
    const { clock, nextTurn } = createTurnClock();
    const turns = new AnswerTurns(clock);
    await turns.take(1_000_000);
    await nextTurn();
    await turns.take(1_000_000);
  });
});

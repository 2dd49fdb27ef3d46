import { describe, expect, it } from "vitest";
import { startWorker } from "./worker.ts";

describe("a thread", () => {
  it("answers one question after the other with what its program makes of them", async () => {
    const thread = startWorker(
      "let seen = 0; function answer(question) { return { ...question, seen: ++seen, with: data }; }",
      "x",
    );
    const answers = await Promise.all([thread.ask({ a: 1 }), thread.ask({ a: 2 })]);
    expect(answers).toEqual([
      { a: 1, seen: 1, with: "x" },
      { a: 2, seen: 2, with: "x" },
    ]);
    await thread.close();
    await thread.close();
    expect(thread.isAlive).toBe(false);
    await expect(thread.ask({})).rejects.toThrow("The thread has ended.");
  });

  it("answers what was asked before it is closed", async () => {
    const thread = startWorker(
      "function answer(question) { return question === undefined ? undefined : question * 2; }",
      undefined,
    );
    const answer = thread.ask(21);
    await thread.close();
    expect(await answer).toBe(42);
  });

  it("one that fails ends: what was asked is rejected with why, and so is the next question", async () => {
    const thread = startWorker("function answer(question) { throw new Error(`no ${question}`); }", undefined);
    const [first, second] = await Promise.allSettled([thread.ask("bread"), thread.ask("salt")]);
    expect(first).toMatchObject({ status: "rejected", reason: { message: "no bread" } });
    expect(second).toMatchObject({ status: "rejected" });
    expect(thread.isAlive).toBe(false);
    await expect(thread.ask("more")).rejects.toThrow();
    await thread.close();
  });

  it("a program that cannot begin is told with the first question", async () => {
    const thread = startWorker('throw new Error("no disk"); function answer() {}', undefined);
    await expect(thread.ask(1)).rejects.toThrow("no disk");
    await thread.close();
  });
});

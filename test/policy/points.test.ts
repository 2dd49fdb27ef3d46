import type { Message } from "#domain";
import type { GuardAnswer, HookAnswer, Hooks, PolicySettings } from "#policy";
import { describe, expect, it } from "vitest";
import { callOf, openTrial } from "./place.ts";

const fail = (): never => {
  throw new Error("boom");
};
const user = (...texts: string[]): Message => ({
  id: "u",
  role: "user",
  blocks: texts.map((text) => ({ type: "text", text })),
});
const hooksOf = (point: keyof Hooks, ...answers: HookAnswer[]): Partial<PolicySettings> => ({
  hooks: [{ [point]: answers.map((answer) => () => answer) }],
});

describe("a prompt", () => {
  it("passes unchanged when nothing is set", async () => {
    const messages = [user("hi")];
    const verdict = await openTrial().policy.checkPrompt(messages);
    expect(verdict).toMatchObject({ kind: "go" });
    expect((verdict as { messages: unknown }).messages).toEqual(messages);
  });

  it("AT-61: guards see each user message, replace its text, and hooks see what they made of it", async () => {
    const seen: string[] = [];
    const trial = openTrial({
      guards: [
        { name: "a", place: "input", check: ({ text }) => ({ replace: text.replace("4242", "****") }) },
        { name: "b", place: "input", check: ({ text }): GuardAnswer => void seen.push(text) },
      ],
      hooks: [{ prompt: [({ text, messages }) => ({ context: `${text}/${messages.length}` })] }],
    });
    const image = { type: "image", url: "x" } as const;
    const verdict = await trial.policy.checkPrompt([
      { id: "a", role: "assistant", blocks: [{ type: "text", text: "4242" }] },
      { id: "u", role: "user", blocks: [{ type: "text", text: "card " }, image, { type: "text", text: "4242" }] },
    ]);
    expect(seen).toEqual(["card ****"]);
    expect(verdict).toMatchObject({
      kind: "go",
      notes: [],
      messages: [{ blocks: [{ text: "4242" }] }, { blocks: [{ text: "card ****" }, image, { text: "card ****/2" }] }],
    });
    expect(trial.written).toMatchObject([
      { type: "notice", kind: "guard", data: { guard: "a", place: "input", action: "replace" } },
    ]);
  });

  it("is blocked by a guard, by a hook, by a hook that ends the run", async () => {
    const guarded = openTrial({ guards: [{ name: "g", place: "input", check: () => ({ deny: "no" }) }] });
    expect(await guarded.policy.checkPrompt([user("hi")])).toMatchObject({
      kind: "blocked",
      by: "guard",
      reason: "no",
    });
    const blocked = openTrial(hooksOf("prompt", {}, { block: "no" }));
    expect(await blocked.policy.checkPrompt([user("hi")])).toMatchObject({ kind: "blocked", by: "hook", reason: "no" });
    const stopped = openTrial(hooksOf("prompt", { stop: "enough" }));
    expect(await stopped.policy.checkPrompt([user("hi")])).toMatchObject({
      kind: "blocked",
      reason: "enough",
      stop: "enough",
    });
  });

  it("C26: continues past a hook that fails, with a warning", async () => {
    const trial = openTrial({
      hooks: [{ prompt: [() => undefined] }, { prompt: [fail, () => ({ context: "note" })] }],
    });
    expect(await trial.policy.checkPrompt([user("hi")])).toMatchObject({
      kind: "go",
      messages: [{ blocks: [{ text: "hi" }, { text: "note" }] }],
    });
    expect(trial.warnings()).toMatchObject([
      { code: "hook-failed", context: { point: "prompt", index: 1, why: "threw: boom" } },
    ]);
  });

  it("does not change if a hook changes its input", async () => {
    const trial = openTrial({ hooks: [{ prompt: [({ messages }) => void (messages as Message[]).pop()] }] });
    expect(await trial.policy.checkPrompt([user("hi")])).toMatchObject({ messages: [{ id: "u" }] });
  });
});

describe("a tool's result", () => {
  const outcome = { output: { rows: 2 }, isError: false };

  it("passes unchanged when nobody looks at this tool", async () => {
    const trial = openTrial({ hooks: [{ "after-tool": [{ tool: "Read|mcp__*", run: () => ({ output: "x" }) }] }] });
    expect(await trial.policy.checkResult(callOf({}), outcome)).toMatchObject(outcome);
  });

  it("S0-76: hooks replace it, add notes, object to it, and end the run", async () => {
    const trial = openTrial(
      hooksOf(
        "after-tool",
        { output: 1, context: "a" },
        { output: 2 },
        { block: "wrong", context: "b" },
        { stop: "enough" },
      ),
    );
    expect(await trial.policy.checkResult(callOf({}), outcome)).toEqual({
      output: 2,
      isError: false,
      notes: ["wrong", "a", "b"],
      stop: "enough",
    });
  });

  it("is seen by hooks on success and on failure", async () => {
    const seen: unknown[] = [];
    const trial = openTrial({
      hooks: [{ "after-tool": [({ name, output, isError }) => void seen.push([name, output, isError])] }],
    });
    await trial.policy.checkResult(callOf({}), outcome);
    await trial.policy.checkResult(callOf({}), { output: "broken", isError: true });
    expect(seen).toEqual([
      ["Bash", { rows: 2 }, false],
      ["Bash", "broken", true],
    ]);
  });

  it("C26: is not changed by a hook that fails or is late: a warning", async () => {
    const trial = openTrial({
      hooks: [
        {
          "after-tool": [fail, { timeoutMs: 1_000, run: () => new Promise(() => undefined) }, () => ({ allow: true })],
        },
      ],
    });
    const verdict = trial.policy.checkResult(callOf({}), outcome);
    await trial.clock.advance(1_000);
    expect(await verdict).toMatchObject(outcome);
    expect(trial.warnings().map(({ context }) => (context as { why: string }).why)).toEqual([
      "threw: boom",
      "did not answer within 1000 ms",
      expect.stringContaining('"allow"'),
    ]);
  });

  it("guards replace it or withhold it, and hooks see no more than the model", async () => {
    const seen: unknown[] = [];
    const play = (answer: GuardAnswer) =>
      openTrial({
        guards: [{ name: "g", place: "tool-result", tool: "Bash", check: () => answer }],
        hooks: [{ "after-tool": [({ output }) => void seen.push(output)] }],
      }).policy.checkResult(callOf({}), outcome);
    expect(await play({ replace: { rows: 0 } })).toMatchObject({ output: { rows: 0 }, isError: false });
    expect(await play({ deny: "too much" })).toMatchObject({
      output: expect.stringContaining("too much"),
      isError: true,
    });
    expect(seen).toEqual([{ rows: 0 }, expect.stringContaining("withheld")]);
  });
});

describe("AT-61: a tool-call guard", () => {
  it("denies the third call, live", async () => {
    let calls = 0;
    const trial = openTrial({
      guards: [
        { name: "two", place: "tool-call", check: () => ((calls += 1) > 2 ? { deny: "Two are enough." } : undefined) },
      ],
    });
    const kinds = [];
    for (const callId of ["a", "b", "c"]) kinds.push((await trial.policy.checkCall(callOf({}, { callId }))).kind);
    expect(kinds).toEqual(["run", "run", "denied"]);
    expect(trial.steps()).toEqual(["allowed by rule", "allowed by rule", "denied by guard"]);
  });

  it("looks only at its own tools, and replaces arguments in order", async () => {
    const add = (letter: string, tool: string) => ({
      name: letter,
      place: "tool-call" as const,
      tool,
      check: ({ value }: { readonly value: unknown }) => ({ replace: { s: (value as { s: string }).s + letter } }),
    });
    const trial = openTrial({ guards: [add("a", "Bash"), add("b", "Read"), add("c", "B*")] });
    expect(await trial.policy.checkCall(callOf({ s: "" }))).toMatchObject({ kind: "run", input: { s: "ac" } });
  });
});

describe("handoffs, stops and ends", () => {
  const handoff = { from: "a", to: "b", message: "m" };

  it("a handoff continues with the message of the last hook that replaces it", async () => {
    expect(await openTrial().policy.checkHandoff(handoff)).toMatchObject({ kind: "go", message: "m" });
    expect(
      await openTrial(hooksOf("before-handoff", { message: "x" }, { message: "y" }, {})).policy.checkHandoff(handoff),
    ).toMatchObject({ message: "y" });
  });

  it("a handoff is blocked by a hook that says so, fails or ends the run", async () => {
    expect(await openTrial(hooksOf("before-handoff", { block: "no" })).policy.checkHandoff(handoff)).toMatchObject({
      kind: "blocked",
      reason: "no",
    });
    expect(await openTrial({ hooks: [{ "before-handoff": [fail] }] }).policy.checkHandoff(handoff)).toMatchObject({
      kind: "blocked",
      reason: expect.stringContaining("boom"),
    });
    expect(await openTrial(hooksOf("before-handoff", { stop: "enough" })).policy.checkHandoff(handoff)).toMatchObject({
      kind: "blocked",
      stop: "enough",
    });
  });

  it("after a handoff hooks watch, and may end the run", async () => {
    const trial = openTrial({ hooks: [{ "after-handoff": [fail, () => ({ stop: "enough" })] }] });
    expect(await trial.policy.noteHandoff(handoff)).toEqual({ notes: [], stop: "enough" });
    expect(trial.warnings()).toMatchObject([{ context: { point: "after-handoff", index: 0 } }]);
  });

  it("before it stops, a block sends the agent back, and wins over a stop", async () => {
    expect(await openTrial().policy.checkStop("t", 0)).toMatchObject({ kind: "stop", stop: undefined });
    expect(
      await openTrial(hooksOf("before-stop", { block: "tests" }, { block: "docs" }, { stop: "x" })).policy.checkStop(
        "t",
        0,
      ),
    ).toMatchObject({ kind: "go-on", feedback: "tests\ndocs", stop: undefined });
    expect(await openTrial(hooksOf("before-stop", { stop: "x" })).policy.checkStop("t", 0)).toMatchObject({
      kind: "stop",
      stop: "x",
    });
    const failing = openTrial({ hooks: [{ "before-stop": [fail] }] });
    expect(await failing.policy.checkStop("t", 1)).toMatchObject({ kind: "stop" });
    expect(failing.warnings()).toHaveLength(1);
  });

  it("the end of a run is watched only, also that of an aborted one, which waits a second at most", async () => {
    const seen: unknown[] = [];
    const trial = openTrial({
      hooks: [
        {
          "run-end": [
            ({ status, text }) => void seen.push([status, text]),
            () => ({ block: "x" }),
            () => new Promise(() => undefined),
          ],
        },
      ],
    });
    trial.controller.abort();
    const noted = trial.policy.noteEnd("aborted", "t");
    await trial.clock.advance(1_000);
    await noted;
    expect(seen).toEqual([["aborted", "t"]]);
    expect(trial.warnings().map(({ context }) => (context as { index: number }).index)).toEqual([1, 2]);
  });
});

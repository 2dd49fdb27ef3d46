import { textDelta, messageItem } from "#domain";
import { describe, expect, it } from "vitest";
import { callOf, openTrial, type Trial } from "./place.ts";

type Misbehave = (given: Record<string, unknown>) => unknown;

const INPUT = { command: "ls", list: [1] };

const UNPRINTABLE: unknown = {
  toString: () => {
    throw new Error("again");
  },
};

/** Nine ways to behave badly. All but a changed argument have to end in a denial. */
const MISBEHAVIOURS: Readonly<Record<string, { readonly act: Misbehave; readonly why: RegExp | undefined }>> = {
  "throws at once": {
    act: () => {
      throw new Error("boom");
    },
    why: /threw: boom/,
  },
  rejects: { act: () => Promise.reject(new Error("boom")), why: /threw: boom/ },
  hangs: { act: () => new Promise(() => undefined), why: /did not answer within 2000 ms/ },
  "answers with a number": { act: () => 42, why: /answered with a number/ },
  "answers with an unknown field": { act: () => ({ permit: true }), why: /"permit"/ },
  "answers after its time": { act: () => undefined, why: /did not answer within 2000 ms/ },
  "changes its argument": {
    act: (given) => {
      const { input, value, messages } = given as { input?: object; value?: object; messages?: object };
      for (const one of [input, value, messages])
        if (typeof one === "object") Object.assign(one, { command: "rm", list: [] });
      return undefined;
    },
    why: undefined,
  },
  "never answers, and the run is aborted": { act: () => new Promise(() => undefined), why: /aborted/ },
  "throws what is no error": {
    act: () => {
      throw UNPRINTABLE as Error;
    },
    why: /threw: a value that cannot be printed/,
  },
};

interface Kind {
  readonly open: (act: Misbehave) => Trial;
  /** What came of it: `passed`, or why not. */
  readonly play: (trial: Trial) => Promise<string>;
  /** No time limit is due. */
  readonly isPatient?: true;
  /** What it has to answer to let things pass, when nothing is not enough. */
  readonly yes?: unknown;
}

const playCall = async ({ policy }: Trial): Promise<string> => {
  const verdict = await policy.checkCall(callOf(INPUT));
  if (verdict.kind === "denied") return verdict.reason;
  expect(verdict.input).toEqual({ command: "ls", list: [1] });
  return "passed";
};

const guard = (place: "input" | "tool-call" | "tool-result" | "output", act: Misbehave): Trial =>
  openTrial({
    guards: [{ name: "the-guard", place, timeoutMs: 2_000, check: (content) => act({ ...content }) as undefined }],
    outputMode: "buffer",
  });

const KINDS: Readonly<Record<string, Kind>> = {
  "before-tool hook": {
    open: (act) =>
      openTrial({ hooks: [{ "before-tool": [{ timeoutMs: 2_000, run: (given) => act({ ...given }) as undefined }] }] }),
    play: playCall,
  },
  "permission callback": {
    open: (act) => openTrial({ permission: (given) => act({ ...given }) as { allow: true } }),
    play: playCall,
    isPatient: true,
    yes: { allow: true },
  },
  "tool-call guard": { open: (act) => guard("tool-call", act), play: playCall },
  "input guard": {
    open: (act) => guard("input", act),
    play: async ({ policy }) => {
      const verdict = await policy.checkPrompt([{ id: "u", role: "user", blocks: [{ type: "text", text: "hi" }] }]);
      return verdict.kind === "blocked" ? verdict.reason : "passed";
    },
  },
  "tool-result guard": {
    open: (act) => guard("tool-result", act),
    play: async ({ policy }) => {
      const output = { command: "secret" };
      const verdict = await policy.checkResult(callOf(INPUT), { output, isError: false });
      if (verdict.isError) {
        expect(verdict.output).not.toContain("secret");
        return String(verdict.output);
      }
      expect(verdict.output).toEqual({ command: "secret" });
      return "passed";
    },
  },
  "output guard": {
    open: (act) => guard("output", act),
    play: async ({ policy, controller }) => {
      const gate = policy.createOutputGate();
      const blocks = [{ type: "text", text: "secret" }] as const;
      const out = await gate.pass([textDelta("m", 0, "secret"), messageItem({ id: "m", role: "assistant", blocks })]);
      if (out.length > 0) return "passed";
      return gate.denial?.reason ?? (controller.signal.aborted ? "aborted" : "lost");
    },
  },
};

describe.each(Object.entries(KINDS))("R12 I6 C26: a %s", (_kind, { open, play, isPatient, yes }) => {
  it.each(Object.entries(MISBEHAVIOURS))("that %s", async (title, { act, why }) => {
    const isLate = title === "answers after its time";
    const trial: Trial = open((given) => {
      if (isLate) return new Promise((resolve) => void trial.clock.after(5_000, () => resolve(yes)));
      const answer = act(given);
      return title === "changes its argument" ? yes : answer;
    });
    const played = play(trial);
    await trial.clock.advance(10);
    if (title.includes("aborted")) trial.controller.abort();
    await trial.clock.advance(10_000);
    if (isPatient && title === "hangs") {
      expect(trial.permissions()).toEqual([]);
      trial.controller.abort();
      expect(await played).toMatch(/aborted/);
      return;
    }
    const isFine = why === undefined || (isPatient && isLate);
    if (isFine) expect(await played).toBe("passed");
    else expect(await played).toMatch(why);
    expect(trial.clock.pending()).toBe(0);
    const verdicts = trial.permissions().filter(({ state }) => state !== "asked");
    expect(verdicts.length).toBeLessThanOrEqual(1);
    if (!isFine) expect(verdicts.map(({ state }) => state)).not.toContain("allowed");
  });
});

describe("R12: further nonsense", () => {
  it.each([
    ["null", null],
    ["a list", []],
    ["true", true],
    ["a text", "allow"],
    [
      "an object of a class",
      new (class Answer {
        allow = true;
      })(),
    ],
    ["a map", new Map([["allow", true]])],
    [
      "an object that cannot be read",
      Object.defineProperty({}, "allow", {
        enumerable: true,
        get: () => {
          throw new Error("no");
        },
      }),
    ],
    [
      "a proxy that throws",
      new Proxy(
        {},
        {
          ownKeys: () => {
            throw new Error("no");
          },
        },
      ),
    ],
    ["allow as a text", { allow: "yes" }],
    ["allow: 1", { allow: 1 }],
    ["nothing in it", {}],
    ["a yes with a reason", { allow: true, reason: "x" }],
    ["a no with an input", { allow: false, input: {} }],
    ["an input that is no JSON", { allow: true, input: () => 1 }],
    ["a __proto__ of its own", JSON.parse('{"allow":true,"__proto__":{}}')],
    ["nothing", undefined],
  ])("a permission callback that answers %s denies", async (_title, answer) => {
    const trial = openTrial({ permission: () => answer as { allow: true } });
    expect(await trial.policy.checkCall(callOf(INPUT))).toMatchObject({ kind: "denied", by: "callback" });
    expect(trial.steps()).toEqual(["denied by callback"]);
  });

  it.each([
    ["null", null],
    ["false", false],
    ["allow: false", { allow: false }],
    ["ask: false", { ask: false }],
    ["a block that is no text", { block: true }],
    ["an output, which is another point's", { output: 1 }],
    ["an input that is no JSON", { input: 1n }],
  ])("a before-tool hook that answers %s denies", async (_title, answer) => {
    const trial = openTrial({ hooks: [{ "before-tool": [() => answer as never] }] });
    expect(await trial.policy.checkCall(callOf(INPUT))).toMatchObject({ kind: "denied", by: "hook" });
  });

  it.each([
    ["an empty object", {}],
    ["both", { deny: "x", replace: "y" }],
    ["a deny that is no text", { deny: true }],
    ["a replacement that is no text", { replace: 7 }],
  ])("an input guard that answers %s denies", async (_title, answer) => {
    const trial = openTrial({ guards: [{ name: "g", place: "input", check: () => answer as never }] });
    const verdict = await trial.policy.checkPrompt([{ id: "u", role: "user", blocks: [{ type: "text", text: "hi" }] }]);
    expect(verdict).toMatchObject({ kind: "blocked", by: "guard", reason: expect.stringContaining('"g"') });
  });

  it("S0-76: a hook gets 60 s by default, and at least one second", async () => {
    const hang = (): Promise<never> => new Promise(() => undefined);
    for (const [timeoutMs, limit] of [
      [undefined, 60_000],
      [5, 1_000],
      [90_000, 90_000],
    ] as const) {
      const trial = openTrial({
        hooks: [{ "before-tool": [{ ...(timeoutMs !== undefined && { timeoutMs }), run: hang }] }],
      });
      const verdict = trial.policy.checkCall(callOf(INPUT));
      await trial.clock.advance(limit - 1);
      expect(trial.steps()).toEqual([]);
      await trial.clock.advance(1);
      expect(await verdict).toMatchObject({
        kind: "denied",
        reason: expect.stringContaining(`before-tool hook 1 did not answer within ${limit} ms`),
      });
    }
  });

  it("a hook's signal fires when its time is up", async () => {
    const signals: AbortSignal[] = [];
    const trial = openTrial({
      hooks: [{ "before-tool": [({ signal }) => new Promise(() => void signals.push(signal))] }],
    });
    const verdict = trial.policy.checkCall(callOf(INPUT));
    await trial.clock.advance(60_000);
    expect((await verdict).kind).toBe("denied");
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
  });
});

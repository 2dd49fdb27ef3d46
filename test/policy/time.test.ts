import { waitForPerson } from "#domain";
import { callWithLimit } from "../../src/policy/call-with-limit.ts";
import type { Guard, PermissionCallback, PolicySettings } from "#policy";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { callOf, openTrial, type Trial } from "./place.ts";

const LIMIT = 1_000;

/** Whoever may say yes to a call, and how it is told its limit. */
const DECIDERS: Readonly<Record<string, (answer: () => Promise<unknown>, limit?: number) => Partial<PolicySettings>>> =
  {
    "a hook": (answer, timeoutMs = LIMIT) => ({ hooks: [{ "before-tool": [{ run: answer as never, timeoutMs }] }] }),
    "a permission callback": (answer, permissionMs = LIMIT) => ({ permission: answer as never, permissionMs }),
    "a guard": (answer, timeoutMs = LIMIT) => ({
      guards: [{ name: "slow", place: "tool-call", check: answer as Guard["check"], timeoutMs }],
    }),
  };
const YES: Readonly<Record<string, unknown>> = {
  "a hook": { allow: true },
  "a permission callback": { allow: true },
  "a guard": undefined,
};

async function judgeBatch(trial: Trial, size: number, forMs: number): Promise<readonly string[]> {
  const verdicts = Array.from({ length: size }, (_, at) =>
    trial.policy.checkCall(callOf({ at }, { callId: `c${at}`, name: "probe" })),
  );
  await trial.clock.advance(forMs);
  return (await Promise.all(verdicts)).map(({ kind }) => kind);
}

describe.each(Object.keys(DECIDERS))("the time of %s", (who) => {
  const settle = (delayOf: (call: number) => number, limit?: number): Trial => {
    let calls = 0;
    const trial: Trial = openTrial(
      DECIDERS[who]?.(() => {
        const delay = delayOf(calls);
        calls += 1;
        return new Promise((resolve) => void trial.clock.after(delay, () => resolve(YES[who])));
      }, limit),
    );
    return trial;
  };

  it.each([
    [999, "run"],
    [1001, "denied"],
  ])("F-B7: is a second at least, whatever was asked for: an answer after %d ms of 1: %s", async (delay, kind) => {
    const trial = settle(() => delay, 1);
    expect(await judgeBatch(trial, 1, 1_500)).toEqual([kind]);
  });

  it.each([
    [LIMIT - 1, "run"],
    [LIMIT, "denied"],
    [LIMIT + 1, "denied"],
    [LIMIT + 2, "denied"],
  ])("F-B7: an answer after %d ms of 1000, in a batch of 50: %s", async (delay, kind) => {
    expect(
      new Set(
        await judgeBatch(
          settle(() => delay),
          50,
          LIMIT + 5,
        ),
      ),
    ).toEqual(new Set([kind]));
  });

  it("F-B7: whatever the answers of a batch take, exactly the ones in time count", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: LIMIT - 3, max: LIMIT + 3 }), { minLength: 1, maxLength: 20 }),
        async (delays) => {
          const kinds = await judgeBatch(
            settle((call) => delays[call] ?? 0),
            delays.length,
            LIMIT + 5,
          );
          expect(kinds).toEqual(delays.map((delay) => (delay < LIMIT ? "run" : "denied")));
        },
      ),
      { numRuns: 30 },
    );
  });

  it("F-B7: an answer that comes before its own timer fires, as on a busy machine, is still too late", async () => {
    const trial: Trial = openTrial(
      DECIDERS[who]?.(() => {
        let answer = (_: unknown): void => undefined;
        const answered = new Promise((resolve) => {
          answer = resolve;
        });
        // Fires at the very moment of the limit, before the timer of the limit does.
        trial.clock.after(LIMIT - 1, () => answer(YES[who]));
        return answered.then(async (value) => {
          hold.isLate = true;
          return value;
        });
      }),
    );
    const hold = { isLate: false };
    const now = trial.clock.now;
    Object.assign(trial.clock, { now: () => now() + (hold.isLate ? 1 : 0) });
    expect(await judgeBatch(trial, 1, LIMIT + 5)).toEqual(["denied"]);
  });

  it("F-B11: one that fails after its time is up leaves no rejection unhandled", async () => {
    const unhandled: unknown[] = [];
    const note = (reason: unknown): void => void unhandled.push(reason);
    process.on("unhandledRejection", note);
    try {
      const trial: Trial = openTrial(
        DECIDERS[who]?.(
          () => new Promise((_, reject) => void trial.clock.after(LIMIT + 1, () => reject(new Error("late")))),
        ),
      );
      expect(await judgeBatch(trial, 5, LIMIT + 5)).toEqual(Array.from({ length: 5 }, () => "denied"));
      await trial.clock.advance(10);
      expect(unhandled).toEqual([]);
    } finally {
      process.off("unhandledRejection", note);
    }
  });
});

describe("an event loop that is late", () => {
  /** Timers that are due fire in the wrong order, and the time they see has not moved: what a busy machine may do. */
  function createLateClock() {
    const timers = new Set<{ readonly at: number; readonly fire: () => void }>();
    return {
      after(ms: number, fire: () => void) {
        const timer = { at: ms, fire };
        timers.add(timer);
        return () => timers.delete(timer);
      },
      /** Fires what is due until then, the latest first, and what that sets afterwards. */
      async fireUntil(until: number): Promise<void> {
        const due = [...timers].filter(({ at }) => at <= until).sort((left, right) => right.at - left.at);
        for (const timer of due) {
          if (timers.delete(timer)) timer.fire();
          await new Promise((resolve) => setImmediate(resolve));
        }
      },
    };
  }

  it("F-B7: an answer whose timer fires before the timer of the limit does not count", async () => {
    const clock = createLateClock();
    const times = [0];
    const consulted = callWithLimit({
      start: () => new Promise((resolve) => void clock.after(LIMIT + 1, () => resolve("yes"))),
      limitMs: LIMIT,
      watch: undefined,
      // The answer is seen a moment before the limit, although its timer is longer.
      clock: { ...clock, now: () => times.shift() ?? LIMIT - 1 },
    });
    await clock.fireUntil(LIMIT + 1);
    await clock.fireUntil(LIMIT + 1);
    expect(await consulted).toMatchObject({ kind: "failed" });
  });
});

describe("the time limit of a permission callback", () => {
  const never: PermissionCallback = () => new Promise(() => undefined);
  const decide = async (permission: PermissionCallback, permissionMs?: number) => {
    const trial = openTrial({ permission, ...(permissionMs !== undefined && { permissionMs }) });
    const state = { kind: "open" };
    void trial.policy.checkCall(callOf({})).then(({ kind }) => {
      state.kind = kind;
    });
    return { trial, state };
  };

  it("F-B6: is 60 seconds unless set, and then denies with a warning", async () => {
    const { trial, state } = await decide(never);
    await trial.clock.advance(59_999);
    expect(state.kind).toBe("open");
    await trial.clock.advance(1);
    expect(state.kind).toBe("denied");
    expect(trial.warnings()).toMatchObject([
      { code: "permission-failed", context: { why: expect.stringContaining("60000") } },
    ]);
  });

  it("F-B6: can be set, and be none", async () => {
    const short = await decide(never, 5_000);
    await short.trial.clock.advance(5_000);
    expect(short.state.kind).toBe("denied");
    const none = await decide(never, Number.POSITIVE_INFINITY);
    await none.trial.clock.advance(1e10);
    expect(none.state.kind).toBe("open");
    expect(none.trial.clock.pending()).toBe(0);
  });

  it("F-B6: is none for a callback that asks a person", async () => {
    let answer = (_: { readonly allow: true }): void => undefined;
    const person = waitForPerson<PermissionCallback>(() => new Promise((resolve) => (answer = resolve)));
    const { trial, state } = await decide(person, 5_000);
    await trial.clock.advance(1e10);
    expect(state.kind).toBe("open");
    answer({ allow: true });
    await trial.clock.advance(0);
    expect(state.kind).toBe("run");
  });

  it.each([
    [
      "throws",
      () => {
        throw new Error("boom");
      },
    ],
    ["rejects", () => Promise.reject(new Error("boom"))],
    ["answers nonsense", () => 42],
    [
      "rejects with something that cannot be printed",
      () =>
        Promise.reject({
          toString: () => {
            throw new Error("no");
          },
        }),
    ],
  ])("F-B6: one that %s denies, with a warning", async (_, permission) => {
    const trial = openTrial({ permission: permission as never });
    expect(await trial.policy.checkCall(callOf({}))).toMatchObject({ kind: "denied", by: "callback" });
    expect(trial.warnings()).toMatchObject([{ code: "permission-failed", context: { callId: "c1", name: "Bash" } }]);
  });

  it("F-B6: hooks and guards that fail where they may prevent something are warned of as well", async () => {
    const boom = (): never => {
      throw new Error("boom");
    };
    const hook = openTrial({ hooks: [{ "before-tool": [boom] }] });
    expect((await hook.policy.checkCall(callOf({}))).kind).toBe("denied");
    expect(hook.warnings()).toMatchObject([{ code: "hook-failed", context: { point: "before-tool" } }]);
    const guard = openTrial({ guards: [{ name: "g", place: "tool-call", check: boom }] });
    expect((await guard.policy.checkCall(callOf({}))).kind).toBe("denied");
    expect(guard.warnings()).toMatchObject([{ code: "guard-failed", context: { guard: "g", place: "tool-call" } }]);
  });
});

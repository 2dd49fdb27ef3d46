import { describe, expect, it } from "vitest";
import { createVirtualClock } from "#testing";
import { createDeferred } from "./deferred.ts";
import { inTime } from "./in-time.ts";

const late = () => new Error("late");

describe("inTime", () => {
  it("passes on what comes in time, and leaves no timer behind", async () => {
    const clock = createVirtualClock();
    const [value, failure] = [createDeferred<string>(), createDeferred<string>()];
    const limited = [value, failure].map(({ promise }) => inTime(promise, { clock, ms: 100, late }));
    await clock.advance(99);
    value.resolve("here");
    failure.reject(new Error("broken"));
    await expect(limited[0]).resolves.toBe("here");
    await expect(limited[1]).rejects.toThrow("broken");
    await Promise.resolve();
    expect(clock.pending()).toBe(0);
  });

  it("rejects when the time is over, and ignores what comes afterwards", async () => {
    const clock = createVirtualClock();
    const failure = createDeferred<string>();
    const limited = inTime(failure.promise, { clock, ms: 100, late });
    const seen = expect(limited).rejects.toThrow("late");
    await clock.advance(100);
    failure.reject(new Error("broken"));
    await seen;
  });
});

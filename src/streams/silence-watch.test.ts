import { describe, expect, it } from "vitest";
import { createVirtualClock } from "#testing";
import { watchSilence } from "./silence-watch.ts";

function setUp() {
  const clock = createVirtualClock(10_000_000);
  const heard: string[] = [];
  const machine = { setBy: 0 };
  const startedAt = clock.now();
  const watch = watchSilence({
    clock: { now: () => clock.now() + machine.setBy, after: (ms, fire) => clock.after(ms, fire) },
    firstMs: 1000,
    betweenMs: 500,
    noticeMs: 200,
    onNotice: (silentMs) => void heard.push(`notice of ${silentMs} at ${clock.now() - startedAt}`),
    onExpire: (silentMs, phase) => void heard.push(`${phase}: ${silentMs} at ${clock.now() - startedAt}`),
  });
  return { clock, watch, heard, machine };
}

describe("watchSilence", () => {
  it("reports a silence once, and ends it if it is too long", async () => {
    const { clock, heard } = setUp();
    await clock.advance(5000);
    expect(heard).toEqual(["notice of 200 at 200", "first: 1000 at 1000"]);
  });

  it("a sign of life begins a new silence; a pause does not", async () => {
    const { clock, watch, heard } = setUp();
    await clock.advance(150);
    watch.alive();
    await clock.advance(150);
    watch.pause();
    await clock.advance(10_000);
    watch.resume();
    await clock.advance(5000);
    expect(heard).toEqual(["notice of 200 at 10500", "between: 500 at 10800"]);
  });

  it.each([
    ["ahead", 3_600_000],
    ["back", -3_600_000],
  ])("R11: a clock that is set %s neither causes nor hides a silence", async (_, setBy) => {
    const { clock, watch, heard, machine } = setUp();
    await clock.advance(100);
    watch.alive();
    machine.setBy = setBy;
    for (let step = 0; step < 20; step += 1) {
      await clock.advance(100);
      watch.alive();
    }
    expect(heard.filter((text) => text.startsWith("between"))).toEqual([]);
    await clock.advance(1000);
    expect(heard.filter((text) => text.startsWith("between"))).toHaveLength(1);
  });
});

import { describe, expect, it } from "vitest";
import { createVirtualClock } from "#testing";
import { Alarm } from "./alarm.ts";

function setUp() {
  const clock = createVirtualClock(1000);
  let timers = 0;
  const alarm = new Alarm({
    now: () => clock.now(),
    after(ms, fire) {
      timers += 1;
      return clock.after(ms, fire);
    },
  });
  const fired: string[] = [];
  return {
    clock,
    alarm,
    fired,
    fire: (name: string) => () => void fired.push(`${name} at ${clock.now()}`),
    timers: () => timers,
  };
}

describe("an alarm", () => {
  it("fires once, when it is due", async () => {
    const { clock, alarm, fired, fire } = setUp();
    alarm.set(50, fire("a"));
    await clock.advance(49);
    expect(fired).toEqual([]);
    await clock.advance(1000);
    expect(fired).toEqual(["a at 1050"]);
  });

  it("is postponed by setting it again, however often, with few timers", async () => {
    const { clock, alarm, fired, fire, timers } = setUp();
    for (let at = 0; at < 100; at += 1) {
      alarm.set(50, fire("late"));
      await clock.advance(10);
    }
    expect(fired).toEqual([]);
    await clock.advance(100);
    expect(fired).toEqual(["late at 2040"]);
    expect(timers()).toBeLessThan(30);
  });

  it("an earlier time than the one set before fires in time, and once", async () => {
    const { clock, alarm, fired, fire } = setUp();
    alarm.set(500, fire("far"));
    alarm.set(20, fire("near"));
    await clock.advance(1000);
    expect(fired).toEqual(["near at 1020"]);
    alarm.set(20, fire("again"));
    await clock.advance(30);
    expect(fired.at(-1)).toBe("again at 2020");
  });

  it("after a stop it does not fire and leaves no timer; it can be set again", async () => {
    const { clock, alarm, fired, fire } = setUp();
    alarm.set(20, fire("never"));
    alarm.stop();
    alarm.stop();
    await clock.advance(100);
    expect(fired).toEqual([]);
    alarm.set(20, fire("now"));
    await clock.advance(20);
    expect(fired).toEqual(["now at 1120"]);
  });

  it("R11: a clock that is set back delays it by no more than its duration", async () => {
    const clock = createVirtualClock(10_000_000);
    let setBy = 0;
    let aborted = false;
    const alarm = new Alarm({ now: () => clock.now() + setBy, after: (ms, fire) => clock.after(ms, fire) });
    alarm.set(50, () => void (aborted = true));
    setBy = -3_600_000;
    await clock.advance(100);
    expect(aborted).toBe(true);
  });
});

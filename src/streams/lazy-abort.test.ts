import { describe, expect, it } from "vitest";
import { LazyAbort } from "./lazy-abort.ts";

describe("an abort latch", () => {
  it("fires once, for its signal and for all who follow it, with the reason it was given", () => {
    const latch = new LazyAbort();
    const heard: unknown[] = [];
    latch.follow((reason) => heard.push(["first", reason]));
    latch.follow((reason) => heard.push(["second", reason]));
    const { signal } = latch;
    expect([latch.aborted, signal.aborted]).toEqual([false, false]);
    latch.abort("enough");
    latch.abort("again");
    expect(heard).toEqual([
      ["first", "enough"],
      ["second", "enough"],
    ]);
    expect([latch.aborted, signal.aborted, signal.reason]).toEqual([true, true, "enough"]);
  });

  it("tells those who come late at once", () => {
    const latch = new LazyAbort();
    latch.abort("enough");
    const heard: unknown[] = [];
    latch.follow((reason) => heard.push(reason))();
    expect(heard).toEqual(["enough"]);
    expect(latch.signal.reason).toBe("enough");
    expect(latch.signal).toBe(latch.signal);
  });

  it("a branch fires with it, or before it and alone", () => {
    const latch = new LazyAbort();
    const [first, second] = [latch.branch(), latch.branch()];
    first.abort("only I");
    expect([latch.aborted, first.aborted, second.aborted]).toEqual([false, true, false]);
    latch.abort("all");
    expect([first.signal.reason, second.signal.reason, latch.branch().signal.reason]).toEqual(["only I", "all", "all"]);
  });

  it("tells nobody who has left, and leaving twice takes nobody else along", () => {
    const latch = new LazyAbort();
    const heard: string[] = [];
    const follower = (): void => void heard.push("twice");
    const leave = latch.follow(follower);
    latch.follow(follower);
    leave();
    leave();
    latch.follow(() => heard.push("other"));
    latch.abort(undefined);
    expect(heard).toEqual(["twice", "other"]);
  });
});

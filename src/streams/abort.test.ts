import { describe, expect, it } from "vitest";
import { createAbortController, followSignal } from "./abort.ts";

describe("an abort controller that follows signals", () => {
  it("fires with any of them, with its reason, or by itself", () => {
    const [first, second] = [new AbortController(), new AbortController()];
    const all = [0, 1, 2].map(() => createAbortController(first.signal, second.signal));
    all[0]?.abort("alone");
    expect(all.map(({ signal }) => signal.aborted)).toEqual([true, false, false]);
    expect(first.signal.aborted).toBe(false);
    second.abort("all");
    first.abort("later");
    expect(all.map(({ signal }) => signal.reason)).toEqual(["alone", "all", "all"]);
  });

  it("has fired if a signal has", () => {
    expect(createAbortController(AbortSignal.abort("before")).signal.reason).toBe("before");
  });

  it("F-B11: any number may listen to its signal without a warning", async () => {
    const warnings: unknown[] = [];
    const onWarning = (warning: unknown): void => void warnings.push(warning);
    process.on("warning", onWarning);
    const { signal } = createAbortController();
    for (let index = 0; index < 50; index += 1) signal.addEventListener("abort", () => undefined);
    // Node emits warnings on the next tick.
    await new Promise((resolve) => setImmediate(resolve));
    process.off("warning", onWarning);
    expect(warnings).toEqual([]);
  });
});

describe("followSignal", () => {
  it("calls once when the signal fires, at once if it has, and not after it was removed", () => {
    const heard: unknown[] = [];
    const controller = new AbortController();
    followSignal(controller.signal, (reason) => heard.push(["stays", reason]));
    const leave = followSignal(controller.signal, (reason) => heard.push(["left", reason]));
    leave();
    leave();
    controller.abort("enough");
    followSignal(controller.signal, (reason) => heard.push(["late", reason]))();
    expect(heard).toEqual([
      ["stays", "enough"],
      ["late", "enough"],
    ]);
  });
});

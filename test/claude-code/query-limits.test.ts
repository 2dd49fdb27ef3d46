import { describe, expect, it } from "vitest";
import type { SpawnStep } from "#testing";
import { openQuery, type Query, type QueryItem, type QueryOptions } from "../../src/backends/claude-code/query.ts";
import { INIT, openScripted, result, says, writes } from "./scripted.ts";

async function open(steps: readonly SpawnStep[], options: QueryOptions = {}) {
  const place = openScripted(steps);
  const query = await openQuery("hello", { skipVersionCheck: true, ...options }, place.world);
  return { ...place, query, call: place.spawn.calls[0] };
}

const name = (item: QueryItem): string => {
  if (item.kind === "message") return item.message.type;
  if (item.kind === "warning") return `warning ${item.warning.code}`;
  return item.kind === "error" ? `error ${item.error.code} ${item.error.terminal ? "terminal" : ""}` : item.kind;
};

/** Asks for an item, lets so much time pass, and says what came. */
async function nextAfter(
  { query, clock }: { readonly query: Query; readonly clock: { advance(ms: number): Promise<void> } },
  ms: number,
): Promise<string> {
  let item: QueryItem | undefined;
  void query.next().then((given) => (item = given));
  await clock.advance(0);
  await clock.advance(ms);
  for (let turn = 0; turn < 20 && item === undefined; turn += 1) await clock.advance(0);
  return item === undefined ? "nothing" : name(item);
}

const hangs: readonly SpawnStep[] = [writes(INIT), { hang: true }];

describe("S1-68: how long a query may take", () => {
  it("timeoutMs limits the whole query, whatever arrives; its error is given once, then the end", async () => {
    const opened = await open([writes(INIT), { waitMs: 900 }, writes(says("m1", "hi")), { hang: true }], {
      timeoutMs: 1000,
    });
    expect(await nextAfter(opened, 0)).toBe("system");
    expect(await nextAfter(opened, 900)).toBe("assistant");
    expect(opened.call?.isGone).toBe(false);
    expect(await nextAfter(opened, 100)).toBe("error timeout terminal");
    expect(await nextAfter(opened, 0)).toBe("end");
    expect(await nextAfter(opened, 0)).toBe("end");
    expect(opened.call?.isGone).toBe(true);
    expect(opened.clock.pending()).toBe(0);
  });

  it("it also applies while no item is requested: the process is stopped, and the next item is the error", async () => {
    const opened = await open(hangs, { timeoutMs: 1000 });
    await opened.clock.advance(3000);
    expect(opened.call?.isGone).toBe(true);
    expect(await nextAfter(opened, 0)).toBe("error timeout terminal");
    expect(await nextAfter(opened, 0)).toBe("end");
  });

  it("a result that was given remains valid: the end follows, without an error", async () => {
    const opened = await open([writes(INIT, result()), { hang: true }], { timeoutMs: 50 });
    expect(await nextAfter(opened, 0)).toBe("system");
    expect(await nextAfter(opened, 0)).toBe("result");
    expect(await nextAfter(opened, 60)).toBe("end");
    expect(opened.call?.isGone).toBe(true);
  });

  it("the time of the start counts, and a slow start is stopped", async () => {
    const place = openScripted(() => [{ waitMs: 2000 }, { write: "2.1.197\n" }, { exit: 0 }]);
    const opening = openQuery("hello", { timeoutMs: 1000 }, place.world);
    await place.clock.advance(0);
    await place.clock.advance(2000);
    const query = await opening;
    expect([await query.next(), await query.next()].map(name)).toEqual(["error timeout terminal", "end"]);
    expect(place.spawn.calls).toHaveLength(1);
    expect(place.clock.pending()).toBe(0);
  });

  it("idleMs limits silence: any output restarts it", async () => {
    const opened = await open([writes(INIT), { waitMs: 900 }, writes(says("m1", "hi")), { hang: true }], {
      idleMs: 1000,
    });
    expect(await nextAfter(opened, 0)).toBe("system");
    expect(await nextAfter(opened, 900)).toBe("assistant");
    expect(await nextAfter(opened, 999)).toBe("nothing");
    await opened.clock.advance(1);
    await opened.clock.advance(0);
    expect(opened.call?.isGone).toBe(true);
    expect(await nextAfter(opened, 0)).toBe("end");
    const again = await open(hangs, { idleMs: 1000 });
    expect(await nextAfter(again, 0)).toBe("system");
    expect(await nextAfter(again, 1000)).toBe("error stalled terminal");
    expect(await nextAfter(again, 0)).toBe("end");
    expect(again.clock.pending()).toBe(0);
  });

  it("without limits nothing is ended", async () => {
    const opened = await open(hangs);
    expect(await nextAfter(opened, 0)).toBe("system");
    expect(await nextAfter(opened, 86_400_000)).toBe("nothing");
    await opened.query.close();
    expect(await nextAfter(opened, 0)).toBe("end");
    expect(opened.clock.pending()).toBe(0);
  });
});

describe("S1-68: a signal", () => {
  it("closes the query, and reports it", async () => {
    const controller = new AbortController();
    const opened = await open(hangs, { signal: controller.signal });
    expect(await nextAfter(opened, 0)).toBe("system");
    const waiting = nextAfter(opened, 0);
    controller.abort();
    expect(await waiting).toBe("error aborted terminal");
    expect(await nextAfter(opened, 0)).toBe("end");
    await opened.query.close();
    expect(opened.call?.isGone).toBe(true);
    expect(opened.clock.pending()).toBe(0);
  });

  it("that is already aborted starts nothing", async () => {
    const place = openScripted(hangs);
    const query = await openQuery("hello", { skipVersionCheck: true, signal: AbortSignal.abort() }, place.world);
    const items: string[] = [];
    for await (const item of query) items.push(name(item));
    expect(items).toEqual(["error aborted terminal"]);
    expect(place.spawn.calls).toEqual([]);
  });

  it("has no listener after the query has ended", async () => {
    const controller = new AbortController();
    const opened = await open([writes(INIT, result()), { exit: 0 }], { signal: controller.signal, timeoutMs: 60_000 });
    expect(await nextAfter(opened, 0)).toBe("system");
    expect(await nextAfter(opened, 0)).toBe("result");
    expect(await nextAfter(opened, 0)).toBe("end");
    controller.abort();
    expect(await nextAfter(opened, 0)).toBe("end");
    expect(opened.clock.pending()).toBe(0);
  });
});

describe("S1-68 C14: maxLineBytes", () => {
  const message = JSON.stringify({ type: "system", text: "x" });

  it.each([
    [0, "system "],
    [-1, "error buffer-overflow terminal"],
  ])("a line of the limit and %i bytes: %s", async (more, expected) => {
    const opened = await open([{ write: `${message}\n` }, { hang: true }], {
      maxLineBytes: message.length + more,
    });
    expect(await nextAfter(opened, 0)).toBe(expected.trim());
    await opened.query.close();
  });
});

describe("S1-68: wrong values are rejected by name, and nothing is started", () => {
  it.each<[string, unknown]>([
    ["signal", "soon"],
    ["signal", {}],
    ["timeoutMs", 0],
    ["timeoutMs", -1],
    ["timeoutMs", 1.5],
    ["timeoutMs", Number.POSITIVE_INFINITY],
    ["timeoutMs", "1000"],
    ["idleMs", 2 ** 31],
    ["idleMs", Number.NaN],
    ["maxLineBytes", 0],
    ["maxLineBytes", 268_435_457],
    ["stderr", "console"],
  ])("%s: %o", async (option, value) => {
    const place = openScripted(hangs);
    await expect(openQuery("hello", { [option]: value }, place.world)).rejects.toMatchObject({
      code: "invalid-option",
      message: expect.stringMatching(new RegExp(`^${option} is .*\\. Give`)),
    });
    expect(place.spawn.calls).toEqual([]);
    expect(place.clock.pending()).toBe(0);
  });
});

describe("S1-68: an unknown option", () => {
  it("is named as an option of query, with the nearest known one", async () => {
    const place = openScripted(hangs);
    await expect(openQuery("hello", { timoutMs: 1 } as never, place.world)).rejects.toMatchObject({
      code: "invalid-option",
      message: "There is no option of query called timoutMs. Did you mean timeoutMs?",
    });
    expect(place.spawn.calls).toEqual([]);
  });
});

describe("C24: what the CLI writes to stderr", () => {
  it("is reported line by line, without secrets, and a listener that throws changes nothing", async () => {
    const key = "sk-ant-secret-0123456789";
    const heard: string[] = [];
    const opened = await open(
      [{ stderr: `one\ntwo ${key}\r\nthr` }, { stderr: "ee" }, writes(INIT, result()), { exit: 0 }],
      {
        env: { ANTHROPIC_API_KEY: key },
        stderr: (line) => {
          heard.push(line);
          throw new Error("the listener fails");
        },
      },
    );
    expect(await nextAfter(opened, 0)).toBe("system");
    expect(await nextAfter(opened, 0)).toBe("result");
    expect(await nextAfter(opened, 0)).toBe("end");
    expect(heard.map((line) => line.replace(/two .*/, "two"))).toEqual(["one", "two", "three"]);
    expect(heard.join("\n")).not.toContain(key);
  });
});

import { describe, expect, it } from "vitest";
import type { SpawnStep } from "#testing";
import { collectItems, collectMessages, fold, withOpenQuery } from "../../src/backends/claude-code/collect.ts";
import type { ClaudeCodeOptions } from "../../src/backends/claude-code/options.ts";
import { openQuery, type Query, type QueryItem } from "../../src/backends/claude-code/query.ts";
import { INIT, line, openScripted, result, says, writes } from "./scripted.ts";

async function open(steps: readonly SpawnStep[], options: ClaudeCodeOptions = {}) {
  const place = openScripted(steps);
  const query = await openQuery("hello", { skipVersionCheck: true, ...options }, place.world);
  return { ...place, query, call: place.spawn.calls[0] };
}

const name = (item: QueryItem): string => {
  if (item.kind === "message") return item.message.type;
  if (item.kind === "warning") return `warning ${item.warning.code}`;
  if (item.kind === "error") return `error ${item.error.code}`;
  return item.kind;
};

/** Reads to the end; time moves on whenever nothing else can. */
async function readAll({ query, clock }: { query: Query; clock: { advance(ms: number): Promise<void> } }) {
  const items: QueryItem[] = [];
  for (;;) {
    const next = query.next();
    let settled = false;
    void next.then(() => (settled = true));
    for (let turn = 0; turn < 40 && !settled; turn += 1) await clock.advance(turn < 20 ? 0 : 50);
    const item = await next;
    items.push(item);
    if (item.kind === "end") return items;
  }
}

const prelude = writes(INIT, says("m1", "hi"));

describe("query", () => {
  it("S1-12 S1-63 S1-120: gives each message with its exact bytes, one per call, and then the end forever", async () => {
    const odd = '{ "type":"assistant" ,"message":{"content":[]},"text":"ä\\u00e4"}';
    const { query, call } = await open([
      { waitForInput: "end" },
      { write: `${odd}\r\n\n${line(result())}` },
      { exit: 0 },
    ]);
    const first = await query.next();
    expect(first).toMatchObject({ kind: "message", message: { type: "assistant" }, raw: { json: odd } });
    expect(new TextDecoder().decode((first as { raw: { bytes: Uint8Array } }).raw.bytes)).toBe(odd);
    expect((await query.next()).kind).toBe("message");
    expect([await query.next(), await query.next(), await query.next()].map(name)).toEqual(["end", "end", "end"]);
    expect(call?.stdin).toBe("hello");
    expect(call?.inputEnded).toBe(true);
    expect(call?.args).toContain("--print");
  });

  it.each([
    ["(a) a result, exit 0", [{ write: JSON.stringify(result()) }, { exit: 0 }], ["result", "end"]],
    [
      "(b) half a line, exit 0",
      [{ write: '{"type":"res' }, { exit: 0 }],
      ["warning incomplete-last-line", "warning clean-exit-no-result", "end"],
    ],
    ["(c) half a line, exit 3", [{ write: '{"type":"res' }, { exit: 3 }], ["error process-exited", "end"]],
    [
      "(d) a result, exit 1",
      [{ write: JSON.stringify(result()) }, { exit: 1 }],
      ["result", "warning non-zero-exit-after-result", "end"],
    ],
  ] as [string, SpawnStep[], string[]][])(
    "C9 AT-24 S1-59: the last line without its end: %s",
    async (_, steps, names) => {
      const opened = await open(steps);
      const items = await readAll(opened);
      expect(items.map(name)).toEqual(names);
      if (steps[1] !== undefined && "exit" in steps[1] && steps[1].exit === 3) {
        expect(items[0]).toMatchObject({ error: { diagnostic: { lastNonJsonLine: '{"type":"res', exitCode: 3 } } });
      }
    },
  );

  it("AT-25: four bad lines and a good one, ten times: forty errors and a success", async () => {
    const block = `${"not json\n".repeat(4)}${line(says("m", "x"))}`;
    const opened = await open([{ write: `${block.repeat(10)}${line(result())}` }, { exit: 0 }]);
    const items = await readAll(opened);
    expect(items.filter((item) => item.kind === "error")).toHaveLength(40);
    expect(items.at(-2)).toMatchObject({ message: { type: "result" } });
  });

  it("AT-25: five in a row end it, and the process is stopped", async () => {
    const opened = await open([{ write: "no\n".repeat(9) }, { hang: true }]);
    const items = await readAll(opened);
    expect(items.map(name)).toEqual([...Array(4).fill("error json-decode"), "error too-many-decode-errors", "end"]);
    expect(opened.call?.isGone).toBe(true);
  });

  it("AT-26: a line of exactly 10 MiB passes, one byte more ends it", async () => {
    const limit = 10_485_760;
    const exact = `{"type":"system", "x":"${"x".repeat(limit - 25)}"}\n`;
    expect(exact.length - 1).toBe(limit);
    const fits = await readAll(await open([{ write: exact }, writes(result()), { exit: 0 }]));
    expect(fits.map(name)).toEqual(["system", "result", "end"]);
    const tooLong = await open([{ write: ` ${exact}` }, { hang: true }]);
    expect((await readAll(tooLong)).map(name)).toEqual(["error buffer-overflow", "end"]);
    expect(tooLong.call?.isGone).toBe(true);
  });

  it("AT-32 S1-51: a line that is not UTF-8 is an error with exactly its bytes; adjacent lines are delivered", async () => {
    const bad = Uint8Array.of(0x22, 0xc3, 0x28, 0x22);
    const opened = await open([
      writes(says("m1", "before")),
      { write: bad },
      { write: "\n" },
      writes(says("m2", "behind"), result()),
      { exit: 0 },
    ]);
    const items = await readAll(opened);
    expect(items.map(name)).toEqual(["assistant", "error utf8-decode", "assistant", "result", "end"]);
    expect(items[1]).toMatchObject({ error: { terminal: false }, raw: { bytes: bad } });
  });

  it.each([
    ["exit 0", [{ exit: 0 }], []],
    ["exit 7", [{ exit: 7 }], ["warning non-zero-exit-after-result"]],
    [
      "3 late lines",
      [writes({ type: "new" }, { type: "new" }, { type: "new" }), { exit: 0 }],
      Array(3).fill("warning unexpected-message-after-result"),
    ],
    [
      "30 late lines",
      [{ write: line({ type: "new" }).repeat(30) }, { exit: 0 }],
      Array(10).fill("warning unexpected-message-after-result"),
    ],
    [
      "3 known ones",
      [{ write: line({ type: "rate_limit_event" }).repeat(3) }, { exit: 0 }],
      Array(3).fill("rate_limit_event"),
    ],
    ["silence", [{ hang: true }], []],
  ] as [string, SpawnStep[], string[]][])("AT-28 S1-86: a result, then %s", async (_, steps, names) => {
    const opened = await open([prelude, writes(result()), ...steps]);
    const before = opened.clock.now();
    const items = await readAll(opened);
    expect(items.map(name)).toEqual(["system", "assistant", "result", ...names, "end"]);
    expect(opened.clock.now() - before).toBeLessThanOrEqual(1500);
    expect(opened.call?.isGone).toBe(true);
  });

  it("C2: with background work it waits for the last result", async () => {
    const opened = await open([
      writes(INIT, { type: "system", subtype: "task_started", task_id: "t", is_backgrounded: true }, result("first")),
      { waitMs: 700 },
      writes(
        { type: "system", subtype: "task_notification", task_id: "t" },
        INIT,
        says("m2", "more"),
        result("second"),
      ),
      { exit: 0 },
    ]);
    const items = await readAll(opened);
    expect(items.map(name)).toEqual(["system", "system", "result", "system", "system", "assistant", "result", "end"]);
  });

  it.each([
    [1, true, "Authentication required"],
    [1, false, "General error (check if CLI is authenticated)"],
    [2, true, "Invalid arguments (check SDK version compatibility)"],
    [126, true, "Permission denied (check file permissions)"],
    [127, true, "Command not found (CLI may have moved)"],
    [42, true, "CLI error (no output)"],
    [42, false, "Unknown error"],
  ])("AT-29 S1-57: exit %i before a result (empty output: %s)", async (code, isEmpty, hint) => {
    const opened = await open([...(isEmpty ? [] : [prelude]), { exit: code }]);
    const items = await readAll(opened);
    expect(items.at(-2)).toMatchObject({
      error: { code: "process-exited", terminal: true, diagnostic: { hint, exitCode: code, stdoutWasEmpty: isEmpty } },
    });
  });

  it("S1-56 S1-75 C10: a clean exit without a result is a warning, then the end", async () => {
    expect((await readAll(await open([{ exit: 0 }]))).map(name)).toEqual(["warning clean-exit-no-result", "end"]);
  });

  it("S1-73 C27: an unknown type is a non-terminal error", async () => {
    const items = await readAll(await open([writes({ type: "brand_new" }, 7, result()), { exit: 0 }]));
    expect(items.map(name)).toEqual(["error unexpected-message", "error unexpected-message", "result", "end"]);
    expect(items[0]).toMatchObject({ raw: { json: '{"type":"brand_new"}' } });
  });

  it("S1-137 S1-69: warnings of the start come first", async () => {
    const opened = await open([writes(result()), { exit: 0 }], { systemPrompt: "a", appendSystemPrompt: "b" });
    expect((await readAll(opened)).map(name)).toEqual(["warning option-ignored", "result", "end"]);
  });

  it("S1-85 S1-64 S1-95: close ends pending calls and the process; calling it twice is safe", async () => {
    const { query, call } = await open([{ hang: true }]);
    const waiting = [query.next(), query.next()];
    await Promise.resolve();
    await query.close();
    await query.close();
    expect((await Promise.all(waiting)).map(name)).toEqual(["end", "end"]);
    expect(name(await query.next())).toBe("end");
    expect(call?.isGone).toBe(true);
    expect(call?.signals).toEqual(["SIGTERM"]);
  });

  it("S1-64: concurrent calls are answered in order", async () => {
    const { query } = await open([prelude, writes(result()), { exit: 0 }]);
    const items = await Promise.all([query.next(), query.next(), query.next(), query.next()]);
    expect(items.map(name)).toEqual(["system", "assistant", "result", "end"]);
  });

  it("S1-87 AT-40: leaving the loop closes the process", async () => {
    const { query, call } = await open([prelude, { hang: true }]);
    for await (const item of query) if (item.kind === "message") break;
    expect(call?.isGone).toBe(true);
  });

  it("S1-89: strictExitStatus", async () => {
    const items = await readAll(await open([writes(result()), { exit: 9 }], { strictExitStatus: true }));
    expect(items.map(name)).toEqual(["result", "error process-exited", "end"]);
  });

  it("S1-41: a prompt keeps the white space at its ends", async () => {
    const place = openScripted([{ waitForInput: "end" }, writes(result()), { exit: 0 }]);
    const query = await openQuery("  \n hello \n\n", { skipVersionCheck: true }, place.world);
    await readAll({ query, clock: place.clock });
    expect(place.spawn.calls[0]?.stdin).toBe("  \n hello \n\n");
  });

  it("S1-8 S1-21 S1-91: 100 ms of silence after the result are the end, and 99 are not", async () => {
    const { query, clock } = await open([writes(result()), { hang: true }]);
    expect(name(await query.next())).toBe("result");
    let ended = false;
    const next = query.next().then((item) => {
      ended = true;
      return item;
    });
    await clock.advance(99);
    expect(ended).toBe(false);
    await clock.advance(1);
    for (let step = 0; step < 5; step += 1) await clock.advance(10);
    expect(name(await next)).toBe("end");
  });

  it.each(["", "  "])("an empty prompt is rejected: %j", async (prompt) => {
    await expect(openQuery(prompt, {}, openScripted([]).world)).rejects.toMatchObject({ code: "invalid-input" });
  });
});

describe("S1-18: reading a whole query", () => {
  it("S1-139: collectItems sorts by kind and drops nothing", async () => {
    const { query } = await open([{ write: "bad\n" }, prelude, writes(result()), { exit: 3 }]);
    const collected = await collectItems(query);
    expect(collected.items.map((item) => item.message.type)).toEqual(["system", "assistant", "result"]);
    expect(collected.warnings.map((warning) => warning.code)).toEqual(["non-zero-exit-after-result"]);
    expect(collected.nonTerminalErrors.map((error) => error.code)).toEqual(["json-decode"]);
    expect(collected.terminalError).toBe(undefined);
  });

  it("S1-139: collectMessages returns the messages, or rejects with what ended it", async () => {
    const good = await open([prelude, writes(result()), { exit: 0 }]);
    expect((await collectMessages(good.query)).map(({ type }) => type)).toEqual(["system", "assistant", "result"]);
    const bad = await open([prelude, { exit: 4 }]);
    await expect(collectMessages(bad.query)).rejects.toMatchObject({ name: "RunError", code: "process-exited" });
  });

  it("S1-141: fold passes every item to the function; what it throws closes the query", async () => {
    const good = await open([{ write: "bad\n" }, prelude, writes(result()), { exit: 0 }]);
    expect(await fold(good.query, [] as string[], (names, item) => [...names, name(item)])).toEqual([
      "error json-decode",
      "system",
      "assistant",
      "result",
    ]);
    const broken = await open([prelude, { hang: true }]);
    const failing = fold(broken.query, 0, () => {
      throw new Error("mine");
    });
    await expect(failing).rejects.toThrow("mine");
    expect(broken.call?.isGone).toBe(true);
  });

  it("S1-140: withQuery closes on return and on throw, and passes on start errors", async () => {
    for (const use of [() => "early", () => Promise.reject(new Error("mine"))]) {
      const { query, call } = await open([prelude, { hang: true }]);
      await withOpenQuery(async () => query, use as () => string).catch((error: Error) => error.message);
      expect(call?.isGone).toBe(true);
    }
    const refused = withOpenQuery(
      () => Promise.reject(new Error("start")),
      () => 1,
    );
    await expect(refused).rejects.toThrow("start");
  });
});

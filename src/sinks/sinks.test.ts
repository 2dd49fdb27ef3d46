import { describe, expect, it } from "vitest";
import { HOSTILE_TEXTS, isHarmless } from "../../test/e2e/hostile-texts.ts";
import {
  type AgentEvent,
  type Chunk,
  type DoneChunk,
  doneEvent,
  errorItem,
  noticeItem,
  numberEvent,
  permissionItem,
  type RunResult,
  startItem,
  textDelta,
  thinkingDelta,
  toolCallItem,
  toolResultItem,
} from "#domain";
import { createMemoryFiles, createVirtualClock } from "#testing";
import { createSseFramer, decodeEvent } from "#wire";
import { createFormattedSink, type FormattedEvent } from "./formatted.ts";
import { createLogSink, logFileName } from "./log.ts";
import { createProgressSink } from "./progress.ts";
import { joinSinks, type Sink, selectSinks } from "./sink.ts";
import { createSseSink } from "./sse.ts";
import { asEvent } from "../../test/events.ts";

const result: RunResult = {
  status: "success",
  subtype: "success",
  text: "",
  toolCalls: [],
  messages: [],
  usage: {},
  turns: 1,
  ms: 1,
  errors: [],
  warnings: [],
};
const number = (events: readonly (Chunk | DoneChunk)[]): AgentEvent[] =>
  events.map((event, seq) => numberEvent(event, seq, { ts: seq, runId: "r" }));
const call = toolCallItem({ callId: "c", name: "add", input: {}, executedBy: "millrace" });
const answered = toolResultItem({ callId: "c", name: "add", output: 1, isError: false });

describe("several sinks", () => {
  it("S4-6: one that throws is removed, and the others continue", async () => {
    const seen: string[] = [];
    const faults: unknown[] = [];
    const bad: Sink = {
      accept() {
        throw new Error("broken");
      },
    };
    const good: Sink = { accept: (event) => seen.push(event.type), close: async () => void seen.push("closed") };
    const both = joinSinks([bad, good], (error) => faults.push(error));
    for (const event of number([textDelta("m", 0, "a"), textDelta("m", 0, "b")])) both.accept(event);
    await both.close?.();
    await both.close?.();
    expect(seen).toEqual(["text-delta", "text-delta", "closed"]);
    expect(faults).toHaveLength(1);
  });

  it("room waits for every sink that applies backpressure", async () => {
    let free: () => void = () => undefined;
    const slow: Sink = {
      accept: () => undefined,
      room: () =>
        new Promise((resolve) => {
          free = resolve;
        }),
    };
    const both = joinSinks([{ accept: () => undefined }, slow], () => undefined);
    const room = both.room?.();
    expect(room).toBeInstanceOf(Promise);
    free();
    await room;
    expect(joinSinks([{ accept: () => undefined }], () => undefined).room?.()).toBeUndefined();
  });

  it("AT-59 S4-3: with a format only its output, without one the terminal and the progress", () => {
    const [formatted, terminal, progress] = [1, 2, 3].map((): Sink => ({ accept: () => undefined })) as [
      Sink,
      Sink,
      Sink,
    ];
    expect(selectSinks({ formatted, terminal, progress })).toEqual([formatted]);
    expect(selectSinks({ terminal, progress })).toEqual([terminal, progress]);
  });
});

describe("the SSE sink", () => {
  it("writes what the framer and the codec can read back, harmless on a terminal", () => {
    const events = number([...HOSTILE_TEXTS.map((text) => textDelta("m", 0, text)), call, answered]);
    let text = "";
    const sink = createSseSink((piece) => {
      text += piece;
    });
    for (const event of events) sink.accept(event);
    expect(isHarmless(text)).toBe(true);
    const frames = createSseFramer().push(new TextEncoder().encode(text));
    expect(frames.map((frame) => (frame.kind === "data" ? decodeEvent(frame.text).event : frame))).toEqual(events);
  });
});

describe("the log", () => {
  it("S4-33: contains every event of every run that shares it, in order, one per line", async () => {
    const files = createMemoryFiles();
    const [one, two] = [1, 2].map(() => createLogSink({ path: "/logs/a.jsonl", files })) as [Sink, Sink];
    for (let seq = 0; seq < 300; seq += 1) {
      one.accept(numberEvent(textDelta("m", 0, `${seq}`), seq, { ts: 0, runId: "one" }));
      two.accept(numberEvent(textDelta("m", 0, `${seq}`), seq, { ts: 0, runId: "two" }));
      if (seq % 50 === 0) await Promise.resolve();
    }
    await one.close?.();
    await two.close?.();
    const lines = new TextDecoder()
      .decode(await files.read("/logs/a.jsonl"))
      .trimEnd()
      .split("\n");
    const events = lines.map((line) => decodeEvent(line).event);
    for (const runId of ["one", "two"]) {
      const own = events.filter((event) => event?.runId === runId);
      expect(own.map((event) => event?.seq)).toEqual([...Array(300).keys()]);
    }
  });

  it("removes secrets before they reach the disk", async () => {
    const files = createMemoryFiles();
    const sink = createLogSink({ path: "/a", files, redact: (line) => line.replaceAll("sk-canary", "***") });
    sink.accept(numberEvent(textDelta("m", 0, "sk-canary"), 0, { ts: 0, runId: "r" }));
    await sink.close?.();
    expect(new TextDecoder().decode(await files.read("/a"))).not.toContain("canary");
  });

  it("applies backpressure if the disk is slow, and buffers no more than that", async () => {
    let finish: () => void = () => undefined;
    const append = () =>
      new Promise<void>((resolve) => {
        finish = resolve;
      });
    const sink = createLogSink({ path: "/a", files: { append } });
    const big = numberEvent(textDelta("m", 0, "x".repeat(600_000)), 0, { ts: 0, runId: "r" });
    sink.accept(big);
    expect(sink.room?.()).toBeUndefined();
    sink.accept(big);
    sink.accept(big);
    const room = sink.room?.();
    expect(room).toBeInstanceOf(Promise);
    for (let turn = 0; turn < 5; turn += 1) {
      finish();
      await Promise.resolve();
      await Promise.resolve();
    }
    await room;
    await sink.close?.();
  });

  it("a disk failure is reported at the end, and affects nothing before", async () => {
    const append = async () => {
      throw new Error("ENOSPC");
    };
    const sink = createLogSink({ path: "/full/a", files: { append } });
    for (let seq = 0; seq < 10; seq += 1) sink.accept(numberEvent(textDelta("m", 0, "x"), seq, { ts: 0, runId: "r" }));
    await expect(sink.close?.()).rejects.toThrow("/full/a could not be written: ENOSPC");
  });

  it("its default name is a date", () => {
    expect(logFileName(new Date(2026, 0, 2, 3, 4, 5).getTime())).toBe("2026-01-02-03-04-05-stream.jsonl");
  });
});

function watch(events: readonly (Chunk | DoneChunk)[], options: { isTerminal?: boolean; isMidLine?: boolean } = {}) {
  const clock = createVirtualClock();
  let screen = "";
  const sink = createProgressSink({
    write: (text) => {
      screen += text;
    },
    isTerminal: options.isTerminal ?? true,
    color: false,
    width: 40,
    clock,
    isMidLine: () => options.isMidLine === true,
  });
  for (const event of number(events)) sink.accept(event);
  return { clock, sink, seen: () => screen };
}

describe("progress", () => {
  const start = startItem({ backend: "openai", mode: "http", model: "gpt-5" });

  it("shows what the run is waiting for, after a delay, and disappears without a trace", async () => {
    const { clock, sink, seen } = watch([start]);
    await clock.advance(200);
    expect(seen()).toBe("");
    await clock.advance(5000);
    expect(seen()).toContain("asking openai gpt-5 · 5.");
    sink.accept(asEvent(textDelta("m", 0, "Hi")));
    expect(seen().endsWith("\r\u001b[K")).toBe(true);
    const before = seen();
    await clock.advance(10_000);
    expect(seen()).toBe(before);
  });

  it("names the running tools, the thinking, and the next attempt", async () => {
    for (const [events, says] of [
      [[call], "running add"],
      [[call, answered], "waiting for the model"],
      [[thinkingDelta("m", 0, "Hm")], "thinking"],
      [[noticeItem("retry", {})], "waiting for the next try"],
    ] as const) {
      const { clock, seen, sink } = watch(events);
      await clock.advance(1000);
      expect(seen()).toContain(says);
      await sink.close();
    }
  });

  it("is silent without a terminal, together with text, and during a question", async () => {
    const asked = permissionItem({ callId: "c", name: "add", state: "asked", by: "rule" });
    for (const quiet of [
      watch([start, call], { isTerminal: false }),
      watch([start], { isMidLine: true }),
      watch([start, call, asked]),
      watch([start, doneEvent(result)]),
    ]) {
      await quiet.clock.advance(1000);
      expect(quiet.seen()).toBe("");
      await quiet.sink.close();
    }
  });

  it("SEC11: hostile names affect only their line", async () => {
    for (const text of HOSTILE_TEXTS) {
      const { clock, seen, sink } = watch([startItem({ backend: text, mode: "http", model: text })]);
      await clock.advance(1000);
      await sink.close();
      expect(isHarmless(seen(), { progress: true })).toBe(true);
    }
  });
});

describe("the formatted sink", () => {
  const raw = (json: string) => ({ json, bytes: new TextEncoder().encode(json) });
  const formatted = (
    events: readonly (Chunk | DoneChunk)[],
    read: (json: string) => readonly FormattedEvent[],
    style: "text" | "ansi" = "text",
  ) => {
    let out = "";
    let aside = "";
    const sink = createFormattedSink({
      out: (text) => {
        out += text;
      },
      aside: (text) => {
        aside += text;
      },
      style,
      color: false,
      width: 80,
      read: ({ json }) => read(json),
    });
    for (const event of number(events)) sink.accept(event);
    return { out, aside };
  };
  const templated = (text: string): FormattedEvent => ({
    kind: "tool-use",
    templates: { text, ansi: `\u001b[36m${text}\u001b[0m` },
    fields: {},
  });
  const plain = (text: string): FormattedEvent => ({ kind: "message", templates: {}, fields: { text } });

  it("AT-59: every frame once, by its template or its text, and nothing else", () => {
    const one = raw("one");
    const events = [
      { ...textDelta("m", 0, "never this"), raw: one },
      { ...textDelta("m", 0, "nor this"), raw: one },
      { ...call, raw: raw("two") },
      { ...answered, raw: raw("three") },
      doneEvent(result),
    ];
    const { out, aside } = formatted(events, (json) => (json === "two" ? [templated("[add]")] : [plain(json)]));
    expect([out, aside]).toEqual(["one\n[add]\nthree\n", ""]);
  });

  it("errors without a frame are reported separately", () => {
    const error = errorItem({
      code: "source-failed",
      message: "It broke",
      terminal: true,
      diagnostic: { hint: "Why" },
    });
    expect(formatted([error, doneEvent(result)], () => [])).toEqual({ out: "", aside: "✗ It broke\n  Why\n" });
  });

  it("SEC11: templates may use colours; values may do nothing", () => {
    for (const text of HOSTILE_TEXTS) {
      const events = [{ ...call, raw: raw("x") }, { ...answered, raw: raw("y") }, doneEvent(result)];
      for (const style of ["text", "ansi"] as const) {
        const { out } = formatted(
          events,
          (json) => (json === "x" ? [plain(text)] : [templated(text.replaceAll("\u001b", ""))]),
          style,
        );
        expect(isHarmless(out.replaceAll(/\u001b\[(?:36|0)m/g, ""))).toBe(true);
      }
    }
  });
});

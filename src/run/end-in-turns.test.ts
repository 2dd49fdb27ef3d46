import { describe, expect, it } from "vitest";
import { type AgentEvent, errorItem, type Message, resultItem, textDelta, thinkingDelta } from "#domain";
import { createSecretMask } from "#secrets";
import { assertRunLog, createSeededRandom, createVirtualClock, type VirtualClock } from "#testing";
import { createRun, type RunHandleOptions } from "./handle.ts";
import type { Run, RunSource, RunWriter } from "./run.ts";

// The end of a run with a long text that no finished message has repeated. What holds up the event loop is the search for
// secrets, so the tests count the turns in which it is done.

const KEY = "sk-canary-0123456789";
/** Resembles the beginning of a secret again and again, which is the slowest text to search. */
const LONG = "sk-canary-01234 ".repeat(20_000);
const LEAST_TURNS = Math.floor(LONG.length / 65_536);

const mask = () => createSecretMask([KEY]);
const never = new Promise<never>(() => undefined);
const untilAborted = ({ signal }: RunWriter): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
const writeLong = (writer: RunWriter): void =>
  void writer.write([textDelta("m", 0, LONG), thinkingDelta("m", 1, LONG)]);

interface Case {
  readonly name: string;
  readonly source: RunSource;
  /** What happens when the text has been written. */
  readonly then?: (run: Run, clock: VirtualClock) => void | Promise<void>;
  readonly options?: Partial<RunHandleOptions>;
  readonly status: string;
}

const HISTORY: readonly Message[] = [
  { id: "q", role: "user", blocks: [{ type: "text", text: "Go" }] },
  { id: "a", role: "assistant", blocks: [{ type: "text", text: LONG }] },
];

const CASES: readonly Case[] = [
  {
    name: "an abort",
    source: async (writer) => {
      writeLong(writer);
      await untilAborted(writer);
    },
    then: (run) => void run.abort(),
    status: "aborted",
  },
  {
    name: "an abort that the source ignores",
    source: async (writer) => {
      writeLong(writer);
      await never;
    },
    then: async (run, clock) => {
      void run.abort();
      await clock.advance(20_000);
    },
    status: "aborted",
  },
  {
    name: "a reply that is too large",
    source: async (writer) => {
      writeLong(writer);
      await untilAborted(writer);
    },
    options: { limits: { replyBytes: 1000 } },
    status: "error",
  },
  {
    name: "a reply that is too large, of a source that goes on",
    source: async (writer) => {
      writeLong(writer);
      await never;
    },
    options: { limits: { replyBytes: 1000 } },
    then: (_, clock) => clock.advance(20_000),
    status: "error",
  },
  {
    name: "an error",
    source: async (writer) => {
      writeLong(writer);
      void writer.write([errorItem({ code: "stream-cut", message: "cut", terminal: true })]);
    },
    status: "error",
  },
  {
    name: "a source that throws",
    source: async (writer) => {
      writeLong(writer);
      throw new Error("broken");
    },
    status: "error",
  },
  { name: "a source that gives no result", source: async (writer) => writeLong(writer), status: "error" },
  {
    name: "a verdict after a long history",
    source: async (writer) => void writer.write([resultItem({ subtype: "success", isError: false, usage: {} })]),
    options: { history: HISTORY },
    status: "success",
  },
];

async function play({ source, then, options }: Case) {
  const clock = createVirtualClock();
  const made = { turns: 0 };
  const run = createRun(source, {
    clock,
    random: createSeededRandom(1),
    onListenerError: (error) => {
      throw error;
    },
    secrets: mask,
    nextTurn: async () => void (made.turns += 1),
    ...options,
  });
  const log: AgentEvent[] = [];
  run.on("*", (event) => log.push(event));
  await clock.advance(0);
  await then?.(run, clock);
  const result = await run.result();
  assertRunLog(log);
  expect(JSON.stringify(result)).not.toContain(KEY);
  return { result, log, turns: made.turns };
}

describe("F-B1: a run that ends without a finished message", () => {
  it.each(CASES)("$name: its long text is searched for secrets in several turns", async (row) => {
    const { result, log, turns } = await play(row);
    expect(result.status).toBe(row.status);
    expect(log.filter(({ type }) => type === "done")).toHaveLength(1);
    expect(turns).toBeGreaterThanOrEqual(LEAST_TURNS);
  });

  it("the end of a text that was held back is shown, and is part of the result", async () => {
    const { result, log } = await play({
      name: "",
      source: async (writer) => void writer.write([textDelta("m", 0, `${LONG}${KEY.slice(0, 5)}`)]),
      status: "error",
    });
    const shown = log.flatMap((event) => (event.type === "text-delta" ? event.text : [])).join("");
    expect(shown.length).toBe(LONG.length + 5);
    expect(result.text === shown).toBe(true);
  });
});

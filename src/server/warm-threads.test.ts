import { describe, expect, it } from "vitest";
import type { KeptAgent, SingleAgent } from "#runtime";
import { createVirtualClock } from "#testing";
import { createWarmThreads } from "./warm-threads.ts";

function open(limits: { warmThreads?: number; warmMs?: number; warmSpares?: number } = {}) {
  const clock = createVirtualClock();
  const made: (KeptAgent & { isClosed: boolean; isWarm: boolean })[] = [];
  const log: string[] = [];
  let failing = false;
  const agent: SingleAgent = {
    hasSessions: true,
    canWait: true,
    keep() {
      const kept = {
        conversations: {} as never,
        isClosed: false,
        isWarm: false,
        async warmUp() {
          if (failing) throw new Error("no CLI");
          kept.isWarm = true;
          return true;
        },
        async close() {
          kept.isClosed = true;
        },
      };
      made.push(kept);
      return kept;
    },
  };
  const pool = createWarmThreads({
    clock,
    limits: { warmThreads: 2, warmMs: 1000, warmSpares: 0, ...limits },
    write: (_, event) => void log.push(event),
  });
  const thread = (id: string, tenant = "a", target = "claude-code") => ({ id, tenant, target });
  const take = (id: string, more: { tenant?: string; target?: string; terms?: string; isNew?: boolean } = {}) =>
    pool.take({
      thread: thread(id, more.tenant, more.target),
      agent,
      isNew: more.isNew ?? true,
      terms: more.terms ?? "{}",
    });
  return { pool, clock, made, log, agent, take, fail: (isFailing: boolean) => (failing = isFailing) };
}

describe("S3-31: processes that wait for the next message of their thread", () => {
  it("a thread gets its own process again, which remembers; another thread does not", () => {
    const { take, made } = open();
    const first = take("t1");
    expect(first.remembers).toBe(false);
    first.giveBack(true);
    expect(take("t2").kept).not.toBe(first.kept);
    const again = take("t1", { isNew: false });
    expect(again).toMatchObject({ remembers: true });
    expect(again.kept).toBe(first.kept);
    expect(made).toHaveLength(2);
  });

  it.each([{ tenant: "b" }, { target: "claude-code/opus" }, { terms: '{"turns":1}' }])(
    "a process started under other conditions is ended, and not used: %j",
    async (other) => {
      const { take, made } = open();
      take("t1").giveBack(true);
      expect(take("t1", other)).toMatchObject({ remembers: false });
      expect(made.map(({ isClosed }) => isClosed)).toEqual([true, false]);
    },
  );

  it("a process that cannot continue is ended", () => {
    const { take, made, pool } = open();
    const taken = take("t1");
    taken.giveBack(false);
    taken.giveBack(true);
    expect(made[0]?.isClosed).toBe(true);
    expect(pool.size).toBe(0);
  });

  it("waits for a limited time", async () => {
    const { take, made, clock, pool } = open();
    take("t1").giveBack(true);
    await clock.advance(999);
    expect(made[0]?.isClosed).toBe(false);
    await clock.advance(1);
    expect(made[0]?.isClosed).toBe(true);
    expect(pool.size).toBe(0);
  });

  it("a limited number of processes wait: the one that has waited longest is ended", () => {
    const { take, made, pool } = open();
    for (const id of ["t1", "t2", "t3"]) take(id).giveBack(true);
    expect(made.map(({ isClosed }) => isClosed)).toEqual([true, false, false]);
    expect(pool.size).toBe(2);
  });

  it("the next user of a session can wait until its last process has exited", async () => {
    const { take, made, pool } = open();
    const taken = take("t1");
    let close: (() => void) | undefined;
    Object.assign(made[0] ?? {}, { close: () => new Promise<void>((resolve) => (close = resolve)) });
    taken.giveBack(false);
    let isEnded = false;
    const ended = pool.ended("t1").then(() => (isEnded = true));
    await pool.ended("t2");
    expect(isEnded).toBe(false);
    close?.();
    await ended;
  });

  it("0: none waits", () => {
    const { take, made } = open({ warmThreads: 0 });
    take("t1").giveBack(true);
    expect(made[0]?.isClosed).toBe(true);
  });

  it("removing a thread ends its process", async () => {
    const { take, made, pool } = open();
    take("t1").giveBack(true);
    await pool.drop("t1");
    await pool.drop("t1");
    expect(made[0]?.isClosed).toBe(true);
  });

  it("closing ends all waiting processes, and those that are returned later", async () => {
    const { take, made, pool } = open({ warmSpares: 1 });
    take("t1").giveBack(true);
    const late = take("t2");
    await pool.close();
    late.giveBack(true);
    await pool.close();
    expect(made.every(({ isClosed }) => isClosed)).toBe(true);
    expect(pool.size).toBe(0);
  });
});

describe("S3-31: spare processes", () => {
  it("a new thread gets one, once, and another one is started", async () => {
    const { pool, take, made, agent } = open({ warmSpares: 1 });
    pool.prepare({ target: "claude-code", agent, terms: "{}" });
    expect(made.map(({ isWarm }) => isWarm)).toEqual([true]);
    const taken = take("t1");
    expect(taken.kept).toBe(made[0]);
    expect(taken.remembers).toBe(false);
    expect(take("t2", { tenant: "b" }).kept).toBe(made[1]);
    taken.giveBack(true);
    // A process that has received a message is not a spare any more.
    expect(take("t3", { tenant: "b" }).kept).toBe(made[2]);
  });

  it("a thread with messages gets none, because it would need the whole conversation", () => {
    const { pool, take, made, agent } = open({ warmSpares: 1 });
    pool.prepare({ target: "claude-code", agent, terms: "{}" });
    expect(take("t1", { isNew: false }).kept).not.toBe(made[0]);
    expect(take("t1", { terms: "other" }).kept).not.toBe(made[0]);
  });

  it("after a failure the next is started later, doubling the delay each time", async () => {
    const { pool, agent, made, clock, log, fail } = open({ warmSpares: 1 });
    const prepare = async () => {
      pool.prepare({ target: "claude-code", agent, terms: "{}" });
      await clock.advance(0);
    };
    fail(true);
    await prepare();
    expect(log).toEqual(["spare-not-started"]);
    await prepare();
    expect(made).toHaveLength(1);
    await clock.advance(1000);
    await prepare();
    expect(made).toHaveLength(2);
    await clock.advance(1000);
    await prepare();
    expect(made).toHaveLength(2);
    await clock.advance(1000);
    fail(false);
    await prepare();
    expect(made.map(({ isClosed }) => isClosed)).toEqual([true, true, false]);
    expect(pool.size).toBe(1);
  });
});

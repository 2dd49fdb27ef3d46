import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type EventRows, StagedRows } from "./staged-rows.ts";

const row = (key: number, seq: number, size = 10): EventRows => ({ key, seqs: [seq], bodies: ["x".repeat(size)] });

/** A disk that carries out the plans. */
function createDisk() {
  const staged = new StagedRows();
  const placed = new Set<string>();
  const entries = new Map<number, string>();
  return {
    staged,
    placed,
    entries,
    write(rows: readonly EventRows[], urgent: Iterable<number> = []) {
      const plan = staged.plan(rows, urgent);
      for (const { key, seqs } of plan.placed) {
        for (const seq of seqs) {
          expect(placed.has(`${key}:${seq}`)).toBe(false);
          placed.add(`${key}:${seq}`);
        }
      }
      if (plan.entry !== undefined) entries.set(plan.entry.number, plan.entry.text);
      if (plan.dropTo !== undefined) {
        for (const number of [...entries.keys()]) if (number <= plan.dropTo) entries.delete(number);
      }
      staged.apply(rows, plan);
      return plan;
    },
    /** What a program would find that opens it now. */
    stored(): Set<string> {
      const found = new Set(placed);
      for (const text of entries.values()) {
        const places = JSON.parse(text.split("\n")[0] ?? "") as number[];
        for (let at = 0; at < places.length; at += 2) found.add(`${places[at]}:${places[at + 1]}`);
      }
      return found;
    },
  };
}

describe("staged rows", () => {
  it("wait in one entry for all runs, and are moved in groups", () => {
    const { write, placed, entries } = createDisk();
    for (let seq = 0; seq < 15; seq += 1) write([row(1, seq), row(2, seq)]);
    expect([placed.size, entries.size]).toEqual([0, 15]);
    const plan = write([row(1, 15)]);
    expect(plan.placed.map(({ key, seqs }) => [key, seqs.length])).toEqual([
      [1, 15],
      [1, 1],
    ]);
    // Those of the other run are still in them.
    expect(entries.size).toBe(15);
    write([], [2]);
    expect([placed.size, entries.size]).toEqual([31, 0]);
  });

  it("do not wait if they are many or long, or if others depend on them", () => {
    const { write, entries } = createDisk();
    write([
      { key: 1, seqs: Array.from({ length: 16 }, (_, seq) => seq), bodies: Array.from({ length: 16 }, () => "x") },
    ]);
    write([row(2, 0, 70_000)]);
    write([row(3, 0)], [3]);
    expect(entries.size).toBe(0);
  });

  it("do not wait forever: there are few entries, however slow a run is", () => {
    const { write, placed, entries } = createDisk();
    write([row(1, 0)]);
    for (let seq = 0; seq < 1000; seq += 1) {
      write([row(2, seq)]);
      expect(entries.size).toBeLessThan(160);
    }
    expect(placed.has("1:0")).toBe(true);
  });

  it("are read after the moved rows", () => {
    const { write, staged } = createDisk();
    for (let seq = 0; seq < 3; seq += 1) write([{ key: 1, seqs: [seq], bodies: [`body ${seq}`] }]);
    expect(staged.rowsAfter(1, 0)).toEqual({ key: 1, seqs: [1, 2], bodies: ["body 1", "body 2"] });
    expect(staged.rowsAfter(1, 2).bodies).toEqual([]);
    expect(staged.rowsAfter(2, -1).bodies).toEqual([]);
    expect([staged.lastSeq(1), staged.lastSeq(2), staged.has(1), staged.has(2)]).toEqual([2, -1, true, false]);
  });

  it("a plan that was not carried out has no effect", () => {
    const { write, staged } = createDisk();
    write([row(1, 0)]);
    const rows = [row(1, 1), row(2, 0)];
    const plan = staged.plan(rows, [1]);
    expect(staged.plan(rows, [1])).toEqual(plan);
    expect([staged.lastSeq(1), staged.has(2)]).toEqual([0, false]);
  });

  it("R4: whenever the program is killed, each row is stored once, moved or in an entry", () => {
    const step = fc.record({
      rows: fc.array(fc.record({ key: fc.nat(9), count: fc.integer({ min: 1, max: 6 }) }), { maxLength: 8 }),
      urgent: fc.array(fc.nat(9), { maxLength: 2 }),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const disk = createDisk();
        const next = new Map<number, number>();
        const written = new Set<string>();
        for (const { rows, urgent } of steps) {
          const given = rows.map(({ key, count }) => {
            const first = next.get(key) ?? 0;
            next.set(key, first + count);
            const seqs = Array.from({ length: count }, (_, at) => first + at);
            for (const seq of seqs) written.add(`${key}:${seq}`);
            return { key, seqs, bodies: seqs.map((seq) => `body ${seq}`) };
          });
          disk.write(given, urgent);
          expect(disk.stored()).toEqual(written);
          for (const key of urgent) expect(disk.staged.has(key)).toBe(false);
          for (const [key, end] of next) {
            const waiting = disk.staged.rowsAfter(key, -1).seqs.length;
            for (let seq = 0; seq < end; seq += 1) expect(disk.placed.has(`${key}:${seq}`)).toBe(seq < end - waiting);
          }
        }
      }),
      { numRuns: 60 },
    );
  });
});

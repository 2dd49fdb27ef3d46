import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createBroadcast } from "./broadcast.ts";

interface Span {
  readonly first: number;
  readonly last: number;
  readonly kind: string;
}

const span = (position: number, kind = "a"): Span => ({ first: position, last: position, kind });

function create(capacity = 4, maxWeight = 1_000_000) {
  return createBroadcast<Span>({
    capacity,
    maxWeight,
    canMerge: (left, right) => left.kind === right.kind && left.kind !== "item",
    merge: (values) => ({
      first: values[0]?.first ?? -1,
      last: values.at(-1)?.last ?? -1,
      kind: values[0]?.kind ?? "",
    }),
  });
}

async function readAll(reader: AsyncIterable<Span>): Promise<Span[]> {
  const values: Span[] = [];
  for await (const value of reader) values.push(value);
  return values;
}

const rows = (from: number, to: number): Span[] => Array.from({ length: to - from }, (_, index) => span(from + index));

/** Spans must cover 0 … n-1 without gap or overlap. */
function expectGapless(values: readonly Span[], length: number): void {
  let next = 0;
  let gap: Span | undefined;
  for (const value of values) {
    if (value.first !== next) gap ??= value;
    next = value.last + 1;
  }
  expect({ gap, next }).toEqual({ gap: undefined, next: length });
}

describe("broadcast", () => {
  it("gives every reader every value from the first one on, however late it starts", async () => {
    const broadcast = create();
    const early = readAll(broadcast.read());
    broadcast.push([span(0), span(1)], 1);
    const late = readAll(broadcast.read());
    broadcast.push([span(2, "item")], 1);
    broadcast.close();
    expect((await early).map((value) => value.last)).toEqual([0, 1, 2]);
    expect((await late).map((value) => value.last)).toEqual([0, 1, 2]);
    expect((await readAll(broadcast.read())).map((value) => value.last)).toEqual([0, 1, 2]);
  });

  it("makes the writer wait while an attached reader lags, until the reader has caught up", async () => {
    const broadcast = create(4);
    const reader = broadcast.read();
    const first = reader.next();
    broadcast.push(rows(0, 5), 1);
    await first;
    const room = broadcast.room();
    expect(room).toBeInstanceOf(Promise);
    let released = false;
    void room?.then(() => {
      released = true;
    });
    expect(released).toBe(false);
    await reader.next();
    await room;
    expect(released).toBe(true);
    expect(broadcast.room()).toBeUndefined();
  });

  it("makes the writer wait for a few heavy values, too", async () => {
    const broadcast = createBroadcast<Span>({
      capacity: 1000,
      maxWeight: 100,
      canMerge: () => false,
      merge: (values) => values[0] as Span,
    });
    const reader = broadcast.read();
    const first = reader.next();
    broadcast.push(rows(0, 3), 180);
    await first;
    expect(broadcast.room()).toBeInstanceOf(Promise);
    await reader.next();
    expect(broadcast.room()).toBeInstanceOf(Promise);
    await reader.next();
    expect(broadcast.room()).toBeUndefined();
  });

  it("does not hold up the writer for a reader that was never pulled or has left", async () => {
    const broadcast = create(2);
    broadcast.read();
    broadcast.push(rows(0, 10), 1);
    expect(broadcast.room()).toBeUndefined();
    const reader = broadcast.read();
    await reader.next();
    const room = broadcast.room();
    expect(room).toBeInstanceOf(Promise);
    await reader.return?.();
    await room;
    expect(broadcast.room()).toBeUndefined();
    expect(await reader.next()).toEqual({ done: true, value: undefined });
  });

  it("merges what no reader needs any more, in pieces, and never across an item", async () => {
    const broadcast = create();
    broadcast.push(rows(0, 3000), 1);
    broadcast.push([span(3000, "item")], 1);
    broadcast.push(rows(3001, 9000), 1);
    broadcast.close();
    const values = await readAll(broadcast.read());
    expectGapless(values, 9000);
    expect(values.length).toBeLessThan(10);
    expect(values.filter((value) => value.kind === "item")).toEqual([span(3000, "item")]);
  });

  it("keeps values separate for a reader that is between them", async () => {
    const broadcast = create(1_000_000);
    const reader = broadcast.read();
    const seen: Span[] = [];
    const take = async (count: number): Promise<void> => {
      for (let index = 0; index < count; index += 1) seen.push((await reader.next()).value as Span);
    };
    broadcast.push(rows(0, 30), 1);
    await take(20);
    broadcast.push(rows(30, 10_000), 1);
    await take(4_000);
    broadcast.push(rows(10_000, 20_000), 1);
    broadcast.close();
    seen.push(...(await readAll(reader)));
    expect(seen).toEqual(rows(0, 20_000));
  });

  it("no longer holds up the writer when a caller awaits the end: what the slow reader missed is merged", async () => {
    const broadcast = create(4);
    const reader = broadcast.read();
    const first = reader.next();
    broadcast.push(rows(0, 10), 1);
    await first;
    const room = broadcast.room();
    broadcast.hurry();
    await room;
    for (let from = 10; from < 50_010; from += 1000) {
      broadcast.push(rows(from, from + 1000), 1);
      expect(broadcast.room()).toBeUndefined();
    }
    broadcast.close();
    const rest = await readAll(reader);
    expect(rest[0]?.first).toBe(1);
    expectGapless([span(0), ...rest], 50_010);
    expect(rest.length).toBeLessThan(5000);
  });

  it("answers concurrent next() calls in order, and ends the remaining ones", async () => {
    const broadcast = create();
    const reader = broadcast.read();
    const pending = [reader.next(), reader.next(), reader.next()];
    broadcast.push([span(0), span(1)], 1);
    broadcast.close();
    expect((await Promise.all(pending)).map((result) => result.value?.last)).toEqual([0, 1, undefined]);
  });

  it("calls listeners for every value from the first one on, in order, even if one listener writes", async () => {
    const broadcast = create();
    const early: number[] = [];
    const late: number[] = [];
    broadcast.push([span(0)], 1);
    broadcast.listen(
      (value) => {
        early.push(value.last);
        if (value.last === 1) broadcast.push([span(2)], 1);
      },
      () => undefined,
    );
    expect(early).toEqual([]);
    await Promise.resolve();
    expect(early).toEqual([0]);
    broadcast.listen(
      (value) => late.push(value.last),
      () => undefined,
    );
    broadcast.push([span(1)], 1);
    expect(early).toEqual([0, 1, 2]);
    expect(late).toEqual([0, 1, 2]);
  });

  it("reports what a listener throws and continues with it and the others", () => {
    const broadcast = create();
    const errors: unknown[] = [];
    const seen: number[] = [];
    broadcast.listen(
      () => {
        throw new Error("broken");
      },
      (error) => errors.push(error),
    );
    const stop = broadcast.listen(
      (value) => seen.push(value.last),
      () => undefined,
    );
    broadcast.push([span(0), span(1)], 1);
    stop();
    broadcast.push([span(2)], 1);
    expect(seen).toEqual([0, 1]);
    expect(errors).toHaveLength(3);
  });

  it("works for any interleaving of writing, reading, leaving and listening", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.record({
            write: fc.integer({ min: 0, max: 1500 }),
            kind: fc.constantFrom("a", "b", "item"),
            read: fc.array(fc.nat(2000), { maxLength: 3 }),
            hurry: fc.boolean(),
            leave: fc.boolean(),
          }),
          { maxLength: 12 },
        ),
        async (steps) => {
          const broadcast = create(64);
          const readers = [0, 1, 2].map(() => ({ reader: broadcast.read(), seen: [] as Span[], left: false }));
          const heard: Span[] = [];
          broadcast.listen(
            (value) => heard.push(value),
            () => undefined,
          );
          let length = 0;
          for (const step of steps) {
            const values = Array.from({ length: step.write }, (_, index) => span(length + index, step.kind));
            length += step.write;
            broadcast.push(values, 1);
            if (step.hurry) broadcast.hurry();
            for (const [index, count] of step.read.entries()) {
              const target = readers[index];
              if (target === undefined || target.left) continue;
              for (let read = 0; read < count; read += 1) {
                if ((target.seen.at(-1)?.last ?? -1) === length - 1) break;
                target.seen.push((await target.reader.next()).value as Span);
              }
            }
            if (step.leave && readers[2] !== undefined) {
              readers[2].left = true;
              await readers[2].reader.return?.();
            }
          }
          broadcast.close();
          for (const { reader, seen, left } of readers) {
            seen.push(...(await readAll(reader)));
            if (!left) expectGapless(seen, length);
          }
          expectGapless(heard, length);
          expectGapless(await readAll(broadcast.read()), length);
        },
      ),
      { numRuns: 150 },
    );
  });
});

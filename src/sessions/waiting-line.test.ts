import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fuzzRuns } from "../../test/effort.ts";
import { createWaitingLine, type WaitingLine } from "./waiting-line.ts";

const numRuns = fuzzRuns(2000);

function setUp() {
  const started: string[] = [];
  const queue = createWaitingLine<string>((entry) => started.push(entry));
  return { queue, started };
}

describe("the waiting line", () => {
  it("S0-38 S0-39: the first entry starts at once, the second only when the first has left", () => {
    const { queue, started } = setUp();
    queue.enter("a");
    queue.enter("b");
    expect(started).toEqual(["a"]);
    expect([queue.active, queue.waiting]).toEqual(["a", 1]);
    queue.leave("a");
    expect(started).toEqual(["a", "b"]);
  });

  it("an entry that leaves while it waits never starts", () => {
    const { queue, started } = setUp();
    for (const entry of ["a", "b", "c"]) queue.enter(entry);
    queue.leave("b");
    queue.leave("a");
    expect(started).toEqual(["a", "c"]);
  });

  it("an entry that leaves twice, or is unknown, changes nothing", () => {
    const { queue, started } = setUp();
    for (const entry of ["a", "b", "c"]) queue.enter(entry);
    queue.leave("a");
    queue.leave("a");
    queue.leave("z");
    expect(started).toEqual(["a", "b"]);
  });

  it("a closed queue accepts and starts nothing, and returns what it dropped, once", () => {
    const { queue, started } = setUp();
    for (const entry of ["a", "b", "c"]) queue.enter(entry);
    expect(queue.close()).toEqual(["b", "c"]);
    expect(queue.close()).toEqual([]);
    expect(queue.enter("d")).toBe(false);
    expect(queue.active).toBe("a");
    queue.leave("a");
    expect(started).toEqual(["a"]);
    expect(queue.active).toBeUndefined();
  });

  it("entries that end inside their start follow each other in order, however many they are", () => {
    const started: number[] = [];
    const queue: WaitingLine<{ at: number }> = createWaitingLine((entry) => {
      started.push(entry.at);
      if (entry.at > 0) queue.leave(entry);
    });
    const entries = Array.from({ length: 20_000 }, (_, at) => ({ at }));
    for (const entry of entries) queue.enter(entry);
    expect(started).toEqual([0]);
    queue.leave(entries[0] as { at: number });
    expect(started).toEqual(entries.map((entry) => entry.at));
    expect(queue.active).toBeUndefined();
  });

  it("a start that throws keeps its turn until it leaves, and blocks nothing after that", () => {
    const started: string[] = [];
    const queue = createWaitingLine<string>((entry) => {
      started.push(entry);
      if (entry === "bad") throw new Error("no");
    });
    expect(() => queue.enter("bad")).toThrow("no");
    queue.enter("b");
    expect(started).toEqual(["bad"]);
    queue.leave("bad");
    expect(started).toEqual(["bad", "b"]);
  });
});

/** A reference model of a queue, as simple as possible. */
interface Model {
  line: string[];
  started: string[];
  closed: boolean;
}
interface Real {
  readonly queue: WaitingLine<string>;
  readonly started: string[];
}

const advance = (model: Model): void => {
  const [first] = model.line;
  if (first !== undefined && !model.started.includes(first)) model.started.push(first);
};

const agree = (model: Model, { queue, started }: Real): void => {
  expect(started).toEqual(model.started);
  expect(queue.active).toBe(model.line[0]);
  expect(queue.waiting).toBe(Math.max(0, model.line.length - 1));
  expect(queue.isClosed).toBe(model.closed);
};

class Enter implements fc.Command<Model, Real> {
  readonly entry: string;
  constructor(entry: string) {
    this.entry = entry;
  }
  // A run is sent only once.
  check = (model: Readonly<Model>) => !model.started.includes(this.entry) && !model.line.includes(this.entry);
  run(model: Model, real: Real): void {
    expect(real.queue.enter(this.entry)).toBe(!model.closed);
    if (!model.closed) model.line.push(this.entry);
    advance(model);
    agree(model, real);
  }
  toString = () => `enter(${this.entry})`;
}

class Leave implements fc.Command<Model, Real> {
  readonly entry: string;
  constructor(entry: string) {
    this.entry = entry;
  }
  check = () => true;
  run(model: Model, real: Real): void {
    real.queue.leave(this.entry);
    model.line = model.line.filter((entry) => entry !== this.entry);
    advance(model);
    agree(model, real);
  }
  toString = () => `leave(${this.entry})`;
}

class Close implements fc.Command<Model, Real> {
  check = () => true;
  run(model: Model, real: Real): void {
    expect(real.queue.close()).toEqual(model.line.slice(1));
    model.line = model.line.slice(0, 1);
    model.closed = true;
    agree(model, real);
  }
  toString = () => "close()";
}

describe("S0-37 S0-44: the waiting line as a state machine", () => {
  const entry = fc.integer({ min: 0, max: 9 }).map((number) => `run-${number}`);
  const commands = fc.commands(
    [
      entry.map((name) => new Enter(name)),
      entry.map((name) => new Enter(name)),
      entry.map((name) => new Leave(name)),
      fc.constant(new Close()),
    ],
    { maxCommands: 40 },
  );

  it("agrees with its model after every command", () => {
    fc.assert(
      fc.property(commands, (sequence) => {
        fc.modelRun(() => ({ model: { line: [], started: [], closed: false }, real: setUp() }), sequence);
      }),
      { numRuns },
    );
  });

  it("starts in the order of arrival, each at most once, and none that had left", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.boolean(), entry), { maxLength: 60 }), (steps) => {
        const { queue, started } = setUp();
        const arrived: string[] = [];
        const left = new Set<string>();
        for (const [enters, name] of steps) {
          if (enters && !arrived.includes(name)) {
            arrived.push(name);
            queue.enter(name);
          } else if (!enters) {
            if (arrived.includes(name) && !started.includes(name)) left.add(name);
            queue.leave(name);
          }
        }
        while (queue.active !== undefined) queue.leave(queue.active);
        expect(started).toEqual(arrived.filter((name) => !left.has(name)));
      }),
      { numRuns },
    );
  });
});

import { readFileSync } from "node:fs";
import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import { type AgentEvent, isStartError } from "#domain";
import { systemWorld } from "#runtime";
import { assertRunLog } from "#testing";
import { tool } from "#tools";
import { openTape } from "#transports";
import { replay } from "../../src/runtime/replay.ts";
import { fuzzRuns } from "../effort.ts";
import { eventsOf, record, type Recorded, withoutMode, withoutTimes } from "./tape-world.ts";

const RUNS = fuzzRuns(500);
const add = tool("add", "Add two numbers", { a: "number", b: "number" }, ({ a, b }) => a + b);

let recorded: Recorded;
let lines: readonly string[];
beforeAll(async () => {
  recorded = await record("offline", { tools: [add] }, systemWorld());
  lines = recorded.text.split("\n").slice(0, -1);
});

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);
const join = (given: readonly string[]): Uint8Array => encode(`${given.join("\n")}\n`);

const withoutRunId = (events: unknown): readonly { readonly type: string }[] =>
  (events as readonly { readonly type: string }[]).map((event) => ({ ...event, runId: "" }));

/** What opening a tape throws; anything but a `StartError` fails the test. */
function refusal(bytes: Uint8Array, options = {}): string {
  try {
    openTape(bytes, options);
  } catch (error) {
    if (isStartError(error) && error.code === "invalid-tape") return error.message;
    throw error;
  }
  return "";
}

const HOSTILE: readonly string[] = [
  "",
  "null",
  "[]",
  "5",
  '"x"',
  "{}",
  '{"__proto__":{"polluted":1},"type":"end","at":0}',
  '{"constructor":{"prototype":{"polluted":1}},"type":"abort","at":0,"reason":"x"}',
  '{"type":"body","id":1,"at":1,"text":5}',
  '{"type":"body","id":1,"at":1,"base64":"%%%"}',
  '{"type":"head","id":1,"at":-1,"status":200,"headers":{}}',
  '{"type":"head","id":1,"at":1e999,"status":200,"headers":{}}',
  '{"type":"head","id":1,"at":1,"status":200,"headers":{"__proto__":5}}',
  '{"type":"request","id":1,"at":0,"method":"POST","url":"x","headers":[]}',
  '{"type":"toString","at":0}',
  '{"type":"answer","key":{"a":1},"at":0}',
  '{"type":"timer","ms":"5","at":0}',
  `${"[".repeat(5000)}${"]".repeat(5000)}`,
  "\u0000\u0001",
  "x".repeat(2_000_000),
];

type Damage = (text: string, bytes: Uint8Array) => Uint8Array;

const damage: fc.Arbitrary<Damage> = fc.oneof(
  fc
    .double({ min: 0, max: 1, noNaN: true })
    .map<Damage>((at) => (_, bytes) => bytes.slice(0, Math.floor(at * bytes.length))),
  fc
    .tuple(fc.double({ min: 0, max: 0.9999, noNaN: true }), fc.integer({ min: 1, max: 255 }))
    .map<Damage>(([at, flip]) => (_, bytes) => {
      const copy = bytes.slice();
      const index = Math.floor(at * copy.length);
      copy[index] = (copy[index] as number) ^ flip;
      return copy;
    }),
  fc.nat(50).map<Damage>((at) => (text) => {
    const all = text.split("\n").slice(0, -1);
    const index = at % all.length;
    return join([...all.slice(0, index + 1), ...all.slice(index)]);
  }),
  fc.nat(50).map<Damage>((at) => (text) => {
    const all = text.split("\n").slice(0, -1);
    return join(all.filter((_, index) => index !== at % all.length));
  }),
  fc.tuple(fc.nat(50), fc.nat(50)).map<Damage>(([from, to]) => (text) => {
    const all = text.split("\n").slice(0, -1);
    const [moved] = all.splice(from % all.length, 1);
    all.splice(to % all.length, 0, moved as string);
    return join(all);
  }),
  fc.tuple(fc.nat(50), fc.constantFrom(...HOSTILE)).map<Damage>(([at, line]) => (text) => {
    const all = text.split("\n").slice(0, -1);
    all.splice(at % (all.length + 1), 0, line);
    return join(all);
  }),
  fc.uint8Array({ maxLength: 200 }).map<Damage>((noise) => (_, bytes) => Uint8Array.from([...bytes, ...noise])),
);

describe("R19: a tape that is damaged", () => {
  it(`gives the same events or a clear error with line and byte, ${RUNS} times`, async () => {
    const before = Object.getOwnPropertyNames(Object.prototype).length;
    await fc.assert(
      fc.asyncProperty(damage, async (spoil) => {
        const bytes = spoil(recorded.text, recorded.bytes);
        const message = refusal(bytes);
        if (message !== "") {
          expect(message).toMatch(/line \d+ \(byte \d+\)/);
          expect(message.length).toBeLessThan(600);
          return;
        }
        expect(withoutMode(await eventsOf(replay(bytes)))).toEqual(withoutMode(recorded.events));
      }),
      { numRuns: RUNS },
    );
    expect(Object.getOwnPropertyNames(Object.prototype)).toHaveLength(before);
  });

  it("played as far as it goes, and without its digest, never crashes and never hangs", async () => {
    await fc.assert(
      fc.asyncProperty(damage, async (spoil) => {
        const bytes = spoil(recorded.text, recorded.bytes);
        let events: readonly AgentEvent[];
        try {
          events = await eventsOf(replay(bytes, { allowTorn: true, allowEdited: true, patienceMs: 20 }));
        } catch (error) {
          if (isStartError(error) && error.code === "invalid-tape") return;
          throw error;
        }
        assertRunLog([...events]);
        expect(events.at(-1)?.type).toBe("done");
      }),
      { numRuns: Math.min(RUNS, 300) },
    );
  });

  it("torn at every line: refused with the place, or played up to there", async () => {
    for (let count = 1; count < lines.length; count += 1) {
      const torn = join(lines.slice(0, count));
      expect(refusal(torn)).toMatch(new RegExp(`^The tape is torn: .*line ${count + 1} \\(byte ${torn.length}\\)`));
      const events = await eventsOf(replay(torn, { allowTorn: true }));
      assertRunLog([...events]);
      const shown = events.filter(({ type }) => type !== "done" && type !== "error" && type !== "tool-result");
      // What comes behind an entry is on the tape with the next one: the id of the run, for a tape of one line.
      const known = withoutRunId(withoutTimes(withoutMode(recorded.events)));
      const seen = withoutRunId(withoutTimes(withoutMode(shown)));
      expect(seen).toEqual(known.filter(({ type }) => type !== "tool-result").slice(0, shown.length));
      const last = events.at(-2);
      if (last?.type === "error")
        expect(last).toMatchObject({ code: "source-failed", message: expect.stringContaining("breaks off") });
    }
  });

  it.each<[string, (all: readonly string[]) => readonly string[], RegExp]>([
    ["nothing", () => [], /not a tape/],
    ["another file", () => ["# A list", "of things"], /not a tape.*line 1 \(byte 0\)/],
    [
      "another version",
      (all) => [(all[0] as string).replace('"version":2', '"version":3'), ...all.slice(1)],
      /version is 3; this millrace plays versions 1 and 2\. Play it with the millrace that recorded it.*line 1/,
    ],
    [
      "a changed word",
      (all) => all.map((line) => line.replace("will", "shall")),
      /digest at its end does not fit.*line \d+ \(byte \d+\)/,
    ],
    [
      "lines in another order",
      ([a, b, c, ...rest]) => [a, c, b, ...rest] as string[],
      /digest at its end does not fit/,
    ],
    ["more after the end", (all) => [...all, all.at(-1) as string], /more after the end/],
    ["no UTF-8", (all) => all, /not UTF-8.*line 2/],
  ])("%s is told as what it is", (name, change, message) => {
    const bytes = join(change(lines));
    if (name === "no UTF-8") bytes[(lines[0] as string).length + 40] = 0xff;
    const options = name === "another version" ? { allowEdited: true } : {};
    expect(refusal(name === "nothing" ? new Uint8Array() : bytes, options)).toMatch(message);
  });

  it("a line of 70 MB is not read", () => {
    const huge = new Uint8Array(70_000_000).fill(0x20);
    const bytes = new Uint8Array(recorded.bytes.length + huge.length + 1);
    bytes.set(recorded.bytes.subarray(0, (lines[0] as string).length + 1));
    bytes.set(huge, (lines[0] as string).length + 1);
    bytes[(lines[0] as string).length + 1 + huge.length] = 0x0a;
    expect(refusal(bytes)).toMatch(/more than the \d+ bytes a line may have.*line 2/);
  });

  it("a file that is not there is named", () => {
    expect(() => replay("/nowhere/bug.tape")).toThrow(
      /^The tape \/nowhere\/bug\.tape cannot be read: there is no such file\. Check the path/,
    );
  });
});

describe("a tape that millrace 0.1 recorded", () => {
  const bytes = readFileSync(new URL("../fixtures/tapes/version-1.tape", import.meta.url));

  it("plays, and answers a run", async () => {
    expect(openTape(bytes).header.version).toBe(1);
    // Requests may have changed since.
    const result = await replay(bytes, { check: false }).result();
    expect(result).toMatchObject({ status: "success", text: "25 + 17 = 42." });
  });

  it("is refused when a line is damaged or its end is missing", () => {
    const text = new TextDecoder().decode(bytes);
    expect(refusal(encode(text.replace('"type":"head"', '"type":"hat"')))).toMatch(/type is "hat".*line \d+/);
    expect(refusal(encode(text.slice(0, -1)))).toMatch(/^The tape is torn/);
  });
});

describe("a run that leaves its tape", () => {
  const edited = (change: (all: readonly string[]) => readonly string[]): Promise<readonly AgentEvent[]> =>
    eventsOf(replay(join(change(lines)), { allowEdited: true, patienceMs: 50 }));

  it("ends with an error that names the entry and the difference", async () => {
    const events = await edited((all) => all.map((line, at) => (at === 0 ? line.replace("25 + 17", "25 + 18") : line)));
    const [error, done] = events.slice(-2);
    expect(error).toMatchObject({ type: "error", code: "source-failed", terminal: true });
    expect((error as { message: string }).message).toMatch(
      /^The run has left its tape at entry 1 \(request\), line 2 \(byte \d+\): POST http:\/\/offline\.invalid\/v1\/messages is not what was recorded: in the body, at character \d+ the tape has ".*25 \+ 17.*", and now there is ".*25 \+ 18/,
    );
    expect(done).toMatchObject({ type: "done", result: { status: "error" } });
    assertRunLog([...events]);
  });

  it("or continues without comparing", async () => {
    const bytes = join(lines.map((line, at) => (at === 0 ? line.replace("25 + 17", "25 + 18") : line)));
    const result = await replay(bytes, { allowEdited: true, check: false }).result();
    expect(result).toMatchObject({ status: "success", text: expect.stringContaining("42") });
  });

  it("when an entry is missing or too many, it says who waits for what", async () => {
    const missing = await edited((all) => all.filter((line) => !line.includes('"type":"head","id":2')));
    expect(missing.at(-2)).toMatchObject({
      code: "source-failed",
      message: expect.stringMatching(/the tape has "body" next, but the run waits for the answer to POST/),
    });
    const more = await edited((all) =>
      all.flatMap((line) => (line.includes('"request","id":2') ? [line, line] : [line])),
    );
    expect(more.at(-2)).toMatchObject({
      code: "source-failed",
      message: expect.stringContaining("the tape has the request"),
    });
    const less = await edited((all) => all.filter((line) => !line.includes('"id":2')));
    expect(less.at(-2)).toMatchObject({
      message: expect.stringMatching(/it asks for POST .*, which is not on the tape/),
    });
  });

  it("a tape without a program says so", () => {
    const [head] = lines;
    const { program: _, ...header } = JSON.parse(head as string);
    expect(() => replay(join([JSON.stringify(header), ...lines.slice(1)]), { allowEdited: true })).toThrow(
      /has no program/,
    );
    const wrong = { ...header, program: { target: "nowhere", input: "x" } };
    expect(() => replay(join([JSON.stringify(wrong), ...lines.slice(1)]), { allowEdited: true })).toThrow(
      /cannot be run here: There is no backend "nowhere"/,
    );
  });
});

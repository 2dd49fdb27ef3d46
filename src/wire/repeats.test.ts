import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { FindSaying, Frame, Framing } from "./frame.ts";
import { createFramer } from "./framer.ts";
import { isRecord } from "./json.ts";
import { expandRepeat } from "./repeats.ts";

const RUNS = Number(process.env["MILLRACE_FUZZ_RUNS"] ?? 2000);
const encoder = new TextEncoder();

/** Frames that say something under `say`; `n` is noise. */
const findSaying: FindSaying = (value) => {
  if (!isRecord(value) || typeof value.say !== "string" || value.say === "" || value.other !== undefined) {
    return undefined;
  }
  return { said: value.say, key: "say", noiseKey: typeof value.n === "string" ? "n" : undefined };
};

function read(framing: Framing, pieces: readonly Uint8Array[], find: FindSaying | undefined): Frame[] {
  const framer = createFramer(framing, { findSaying: find });
  return [...pieces.flatMap((piece) => framer.push(piece)), ...framer.end()];
}

const readText = (framing: Framing, text: string): Frame[] => read(framing, [encoder.encode(text)], findSaying);
const expand = (frame: Frame): Frame => (frame.kind === "repeat" ? expandRepeat(frame) : frame);
const kinds = (frames: readonly Frame[]): string => frames.map((frame) => frame.kind).join(" ");
const lines = (...values: unknown[]): string => values.map((value) => `${JSON.stringify(value)}\n`).join("");
const events = (...values: unknown[]): string =>
  values.map((value) => `event: x\ndata: ${JSON.stringify(value)}\n\n`).join("");

describe("frames that repeat one before them", () => {
  it("are not parsed: what they say is read, and their text is kept", () => {
    const frames = readText("ndjson", lines({ id: 7, say: "a", z: [] }, { id: 7, say: "b", z: [] }));
    expect(frames).toMatchObject([
      { kind: "data", value: { say: "a" } },
      { kind: "repeat", value: "b", text: '{"id":7,"say":"b","z":[]}', like: { said: "a", key: "say" } },
    ]);
  });

  it("in an event stream with the name of the event, over any number of pushes", () => {
    const one = (say: string): Uint8Array => encoder.encode(events({ say }));
    const frames = read("sse", [one("a"), one("b"), one("c")], findSaying);
    expect(frames).toMatchObject([{ kind: "data" }, { kind: "repeat", name: "x", value: "b" }, { value: "c" }]);
  });

  it("may hold a string that is new in each of them", () => {
    const frames = readText("ndjson", lines({ say: "a", n: "1" }, { say: "b", n: "22" }, { say: "c", n: "" }));
    expect(kinds(frames)).toBe("data repeat repeat");
    expect(frames.map((frame) => (frame.kind === "repeat" ? frame.value : ""))).toEqual(["", "b", "c"]);
  });

  it.each([
    ["escapes", String.raw`a\"b\\\n\u0041\ud83d\ude42`],
    ["a backslash at the end", String.raw`a\\`],
    ["a quote at the end", String.raw`a\"`],
    ["other alphabets", "naïve 東京 🙂"],
    ["braces and brackets", '}]}{"say":'.replaceAll('"', '\\"')],
    ["a long text", "x".repeat(1000)],
    ["one character", "x"],
  ])("%s are read as JSON reads them", (_, inner) => {
    const frames = readText("ndjson", `{"say":"a"}\n{"say":"${inner}"}\n{"say":"${inner}"}\n`);
    const said = JSON.parse(`"${inner}"`) as string;
    expect(frames).toMatchObject([{}, { kind: "repeat", value: said }, { kind: "repeat", value: said }]);
  });

  it.each([
    ["an empty text", '{"say":""}', "data"],
    ["another field", '{"say":"b","other":1}', "data"],
    ["a control character", '{"say":"\u0001"}', "fault"],
    ["an escape there is not", String.raw`{"say":"\x"}`, "fault"],
    ["half a character", String.raw`{"say":"\u00"}`, "fault"],
    ["a string that is not closed", '{"say":"b}', "fault"],
    ["an escaped end", String.raw`{"say":"b\"}`, "fault"],
    ["more behind the string", '{"say":"b" "c"}', "fault"],
    ["noise that is no string", String.raw`{"say":"b","n":"\x"}`, "fault"],
  ])("a frame with %s is none", (_, line, kind) => {
    for (const first of ['{"say":"a"}', '{"say":"a","n":"1"}']) {
      expect(kinds(readText("ndjson", `${first}\n${line}\n${first}\n`))).toBe(`data ${kind} repeat`);
    }
  });

  it("a key of the same name elsewhere is not taken for it", () => {
    const frames = readText("ndjson", lines({ in: { say: "x" }, say: "a" }, { in: { say: "y" }, say: "a" }));
    expect(frames).toMatchObject([
      { kind: "data", value: { in: { say: "x" } } },
      { kind: "data", value: { in: { say: "y" } } },
    ]);
  });

  it("noise is the frame's own: the same key further in means something", () => {
    const one = (say: string, n: string): unknown => ({ say, in: { n }, n: "1" });
    expect(kinds(readText("ndjson", lines(one("a", "x"), one("b", "y"))))).toBe("data data");
  });

  it("a key that comes twice is not taken for it: the last one counts", () => {
    expect(kinds(readText("ndjson", '{"say":"a","say":"b"}\n{"say":"c","say":"b"}\n'))).toBe("data data");
  });

  it("a stream that says something new in every frame is soon only parsed", () => {
    const found: unknown[] = [];
    const find: FindSaying = (value, name) => {
      found.push(value);
      return findSaying(value, name);
    };
    const values = Array.from({ length: 50 }, (_, index) => ({ index, say: "a" }));
    expect(kinds(read("ndjson", [encoder.encode(lines(...values))], find))).not.toContain("repeat");
    expect(found.length).toBeLessThan(20);
  });

  it("a stream of which few frames repeat the one before is not looked at for long either: padded frames", () => {
    let count = 0;
    const find: FindSaying = (value, name) => {
      count += 1;
      return findSaying(value, name);
    };
    const frames = Array.from(
      { length: 600 },
      (_, index) => `{"say":"${index}"${" ".repeat(((index * 7) % 16) >> 1)}}\n`,
    );
    const read = createFramer("ndjson", { findSaying: find }).push(encoder.encode(frames.join("")));
    expect(read.map(({ text }) => `${text}\n`)).toEqual(frames);
    expect(count).toBeLessThan(60);
  });

  it("reset forgets them", () => {
    const framer = createFramer("ndjson", { findSaying });
    framer.push(encoder.encode(lines({ say: "a" })));
    framer.reset();
    expect(kinds(framer.push(encoder.encode(lines({ say: "b" }, { say: "c" }))))).toBe("data repeat");
  });

  it("without being told what to look for, a framer makes none", () => {
    expect(kinds(read("ndjson", [encoder.encode(lines({ say: "a" }, { say: "b" }))], undefined))).toBe("data data");
  });
});

describe("R1: the same frames as without", () => {
  const word = fc.oneof(fc.string({ maxLength: 20 }), fc.string({ unit: "binary", maxLength: 5 }), fc.constant("a"));
  const value = fc.oneof(
    { weight: 4, arbitrary: fc.record({ id: fc.constant(1), say: word }) },
    { weight: 2, arbitrary: fc.record({ say: word, n: word }) },
    { weight: 1, arbitrary: fc.record({ say: word, other: fc.constant(1) }) },
    { weight: 1, arbitrary: fc.record({ say: word, in: fc.record({ say: word, n: word }) }) },
  );
  const space = fc.constantFrom("", " ");
  const frame = fc.tuple(value, space).map(([one, gap]) => JSON.stringify(one).replaceAll('":', `":${gap}`));
  const end = fc.constantFrom("\n", "\r\n");
  const streams = {
    ndjson: fc.array(fc.tuple(frame, end), { maxLength: 12 }).map((all) => all.map((one) => one.join("")).join("")),
    sse: fc
      .array(fc.tuple(fc.constantFrom("", "event: x\n", ": c\n", "id: 1\n"), frame, end), { maxLength: 12 })
      .map((all) => all.map(([before, one, last]) => `${before}data: ${one}${last}${last}`).join("")),
  };
  const damage = fc.array(fc.tuple(fc.nat(400), fc.constantFrom(0x22, 0x5c, 0x0a, 0x7d, 0x01, 0xff)), { maxLength: 2 });

  it.each(["ndjson", "sse"] as const)("of any %s stream, cut anywhere, damaged anywhere", (framing) => {
    fc.assert(
      fc.property(streams[framing], fc.array(fc.nat(400), { maxLength: 4 }), damage, (text, cuts, damages) => {
        const bytes = encoder.encode(text);
        for (const [at, byte] of damages) if (at < bytes.length) bytes[at] = byte;
        const at = [0, ...cuts.filter((cut) => cut <= bytes.length).toSorted((a, b) => a - b), bytes.length];
        const pieces = at.slice(1).map((to, index) => bytes.slice(at[index], to));
        expect(read(framing, pieces, findSaying).map(expand)).toEqual(read(framing, pieces, undefined));
      }),
      { numRuns: RUNS },
    );
  });
});

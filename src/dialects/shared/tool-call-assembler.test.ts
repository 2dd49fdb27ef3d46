import type { ToolCall, ToolCallFragment } from "#domain";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fuzzRuns } from "../../../test/effort.ts";
import { callIdPrefix, createToolCallAssembler } from "./tool-call-assembler.ts";

const RUNS = fuzzRuns(5000);

function assemble(fragments: readonly ToolCallFragment[], idPrefix?: string): ToolCall[] {
  const assembler = createToolCallAssembler(idPrefix === undefined ? {} : { idPrefix });
  for (const fragment of fragments) assembler.feed(fragment);
  return assembler.finalize().map(({ id, name, arguments: text }) => ({ id, name, arguments: text }));
}

const ADD: ToolCall = { id: "a", name: "add", arguments: '{"x":1}' };
const MUL: ToolCall = { id: "b", name: "mul", arguments: '{"y":2}' };

describe("createToolCallAssembler", () => {
  it("S2-15: an empty assembler gives no calls", () => {
    expect(assemble([])).toEqual([]);
  });

  const table: readonly { title: string; fragments: readonly ToolCallFragment[]; calls: readonly ToolCall[] }[] = [
    {
      title: "S2-14: arguments of one index are put together, id and name are set when given",
      fragments: [
        { index: 0, id: "a", name: "add", argumentsDelta: "" },
        { index: 0, argumentsDelta: '{"x"' },
        { index: 0, argumentsDelta: ":1}" },
      ],
      calls: [ADD],
    },
    {
      title: "S2-14: an id and a name that come late are taken",
      fragments: [
        { index: 0, argumentsDelta: '{"x"' },
        { index: 0, id: "a" },
        { index: 0, name: "add", argumentsDelta: ":1}" },
      ],
      calls: [ADD],
    },
    {
      title: "S2-14: fragments of several calls may interleave",
      fragments: [
        { index: 0, id: "a", name: "add" },
        { index: 1, id: "b", name: "mul" },
        { index: 0, argumentsDelta: '{"x"' },
        { index: 1, argumentsDelta: '{"y"' },
        { index: 0, argumentsDelta: ":1}" },
        { index: 1, argumentsDelta: ":2}" },
      ],
      calls: [ADD, MUL],
    },
    {
      title: "S2-15: calls come in order of index, whatever order they arrived in",
      fragments: [
        { index: 7, id: "b", name: "mul", argumentsDelta: '{"y":2}' },
        { index: 3, id: "a", name: "add", argumentsDelta: '{"x":1}' },
      ],
      calls: [ADD, MUL],
    },
    {
      title: "without an index the id tells calls apart, also interleaved",
      fragments: [
        { id: "a", name: "add", argumentsDelta: '{"x"' },
        { id: "b", name: "mul", argumentsDelta: '{"y"' },
        { id: "a", argumentsDelta: ":1}" },
        { id: "b", argumentsDelta: ":2}" },
      ],
      calls: [ADD, MUL],
    },
    {
      title: "without index and id a new name begins a call and the rest belongs to the last one",
      fragments: [
        { id: "a", name: "add" },
        { argumentsDelta: '{"x":1}' },
        { id: "b", name: "mul", argumentsDelta: '{"y"' },
        { argumentsDelta: ":2}" },
      ],
      calls: [ADD, MUL],
    },
    {
      title: "a host that numbers every call 0 is understood by the new id",
      fragments: [
        { index: 0, id: "a", name: "add", argumentsDelta: '{"x":1}' },
        { index: 0, id: "b", name: "mul", argumentsDelta: '{"y":2}' },
      ],
      calls: [ADD, MUL],
    },
    {
      title: "a host that numbers every call 0 may also send arguments in pieces",
      fragments: [
        { index: 0, id: "a", name: "add" },
        { index: 0, argumentsDelta: '{"x":1}' },
        { index: 0, id: "b", name: "add" },
        { index: 0, argumentsDelta: '{"x":2}' },
      ],
      calls: [ADD, { id: "b", name: "add", arguments: '{"x":2}' }],
    },
    {
      title: "a host that repeats id and name in every fragment does not double them",
      fragments: [
        { index: 0, id: "a", name: "add", argumentsDelta: '{"x"' },
        { index: 0, id: "a", name: "add", argumentsDelta: ":1}" },
        { index: 0, id: "a", name: "add", argumentsDelta: "" },
      ],
      calls: [ADD],
    },
    {
      title: "a host that writes a fresh id into every fragment keeps one call",
      fragments: [
        { index: 0, id: "a", name: "add", argumentsDelta: '{"x"' },
        { index: 0, id: "zzz", argumentsDelta: ":1}" },
      ],
      calls: [ADD],
    },
    {
      title: "a fresh id after closed arguments begins another call even before its name is known",
      fragments: [
        { index: 0, id: "a", name: "add", argumentsDelta: '{"x":1}' },
        { index: 0, id: "b", argumentsDelta: '{"y"' },
        { index: 0, name: "mul", argumentsDelta: ":2}" },
      ],
      calls: [ADD, MUL],
    },
    {
      title: "the same tool twice, one index, no ids: closed arguments end the first call",
      fragments: [
        { index: 0, name: "add", argumentsDelta: '{"x":"}"}' },
        { index: 0, name: "add", argumentsDelta: '{"x":2}' },
      ],
      calls: [
        { id: "call_0", name: "add", arguments: '{"x":"}"}' },
        { id: "call_1", name: "add", arguments: '{"x":2}' },
      ],
    },
    {
      title: "another name on an index whose call has arguments begins another call",
      fragments: [
        { index: 0, name: "add", argumentsDelta: '{"x":1}' },
        { index: 0, name: "mul", argumentsDelta: '{"y":2}' },
      ],
      calls: [
        { ...ADD, id: "call_0" },
        { ...MUL, id: "call_1" },
      ],
    },
    {
      title: "a missing id is made up, and never one that the host uses too",
      fragments: [
        { index: 0, name: "add", argumentsDelta: '{"x":1}' },
        { index: 1, id: "call_0", name: "mul", argumentsDelta: '{"y":2}' },
        { index: 2, name: "neg" },
      ],
      calls: [
        { ...ADD, id: "call_1" },
        { ...MUL, id: "call_0" },
        { id: "call_2", name: "neg", arguments: "" },
      ],
    },
    {
      title: "two calls never share an id: the second gets its own",
      fragments: [
        { index: 0, id: "a", name: "add", argumentsDelta: '{"x":1}' },
        { index: 1, id: "a", name: "mul", argumentsDelta: '{"y":2}' },
      ],
      calls: [ADD, { ...MUL, id: "call_1" }],
    },
    {
      title: "an empty id or name says nothing",
      fragments: [
        { index: 0, id: "a", name: "add", argumentsDelta: '{"x"' },
        { index: 0, id: "", name: "", argumentsDelta: ":1}" },
      ],
      calls: [ADD],
    },
  ];
  it.each(table)("$title", ({ fragments, calls }) => {
    expect(assemble(fragments)).toEqual(calls);
  });

  it("positions are consecutive in order of appearance, and a call keeps its object", () => {
    const assembler = createToolCallAssembler();
    const first = assembler.feed({ index: 5, id: "a", name: "add" });
    const second = assembler.feed({ index: 2, id: "b", name: "mul" });
    expect([first.position, second.position]).toEqual([0, 1]);
    expect(assembler.feed({ index: 5, argumentsDelta: "{}" })).toBe(first);
    expect(assembler.finalize().map((call) => call.position)).toEqual([1, 0]);
  });

  it("a gap marks the calls that were open, not those closed before or begun after", () => {
    const assembler = createToolCallAssembler();
    assembler.feed({ index: 0, id: "a", name: "add", argumentsDelta: '{"x":1}' });
    assembler.feed({ index: 1, id: "b", name: "mul", argumentsDelta: '{"y":' });
    assembler.noteGap();
    assembler.feed({ index: 1, argumentsDelta: "2}" });
    assembler.feed({ index: 2, id: "c", name: "neg", argumentsDelta: "{}" });
    expect(assembler.finalize().map((call) => call.hasGap)).toEqual([false, true, false]);
  });

  it("finalize can be called twice with the same result", () => {
    const assembler = createToolCallAssembler();
    assembler.feed({ name: "add" });
    expect(assembler.finalize()).toEqual(assembler.finalize());
  });
});

describe("callIdPrefix", () => {
  it.each([
    [undefined, "call"],
    ["", "call"],
    ["???", "call"],
    ["resp-1", "call_resp-1"],
    ["a/b c\n", "call_abc"],
    [`chatcmpl-${"0123456789".repeat(4)}`, `call_${"0123456789".repeat(4).slice(-28)}`],
  ])("of %j is %j", (replyId, prefix) => {
    expect(callIdPrefix(replyId)).toBe(prefix);
  });
});

describe("properties", () => {
  const name = fc.constantFrom("add", "mul", "get_weather", "__proto__", "constructor");
  const json = fc
    .dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 4 })
    .map((value) => JSON.stringify(value));
  const batch = fc
    .array(fc.record({ name, arguments: json }), { maxLength: 5 })
    .map((calls) => calls.map((call, at): ToolCall => ({ id: `id-${at}`, ...call })));
  const cuts = fc.array(fc.nat(), { maxLength: 6 });

  /** A call as fragments: first the head, then its arguments, cut at the given positions. */
  function fragmentsOf(call: ToolCall, key: { readonly index?: number; readonly id?: string }, at: readonly number[]) {
    const places = [...new Set(at.map((cut) => cut % (call.arguments.length + 1)))].sort((a, b) => a - b);
    const edges = [0, ...places, call.arguments.length];
    const pieces = edges.slice(1).map((edge, place) => call.arguments.slice(edges[place], edge));
    const head: ToolCallFragment = { ...key, id: call.id, name: call.name };
    return [head, ...pieces.map((argumentsDelta): ToolCallFragment => ({ ...key, argumentsDelta }))];
  }

  /** Interleaves several rows, keeping the order within each. */
  function interleave(rows: readonly (readonly ToolCallFragment[])[], picks: readonly number[]): ToolCallFragment[] {
    const rest = rows.map((row) => [...row]);
    const mixed: ToolCallFragment[] = [];
    for (let turn = 0; rest.some((row) => row.length > 0); turn++) {
      const open = rest.filter((row) => row.length > 0);
      const next = open[(picks[turn % Math.max(picks.length, 1)] ?? 0) % open.length]?.shift();
      if (next !== undefined) mixed.push(next);
    }
    return mixed;
  }

  it("S2-11 S2-14 R1: any cut and any interleaving of indexed calls assembles to the same calls", () => {
    fc.assert(
      fc.property(batch, cuts, fc.array(fc.nat(), { maxLength: 20 }), (calls, at, picks) => {
        const rows = calls.map((call, index) => fragmentsOf(call, { index }, at));
        expect(assemble(interleave(rows, picks))).toEqual(calls);
      }),
      { numRuns: RUNS },
    );
  });

  it("any cut and any interleaving of calls known by id alone assembles to the same calls", () => {
    fc.assert(
      fc.property(batch, cuts, fc.array(fc.nat(), { maxLength: 20 }), (calls, at, picks) => {
        const rows = calls.map((call) => fragmentsOf(call, { id: call.id }, at));
        const sortById = (all: readonly ToolCall[]) => all.toSorted((a, b) => a.id.localeCompare(b.id));
        expect(sortById(assemble(interleave(rows, picks)))).toEqual(sortById(calls));
      }),
      { numRuns: RUNS },
    );
  });

  it("any cut of calls that follow each other under one index, or under no key, assembles to the same calls", () => {
    fc.assert(
      fc.property(batch, cuts, fc.constantFrom({ index: 0 }, {}), (calls, at, key) => {
        const rows = calls.map((call) => fragmentsOf(call, key, at));
        expect(assemble(rows.flat())).toEqual(calls);
      }),
      { numRuns: RUNS },
    );
  });

  it("any fragments at all: no throw, ids are unique, not one character of the arguments is lost", () => {
    const fragment = fc.record(
      { index: fc.integer({ max: 3 }), id: fc.constantFrom("", "a", "b"), name, argumentsDelta: fc.string() },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(fc.array(fragment), (fragments) => {
        const calls = assemble(fragments);
        expect(new Set(calls.map((call) => call.id)).size).toBe(calls.length);
        const sent = fragments.reduce((sum, { argumentsDelta }) => sum + (argumentsDelta ?? "").length, 0);
        expect(calls.reduce((sum, call) => sum + call.arguments.length, 0)).toBe(sent);
      }),
      { numRuns: RUNS },
    );
  });
});

import { describe, expect, expectTypeOf, it } from "vitest";
import {
  type AgentEvent,
  messageItem,
  noticeItem,
  retractNotice,
  textDelta,
  toolCallItem,
  toolResultItem,
} from "#domain";
import { closeRunLog } from "#testing";
import type { EventMap } from "./event-map.ts";
import { accumulateText, collectType, textOnly, toEvents, toolsOnly, toTagged } from "./event-map-streams.ts";
import { toEventMaps } from "./event-maps.ts";

async function all<Out>(source: AsyncIterable<Out>): Promise<Out[]> {
  const out: Out[] = [];
  for await (const value of source) out.push(value);
  return out;
}

const bash = { callId: "c1", name: "bash" };

/** Two messages with a tool between them. */
function run(): AgentEvent[] {
  return closeRunLog([
    textDelta("m1", 0, "Run"),
    textDelta("m1", 0, "ning. "),
    messageItem({
      id: "m1",
      role: "assistant",
      blocks: [
        { type: "text", text: "Running. " },
        { type: "tool-call", ...bash, input: {} },
      ],
    }),
    toolCallItem({ ...bash, input: {}, executedBy: "millrace" }),
    toolResultItem({ ...bash, output: "2 files", isError: false }),
    textDelta("m2", 0, "Done."),
    messageItem({ id: "m2", role: "assistant", blocks: [{ type: "text", text: "Done." }] }),
  ]);
}

describe("textOnly and toolsOnly", () => {
  it("S0-69: only text being written, from events or from maps", async () => {
    const expected = ["text_block_start", "text_delta", "text_delta", "text_block_start", "text_delta"];
    expect((await all(textOnly(run()))).map((map) => map.type)).toEqual(expected);
    expect((await all(textOnly(toEventMaps(run())))).map((map) => map.type)).toEqual(expected);
  });

  it("S0-70: only tools at work", async () => {
    const expected = ["tool_use_start", "tool_input_delta", "tool_complete"];
    expect((await all(toolsOnly(run()))).map((map) => map.type)).toEqual(expected);
    const normalised = await all(
      toolsOnly(toEvents([...run(), { type: "tool_use_start", name: "b", id: "2" } as const])),
    );
    expect(normalised.map((map) => map.type)).toEqual(["tool_result", "tool_use_start"]);
  });

  it("the types of the rest are known", () => {
    for (const maps of [textOnly(run()), textOnly(toEventMaps(run()))]) {
      expectTypeOf(maps).toEqualTypeOf<
        AsyncIterableIterator<Extract<EventMap, { type: "text_delta" | "text_block_start" }>>
      >();
    }
    expectTypeOf(collectType(run(), "tool_complete")).resolves.items.toHaveProperty("tool_name");
  });

  it("S0-73: they chain, and work on an empty stream", async () => {
    expect((await all(textOnly(textOnly(toEvents(toEventMaps(run())))))).length).toBe(5);
    for (const view of [textOnly([]), toolsOnly([]), accumulateText([]), toEvents([]), toTagged([]), toEventMaps([])]) {
      expect(await all<unknown>(view)).toEqual([]);
    }
  });
});

describe("collectType", () => {
  it("S0-73: every map of one type", async () => {
    expect(await collectType(run(), "tool_complete")).toEqual([
      { type: "tool_complete", tool_name: "bash", result: "2 files", accumulated: "Running. " },
    ]);
    expect(await collectType(run(), "retract")).toEqual([]);
  });
});

describe("accumulateText", () => {
  it("S0-71 AT-11: the text grows to the whole text, over all messages", async () => {
    const grown = ["Run", "Running. ", "Running. Done."];
    expect(await all(accumulateText(run()))).toEqual(grown);
    expect(await all(accumulateText(toEventMaps(run())))).toEqual(grown);
  });

  it("S0-71: maps without accumulated are added up", async () => {
    const maps = ["Hello", " ", "world"].map((text) => ({ type: "text_delta", text }) as const);
    expect(await all(accumulateText(maps))).toEqual(["Hello", "Hello ", "Hello world"]);
  });

  it("accumulated is used when present, also by a reader that joins in the middle", async () => {
    const maps = [
      { type: "message", accumulated: "Hel" },
      { type: "text_delta", text: "lo", accumulated: "Hello" },
    ];
    expect(await all(accumulateText(maps))).toEqual(["Hel", "Hello"]);
    expect(await all(accumulateText([{ type: "text_delta", text: "lo", accumulated: "Hello" }]))).toEqual(["Hello"]);
  });

  it("accumulated that restarts without a boundary is a further message", async () => {
    const maps = [
      { type: "text_delta", text: "ab", accumulated: "ab" },
      { type: "text_delta", text: "c", accumulated: "c" },
    ];
    expect(await all(accumulateText(maps))).toEqual(["ab", "abc"]);
  });

  it("a retraction removes what is no longer valid, and only that", async () => {
    const log = closeRunLog([
      messageItem({ id: "m1", role: "assistant", blocks: [{ type: "text", text: "One. " }] }),
      textDelta("m2", 0, "wrong"),
      retractNotice({ messageId: "m2" }),
      textDelta("m2", 0, "Two."),
      messageItem({ id: "m2", role: "assistant", blocks: [{ type: "text", text: "Two." }] }),
    ]);
    expect(await all(accumulateText(log))).toEqual(["One. ", "One. wrong", "One. ", "One. Two."]);
  });

  it("a retraction reaches a message that another one has replaced", async () => {
    const log = closeRunLog([
      textDelta("m1", 0, "wrong"),
      textDelta("m2", 0, "right"),
      messageItem({ id: "m2", role: "assistant", blocks: [{ type: "text", text: "right" }] }),
      retractNotice({ messageId: "m1" }),
    ]);
    expect((await all(accumulateText(log))).at(-1)).toBe("right");
  });
});

describe("toEvents", () => {
  const [result, message, notice] = closeRunLog([
    toolResultItem({ ...bash, output: "output", isError: false }),
    messageItem({ id: "m", role: "assistant", blocks: [{ type: "text", text: "hi" }] }),
    noticeItem("status", {}),
  ]) as [AgentEvent, AgentEvent, AgentEvent];

  it("S0-68: event maps pass unchanged", async () => {
    const maps = [
      { type: "text_delta", text: "Hello", accumulated: "Hello" },
      { type: "message_stop", final_text: "" },
    ];
    const passed = await all(toEvents(maps));
    expect(passed).toEqual(maps);
    expect(passed[0]).toBe(maps[0]);
  });

  it("S0-72: our items become maps, messages before anything else", async () => {
    expect(await all(toEvents([result, message, notice]))).toEqual([
      { type: "tool_result", tool_name: "bash", result: "output", timestamp: 0 },
      { type: "message", content: [{ type: "text", text: "hi" }], timestamp: 1 },
      { type: "unknown", data: notice },
    ]);
  });

  it("S0-72: what is neither is kept as unknown", async () => {
    const odd = [null, 7, "text", [1], {}] as never[];
    expect(await all(toEvents(odd))).toEqual(odd.map((data) => ({ type: "unknown", data })));
  });

  it("S0-74: tagged entries lose their tag", async () => {
    const map = { type: "text_delta", text: "a", accumulated: "a" } as const;
    expect(await all(toEvents([{ event: map }, { message: result }]))).toEqual([
      map,
      { type: "tool_result", tool_name: "bash", result: "output", timestamp: 0 },
    ]);
  });
});

describe("toTagged", () => {
  it("S0-74: what is being written is an event, finished facts are messages", async () => {
    const tagged = await all(toTagged(run()));
    const sides = tagged.map((entry) => ("event" in entry ? entry.event.type : entry.message.type));
    expect(sides).toEqual([
      "message_start",
      "text_block_start",
      "text_delta",
      "text_delta",
      "content_block_stop",
      "tool_use_start",
      "tool_input_delta",
      "content_block_stop",
      "message_delta",
      "message_stop",
      "message",
      "tool-call",
      "tool-result",
      "message_start",
      "text_block_start",
      "text_delta",
      "content_block_stop",
      "message_delta",
      "message_stop",
      "message",
    ]);
  });
});

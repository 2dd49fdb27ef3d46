import { describe, expect, it } from "vitest";
import {
  type AgentEvent,
  type Chunk,
  errorItem,
  messageItem,
  noticeItem,
  resultItem,
  retractNotice,
  startItem,
  textDelta,
  thinkingDelta,
  toolCallItem,
  toolInputDelta,
  toolResultItem,
} from "#domain";
import { closeRunLog } from "#testing";
import { type ChatOptions, createChatEvents, toChatEvents } from "./chat-events.ts";
import { createRunnerEvents } from "./runner-events.ts";
import { createSseFrames } from "./sse-frames.ts";
import { createStreamChunks, type StreamChunk, toStreamChunks } from "./stream-chunks.ts";
import { asEvent } from "../../test/events.ts";

const search = { callId: "c1", name: "search_documents" };
const verdict = resultItem({ subtype: "success", isError: false, usage: { inputTokens: 7, outputTokens: 3 } });

function chunksOfEvents(events: readonly AgentEvent[]): StreamChunk[] {
  const view = createStreamChunks();
  return [...events.flatMap((event) => view.next(event)), ...view.end()];
}

const chunksOf = (...chunks: Chunk[]): StreamChunk[] => chunksOfEvents(closeRunLog(chunks));

async function all<Out>(source: AsyncIterable<Out>): Promise<Out[]> {
  const out: Out[] = [];
  for await (const value of source) out.push(value);
  return out;
}

describe("S3-1: toStreamChunks", () => {
  const complete = (usage = { input_tokens: 0, output_tokens: 0 }) => ({
    chunk_type: "complete",
    usage,
    metadata: { status: "success" },
  });
  const rows: [string, Chunk, unknown[]][] = [
    ["S3-8 S3-11 a piece of text", textDelta("m", 0, "hi"), [{ chunk_type: "text", content: "hi" }]],
    ["a piece of thinking", thinkingDelta("m", 0, "hm"), [{ chunk_type: "thinking", thinking_content: "hm" }]],
    ["S3-13 arguments being written", toolInputDelta("m", 0, search, "{"), []],
    [
      "S3-15 a whole block that no delta showed",
      messageItem({ id: "m", role: "assistant", blocks: [{ type: "text", text: "hi" }] }),
      [{ chunk_type: "text", content: "hi" }],
    ],
    [
      "a tool result",
      toolResultItem({ ...search, output: { n: 1 }, isError: true }),
      [
        {
          chunk_type: "tool_result",
          content: '{"n":1}',
          tool_result: { id: "c1", name: "search_documents", output: { n: 1 } },
          metadata: { is_error: true },
        },
      ],
    ],
    ["S3-25 an error the run survives", errorItem({ code: "json-decode", message: "m", terminal: false }), []],
    ["a notice", noticeItem("status", {}), []],
    ["a sub-agent's text", textDelta("s", 0, "aside", "c1"), []],
  ];
  it.each(rows)("S3-4: %s", (_, chunk, expected) => {
    expect(chunksOf(chunk)).toEqual([...expected, complete()]);
  });

  it("S3-9 S3-13: a tool call is for display and states who runs it", () => {
    const [chunk] = chunksOf(toolCallItem({ ...search, input: { q: "x" }, executedBy: "backend", parent: "p" }));
    expect(chunk).toEqual({
      chunk_type: "tool_use",
      tool_call: { id: "c1", name: "search_documents", input: { q: "x" } },
      metadata: { executed_by: "backend", parent: "p" },
    });
  });

  it("S3-15 C18: deltas and the whole message together give the text once", () => {
    const chunks = chunksOf(
      textDelta("m", 0, "Hel"),
      textDelta("m", 0, "lo"),
      messageItem({ id: "m", role: "assistant", blocks: [{ type: "text", text: "Hello" }] }),
    );
    expect(chunks.flatMap((chunk) => (chunk.chunk_type === "text" ? [chunk.content] : []))).toEqual(["Hel", "lo"]);
  });

  it("S3-10 S3-16: complete has the usage of the whole run, its model and cost", () => {
    const chunks = chunksOf(startItem({ backend: "x", mode: "http", model: "opus" }), verdict);
    expect(chunks).toEqual([
      {
        chunk_type: "complete",
        usage: { input_tokens: 7, output_tokens: 3 },
        metadata: { status: "success", model: "opus" },
      },
    ]);
  });

  it("S3-17: exactly one completion: for an empty log, an incomplete one, two verdicts, more events after the end", () => {
    const log = closeRunLog([verdict, verdict]);
    const count = (events: readonly AgentEvent[]) =>
      chunksOfEvents(events).filter((chunk) => chunk.chunk_type === "complete").length;
    expect([count([]), count(log), count(log.slice(0, 2)), count([...log, ...log])]).toEqual([1, 1, 1, 1]);
    expect(chunksOfEvents(log.slice(0, 2))).toEqual([
      { chunk_type: "complete", usage: { input_tokens: 14, output_tokens: 6 }, metadata: { status: "interrupted" } },
    ]);
  });

  it("S3-12 S3-26: a failure is one error chunk before the completion", () => {
    const failed = chunksOf(errorItem({ code: "process-exited", message: "CLI error: no key", terminal: true }));
    expect(failed).toEqual([
      { chunk_type: "error", error: "CLI error: no key", metadata: { code: "process-exited" } },
      { chunk_type: "complete", usage: { input_tokens: 0, output_tokens: 0 }, metadata: { status: "error" } },
    ]);
    const judged = chunksOf(resultItem({ subtype: "error_max_turns", isError: true, usage: {} }));
    expect(judged.map((chunk) => chunk.chunk_type)).toEqual(["error", "complete"]);
  });

  it("retracted text is marked with an empty piece of text", () => {
    const chunks = chunksOf(textDelta("m", 0, "wrong"), retractNotice({ messageId: "m" }));
    expect(chunks[1]).toEqual({
      chunk_type: "text",
      content: "",
      metadata: { retracted: { message_id: "m", text: "wrong" } },
    });
  });

  it("the async form gives the same", async () => {
    const log = closeRunLog([textDelta("m", 0, "a"), verdict]);
    expect(await all(toStreamChunks(log))).toEqual(chunksOfEvents(log));
  });
});

describe("toChatEvents", () => {
  const chat = (chunks: readonly Chunk[], options?: ChatOptions) => {
    const view = createChatEvents(options);
    return [...closeRunLog(chunks).flatMap((event) => view.next(event)), ...view.end()];
  };

  it("S3-33: text, tools and the finished answer", async () => {
    const chunks = [
      startItem({ backend: "x", mode: "http", model: "opus" }),
      textDelta("m1", 0, "Looking. "),
      thinkingDelta("m1", 1, "hm"),
      toolCallItem({ ...search, input: { q: "x" }, executedBy: "millrace" }),
      toolResultItem({ ...search, output: "found", isError: false }),
      messageItem({ id: "m1", role: "assistant", blocks: [{ type: "text", text: "Looking. " }] }),
      messageItem({ id: "m2", role: "assistant", blocks: [{ type: "text", text: "Found." }], model: "opus-2" }),
      verdict,
    ];
    expect(chat(chunks)).toEqual([
      { event: "text_delta", data: { text: "Looking. " } },
      { event: "tool_executing", data: { id: "c1", tool: "search_documents", input: { q: "x" } } },
      { event: "text_delta", data: { text: "Found." } },
      {
        event: "message_complete",
        data: {
          content: "Looking. Found.",
          usage: { input_tokens: 7, output_tokens: 3 },
          model: "opus-2",
          documents_used: [],
        },
      },
    ]);
    expect(await all(toChatEvents(closeRunLog(chunks)))).toEqual(chat(chunks));
  });

  it("S3-33: artifacts and documents are defined by the application", () => {
    const result = toolResultItem({ ...search, output: { id: 5 }, isError: false });
    const events = chat([result, verdict], {
      artifactOf: ({ output }) => output,
      documentsOf: ({ name }) => [{ id: name }],
    });
    expect(events).toMatchObject([
      { event: "artifact_created", data: { id: 5 } },
      { event: "message_complete", data: { documents_used: [{ id: "search_documents" }] } },
    ]);
  });

  it("S3-33: artifacts and documents are defined by the tools", () => {
    const call = { callId: "c1", name: "search_documents" };
    const events = chat([
      noticeItem("artifact", { ...call, artifact: { name: "a.svg" } }),
      noticeItem("documents", { ...call, documents: [{ id: 1 }] }),
      noticeItem("documents", { ...call, documents: [{ id: 2 }] }),
      noticeItem("tool-progress", { ...call, state: { artifact: 1, step: 2 } }),
      noticeItem("artifact", "no record"),
      noticeItem("documents", { ...call, documents: 7 }),
      verdict,
    ]);
    expect(events).toMatchObject([
      { event: "artifact_created", data: { name: "a.svg" } },
      { event: "message_complete", data: { documents_used: [{ id: 1 }, { id: 2 }] } },
    ]);
  });

  it("S3-33: the runner vocabulary has both, with the call they come from", () => {
    const view = createRunnerEvents({ artifactOf: ({ output }) => output, documentsOf: () => [{ id: 3 }] });
    const call = { callId: "c1", name: "draw" };
    const events = [
      noticeItem("artifact", { ...call, artifact: { name: "a.svg" } }),
      noticeItem("documents", { ...call, documents: [{ id: 1 }] }),
      toolResultItem({ ...search, output: { id: 5 }, isError: false }),
    ].flatMap((chunk) => view.next(asEvent(chunk)));
    const found = { call_id: search.callId, tool_name: search.name };
    expect(events).toEqual([
      {
        type: "RunItemEvent",
        name: "artifact_created",
        data: { call_id: "c1", tool_name: "draw", artifact: { name: "a.svg" } },
      },
      {
        type: "RunItemEvent",
        name: "documents_used",
        data: { call_id: "c1", tool_name: "draw", documents: [{ id: 1 }] },
      },
      { type: "RunItemEvent", name: "tool_result", data: { ...found, output: '{"id":5}', is_error: false } },
      { type: "RunItemEvent", name: "artifact_created", data: { ...found, artifact: { id: 5 } } },
      { type: "RunItemEvent", name: "documents_used", data: { ...found, documents: [{ id: 3 }] } },
    ]);
  });

  it("an artifact that cannot be written as JSON does not break the stream", () => {
    const frames = createSseFrames("chat", { artifactOf: () => ({ size: 1n }) });
    expect(frames.next(asEvent(toolResultItem({ ...search, output: 1, isError: false })))).toEqual([]);
  });

  it("a result that the application does not map is not an artifact", () => {
    const answers: ChatOptions[] = [
      { artifactOf: () => undefined },
      { artifactOf: () => null },
      { documentsOf: () => 7 as never },
    ];
    for (const options of answers) {
      const events = chat([toolResultItem({ ...search, output: 1, isError: false }), verdict], options);
      expect(events).toMatchObject([{ event: "message_complete", data: { documents_used: [] } }]);
    }
  });

  it("a function of the application that throws does not break the stream", () => {
    const fail = () => {
      throw new Error("mine");
    };
    const events = chat([toolResultItem({ ...search, output: 1, isError: false }), verdict], {
      artifactOf: fail,
      documentsOf: fail,
    });
    expect(events.map(({ event }) => event)).toEqual(["message_complete"]);
  });

  it("exactly one ending: an error if the run failed, or if its log is incomplete", () => {
    const failed = chat([textDelta("m", 0, "par"), errorItem({ code: "stream-cut", message: "cut", terminal: true })]);
    expect(failed.slice(1)).toEqual([{ event: "error", data: { message: "cut", code: "stream-cut" } }]);
    expect(chat([resultItem({ subtype: "error_max_turns", isError: true, usage: {} })])).toMatchObject([
      { event: "error", data: { code: "error_max_turns" } },
    ]);
    expect(createChatEvents().end()).toMatchObject([{ event: "error", data: { code: "stream-cut" } }]);
  });

  it("retracted text is reported, and is not in the finished answer", () => {
    const events = chat([
      textDelta("m", 0, "wrong"),
      retractNotice({ messageId: "m" }),
      textDelta("m", 0, "right"),
      verdict,
    ]);
    expect(events[1]).toEqual({
      event: "text_delta",
      data: { text: "", retracted: { message_id: "m", text: "wrong" } },
    });
    expect(events.at(-1)).toMatchObject({ data: { content: "right" } });
  });

  it("a sub-agent's tool is marked, its text is omitted", () => {
    const events = chat([
      textDelta("s", 0, "aside", "p"),
      toolCallItem({ ...search, input: {}, executedBy: "backend", parent: "p" }),
      verdict,
    ]);
    expect(events).toMatchObject([
      { event: "tool_executing", data: { parent: "p" } },
      { event: "message_complete", data: { content: "" } },
    ]);
  });
});

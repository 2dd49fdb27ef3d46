import { describe, expect, it } from "vitest";
import {
  doneEvent,
  type AgentEvent,
  type Message,
  messageItem,
  noticeItem,
  numberEvent,
  startItem,
  textDelta,
} from "#domain";
import type { StoredConversation } from "./api.ts";
import { historyOf, isRunning, openConversation, shownRows } from "./conversation.ts";
import type { Follow, Following } from "./follow.ts";
import { ApiFailure } from "./http.ts";

const THREAD = { id: "t", title: "x", target: "offline", createdAt: 1, updatedAt: 1 };
const said = (id: string, role: Message["role"], text: string): Message => ({
  id,
  role,
  blocks: [{ type: "text", text }],
});

/** The events of a run that answers `input` with `text`. */
function eventsOf(runId: string, input: Message, text: string): AgentEvent[] {
  const place = { ts: 1, runId };
  const result = {
    status: "success",
    subtype: "success",
    text,
    toolCalls: [],
    messages: [],
    usage: {},
    turns: 1,
    ms: 1,
    errors: [],
    warnings: [],
  } as const;
  return [
    messageItem({ ...input }),
    textDelta(`${runId}-m`, 0, text),
    messageItem({ id: `${runId}-m`, role: "assistant", blocks: [{ type: "text", text }] }),
    doneEvent(result),
  ].map((event, seq) => numberEvent(event, seq, place));
}

function errorDone() {
  const error = { code: "provider-auth", message: "The key is wrong.", terminal: true } as const;
  return doneEvent({
    status: "error",
    subtype: "provider-auth",
    error,
    model: "some-model",
    text: "",
    toolCalls: [],
    messages: [],
    usage: {},
    turns: 1,
    ms: 1,
    errors: [error],
    warnings: [],
  });
}

/** A server in memory, whose streams are fed by the test. */
function setUp(stored: StoredConversation) {
  const server = {
    stored,
    chats: [] as string[],
    failure: undefined as ApiFailure | undefined,
    changes: 0,
    node: undefined as string | undefined,
  };
  const streams = new Map<string, Following & { end: () => void }>();
  const follow: Follow = (following) =>
    new Promise((resolve) => {
      streams.set(following.runId, { ...following, end: resolve });
      following.signal.addEventListener("abort", () => resolve());
    });
  const conversation = openConversation("t", {
    follow,
    api: {
      conversation: async () => {
        if (server.failure !== undefined) throw server.failure;
        return server.stored;
      },
      run: async () => {
        if (server.node === "away") throw new Error("away");
        return server.node === undefined ? {} : { node: server.node };
      },
      chat: async (_, input) => {
        if (server.failure !== undefined) throw server.failure;
        server.chats.push(input);
      },
      abort: async () => ({ accepted: true }),
      answer: async () => ({ accepted: true }),
    },
    onChange: () => {
      server.changes += 1;
    },
    onFailure: () => undefined,
  });
  const texts = (): string[] => {
    const state = conversation.state.get();
    return shownRows(state, historyOf(state)).map((row) => {
      if ("run" in row) return `(${row.run.status}, ${row.run.model})`;
      return "text" in row.item ? row.item.text : row.item.kind;
    });
  };
  return { server, streams, conversation, texts };
}

const HELLO = said("u1", "user", "hello");
const ANSWER = said("r1-m", "assistant", "hi");

describe("openConversation", () => {
  it("a finished run is shown from what is stored until all of its events are here, and then from these", async () => {
    const { conversation, streams, texts } = setUp({
      thread: THREAD,
      messages: [HELLO, ANSWER],
      runs: [{ id: "r1", status: "success", lastSeq: 3 }],
    });
    await conversation.refresh();
    expect(texts()).toEqual(["hello", "hi"]);
    expect(isRunning(conversation.state.get())).toBe(false);
    const events = eventsOf("r1", HELLO, "hi");
    streams.get("r1")?.onEvents(events.slice(0, 1));
    expect(texts()).toEqual(["hello", "hi"]);
    streams.get("r1")?.onEvents(events.slice(1));
    expect(texts()).toEqual(["hello", "hi"]);
    expect(conversation.state.get().run.inputId).toBe("u1");
  });

  it("names the node that works on a run, also after another one has taken it over", async () => {
    const { server, conversation, streams } = setUp({
      thread: THREAD,
      messages: [HELLO],
      runs: [{ id: "r1", status: "running", lastSeq: 0 }],
    });
    server.node = "back-1";
    await conversation.refresh();
    const place = { ts: 1, runId: "r1" };
    const start = numberEvent(startItem({ backend: "scripted", mode: "http" }), 0, place);
    const node = async (...events: AgentEvent[]): Promise<string | undefined> => {
      streams.get("r1")?.onEvents(events);
      await Promise.resolve();
      await Promise.resolve();
      return conversation.state.get().node;
    };
    expect(await node(start)).toBe("back-1");
    server.node = "back-2";
    expect(await node(numberEvent(textDelta("m", 0, "h"), 1, place))).toBe("back-1");
    expect(await node(numberEvent(noticeItem("resumed", {}), 2, place))).toBe("back-2");
    server.node = "away";
    expect(await node(numberEvent(noticeItem("resumed", {}), 3, place))).toBe("back-2");
  });

  it("a message to a thread that was deleted elsewhere is refused with what to do, without the thread's id", async () => {
    const { server, conversation } = setUp({ thread: THREAD, messages: [], runs: [] });
    await conversation.refresh();
    server.failure = new ApiFailure("not-found", 404, "There is no thread t.");
    expect(await conversation.send("more")).toBe(false);
    expect(conversation.state.get().failure).toBe(
      "This thread is no longer there: it may have been deleted. Copy your message, and begin a new thread with it.",
    );
  });

  it("what is sent is shown at once, then followed; the answer before it stays", async () => {
    const { server, conversation, streams, texts } = setUp({
      thread: THREAD,
      messages: [HELLO, ANSWER],
      runs: [{ id: "r1", status: "success", lastSeq: 3 }],
    });
    await conversation.refresh();
    const sending = conversation.send("more");
    expect(texts()).toEqual(["hello", "hi", "more"]);
    expect(isRunning(conversation.state.get())).toBe(true);
    const more = said("u2", "user", "more");
    server.stored = {
      thread: THREAD,
      messages: [HELLO, ANSWER, more],
      runs: [
        { id: "r2", status: "running", lastSeq: 0 },
        { id: "r1", status: "success", lastSeq: 3 },
      ],
    };
    expect(await sending).toBe(true);
    expect(texts()).toEqual(["hello", "hi", "more"]);
    const events = eventsOf("r2", more, "yes");
    streams.get("r2")?.onEvents(events.slice(0, 2));
    expect(texts()).toEqual(["hello", "hi", "more", "yes"]);
    expect(isRunning(conversation.state.get())).toBe(true);
    streams.get("r2")?.onEvents(events.slice(2));
    server.stored = { ...server.stored, messages: [HELLO, ANSWER, more, said("r2-m", "assistant", "yes")] };
    await conversation.refresh();
    expect(texts()).toEqual(["hello", "hi", "more", "yes"]);
    expect(isRunning(conversation.state.get())).toBe(false);
  });

  it("F-F page: every answer keeps what it took and its error after the next message and after a reload", async () => {
    const lost = said("u0", "user", "lost");
    const more = said("u2", "user", "more");
    const stored: StoredConversation = {
      thread: THREAD,
      // The input of a failed run is not stored.
      messages: [said("old", "user", "old"), HELLO, ANSWER, more],
      runs: [
        { id: "r2", status: "running", lastSeq: 0 },
        { id: "r1", status: "success", lastSeq: 3 },
        { id: "r0", status: "error", lastSeq: 3 },
      ],
    };
    const { server, conversation, streams, texts } = setUp(stored);
    await conversation.refresh();
    expect(texts()).toEqual(["old", "hello", "hi", "more"]);
    const show = async (runId: string, events: readonly AgentEvent[]): Promise<void> => {
      streams.get(runId)?.onEvents(events);
      streams.get(runId)?.end();
      await Promise.resolve().then(() => Promise.resolve());
    };
    await show("r1", eventsOf("r1", HELLO, "hi"));
    expect(texts()).toEqual(["old", "hello", "hi", "(success, undefined)"]);
    streams.get("r2")?.onEvents(eventsOf("r2", more, "yes").slice(0, 2));
    expect(texts()).toEqual(["old", "hello", "hi", "(success, undefined)", "more", "yes"]);
    const failed = eventsOf("r0", lost, "never");
    await show("r0", [failed[0] as AgentEvent, numberEvent(errorDone(), 3, { ts: 1, runId: "r0" })]);
    const before = ["old", "lost", "The key is wrong.", "(error, some-model)", "hello", "hi", "(success, undefined)"];
    expect(texts()).toEqual([...before, "more", "yes"]);

    streams.get("r2")?.onEvents(eventsOf("r2", more, "yes").slice(2));
    const runs = [{ id: "r3", status: "running", lastSeq: -1 }, ...stored.runs];
    server.stored = { ...stored, messages: [...stored.messages, said("u3", "user", "go on")], runs };
    await conversation.refresh();
    expect(texts()).toEqual([...before, "more", "yes", "(success, undefined)"]);
  });

  it("a run that another tab began is followed, and the old stream is left", async () => {
    const { server, conversation, streams } = setUp({
      thread: THREAD,
      messages: [HELLO],
      runs: [{ id: "r1", status: "running", lastSeq: 0 }],
    });
    await conversation.refresh();
    server.stored = { thread: THREAD, messages: [HELLO], runs: [{ id: "r2", status: "running", lastSeq: 0 }] };
    await conversation.refresh();
    expect(streams.get("r1")?.signal.aborted).toBe(true);
    expect(streams.get("r2")?.signal.aborted).toBe(false);
    conversation.close();
    expect(streams.get("r2")?.signal.aborted).toBe(true);
  });

  it("asking again what is known follows nothing twice", async () => {
    const { conversation, streams } = setUp({
      thread: THREAD,
      messages: [HELLO],
      runs: [{ id: "r1", status: "running", lastSeq: 0 }],
    });
    await conversation.refresh();
    const first = streams.get("r1");
    await conversation.refresh();
    expect(streams.get("r1")).toBe(first);
  });

  it("a rejected message is reported and not shown as sent; a deleted thread is missing", async () => {
    const { server, conversation, texts } = setUp({ thread: THREAD, messages: [], runs: [] });
    await conversation.refresh();
    server.failure = new ApiFailure("run-active", 409, "A run is not over.");
    expect(await conversation.send("x")).toBe(false);
    expect(texts()).toEqual([]);
    expect(conversation.state.get().failure).toBe("A run is not over.");
    conversation.dismissFailure();
    expect(conversation.state.get().failure).toBeUndefined();
    server.failure = new ApiFailure("not-found", 404, "Gone.");
    await conversation.refresh();
    expect(conversation.state.get().phase).toBe("missing");
  });
});

import { describe, expect, it } from "vitest";
import {
  type Chunk,
  messageItem,
  retractNotice,
  textDelta,
  toolCallItem,
  toolInputDelta,
  toolResultItem,
} from "#domain";
import { UniqueIds } from "./unique-ids.ts";

const reply = (): Chunk[] => [
  textDelta("chatcmpl-1", 0, "a"),
  toolInputDelta("chatcmpl-1", 1, { callId: "call_0", name: "t" }, "{}"),
  messageItem({
    id: "chatcmpl-1",
    role: "assistant",
    blocks: [
      { type: "text", text: "a" },
      { type: "tool-call", callId: "call_0", name: "t", input: {} },
    ],
  }),
  toolCallItem({ callId: "call_0", name: "t", input: {}, executedBy: "millrace" }),
  toolResultItem({ callId: "call_0", name: "t", output: "", isError: true, skipped: "incomplete" }),
  retractNotice({ messageId: "chatcmpl-1" }),
];

describe("unique ids", () => {
  it("a second reply with the ids of the first gets new ids, consistently; the first is unchanged", () => {
    const ids = new UniqueIds();
    const first = reply();
    expect(ids.forReply().renameAll(first)).toBe(first);
    const second = reply();
    const renamed = ids.forReply().renameAll(second);
    expect(JSON.stringify(renamed)).toBe(
      JSON.stringify(reply()).replaceAll("chatcmpl-1", "chatcmpl-1-2").replaceAll("call_0", "call_0-2"),
    );
    expect(second, "the chunks themselves do not change").toEqual(reply());
    expect(ids.forReply().renameAll(reply())[0]).toMatchObject({ messageId: "chatcmpl-1-3" });
  });
});

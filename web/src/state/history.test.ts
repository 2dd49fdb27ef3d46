import { describe, expect, it } from "vitest";
import type { Message } from "#domain";
import { itemsOf, messagesBefore } from "./history.ts";

const MESSAGES: readonly Message[] = [
  { id: "1", role: "user", blocks: [{ type: "text", text: "add" }] },
  {
    id: "2",
    role: "assistant",
    blocks: [
      { type: "thinking", text: "hm" },
      { type: "text", text: "I add" },
      { type: "tool-call", callId: "c", name: "add", input: { a: 1 } },
    ],
  },
  { id: "2-results", role: "user", blocks: [{ type: "tool-result", callId: "c", output: "no", isError: true }] },
  {
    id: "3",
    role: "assistant",
    blocks: [
      { type: "text", text: "" },
      { type: "image", title: "x" },
      { type: "unknown", raw: 1 },
    ],
  },
];

describe("itemsOf", () => {
  it("stored messages look as they did when they were written", () => {
    const items = itemsOf(MESSAGES);
    expect(items.map(({ kind, key }) => [kind, key])).toEqual([
      ["user", "1:user"],
      ["thinking", "2:0"],
      ["text", "2:1"],
      ["tool", "tool-c"],
      ["note", "3:1"],
    ]);
    expect(items[3]).toMatchObject({ name: "add", input: { a: 1 }, output: "no", isError: true, state: "done" });
  });

  it("a handoff is a row, and the message to the next agent is not shown as the person's", () => {
    const handoff = { type: "tool-call", callId: "h", name: "handoff", input: { to: "b", message: "go" } } as const;
    const answered = (isError: boolean): readonly Message[] => [
      { id: "1", role: "assistant", blocks: [handoff] },
      { id: "2", role: "user", blocks: [{ type: "tool-result", callId: "h", output: "ok", isError }] },
      { id: "3", role: "user", blocks: [{ type: "text", text: "go" }] },
    ];
    expect(itemsOf(answered(false))).toMatchObject([{ kind: "handoff", to: "b", message: "go" }]);
    expect(itemsOf(answered(true)).map(({ kind }) => kind)).toEqual(["tool", "user"]);
  });

  it("a result without its call is shown, not lost", () => {
    expect(itemsOf([MESSAGES[2] as Message])).toMatchObject([{ kind: "tool", output: "no" }]);
  });
});

describe("messagesBefore", () => {
  it("ends before the message a run answers; without one it is all of them", () => {
    expect(messagesBefore(MESSAGES, ["3"])).toHaveLength(3);
    expect(messagesBefore(MESSAGES, [undefined])).toHaveLength(4);
    expect(messagesBefore(MESSAGES, ["unknown"])).toHaveLength(4);
    expect(messagesBefore(MESSAGES, ["unknown", "2", "3"])).toHaveLength(1);
  });
});

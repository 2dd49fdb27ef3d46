import { describe, expect, it } from "vitest";
import { messageItem, noticeItem, retractNotice, textDelta, thinkingDelta } from "#domain";
import { createShownText } from "./shown-text.ts";

const text = (content: string) => ({ type: "text", text: content }) as const;

describe("createShownText", () => {
  it("S3-15 C18: text shown by deltas is not repeated by the finished message", () => {
    const shown = createShownText();
    expect(shown.read(textDelta("m", 0, "Hel"))).toEqual([{ kind: "text", index: 0, text: "Hel" }]);
    shown.read(textDelta("m", 0, "lo"));
    expect(shown.read(messageItem({ id: "m", role: "assistant", blocks: [text("Hello")] }))).toEqual([]);
  });

  it("S3-15: a block without any delta comes from the finished message", () => {
    const shown = createShownText();
    shown.read(textDelta("m", 0, "Hello"));
    const blocks = [text("Hello"), { type: "thinking", text: "hm" } as const, text(" world")];
    expect(shown.read(messageItem({ id: "m", role: "assistant", blocks }))).toEqual([
      { kind: "thinking", index: 1, text: "hm" },
      { kind: "text", index: 2, text: " world" },
    ]);
  });

  it("a reader that missed the last deltas of a block gets the rest of it", () => {
    const shown = createShownText();
    shown.read(textDelta("m", 0, "Hel"));
    const pieces = shown.read(messageItem({ id: "m", role: "assistant", blocks: [text("Hello")] }));
    expect(pieces).toEqual([{ kind: "text", index: 0, text: "lo" }]);
  });

  it("a message that is emitted again adds only its new blocks", () => {
    const shown = createShownText({ keepText: true });
    shown.read(messageItem({ id: "m", role: "assistant", blocks: [text("a")] }));
    shown.read(textDelta("m", 1, "b"));
    const again = messageItem({ id: "m", role: "assistant", blocks: [text("a"), text("b"), text("c")] });
    expect(shown.read(again)).toEqual([{ kind: "text", index: 2, text: "c" }]);
    expect(shown.whole("text")).toBe("abc");
  });

  it("sub-agents and users add nothing", () => {
    const shown = createShownText({ keepText: true });
    expect(shown.read(textDelta("s", 0, "x", "call"))).toEqual([]);
    expect(shown.read(messageItem({ id: "s", role: "assistant", blocks: [text("x")], parent: "call" }))).toEqual([]);
    expect(shown.read(messageItem({ id: "u", role: "user", blocks: [text("x")] }))).toEqual([]);
    expect(shown.whole("text")).toBe("");
  });

  it("a retraction discards what was shown, from a block on or all of it", () => {
    const shown = createShownText({ keepText: true });
    shown.read(textDelta("m", 0, "a"));
    shown.read(thinkingDelta("m", 1, "t"));
    shown.read(textDelta("m", 2, "b"));
    expect(shown.retract(retractNotice({ messageId: "m", fromIndex: 1 }))).toEqual({
      messageId: "m",
      fromIndex: 1,
      text: "b",
      thinking: "t",
    });
    expect(shown.openText("m")).toBe("a");
    expect(shown.retract(retractNotice({ messageId: "m" }))).toMatchObject({ text: "a", thinking: "" });
    expect(shown.whole("text")).toBe("");
    expect(shown.read(messageItem({ id: "m", role: "assistant", blocks: [text("new")] }))).toHaveLength(1);
  });

  it("items are authoritative: a finished message keeps its text, and may be emitted again", () => {
    const shown = createShownText({ keepText: true });
    shown.read(messageItem({ id: "m", role: "assistant", blocks: [text("old")] }));
    expect(shown.retract(retractNotice({ messageId: "m" }))).toBeUndefined();
    expect(shown.whole("text")).toBe("old");
    expect(shown.read(messageItem({ id: "m", role: "assistant", blocks: [text("new")] }))).toHaveLength(1);
    expect(shown.whole("text")).toBe("new");
  });

  it("notices of other kinds, about unknown messages or malformed retract nothing", () => {
    const shown = createShownText();
    shown.read(textDelta("m", 0, "a"));
    for (const notice of [
      noticeItem("status", { messageId: "m" }),
      retractNotice({ messageId: "other" }),
      noticeItem("retract", null),
      noticeItem("retract", { messageId: 7 }),
      noticeItem("retract", ["m"]),
    ]) {
      expect(shown.retract(notice)).toBeUndefined();
    }
    expect(shown.openText("m")).toBe("a");
  });

  it("the shown part of unfinished messages: text and thinking in order, without what was retracted", () => {
    const shown = createShownText();
    shown.read(textDelta("m", 1, "b"));
    shown.read(thinkingDelta("m", 0, "a"));
    shown.read(textDelta("m", 2, "c"));
    shown.retract(retractNotice({ messageId: "m", fromIndex: 2 }));
    shown.read(textDelta("n", 0, "n"));
    shown.read(messageItem({ id: "n", role: "assistant", blocks: [text("n")] }));
    const blocks = [{ type: "thinking", text: "a" }, text("b")];
    expect(shown.unfinished()).toEqual([{ id: "m", role: "assistant", blocks }]);
  });
});

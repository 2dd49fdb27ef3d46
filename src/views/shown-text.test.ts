import { describe, expect, it } from "vitest";
import { messageItem, noticeItem, retractNotice, textDelta, thinkingDelta } from "#domain";
import { createTextLedger } from "./shown-text.ts";

const text = (content: string) => ({ type: "text", text: content }) as const;

describe("createTextLedger", () => {
  it("S3-15 C18: text shown by deltas is not repeated by the finished message", () => {
    const ledger = createTextLedger();
    expect(ledger.read(textDelta("m", 0, "Hel"))).toEqual([{ kind: "text", index: 0, text: "Hel" }]);
    ledger.read(textDelta("m", 0, "lo"));
    expect(ledger.read(messageItem({ id: "m", role: "assistant", blocks: [text("Hello")] }))).toEqual([]);
  });

  it("S3-15: a block without any delta comes from the finished message", () => {
    const ledger = createTextLedger();
    ledger.read(textDelta("m", 0, "Hello"));
    const blocks = [text("Hello"), { type: "thinking", text: "hm" } as const, text(" world")];
    expect(ledger.read(messageItem({ id: "m", role: "assistant", blocks }))).toEqual([
      { kind: "thinking", index: 1, text: "hm" },
      { kind: "text", index: 2, text: " world" },
    ]);
  });

  it("a reader that lost the last deltas of a block gets the rest of it", () => {
    const ledger = createTextLedger();
    ledger.read(textDelta("m", 0, "Hel"));
    const pieces = ledger.read(messageItem({ id: "m", role: "assistant", blocks: [text("Hello")] }));
    expect(pieces).toEqual([{ kind: "text", index: 0, text: "lo" }]);
  });

  it("a message that comes again brings only its further blocks", () => {
    const ledger = createTextLedger({ keepText: true });
    ledger.read(messageItem({ id: "m", role: "assistant", blocks: [text("a")] }));
    ledger.read(textDelta("m", 1, "b"));
    const again = messageItem({ id: "m", role: "assistant", blocks: [text("a"), text("b"), text("c")] });
    expect(ledger.read(again)).toEqual([{ kind: "text", index: 2, text: "c" }]);
    expect(ledger.whole("text")).toBe("abc");
  });

  it("sub-agents and users add nothing", () => {
    const ledger = createTextLedger({ keepText: true });
    expect(ledger.read(textDelta("s", 0, "x", "call"))).toEqual([]);
    expect(ledger.read(messageItem({ id: "s", role: "assistant", blocks: [text("x")], parent: "call" }))).toEqual([]);
    expect(ledger.read(messageItem({ id: "u", role: "user", blocks: [text("x")] }))).toEqual([]);
    expect(ledger.whole("text")).toBe("");
  });

  it("a retraction makes void what was shown, from a block on or all of it", () => {
    const ledger = createTextLedger({ keepText: true });
    ledger.read(textDelta("m", 0, "a"));
    ledger.read(thinkingDelta("m", 1, "t"));
    ledger.read(textDelta("m", 2, "b"));
    expect(ledger.retract(retractNotice({ messageId: "m", fromIndex: 1 }))).toEqual({
      messageId: "m",
      fromIndex: 1,
      text: "b",
      thinking: "t",
    });
    expect(ledger.openText("m")).toBe("a");
    expect(ledger.retract(retractNotice({ messageId: "m" }))).toMatchObject({ text: "a", thinking: "" });
    expect(ledger.whole("text")).toBe("");
    expect(ledger.read(messageItem({ id: "m", role: "assistant", blocks: [text("new")] }))).toHaveLength(1);
  });

  it("items are the truth: a finished message keeps its text, and may be written again", () => {
    const ledger = createTextLedger({ keepText: true });
    ledger.read(messageItem({ id: "m", role: "assistant", blocks: [text("old")] }));
    expect(ledger.retract(retractNotice({ messageId: "m" }))).toBeUndefined();
    expect(ledger.whole("text")).toBe("old");
    expect(ledger.read(messageItem({ id: "m", role: "assistant", blocks: [text("new")] }))).toHaveLength(1);
    expect(ledger.whole("text")).toBe("new");
  });

  it("notices of other kinds, of unknown messages and of odd shapes retract nothing", () => {
    const ledger = createTextLedger();
    ledger.read(textDelta("m", 0, "a"));
    for (const notice of [
      noticeItem("status", { messageId: "m" }),
      retractNotice({ messageId: "other" }),
      noticeItem("retract", null),
      noticeItem("retract", { messageId: 7 }),
      noticeItem("retract", ["m"]),
    ]) {
      expect(ledger.retract(notice)).toBeUndefined();
    }
    expect(ledger.openText("m")).toBe("a");
  });
});

import { describe, expect, it } from "vitest";
import {
  type Chunk,
  errorItem,
  messageItem,
  noticeItem,
  resultItem,
  StartError,
  startItem,
  textDelta,
  warningItem,
} from "#domain";
import { closeRunLog } from "#testing";
import { collect } from "./collect.ts";
import type { ItemError, StreamItem } from "./item.ts";
import { errorToString, isTerminal } from "./item-errors.ts";
import { toItems } from "./items.ts";

const chunks: Chunk[] = [
  warningItem({ code: "feature-ignored", message: "odd" }),
  startItem({ backend: "claude-code", mode: "plain" }),
  errorItem({ code: "json-decode", message: "bad", terminal: false, diagnostic: { seen: "oops" } }),
  noticeItem("unknown:novelty", { type: "novelty" }),
  textDelta("m", 0, "hi"),
  messageItem({ id: "m", role: "assistant", blocks: [{ type: "text", text: "hi" }] }),
  resultItem({ subtype: "success", isError: false, usage: {} }),
];

describe("collect", () => {
  it("S1-139: sorts messages, warnings and errors", async () => {
    const collected = await collect(closeRunLog(chunks));
    expect(collected.items.map((item) => item.message.type)).toEqual(["System", "Assistant", "Result"]);
    expect(collected.warnings.map((warning) => warning.code)).toEqual(["FeatureIgnored"]);
    expect(collected.nonTerminalErrors.map((error) => error.type)).toEqual([
      "JsonDecodeError",
      "UnexpectedMessageError",
    ]);
    expect(collected).not.toHaveProperty("terminalError");
  });

  it("S1-139: a terminal error is kept separate and ends the collection", async () => {
    const failure = errorItem({ code: "process-exited", message: "m", terminal: true, diagnostic: { exitCode: 1 } });
    const collected = await collect(closeRunLog([...chunks.slice(0, 2), failure]));
    expect(collected.terminalError).toMatchObject({ type: "ProcessError", exit_code: 1 });
    const late: StreamItem[] = [{ type: "BufferOverflow" }, { type: "Utf8DecodeError", raw_bytes: new Uint8Array() }];
    expect(await collect(late)).toEqual({
      items: [],
      warnings: [],
      nonTerminalErrors: [],
      terminalError: { type: "BufferOverflow" },
    });
  });

  it("accepts items as well as events, passes options on, and works on an empty stream", async () => {
    const log = closeRunLog(chunks);
    expect(await collect(toItems(log))).toEqual(await collect(log));
    expect((await collect(log, { partialMessages: true })).items).toHaveLength(4);
    expect(await collect([])).toEqual({ items: [], warnings: [], nonTerminalErrors: [] });
  });
});

describe("isTerminal and errorToString", () => {
  const diagnostic = {
    stdout_was_empty: true,
    exit_code_hint: "Hint",
    troubleshooting: "Try this.",
    stderr_tail: "err",
  };
  const rows: [ItemError, boolean, string][] = [
    [
      { type: "ProcessError", exit_code: 1, code: "process-exited", diagnostic },
      true,
      "ProcessError (exit code 1): Hint\nTry this.\nerr",
    ],
    [
      {
        type: "ProcessError",
        exit_code: null,
        code: "aborted",
        diagnostic: { stdout_was_empty: false, exit_code_hint: "Stopped.", troubleshooting: "" },
      },
      true,
      "ProcessError (aborted): Stopped.",
    ],
    [
      { type: "BufferOverflow", limit_bytes: 10 },
      true,
      "BufferOverflow: a line was longer than the limit of 10 bytes.",
    ],
    [{ type: "BufferOverflow" }, true, "BufferOverflow: a line was longer than the limit."],
    [
      { type: "TooManyDecodeErrors", count: 5, last_error: "bad" },
      true,
      "TooManyDecodeErrors: 5 lines in a row could not be read; the last: bad",
    ],
    [{ type: "JsonDecodeError", line: "oops", error: "bad" }, false, "JsonDecodeError: bad: oops"],
    [
      { type: "Utf8DecodeError", raw_bytes: new Uint8Array(3) },
      false,
      "Utf8DecodeError: a line of 3 bytes is not UTF-8.",
    ],
    [{ type: "UnexpectedMessageError", raw_json: "{}" }, false, "UnexpectedMessageError: {}"],
  ];
  it.each(rows)("S1-130 S1-138: %o", (error, terminal, text) => {
    expect(isTerminal(error)).toBe(terminal);
    expect(errorToString(error)).toBe(text);
  });

  it("S1-138: an error thrown before the stream is reported in the same way", () => {
    expect(errorToString(new StartError("spawn", "No such folder: /x."))).toBe(
      "StartError (spawn): No such folder: /x.",
    );
  });
});

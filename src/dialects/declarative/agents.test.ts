import { readFileSync } from "node:fs";
import type { Chunk } from "#domain";
import { assertRunLog, closeRunLog } from "#testing";
import { describe, expect, it } from "vitest";
import { createDecoder } from "../shared/decoder.ts";
import { createDeclarativeFormat, type DeclarativeFormat } from "./create-format.ts";
import { parseFormatConfig } from "./parse-config.ts";

/** Captures of real agents, each with a format for it: they show what a config can do with real output. */
const FIXTURES = new URL("../../../test/fixtures/agents/", import.meta.url);

function load(name: string): DeclarativeFormat {
  return createDeclarativeFormat(parseFormatConfig(readFileSync(new URL(`formats/${name}.json`, FIXTURES), "utf8")));
}

function capture(path: string): Uint8Array {
  return readFileSync(new URL(path, FIXTURES));
}

function decode(format: DeclarativeFormat, bytes: Uint8Array): Chunk[] {
  const decoder = createDecoder(format);
  return [...decoder.push(bytes), ...decoder.end()];
}

/** One line per chunk: its type and what distinguishes it. */
function summary(chunks: readonly Chunk[]): string[] {
  return chunks.map((chunk) => {
    switch (chunk.type) {
      case "text-delta":
        return `text ${chunk.messageId}/${chunk.index} ${JSON.stringify(chunk.text)}`;
      case "start":
        return `start ${chunk.backend} ${chunk.mode} ${chunk.sessionId ?? "-"} ${chunk.model ?? "-"}`;
      case "message":
        return `message ${chunk.id} ${chunk.role} ${JSON.stringify(chunk.blocks)} ${JSON.stringify([chunk.stopReason, chunk.usage, chunk.model])}`;
      case "tool-call":
        return `tool-call ${chunk.callId} ${chunk.name} ${JSON.stringify(chunk.input)} ${chunk.executedBy}`;
      case "tool-result":
        return `tool-result ${chunk.callId} ${chunk.name} ${JSON.stringify(chunk.output)} ${chunk.isError} ${chunk.ms ?? "-"}`;
      case "error":
        return `error ${chunk.code} ${chunk.terminal} ${chunk.message}`;
      case "result":
        return `result ${chunk.subtype} ${chunk.isError} ${chunk.text ?? "-"} ${JSON.stringify(chunk.usage)} ${chunk.turns ?? "-"} ${chunk.ms ?? "-"}`;
      case "notice":
        return `notice ${chunk.kind}`;
      default:
        return chunk.type;
    }
  });
}

const HELLO = ["Hello", " from", " the", " fake", " model", "."];

function helloDeltas(messageId: string): string[] {
  return HELLO.map((text) => `text ${messageId}/0 ${JSON.stringify(text)}`);
}

describe("Gemini CLI", () => {
  const format = load("gemini-cli");

  it("a run with a tool", () => {
    expect(summary(decode(format, capture("gemini/stream-json-tool.ndjson")))).toEqual([
      "start gemini-cli plain e7ce41a1-b612-4ef7-a8ad-fa2fbb061569 gemini-2.5-flash",
      'message message-1 user [{"type":"text","text":"please use the tool to say hi"}] [null,null,null]',
      'message message-2 assistant [{"type":"tool-call","callId":"run_shell_command__call_fake01","name":"run_shell_command",' +
        '"input":{"command":"echo hi-from-tool","description":"say hi"}}] [null,null,"gemini-2.5-flash"]',
      'tool-call run_shell_command__call_fake01 run_shell_command {"command":"echo hi-from-tool","description":"say hi"} backend',
      'tool-result run_shell_command__call_fake01 run_shell_command "hi-from-tool" false -',
      ...helloDeltas("message-3"),
      'message message-3 assistant [{"type":"text","text":"Hello from the fake model."}] [null,null,"gemini-2.5-flash"]',
      'result success false - {"inputTokens":20,"outputTokens":12,"cacheReadTokens":0} - 319',
    ]);
  });

  it("a rejected key is an error and a failed result", () => {
    const lines = summary(decode(format, capture("gemini/stream-json-error-401.ndjson")));
    expect(lines.slice(2)).toEqual([
      expect.stringMatching(/^error provider-error false \[API Error: .*fake failure 401/),
      expect.stringMatching(/^result error true \[API Error: .*fake failure 401/),
    ]);
  });

  it("templates show a frame as text, with colours, as JSON", () => {
    const [, , call, , delta] = new TextDecoder()
      .decode(capture("gemini/stream-json-tool.ndjson"))
      .split("\n")
      .map((text) => ({ kind: "data", name: "", id: "", text, value: text && JSON.parse(text) }) as const)
      .map((frame) => format.parse(frame)[0]);
    expect(call?.templates).toEqual({
      text: "[run_shell_command] echo hi-from-tool",
      ansi: "\u001b[36m[run_shell_command]\u001b[0m echo hi-from-tool",
    });
    expect(delta?.templates.json).toBe('{"role":"assistant","text":"Hello"}');
    expect(delta?.timestamp).toBe(Date.parse("2026-11-15T18:55:38.178Z"));
  });
});

describe("pi", () => {
  const format = load("pi");

  it("a run with a tool: one reply id for two messages, counts from their ends", () => {
    expect(summary(decode(format, capture("pi/mode-json-tool.ndjson")))).toEqual([
      "start pi plain 01a1e093-e46f-74a0-bf07-6dae506a2f89 -",
      'message message-1 user [{"type":"text","text":"please use the tool to say hi"}] [null,null,null]',
      // The call is emitted at once, after the part of its message that exists; the counts arrive at its end.
      'message chatcmpl-fake01 assistant [{"type":"tool-call","callId":"call_fake01","name":"bash",' +
        '"input":{"command":"echo hi-from-tool","description":"say hi"}}] [null,null,null]',
      'tool-call call_fake01 bash {"command":"echo hi-from-tool","description":"say hi"} backend',
      'message chatcmpl-fake01 assistant [{"type":"tool-call","callId":"call_fake01","name":"bash",' +
        '"input":{"command":"echo hi-from-tool","description":"say hi"}}] ' +
        '["tool-use",{"inputTokens":10,"outputTokens":6,"cacheReadTokens":0,"cacheWriteTokens":0},"fake-model"]',
      'tool-result call_fake01 bash ["hi-from-tool\\n"] false -',
      ...helloDeltas("chatcmpl-fake01#2"),
      'message chatcmpl-fake01#2 assistant [{"type":"text","text":"Hello from the fake model."}] ' +
        '["end-turn",{"inputTokens":10,"outputTokens":6,"cacheReadTokens":0,"cacheWriteTokens":0},"fake-model"]',
      'result success false - {"inputTokens":20,"outputTokens":12,"cacheReadTokens":0,"cacheWriteTokens":0} - -',
    ]);
  });

  it("an error that the exit status hides", () => {
    expect(summary(decode(format, capture("pi/mode-json-error-400.ndjson")))).toEqual([
      "start pi plain 01a1e093-f2e6-717c-bbba-5ac2dd5f66f2 -",
      'message message-1 user [{"type":"text","text":"hello"}] [null,null,null]',
      "error provider-error false 400 fake failure 400",
      "result error true 400 fake failure 400 {} - -",
    ]);
  });
});

describe("Cline", () => {
  const format = load("cline");

  it("a run with a tool, in the older spellings", () => {
    expect(summary(decode(format, capture("cline/json-tool.ndjson")))).toEqual([
      "start cline plain conv_1794769237117_lxqdpjw -",
      'message message-1 assistant [{"type":"tool-call","callId":"call_fake01","name":"run_commands",' +
        '"input":{"commands":["echo hi-from-tool"]}}] [null,{"inputTokens":10,"outputTokens":6},null]',
      'tool-call call_fake01 run_commands {"commands":["echo hi-from-tool"]} backend',
      'tool-result call_fake01 run_commands ["hi-from-tool\\n"] false 136',
      ...helloDeltas("message-2"),
      'message message-2 assistant [{"type":"text","text":"Hello from the fake model."}] [null,{"inputTokens":10,"outputTokens":6},null]',
      'result success false Hello from the fake model. {"inputTokens":20,"outputTokens":12} 2 1066',
    ]);
  });

  it("a rejected key", () => {
    expect(summary(decode(format, capture("cline/json-error-401.ndjson")))).toEqual([
      "start cline plain conv_1794770651665_zxpebg6 -",
      "error provider-error false fake failure 401",
      'result error true fake failure 401 {"inputTokens":0,"outputTokens":0} 1 207',
    ]);
  });
});

const CAPTURES = [
  ["gemini-cli", "gemini/stream-json-text.ndjson"],
  ["gemini-cli", "gemini/stream-json-tool.ndjson"],
  ["gemini-cli", "gemini/stream-json-error-400.ndjson"],
  ["gemini-cli", "gemini/stream-json-error-401.ndjson"],
  ["pi", "pi/mode-json-tool.ndjson"],
  ["pi", "pi/mode-json-error-400.ndjson"],
  ["cline", "cline/json-tool.ndjson"],
  ["cline", "cline/json-error-401.ndjson"],
] as const;

describe.each(CAPTURES)("%s on %s", (name, path) => {
  const format = load(name);
  const bytes = capture(path);

  it("keeps the guarantees of the event model, and nothing in it is unknown", () => {
    const chunks = decode(format, bytes);
    assertRunLog(closeRunLog(chunks));
    expect(chunks.filter((chunk) => chunk.type === "notice").map((chunk) => chunk.kind)).toEqual([]);
  });

  it("cut after any line but the last it is stream-cut, and what was decoded keeps the guarantees", () => {
    const lastLine = bytes.lastIndexOf(0x0a, bytes.length - 2);
    for (let end = 0; end <= lastLine; end = bytes.indexOf(0x0a, end) + 1) {
      const chunks = decode(format, bytes.subarray(0, end));
      expect(chunks.at(-1)).toMatchObject({ type: "error", code: "stream-cut", terminal: true });
      expect(chunks.some((chunk) => chunk.type === "result")).toBe(false);
      assertRunLog(closeRunLog(chunks));
    }
  });

  it("the generic format reads the same stream without losing a line", () => {
    const generic = createDeclarativeFormat({ name: "other", framing: "ndjson", events: [] });
    const lines = new TextDecoder().decode(bytes).trimEnd().split("\n").length;
    const chunks = decode(generic, bytes);
    expect(chunks.filter((chunk) => chunk.type === "notice" && chunk.kind.startsWith("unknown:")).length).toBe(lines);
  });
});

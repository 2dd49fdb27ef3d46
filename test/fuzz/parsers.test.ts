import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createAccumulator } from "#run";
import { type AgentEvent, isId, isStartError } from "#domain";
import { createVirtualClock } from "#testing";
import type { JsonRecord } from "#wire";
import { buildArgv } from "../../src/backends/claude-code/argv.ts";
import { createControlChannel } from "../../src/backends/claude-code/control/channel.ts";
import { readControlFrame } from "../../src/backends/claude-code/control/control-frame.ts";
import { checkClaudeCodeOptions } from "../../src/backends/claude-code/options.ts";
import type { ClaudeCodeOptions } from "../../src/backends/claude-code/options.ts";
import { fuzzRuns } from "../effort.ts";

const numRuns = fuzzRuns(3000);

/** Words that steer a parser, beside any text. */
const word = (...words: readonly string[]) =>
  fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...words) }, fc.string());

describe("R1: parsers and encoders take any input", () => {
  it("the control protocol: any frame is answered or skipped, and nothing throws", async () => {
    const frame = fc.record(
      {
        type: word("control_request", "control_response", "control_cancel_request"),
        request_id: fc.oneof(fc.constantFrom("r1", "r2"), fc.jsonValue()),
        request: fc.oneof(
          fc.record({ subtype: word("can_use_tool", "hook_callback", "mcp_message"), input: fc.jsonValue() }),
          fc.jsonValue(),
        ),
        response: fc.oneof(
          fc.record({ subtype: word("success", "error"), request_id: word("r1"), response: fc.jsonValue() }),
          fc.jsonValue(),
        ),
      },
      { requiredKeys: [] },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(frame, { maxLength: 8 }), async (frames) => {
        const written: string[] = [];
        const channel = createControlChannel({
          clock: createVirtualClock(),
          write: (text) => void written.push(text),
          answer: async (request) => (request["subtype"] === "hook_callback" ? undefined : {}),
        });
        for (const value of frames) channel.receive(readControlFrame(value as unknown as JsonRecord));
        await Promise.resolve();
        channel.close("over");
        channel.close("twice");
        for (const text of written) for (const line of text.split("\n")) if (line !== "") JSON.parse(line);
      }),
      { numRuns },
    );
  });

  it("the accumulator: any events give a result that JSON can hold", () => {
    const type = fc.constantFrom(
      "text-delta",
      "start",
      "message",
      "tool-call",
      "tool-result",
      "result",
      "error",
      "warning",
    );
    const event = fc.record({
      type,
      seq: fc.nat(50),
      ts: fc.nat(),
      runId: fc.constant("r"),
      messageId: fc.constantFrom("m1", "m2"),
      index: fc.nat(2),
      text: fc.string(),
      id: fc.constantFrom("m1", "m2"),
      role: fc.constantFrom("assistant", "user"),
      blocks: fc.array(fc.record({ type: fc.constant("text"), text: fc.string() }), { maxLength: 3 }),
      callId: fc.constantFrom("c1", "c2"),
      name: fc.string(),
      input: fc.jsonValue(),
      output: fc.jsonValue(),
      isError: fc.boolean(),
      subtype: word("success", "error_max_turns"),
      usage: fc.record({ inputTokens: fc.nat() }, { requiredKeys: [] }),
      code: fc.constant("provider-error"),
      message: fc.string(),
      terminal: fc.boolean(),
      backend: fc.constant("test"),
      mode: fc.constant("http"),
    });
    fc.assert(
      fc.property(fc.array(event, { maxLength: 12 }), (events) => {
        const accumulator = createAccumulator([]);
        for (const one of events as unknown as AgentEvent[]) {
          if (one.type === "text-delta") accumulator.noteDelta(one.messageId);
          else accumulator.add(one);
        }
        const result = accumulator.result({ ms: 1 }, []);
        expect(["success", "error", "aborted", "interrupted"]).toContain(result.status);
        expect(JSON.parse(JSON.stringify(result))).toEqual(JSON.parse(JSON.stringify(result)));
      }),
      { numRuns },
    );
  });

  it("the arguments of the CLI: a value never becomes an option, or it is refused by name", () => {
    const value = fc.oneof(fc.constantFrom("--version", "-p", "a b", "", "\u0000", "=x", "sonnet"), fc.string());
    const options = fc.record(
      {
        model: value,
        permissionMode: fc.constantFrom("plan", "default", "acceptEdits"),
        allowedTools: fc.array(value, { maxLength: 3 }),
        disallowedTools: fc.array(value, { maxLength: 3 }),
        addDirs: fc.array(value, { maxLength: 2 }),
        systemPrompt: value,
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(options, fc.constantFrom("plain", "control"), (given, mode) => {
        try {
          checkClaudeCodeOptions(given as ClaudeCodeOptions);
        } catch (error) {
          expect(isStartError(error)).toBe(true);
          return;
        }
        const plan = mode === "control" ? ({ mode } as const) : ({ mode: "plain", prompt: "stdin" } as const);
        const { args } = buildArgv(given as ClaudeCodeOptions, plan);
        expect(args.every((arg) => typeof arg === "string" && !arg.includes("\u0000"))).toBe(true);
        for (const [at, arg] of args.entries()) {
          if (arg !== "--version" && arg !== "-p") continue;
          // It stands in the place of a value, right behind the option it belongs to.
          expect(args[at - 1]).toMatch(/^--[a-z-]+$/);
        }
      }),
      { numRuns },
    );
  });

  it("ids: what passes is 1 to 64 letters, digits, - or _, and nothing else", () => {
    const text = fc.oneof(fc.string({ maxLength: 70 }), fc.stringMatching(/^[A-Za-z0-9_-]{0,70}\n?$/));
    fc.assert(
      fc.property(fc.oneof(text, fc.anything()), (given) => {
        const isGood = typeof given === "string" && given.length > 0 && given.length <= 64 && ![...given].some(isBad);
        expect(isId(given as string)).toBe(isGood);
      }),
      { numRuns },
    );
  });
});

const isBad = (letter: string): boolean => !/^[A-Za-z0-9_-]$/.test(letter);

import { describe, expect, test } from "vitest";
import { createVerdictReader } from "./end.ts";

const spent = (input: number, output: number, cost?: number) => ({
  inputTokens: input,
  outputTokens: output,
  cacheReadInputTokens: 1,
  cacheCreationInputTokens: 2,
  thinkingTokens: 3,
  ...(cost !== undefined && { costUSD: cost }),
});
const usageOf = (input: number, output: number) => ({
  inputTokens: input,
  outputTokens: output,
  cacheReadTokens: 1,
  cacheWriteTokens: 2,
  reasoningTokens: 3,
});
const result = (fields: object) => ({ type: "result", subtype: "success", is_error: false, ...fields });

function read(...frames: object[]) {
  const reader = createVerdictReader();
  return frames.map((frame) => reader.read(frame as Readonly<Record<string, unknown>>));
}

describe("S1-125 S3-10: a result", () => {
  test("gives its verdict", () => {
    const frame = result({
      ...{ result: "42", structured_output: { answer: 42 }, num_turns: 2, duration_ms: 12.5, session_id: "s-1" },
      ...{ usage: { input_tokens: 1, output_tokens: 2 }, total_cost_usd: 0.5 },
    });
    expect(read(frame)[0]).toMatchObject({
      type: "result",
      subtype: "success",
      isError: false,
      text: "42",
      structured: { answer: 42 },
      usage: { inputTokens: 1, outputTokens: 2 },
      costUsd: 0.5,
      turns: 2,
      ms: 12.5,
      sessionId: "s-1",
    });
  });

  test("requires only a subtype", () => {
    expect(read({ subtype: "success" })[0]).toMatchObject({ subtype: "success", isError: false, usage: {} });
    expect(read({ type: "result" })).toEqual([undefined]);
  });

  test("F-D6: names the limit of output tokens that ended it", () => {
    const text =
      "API Error: Claude's response exceeded the 5 output token maximum. To configure this behavior, set the CLAUDE_CODE_MAX_OUTPUT_TOKENS environment variable.";
    expect(read(result({ is_error: true, result: text }))[0]).toMatchObject({ subtype: "error_max_tokens" });
    expect(read(result({ result: text }))[0]).toMatchObject({ subtype: "success" });
  });

  test.each([
    ["error_max_turns", true],
    ["success", true],
    ["a_word_of_tomorrow", true],
  ])("S1-126: %s with is_error %s is interpreted as stated", (subtype, isError) => {
    expect(read(result({ subtype, is_error: isError }))[0]).toMatchObject({ subtype, isError });
  });

  test.each(["error_during_execution", "error_max_turns"])(
    "S1-126: %s is a failure even from versions that send is_error false",
    (subtype) => {
      expect(read(result({ subtype, is_error: false }))[0]).toMatchObject({ subtype, isError: true });
    },
  );

  test("a failed one gives the reasons in `errors`", () => {
    expect(read(result({ errors: ["one", 2, "two"] }))[0]?.text).toBe("one\ntwo");
    expect(read(result({ errors: [] }))[0]).not.toHaveProperty("text");
  });
});

describe("C19 S3-16: the cost of a result", () => {
  test("the CLI's share since the last result is used if given, over all models", () => {
    const [first, second] = read(
      result({
        modelUsage: { a: spent(90, 9, 3) },
        model_usage_since_last_result: { a: spent(10, 1, 0.25), b: { inputTokens: 5, costUSD: 0.5 } },
        total_cost_usd: 3,
      }),
      result({ modelUsage: { a: spent(90, 9, 3) }, model_usage_since_last_result: {}, total_cost_usd: 3 }),
    );
    expect(first?.usage).toEqual({ ...usageOf(10, 1), inputTokens: 15 });
    expect(first?.costUsd).toBe(0.75);
    expect([second?.usage, second?.costUsd]).toEqual([{}, 0]);
  });

  test("otherwise it is the difference of the running totals", () => {
    const [first, second, third] = read(
      result({ modelUsage: { a: spent(10, 1) }, total_cost_usd: 0.5, usage: { input_tokens: 999 } }),
      result({ modelUsage: { a: spent(30, 4), b: spent(5, 5) }, total_cost_usd: 2 }),
      result({ modelUsage: { a: spent(3, 1) }, total_cost_usd: 0.25 }),
    );
    expect([first?.usage, first?.costUsd]).toEqual([usageOf(10, 1), 0.5]);
    expect([second?.usage, second?.costUsd]).toEqual([{ ...usageOf(25, 8) }, 1.5]);
    // Totals that decrease have been restarted.
    expect(third?.usage.inputTokens).toBe(3);
    expect(third?.costUsd).toBe(0.25);
  });

  test("without totals it is the usage of the turn; what was not counted stays unknown", () => {
    const own = { usage: { input_tokens: 4, output_tokens: 2 }, modelUsage: {} };
    expect(read(result(own))[0]?.usage).toEqual({ inputTokens: 4, outputTokens: 2 });
    expect(read(result({}))[0]).toMatchObject({ usage: {} });
    expect(read(result({}))[0]).not.toHaveProperty("costUsd");
  });

  test("S1-127: invalid counts are omitted", () => {
    const usage = {
      input_tokens: "4",
      output_tokens: -1,
      cache_read_input_tokens: null,
      cache_creation_input_tokens: 2,
    };
    expect(read(result({ usage }))[0]?.usage).toEqual({ cacheWriteTokens: 2 });
  });
});

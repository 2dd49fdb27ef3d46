import { describe, expect, it } from "vitest";
import { resultItem } from "#domain";
import { explainVerdict } from "./verdict-words.ts";

describe("F-F: a failed result of the CLI says what to do", () => {
  it.each([
    "Failed to authenticate. API Error: 401 Invalid bearer token",
    "Not logged in · Please run /login",
    "Invalid API key · Fix external API key",
    "OAuth token has expired.",
  ])("%s", (said) => {
    const failed = resultItem({ subtype: "success", isError: true, text: said, message: said, usage: {} });
    const sentence = said.endsWith(".") ? said : `${said}.`;
    expect(explainVerdict(failed, {})).toEqual({
      ...failed,
      message: `${sentence} Check ANTHROPIC_API_KEY, or run claude in a terminal and log in.`,
    });
  });

  it("another failure, and an answer that only mentions a login, stay as they are", () => {
    const failed = resultItem({ subtype: "success", isError: true, message: "API Error: 500 Try again.", usage: {} });
    const answer = resultItem({ subtype: "success", isError: false, text: "Not logged in", usage: {} });
    expect(explainVerdict(failed, {})).toBe(failed);
    expect(explainVerdict(answer, {})).toBe(answer);
  });
});

import { ERROR_CODES, EVENT_FAMILIES, START_ERROR_CODES, USAGE_FIELDS, WARNING_CODES } from "#domain";
import { describe, expect, it } from "vitest";

// Users switch on these words. A change here is a change for them: make it on purpose, with a line in CHANGELOG.md.
describe("words users see", () => {
  it("S0-75 S2-8: there are fourteen event types in three families", () => {
    expect(EVENT_FAMILIES).toEqual({
      "text-delta": "delta",
      "thinking-delta": "delta",
      "tool-input-delta": "delta",
      start: "item",
      message: "item",
      "tool-call": "item",
      "tool-result": "item",
      permission: "item",
      handoff: "item",
      notice: "item",
      warning: "item",
      error: "item",
      result: "item",
      done: "done",
    });
    expect(Object.keys(EVENT_FAMILIES)).toHaveLength(14);
  });

  it("codes of errors thrown before a run exists", () => {
    expect(START_ERROR_CODES).toEqual([
      "cli-not-found",
      "unsupported-cli-version",
      "unknown-version",
      "version-detection",
      "spawn",
      "unknown-backend",
      "missing-key",
      "unknown-agent",
      "unknown-format",
      "invalid-format",
      "invalid-option",
      "invalid-input",
      "feature-unavailable",
      "invalid-config",
      "invalid-tape",
      "session-closed",
    ]);
  });

  it("codes of error events", () => {
    expect(ERROR_CODES).toEqual([
      "cli-not-found",
      "unsupported-cli-version",
      "unknown-version",
      "version-detection",
      "spawn",
      "feature-unavailable",
      "json-decode",
      "utf8-decode",
      "line-too-long",
      "buffer-overflow",
      "reply-too-large",
      "too-many-decode-errors",
      "unexpected-message",
      "stream-cut",
      "no-result",
      "process-exited",
      "timeout",
      "stalled",
      "aborted",
      "failed-result",
      "source-failed",
      "tape-difference",
      "cleanup-timeout",
      "store-failed",
      "storage-exceeded",
      "provider-error",
      "provider-unreachable",
      "provider-overloaded",
      "provider-rate-limited",
      "provider-auth",
      "provider-invalid-request",
      "refused",
      "content-filtered",
      "malformed-tool-call",
      "prompt-blocked",
      "guard-denied",
      "control-failed",
      "run-parked",
      "session-id-unknown",
      "text-retracted",
    ]);
  });

  it("codes of warnings", () => {
    expect(WARNING_CODES).toEqual([
      "unparseable-cli-version",
      "version-detection-failed",
      "clean-exit-no-result",
      "non-zero-exit-after-result",
      "unexpected-message-after-result",
      "incomplete-last-line",
      "input-cut",
      "background-left",
      "deprecated-option",
      "feature-ignored",
      "option-ignored",
      "callback-shadowed",
      "events-dropped",
      "tool-call-incomplete",
      "unknown-stop-reason",
      "event-refused",
      "hook-failed",
      "guard-failed",
      "permission-failed",
      "nobody-can-answer",
      "rule-never-matches",
      "git-not-isolated",
      "tape-difference",
    ]);
  });

  it("fields of a usage", () => {
    expect(USAGE_FIELDS).toEqual([
      "inputTokens",
      "outputTokens",
      "cacheReadTokens",
      "cacheWriteTokens",
      "reasoningTokens",
    ]);
  });

  it("every code is kebab-case", () => {
    const words = [...Object.keys(EVENT_FAMILIES), ...START_ERROR_CODES, ...ERROR_CODES, ...WARNING_CODES];
    for (const word of words) expect(word).toMatch(/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/);
  });
});

import { describe, expect, it } from "vitest";
import { adviceFor } from "./advice.ts";

const NO_KEY =
  'X_KEY is not set, so x cannot be asked. Set it, or pass the option x: { apiKey }. Without a key the backend "offline" works.';
const NO_CLI =
  'The Claude Code CLI was not found: no "claude" in PATH (/bin). Install it with npm install -g @anthropic-ai/claude-code, or set executable to its path.';
const NOBODY =
  'Set permission, listen with run.on("permission", …) and call run.answer, or name the call in permissions.allow.';

describe("F-F advice fits the shell", () => {
  it.each([
    ["The run reached limits.turns (1). Raise it.", "The run reached --max-turns (1). Raise it."],
    ["or allow more time (limits.idleMs).", "or allow more time (limits.idleMs of the configuration)."],
    ["set claudeCode.effort", "set backends.claudeCode.effort of the configuration"],
    ["session.resume is ignored on offline", "--resume is ignored on offline"],
    ["reached maxTokens (1). Raise it", "reached --max-tokens (1). Raise it"],
    ["a model's max_tokens, maxTokensX", "a model's max_tokens, maxTokensX"],
    [
      NO_KEY,
      'X_KEY is not set, so x cannot be asked. Set it in your shell with export. Without a key the backend "offline" works.',
    ],
    [
      "X_KEY is not set. Set it, or pass the option x: { apiKey }.",
      "X_KEY is not set. Set it in your shell with export.",
    ],
    [
      NO_CLI,
      'The Claude Code CLI was not found: no "claude" in PATH (/bin). Install it with npm install -g @anthropic-ai/claude-code, or give its path with --claude-executable.',
    ],
    [NOBODY, "Run it in a terminal, where you are asked, or name the call with --allow."],
    ["claudeCode is ignored on offline: why.", "What is set for Claude Code is ignored on offline: why."],
    [
      'targets has "offline" twice. Give each its own name: { name, target, options }.',
      '--backend names "offline" twice. Give each its own name, such as --backend first=offline.',
    ],
    ['baseline is "c". It must be one of the targets: a, b.', '--baseline is "c". Give one of: a, b.'],
    [
      "no difference can be significant. Ask more often (repeat).",
      "no difference can be significant. Ask more often (--repeat).",
    ],
    [
      'record the tape again, or set replay: { tape, onDifference: "warn" } to go on with the recorded answers.',
      "record the tape again, or go on with the recorded answers with --on-difference warn.",
    ],
    ['host is "0.0.0.0", which other machines can reach', '--host is "0.0.0.0", which other machines can reach'],
  ])("%s", (text, shown) => expect(adviceFor("shell", text)).toBe(shown));
});

describe("F-F advice fits the page", () => {
  it.each([
    [
      "The run reached limits.turns (1). Raise it, or give the agent less to do in one run.",
      "The run reached the limit of turns (1). Ask for less in one message, or ask the operator of this server to raise it.",
    ],
    [
      "The answer was cut: the model reached maxTokens (9). Raise it, or ask for a shorter answer.",
      "The answer was cut: the model reached the limit of output tokens (9). Ask for a shorter answer, or ask the operator of this server to raise it.",
    ],
    [
      "The answer was cut by a limit of the model itself (X), which maxTokens does not change. Shorten the conversation, or use a model with a larger context.",
      "The answer was cut by a limit of the model itself (X). Begin a new thread, or choose a model with a larger context.",
    ],
    [
      "x reached limits.idleMs: it was silent for 60 s. Try again, or raise it if answers may take this long.",
      "x reached the limit of silence: it was silent for 60 s. Try again, or ask the operator of this server to allow more time.",
    ],
    [
      NO_KEY,
      "X_KEY is not set, so x cannot be asked. Ask the operator of this server to set it, or choose another model.",
    ],
    [
      NO_CLI,
      'The Claude Code CLI was not found: no "claude" in PATH (/bin). Ask the operator of this server to install it (npm install -g @anthropic-ai/claude-code).',
    ],
    [NOBODY, "Ask the operator of this server to allow it."],
    [
      "You have 9 threads, and 9 are allowed (limits.threadsPerTenant). Remove some first.",
      "You have 9 threads, and 9 are allowed. Remove some first.",
    ],
    ["set claudeCode.effort", "set a setting of this server"],
    ["Try again later, or ask another backend.", "Try again later, or choose another model."],
    [
      "Not logged in. Check ANTHROPIC_API_KEY, or run claude in a terminal and log in.",
      "Not logged in. Ask the operator of this server to check ANTHROPIC_API_KEY, or to run claude in a terminal and log in.",
    ],
  ])("%s", (text, shown) => expect(adviceFor("page", text)).toBe(shown));
});

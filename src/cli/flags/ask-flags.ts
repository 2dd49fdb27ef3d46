import { type Command, Option } from "commander";
import type { ShowFlags } from "../show.ts";
import { THINKING_MODES } from "./normalise.ts";
import { addText, parseChoice, parseCount, parseDollars, parseDuration, requireText } from "./values.ts";

/** The flags of every command that asks an agent. */
export interface AskFlags extends ShowFlags {
  readonly backend?: string;
  readonly model?: string;
  readonly instructions?: string;
  readonly system?: string;
  /** A file, or `false` for none at all. */
  readonly tools?: string | boolean;
  readonly allow?: readonly string[];
  readonly deny?: readonly string[];
  readonly ask?: readonly string[];
  readonly maxTurns?: number;
  readonly maxTokens?: number;
  readonly maxCost?: number;
  readonly maxReplyBytes?: number;
  readonly timeout?: number;
  readonly thinkingTokens?: number;
  readonly resume?: string;
  readonly continue?: boolean;
  readonly fork?: boolean;
  readonly claudeExecutable?: string;
  readonly mode?: "auto" | "plain" | "control";
  readonly permissionMode?: string;
  readonly strict?: boolean;
  readonly config?: string | boolean;
}

const PERMISSION_MODES = ["default", "acceptEdits", "bypassPermissions", "dontAsk", "plan"] as const;

/** Adds the flags for the question, the agent and its tools. */
export function addAskFlags(command: Command): Command {
  return command
    .option("-b, --backend <backend>", "who answers, as provider/model (default: offline)", requireText)
    .option("-m, --model <model>", "another model of the same backend", requireText)
    .option("-i, --instructions <text>", "instructions for the agent; @file reads a file")
    .addOption(new Option("--system <text>", "the same as --instructions").conflicts("instructions"))
    .option("-t, --tools <file>", "a module that exports tools", requireText)
    .option("--no-tools", "offer no tools")
    .option("--allow <rule>", "a tool that may run: Read, Bash(git *); may be repeated", addText)
    .option("--deny <rule>", "a tool that may not run; wins over the others; may be repeated", addText)
    .option("--ask <rule>", "a tool you are asked about; may be repeated", addText)
    .option("--max-turns <n>", "replies of the model", parseCount)
    .option("--max-tokens <n>", "length of one reply", parseCount)
    .option("--max-cost <dollars>", "what the run may cost", parseDollars)
    .option("--max-reply-bytes <n>", "bytes of one reply (default 16777216)", parseCount)
    .option("--timeout <time>", "how long the run may take: 500ms, 30s, 5m", parseDuration)
    .option("--thinking-tokens <n>", "lets the model think first, with at most this many tokens", parseCount)
    .option("--resume <session>", "continues an earlier session of the agent", requireText)
    .addOption(new Option("--continue", "continues its latest session in this folder").conflicts("resume"))
    .option("--fork", "with --resume or --continue: in a copy of that session")
    .option("--claude-executable <path>", "the Claude Code CLI to use", requireText)
    .option(
      "--mode <mode>",
      "how Millrace communicates with Claude Code: auto, plain, control",
      parseChoice(["auto", "plain", "control"]),
    )
    .option("--permission-mode <mode>", `of Claude Code: ${PERMISSION_MODES.join(", ")}`, parseChoice(PERMISSION_MODES))
    .option("--strict", "refuse to start when something asked for is not available")
    .option("--config <file>", "configuration to use instead of the one that is found", requireText)
    .option("--no-config", "use none");
}

/** Adds the flags for the output. */
export function addShowFlags(command: Command): Command {
  return command
    .option("--thinking [how]", `what the model thinks: ${THINKING_MODES.join(", ")}`, parseChoice(THINKING_MODES))
    .addOption(new Option("--show-thinking", "the same as --thinking show").hideHelp())
    .option("--show-all", "everything there is: starts, notices, allowed calls")
    .option("--show-json", "every event on stderr as well, one per line")
    .option("--append-json [file]", "every event into a file as well (default: <date>-stream.jsonl)")
    .option("--no-stream", "show each message when it is complete")
    .option("-q, --quiet", "text and errors alone")
    .option("--no-color", "plain text");
}

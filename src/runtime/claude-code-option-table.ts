import type { ClaudeCodeOptions } from "../backends/claude-code/options.ts";
import { numberedThinking } from "./numbered-thinking.ts";
import { forCli, onlyIf, type Rows, unlessGiven } from "./option-row.ts";

/** The options of Claude Code; docs/claude-code.md explains them. */
export const CLAUDE_CODE_ROWS: Rows<ClaudeCodeOptions, "claudeCode."> = {
  "claudeCode.model": forCli(
    onlyIf("unless the backend is given as `claude-code/<model>`", ({ backend: { model }, options }) =>
      model === options.claudeCode?.model ? undefined : `the run asks claude-code/${model}, which takes precedence`,
    ),
  ),
  "claudeCode.fallbackModel": forCli(unlessGiven("fallback")),
  "claudeCode.maxTurns": forCli(unlessGiven("limits.turns")),
  "claudeCode.maxBudgetUsd": forCli(unlessGiven("limits.costUsd")),
  "claudeCode.maxThinkingTokens": forCli(
    onlyIf(`${numberedThinking.note}; without \`thinkingTokens\``, (given) =>
      given.options.thinkingTokens === undefined
        ? numberedThinking.judge(given)
        : "thinkingTokens is given too, and takes precedence",
    ),
  ),
  "claudeCode.effort": forCli(),
  "claudeCode.systemPrompt": forCli(),
  "claudeCode.appendSystemPrompt": forCli(unlessGiven("claudeCode.systemPrompt")),
  "claudeCode.allowedTools": forCli(),
  "claudeCode.disallowedTools": forCli(
    onlyIf('unless `toolFilter` is `"allow-first"`', ({ options: { claudeCode = {} } }) =>
      claudeCode.toolFilter === "allow-first" && (claudeCode.allowedTools ?? []).length > 0
        ? `claudeCode.allowedTools wins by toolFilter, and no longer denied are ${(claudeCode.disallowedTools ?? []).join(", ")}`
        : undefined,
    ),
  ),
  "claudeCode.toolFilter": forCli(
    onlyIf("with `allowedTools` and `disallowedTools`", ({ options: { claudeCode = {} } }) =>
      claudeCode.allowedTools !== undefined && claudeCode.disallowedTools !== undefined
        ? undefined
        : "it decides between claudeCode.allowedTools and claudeCode.disallowedTools, and not both are given",
    ),
  ),
  "claudeCode.tools": forCli(),
  "claudeCode.mcpConfig": forCli(),
  "claudeCode.strictMcpConfig": forCli(),
  "claudeCode.permissionMode": forCli(),
  "claudeCode.permissionPromptTool": {
    ...forCli(),
    "claude-code (control)": "permission questions are asked over the control channel, so the tool is never asked",
  },
  "claudeCode.resume": forCli(unlessGiven("session.resume")),
  "claudeCode.continue": forCli(
    onlyIf("without a session to resume", ({ options: { claudeCode, session } }) =>
      claudeCode?.resume === undefined && session?.resume === undefined
        ? undefined
        : "the session to go on with is named by resume, which takes precedence",
    ),
  ),
  "claudeCode.forkSession": forCli(
    onlyIf("with a session to go on with", ({ options: { claudeCode, session } }) =>
      [claudeCode?.resume, session?.resume, claudeCode?.continue, session?.continue].some((one) => one !== undefined)
        ? undefined
        : "there is no session to fork. Set claudeCode.resume or claudeCode.continue as well",
    ),
  ),
  "claudeCode.sessionId": forCli(
    onlyIf("for a session that begins or is forked", ({ options: { claudeCode, session } }) =>
      [claudeCode?.resume, session?.resume, claudeCode?.continue, session?.continue].every(
        (one) => one === undefined,
      ) ||
      claudeCode?.forkSession === true ||
      session?.fork === true
        ? undefined
        : "a resumed session keeps its id. Set claudeCode.forkSession as well to give it a new one",
    ),
  ),
  "claudeCode.persistSession": forCli(),
  "claudeCode.cwd": forCli(unlessGiven("cwd")),
  "claudeCode.addDirs": forCli(),
  "claudeCode.env": forCli(),
  "claudeCode.executable": forCli(),
  "claudeCode.mode": forCli(),
  "claudeCode.attachments": forCli(),
  "claudeCode.slashCommands": forCli(),
  "claudeCode.repositoryGit": forCli(),
  "claudeCode.settingSources": forCli(),
  "claudeCode.settings": forCli(),
  "claudeCode.includePartialMessages": forCli(),
  "claudeCode.includeHookEvents": forCli(),
  "claudeCode.agents": forCli(),
  "claudeCode.agent": forCli(),
  "claudeCode.jsonSchema": forCli(unlessGiven("output")),
  "claudeCode.betas": forCli(),
  "claudeCode.pluginDirs": forCli(),
  "claudeCode.extraArgs": forCli(),
  "claudeCode.skipVersionCheck": forCli(),
  "claudeCode.permissiveVersionCheck": forCli(),
  "claudeCode.strictExitStatus": forCli(),
  "claudeCode.keepBackground": forCli(),
  "claudeCode.maxLineBytes": forCli(),
  "claudeCode.stderr": forCli(),
  "claudeCode.spawn": forCli(),
  "claudeCode.watchdog": forCli(),
};

import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AgentEvent, RunResult } from "#domain";
import type { EmulatorScript } from "#emulator";
import type { RunOptions } from "#runtime";
import { tool } from "#tools";
import { createSpanNotes } from "./span-notes.ts";
import type { CLAUDE_CODE_ROWS } from "../../src/runtime/claude-code-option-table.ts";
import type { SupportColumn } from "../../src/runtime/option-row.ts";
import type { SupportedOption } from "../../src/runtime/option-table.ts";

/** What a run with an option showed. */
export interface Played {
  readonly log: readonly AgentEvent[];
  readonly result: RunResult | undefined;
  /** Why it did not start. */
  readonly refusal: string | undefined;
  /** What hosts were asked: address, headers and body of each request, as text. */
  readonly requests: readonly string[];
  /** What tools, hooks and callbacks of the test have noted. */
  readonly marks: readonly string[];
  /** Whether the tape was written. It goes to the disk itself. */
  readonly hasTape: boolean;
}

/** How one sees on a model that an option works. The same run without the option must not show it. */
export interface Proof {
  /** The option, and what is needed to see it. */
  readonly options: RunOptions;
  readonly script?: EmulatorScript;
  /** It is an option of runs in a store. */
  readonly isStored?: true;
  /** Stands in a request. */
  readonly told?: RegExp;
  readonly shows?: (played: Played) => boolean;
  /** Where it cannot be seen although it works, and why. */
  readonly unseen?: { readonly [Column in SupportColumn]?: string };
}

/** One target of each provider, by the name of its column. */
export const MODELS = {
  offline: "offline",
  anthropic: "anthropic/claude-sonnet-4-5",
  openai: "openai/gpt-5",
  openrouter: "openrouter/some/model",
  deepseek: "deepseek/deepseek-chat",
  vllm: "vllm/llama",
  modal: "modal/llama",
  google: "google/gemini-2.5-pro",
} as const;

export const TAPE = join(tmpdir(), `millrace-proof-${process.pid}.tape`);

/** What the tools and callbacks of a proof note. Emptied before each run. */
export const marks: string[] = [];

const add = tool("add", "Add two numbers", { a: "number", b: "number" }, ({ a, b }, { context }) => {
  marks.push(`ran with ${JSON.stringify(context)}`);
  return a + b;
});

const slow = tool("add", "Add two numbers", { a: "number", b: "number" }, async ({ a, b }) => {
  marks.push("begin");
  for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  marks.push("end");
  return a + b;
});

const never = tool("add", "Add two numbers", { a: "number", b: "number" }, (_, { signal }) => {
  return new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(new Error("aborted"))));
});

const read = tool("read", "Read a file", { path: "string" }, () => {
  marks.push("ran");
  return "";
});

const ran = ({ marks: noted }: Played): boolean => noted.some((mark) => mark.startsWith("ran"));
const failedBy =
  (subtype: RegExp) =>
  ({ result }: Played): boolean =>
    result !== undefined && subtype.test(`${result.subtype} ${result.error?.code ?? ""}`);
const soon = ({ result }: Played): boolean => result !== undefined && result.ms < 30_000;

const calls = (count: number): EmulatorScript => ({
  rules: [
    {
      match: { turn: 0 },
      reply: { toolCalls: Array.from({ length: count }, (_, at) => ({ name: "add", input: { a: at, b: 1 } })) },
    },
    { reply: { text: "done" } },
  ],
});

/** Fails so many times, then answers. */
const failing = (times: number): EmulatorScript => ({
  rules: [{ fault: { status: 500, times }, reply: { text: "well" } }],
});

/** Takes nothing for an answer. */
const picky = {
  "~standard": {
    version: 1,
    vendor: "test",
    validate: () => ({ issues: [{ message: "not good enough" }] }),
  },
} as const;
const told = { type: "object", properties: { answer: { type: "number", description: "TOLD" } } } as const;

const { telemetry } = createSpanNotes(marks);
const noted = (pattern: RegExp) => (played: Played) => played.marks.some((mark) => pattern.test(mark));

type Provider = "anthropic" | "openai" | "openrouter" | "deepseek" | "vllm" | "modal" | "google";

function provider<Name extends Provider>(name: Name) {
  const address = "http://elsewhere.test/v1";
  const of = (given: object, trace: RegExp): Proof => ({
    options: { [name]: given },
    told: trace,
  });
  return {
    [name]: of({ headers: { "x-proof": "whole" } }, /"x-proof":"whole"/),
    [`${name}.headers`]: of({ headers: { "x-proof": "header" } }, /"x-proof":"header"/),
    [`${name}.apiKey`]: of({ apiKey: "proof-key" }, /proof-key/),
    [`${name}.baseUrl`]: of({ baseUrl: address }, /elsewhere\.test/),
  } as { readonly [Option in Name | `${Name}.${"headers" | "apiKey" | "baseUrl"}`]: Proof };
}

const AGENTS_ONLY: Proof = { options: {} };

/**
 * One proof for every option that works on models. An option without one does not compile. Those that no model carries
 * out have `AGENTS_ONLY`: that they are warned of is shown in options.test.ts.
 */
export const PROOFS: { readonly [Option in SupportedOption]: Proof } = {
  instructions: { options: { instructions: "Be brief." }, told: /Be brief\./ },
  tools: { options: { tools: [add] }, shows: ran },
  toolChoice: { options: { tools: [add], toolChoice: "none" }, shows: (played) => !ran(played) },
  toolConcurrency: {
    options: { tools: [slow], toolConcurrency: 1 },
    script: calls(2),
    shows: ({ marks: all }) => all.join() === "begin,end,begin,end",
  },
  parallelToolCalls: { options: { tools: [add], parallelToolCalls: false }, told: /parallel/ },
  output: { options: { output: { total: "number" } }, told: /"total"/ },
  "output.schema": {
    options: { output: { schema: { total: "number" }, repairs: 0 } },
    told: /"total"/,
  },
  "output.jsonSchema": { options: { output: { schema: picky, jsonSchema: told, repairs: 0 } }, told: /TOLD/ },
  "output.repairs": {
    options: { output: { schema: picky, jsonSchema: told, repairs: 1 } },
    shows: ({ requests }) => requests.length === 2,
  },
  hooks: {
    options: { tools: [add], hooks: { "before-tool": [() => void marks.push("hook")] } as never },
    shows: noted(/^hook$/),
  },
  permission: {
    options: { tools: [add], permission: ({ name }) => ({ allow: marks.push(`asked ${name}`) > 0 }) as never },
    shows: noted(/^asked add$/),
  },
  permissions: { options: { tools: [add], permissions: { deny: ["add"] } }, shows: (played) => !ran(played) },
  "permissions.deny": { options: { tools: [add], permissions: { deny: ["add"] } }, shows: (played) => !ran(played) },
  "permissions.allow": {
    options: { tools: [add], permissions: { allow: ["add"], otherwise: "deny" } },
    shows: ran,
  },
  "permissions.ask": {
    options: {
      tools: [add],
      permissions: { ask: ["add"] },
      permission: ({ reason }) => ({ allow: marks.push(`because ${reason}`) > 0 }) as never,
    },
    shows: noted(/^because .*requires a person to decide/),
  },
  "permissions.otherwise": {
    options: { tools: [add], permissions: { otherwise: "deny" } },
    shows: (played) => !ran(played),
  },
  guards: {
    options: { guards: [{ name: "g", place: "input", check: () => ({ deny: "no" }) }] },
    shows: failedBy(/guard-denied/),
  },
  outputMode: {
    options: { guards: [{ name: "g", place: "output", check: () => undefined }], outputMode: "buffer" },
    shows: ({ result }) => result?.status === "success",
  },
  "limits.turns": { options: { tools: [add], limits: { turns: 1 } }, shows: failedBy(/max_turns/) },
  "limits.handoffs": {
    options: { limits: { handoffs: 2 } },
    shows: ({ log }) => log.filter(({ type }) => type === "handoff").length === 2,
  },
  "limits.costUsd": {
    options: { tools: [add], limits: { costUsd: 1e-9 } },
    shows: failedBy(/budget/),
    unseen: {
      offline: "it costs nothing",
      openrouter: "no price is known, which is warned of after the first reply",
      modal: "no price is known, which is warned of after the first reply",
      vllm: "no price is known, which is warned of after the first reply",
    },
  },
  "limits.tokens": { options: { tools: [add], limits: { tokens: 1 } }, shows: failedBy(/tokens/) },
  "limits.timeoutMs": {
    options: { tools: [never], limits: { timeoutMs: 1000 } },
    shows: (played) => soon(played) && failedBy(/timeout/)(played),
  },
  "limits.idleMs": {
    options: { limits: { idleMs: 1000 }, retry: false },
    script: { rules: [{ reply: { text: "a long answer" }, fault: { stallAfterEvents: 2 } }] },
    shows: soon,
  },
  "limits.toolMs": { options: { tools: [never], limits: { toolMs: 1000 } }, shows: soon },
  "limits.replyBytes": { options: { limits: { replyBytes: 4 } }, shows: ({ result }) => result?.status === "error" },
  "limits.permissionMs": {
    options: { tools: [add], limits: { permissionMs: 1000 }, permission: () => new Promise(() => undefined) },
    shows: soon,
  },
  "limits.parkMs": {
    options: { tools: [add], permissions: { ask: ["add"] }, limits: { parkMs: 1000 } },
    isStored: true,
    shows: (played) => soon(played) && played.result?.status === "waiting",
  },
  context: { options: { tools: [add], context: { tenant: 7 } }, shows: noted(/ran with \{"tenant":7\}/) },
  signal: { options: { signal: AbortSignal.abort() }, shows: ({ result }) => result?.status === "aborted" },
  retry: { options: { retry: false }, script: failing(1), shows: ({ requests }) => requests.length === 1 },
  "retry.attempts": {
    options: { retry: { attempts: 2 } },
    script: failing(9),
    shows: ({ requests }) => requests.length === 2,
  },
  "retry.totalMs": {
    options: { retry: { totalMs: 0 } },
    script: failing(1),
    shows: ({ requests }) => requests.length === 1,
  },
  "retry.afterFirstToken": {
    options: { retry: { afterFirstToken: true } },
    script: { rules: [{ reply: { text: "a long answer ".repeat(40) }, fault: { cutAfterBytes: 3000, times: 1 } }] },
    shows: ({ result }) => result?.status === "success",
  },
  fallback: {
    options: { fallback: "openai/second", retry: false },
    script: { rules: [{ match: { model: "second" }, reply: { text: "second" } }, { fault: { status: 529 } }] },
    shows: ({ result }) => result?.text === "second",
  },
  maxTokens: { options: { maxTokens: 4321 }, told: /4321/ },
  temperature: { options: { temperature: 0.25 }, told: /0\.25/ },
  thinkingTokens: { options: { thinkingTokens: 2345 }, told: /2345|reasoning_effort/ },
  "session.resume": AGENTS_ONLY,
  "session.continue": AGENTS_ONLY,
  "session.fork": AGENTS_ONLY,
  "session.orReplay": AGENTS_ONLY,
  cwd: {
    options: { cwd: "/elsewhere", tools: [read], permissions: { deny: ["read(private/*)"] } },
    script: {
      rules: [
        { match: { turn: 0 }, reply: { toolCalls: [{ name: "read", input: { path: "/elsewhere/private/key" } }] } },
        { reply: { text: "done" } },
      ],
    },
    shows: (played) => !ran(played),
  },
  env: AGENTS_ONLY,
  claudeCode: AGENTS_ONLY,
  keepRaw: {
    options: { keepRaw: true },
    shows: ({ log }) => log.some(({ raw }) => raw !== undefined && raw.json !== ""),
  },
  strict: { options: { strict: true, cwd: "/tmp" }, shows: ({ refusal }) => refusal !== undefined },
  record: { options: { record: TAPE }, shows: ({ hasTape }) => hasTape },
  // The tape is of another question: whoever is answered from it learns that.
  replay: { options: { replay: TAPE }, shows: failedBy(/tape-difference/) },
  "replay.tape": { options: { replay: { tape: TAPE } }, shows: failedBy(/tape-difference/) },
  "replay.onDifference": {
    options: { replay: { tape: TAPE, onDifference: "warn" } },
    shows: ({ result }) => result?.status === "success" && JSON.stringify(result.warnings).includes("tape-difference"),
  },
  "replay.allowTorn": {
    options: { replay: { tape: TAPE, onDifference: "warn", allowTorn: true } },
    shows: ({ refusal }) => refusal === undefined,
  },
  "replay.allowEdited": {
    options: { replay: { tape: TAPE, onDifference: "warn", allowEdited: true } },
    shows: ({ refusal }) => refusal === undefined,
  },
  telemetry: { options: telemetry({}), shows: noted(/^span/) },
  "telemetry.tracer": { options: telemetry({}), shows: noted(/^span/) },
  "telemetry.attributes": { options: telemetry({ attributes: { tenant: "seven" } }), shows: noted(/"tenant":"seven"/) },
  "telemetry.meter": { options: telemetry({ meter: true }), shows: noted(/^measured/) },
  "telemetry.recordContent": { options: telemetry({ recordContent: true }), shows: noted(/25 \+ 17/) },
  ...provider("anthropic"),
  ...provider("openai"),
  ...provider("openrouter"),
  ...provider("deepseek"),
  ...provider("vllm"),
  ...provider("modal"),
  ...provider("google"),
};

/** How one sees on the CLI that an option works: what it is started with, compared to a start without the option. */
export interface CliProof {
  readonly given: NonNullable<RunOptions["claudeCode"]>;
  /** Options of Claude Code that are there with and without it. */
  readonly beside?: NonNullable<RunOptions["claudeCode"]>;
  /** Stands in the arguments, variables, folder or input of a process that is started with it, and in none without. */
  readonly started?: RegExp;
  /** Stands in those of a start without it only. */
  readonly notStarted?: RegExp;
  readonly shows?: (played: { readonly log: readonly AgentEvent[]; readonly starts: readonly string[] }) => boolean;
  readonly prompt?: string;
  /** What the CLI says its version is, and how it ends. */
  readonly version?: string;
  readonly exit?: number;
  /** Modes in which it cannot be seen here although it works, and why. */
  readonly unseen?: { readonly plain?: string; readonly control?: string };
}

/** Hears the remark that the scripted CLI makes. */
function heardStderr(): CliProof {
  const heard: string[] = [];
  return {
    given: { stderr: (line) => void heard.push(line) },
    shows: () => heard.splice(0).includes("a remark"),
  };
}

const UUID = "11111111-2222-4333-8444-555555555555";

export const CLI_PROOFS: { readonly [Option in keyof typeof CLAUDE_CODE_ROWS]: CliProof } = {
  "claudeCode.model": { given: { model: "opus" }, started: /--model opus/ },
  "claudeCode.fallbackModel": { given: { fallbackModel: "haiku" }, started: /--fallback-model haiku/ },
  "claudeCode.maxTurns": { given: { maxTurns: 7 }, started: /--max-turns 7/ },
  "claudeCode.maxBudgetUsd": { given: { maxBudgetUsd: 3 }, started: /--max-budget-usd 3/ },
  "claudeCode.maxThinkingTokens": {
    given: { maxThinkingTokens: 2345 },
    beside: { model: "claude-sonnet-4-6" },
    started: /--max-thinking-tokens 2345/,
  },
  "claudeCode.effort": { given: { effort: "low" }, started: /--effort low/ },
  "claudeCode.systemPrompt": { given: { systemPrompt: "Replaced." }, started: /--system-prompt Replaced\./ },
  "claudeCode.appendSystemPrompt": {
    given: { appendSystemPrompt: "Added." },
    started: /--append-system-prompt Added\./,
  },
  "claudeCode.allowedTools": { given: { allowedTools: ["Read"] }, started: /--allowed-tools Read/ },
  "claudeCode.disallowedTools": { given: { disallowedTools: ["Bash"] }, started: /--disallowed-tools Bash/ },
  "claudeCode.toolFilter": {
    given: { toolFilter: "allow-first" },
    beside: { allowedTools: ["Read"], disallowedTools: ["Bash"] },
    notStarted: /--disallowed-tools Bash/,
  },
  "claudeCode.tools": { given: { tools: ["Read"] }, started: /--tools Read/ },
  "claudeCode.mcpConfig": { given: { mcpConfig: "/servers.json" }, started: /--mcp-config \/servers\.json/ },
  "claudeCode.strictMcpConfig": { given: { strictMcpConfig: false }, notStarted: /--strict-mcp-config/ },
  "claudeCode.permissionMode": { given: { permissionMode: "acceptEdits" }, started: /--permission-mode acceptEdits/ },
  "claudeCode.permissionPromptTool": {
    given: { permissionPromptTool: "mcp__a__b" },
    started: /--permission-prompt-tool mcp__a__b/,
  },
  "claudeCode.resume": { given: { resume: "session-1" }, started: /--resume session-1/ },
  "claudeCode.continue": { given: { continue: true }, started: /--continue/ },
  "claudeCode.forkSession": { given: { forkSession: true }, beside: { continue: true }, started: /--fork-session/ },
  "claudeCode.sessionId": { given: { sessionId: UUID }, started: new RegExp(`--session-id ${UUID}`) },
  "claudeCode.persistSession": { given: { persistSession: false }, started: /--no-session-persistence/ },
  "claudeCode.cwd": { given: { cwd: "/elsewhere" }, started: /"cwd":"\/elsewhere"/ },
  "claudeCode.addDirs": { given: { addDirs: ["/more"] }, started: /--add-dir \/more/ },
  "claudeCode.env": { given: { env: { PROOF: "given" } }, started: /"PROOF":"given"/ },
  "claudeCode.executable": { given: { executable: "/opt/other" }, started: /"executable":"\/opt\/other"/ },
  "claudeCode.mode": {
    given: { mode: "control" },
    started: /control_request/,
    unseen: { plain: "it is what this column is" },
  },
  "claudeCode.attachments": { given: { attachments: true }, notStarted: /CLAUDE_CODE_DISABLE_ATTACHMENTS/ },
  "claudeCode.slashCommands": { given: { slashCommands: true }, prompt: "/compact", notStarted: /The user says:/ },
  "claudeCode.repositoryGit": { given: { repositoryGit: true }, notStarted: /GIT_CONFIG/ },
  "claudeCode.settingSources": { given: { settingSources: ["user"] }, started: /--setting-sources user/ },
  "claudeCode.settings": { given: { settings: "/settings.json" }, started: /--settings \/settings\.json/ },
  "claudeCode.includePartialMessages": {
    given: { includePartialMessages: false },
    notStarted: /--include-partial-messages/,
  },
  "claudeCode.includeHookEvents": { given: { includeHookEvents: true }, started: /--include-hook-events/ },
  "claudeCode.agents": {
    given: { agents: { critic: { description: "d", prompt: "p" } } },
    started: /--agents \{\\"critic/,
  },
  "claudeCode.agent": { given: { agent: "critic" }, started: /--agent critic/ },
  "claudeCode.jsonSchema": { given: { jsonSchema: { type: "object" } }, started: /--json-schema/ },
  "claudeCode.betas": { given: { betas: ["beta-1"] }, started: /--betas beta-1/ },
  "claudeCode.pluginDirs": { given: { pluginDirs: ["/plugin"] }, started: /--plugin-dir \/plugin/ },
  "claudeCode.extraArgs": { given: { extraArgs: { proof: "x" } }, started: /--proof=x/ },
  "claudeCode.skipVersionCheck": {
    given: { skipVersionCheck: true },
    shows: ({ starts }) => !starts.some((start) => start.includes("--version")),
  },
  "claudeCode.permissiveVersionCheck": {
    given: { permissiveVersionCheck: true },
    version: "no version",
    shows: ({ log }) => log.some((event) => event.type === "result"),
  },
  "claudeCode.strictExitStatus": {
    given: { strictExitStatus: true },
    exit: 3,
    shows: ({ log }) => log.some((event) => event.type === "error"),
  },
  "claudeCode.keepBackground": {
    given: { keepBackground: true },
    unseen: {
      plain: "F-B4 in test/claude-code/ends.test.ts shows it, with shells that are left running",
      control: "F-B4 in test/claude-code/ends.test.ts shows it, with shells that are left running",
    },
  },
  "claudeCode.maxLineBytes": {
    given: { maxLineBytes: 40 },
    shows: ({ log }) => log.some((event) => event.type === "error" && event.code === "buffer-overflow"),
  },
  "claudeCode.stderr": heardStderr(),
  "claudeCode.spawn": {
    given: { spawn: () => Promise.reject(new Error("started elsewhere")) },
    shows: ({ log }) => log.some((event) => event.type === "error" && event.message.includes("started elsewhere")),
  },
  "claudeCode.watchdog": { given: { watchdog: false }, notStarted: /watchdog guard/ },
};

/** Options of a run that Claude Code is told: what it is started with, compared to a start without the option. */
export const RUN_ON_CLI: {
  readonly [Option in SupportedOption]?: {
    readonly options: RunOptions;
    readonly started: RegExp;
    readonly mode?: "control";
  };
} = {
  instructions: { options: { instructions: "Be brief." }, started: /--append-system-prompt Be brief\./ },
  tools: { options: { tools: [add] }, started: /mcp__millrace/, mode: "control" },
  hooks: {
    options: { hooks: { "before-tool": [() => undefined] } as never },
    started: /PreToolUse/,
    mode: "control",
  },
  permission: {
    options: { permission: () => ({ allow: true }) },
    started: /PreToolUse|prompt-tool stdio/,
    mode: "control",
  },
  "permissions.deny": { options: { permissions: { deny: ["Bash"] } }, started: /PreToolUse/, mode: "control" },
  output: { options: { output: { total: "number" } }, started: /--json-schema .*total/ },
  "limits.turns": { options: { limits: { turns: 7 } }, started: /--max-turns 7/ },
  "limits.costUsd": { options: { limits: { costUsd: 3 } }, started: /--max-budget-usd 3/ },
  maxTokens: { options: { maxTokens: 4321 }, started: /"CLAUDE_CODE_MAX_OUTPUT_TOKENS":"4321"/ },
  thinkingTokens: { options: { thinkingTokens: 2345 }, started: /--max-thinking-tokens 2345/ },
  retry: { options: { retry: false }, started: /"CLAUDE_CODE_MAX_RETRIES":"0"/ },
  "retry.attempts": { options: { retry: { attempts: 6 } }, started: /"CLAUDE_CODE_MAX_RETRIES":"5"/ },
  fallback: { options: { fallback: "claude-code/second" }, started: /--fallback-model second/ },
  "session.resume": { options: { session: { resume: "session-7" } }, started: /--resume session-7/ },
  "session.continue": { options: { session: { continue: true } }, started: /--continue/ },
  "session.fork": { options: { session: { continue: true, fork: true } }, started: /--fork-session/ },
  // The session is not there.
  "session.orReplay": {
    options: { session: { resume: "session-7", orReplay: true } },
    started: /^(?!.*--resume session-7)/s,
  },
  cwd: { options: { cwd: "/elsewhere" }, started: /"cwd":"\/elsewhere"/ },
  env: { options: { env: { PROOF: "given" } }, started: /"PROOF":"given"/ },
};

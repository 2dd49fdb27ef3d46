import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { EmulatorScript } from "#emulator";
import { agent, type RunOptions, swarm } from "#runtime";
import { createScriptedBackend } from "#testing";
import { tool } from "#tools";
import type { CLAUDE_CODE_ROWS } from "../../src/runtime/claude-code-option-table.ts";
import type { SupportedOption } from "../../src/runtime/option-table.ts";
import { createSpanNotes } from "./span-notes.ts";
import type { Place, Seen, Start } from "./real-cli-stage.ts";

type Mode = "plain" | "control";
type CliOptions = NonNullable<RunOptions["claudeCode"]>;

/** How one sees from outside that an option has an effect on the real CLI. */
export interface RealProof {
  /** The start that has it. */
  readonly in: keyof ReturnType<typeof startsOf>;
  /** A start without it, which must not show it. Default `bare`. */
  readonly against?: keyof ReturnType<typeof startsOf>;
  readonly shows: (seen: Seen, place: Place) => boolean;
  /** The only mode in which the start is made. */
  readonly mode?: Mode;
}

/** Where an effect on the real CLI is shown that takes a set-up of its own. */
interface ShownElsewhere {
  readonly shownIn: `test/${string}: ${string}`;
}

const SESSION = "11111111-2222-4333-8444-555555555555";

const bash = (command: string) => ({ name: "Bash", input: { command, description: "d" } });
/** The model asks for one command, then it is finished. */
const runs = (command: string, turn = 0): EmulatorScript["rules"] => [
  { match: { turn, tool: "Bash" }, reply: { toolCalls: [bash(command)] } },
  { reply: { text: "finished" } },
];
const ECHO = "echo [$PROOF][$FROM_SETTINGS][$FROM_USER]; touch made";
const own = (...names: readonly string[]): EmulatorScript["rules"] => [
  {
    match: { turn: 0, tool: `mcp__millrace__${names[0]}` },
    reply: { toolCalls: names.map((name) => ({ name: `mcp__millrace__${name}`, input: { a: 25, b: 17 } })) },
  },
  { reply: { text: "finished" } },
];

/** Takes nothing for an answer. */
const picky = {
  "~standard": { version: 1, vendor: "test", validate: () => ({ issues: [{ message: "not good enough" }] }) },
} as const;
const told = { type: "object", properties: { answer: { type: "number", description: "TOLD" } } } as const;
const answers: EmulatorScript["rules"] = [
  { match: { tool: "StructuredOutput" }, reply: { toolCalls: [{ name: "StructuredOutput", json: '{"answer":1}' }] } },
];

/** The starts by name: what each is given, and what its model does. */
export function startsOf(place: Place, mode: Mode) {
  const { home, work, marks } = place;
  const noting = (name: string) =>
    tool(name, "d", { a: "number", b: "number" }, (_, { context }) => {
      marks.push(`ran ${name} with ${JSON.stringify(context)}`);
      return 42;
    });
  const never = tool("never", "d", { a: "number", b: "number" }, (_, { signal }) => {
    marks.push("began");
    return new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(new Error("aborted"))));
  });
  const four = ["allowed", "denied", "asked", "other"].map(noting);
  const cli = (
    claudeCode: CliOptions,
    more: Omit<Start, "options"> & { readonly options?: RunOptions } = {},
  ): Start => ({
    rules: runs(ECHO),
    ...more,
    options: { ...more.options, claudeCode: { mode, ...claudeCode } },
  });
  const run = (options: RunOptions, more: Omit<Start, "options"> = {}): Start => cli({}, { ...more, options });
  const asker = { command: process.execPath, args: [join(home, "server.cjs"), join(home, "asked-server")] };
  const { telemetry } = createSpanNotes(marks);
  return {
    // The first of all: with the second one there is a companion.
    unguarded: cli({
      watchdog: false,
      maxLineBytes: 40,
      spawn: (request) => {
        marks.push("own spawn");
        return place.spawn(request);
      },
    }),
    bare: cli({}),
    rich: cli(
      {
        cwd: work,
        executable: place.program("wrapped"),
        skipVersionCheck: true,
        stderr: (line) => void marks.push(`stderr ${line}`),
        model: "claude-sonnet-4-6",
        effort: "low",
        appendSystemPrompt: "APPENDED",
        allowedTools: ["Bash"],
        disallowedTools: ["Read"],
        tools: ["Bash", "Read", "Write"],
        mcpConfig: { given: { command: "true" } },
        strictMcpConfig: false,
        permissionMode: "acceptEdits",
        sessionId: SESSION,
        addDirs: [join(home, "more")],
        env: { PROOF: "given" },
        settingSources: ["user"],
        settings: {
          env: { FROM_SETTINGS: "of settings" },
          hooks: { UserPromptSubmit: [{ hooks: [{ type: "command", command: "true" }] }] },
        },
        includeHookEvents: true,
        includePartialMessages: false,
        agents: { critic: { description: "d", prompt: "You are the critic." } },
        betas: ["context-1m-2025-08-07"],
        pluginDirs: [join(home, "plugin")],
        extraArgs: { "debug-file": join(home, "debug.txt") },
        jsonSchema: { type: "object", properties: { answer: { type: "number" } } },
      },
      { prompt: "the rich prompt" },
    ),
    second: cli(
      {
        cwd: work,
        model: "claude-sonnet-4-6",
        maxThinkingTokens: 2345,
        // They do not disturb each other.
        effort: "high",
        systemPrompt: "REPLACED",
        resume: SESSION,
        forkSession: true,
        maxTurns: 1,
        toolFilter: "allow-first",
        allowedTools: ["Read"],
        disallowedTools: ["Bash"],
        repositoryGit: true,
        settings: { hooks: { UserPromptSubmit: [{ hooks: [{ type: "command", command: "true" }] }] } },
        ...(mode === "plain" && { mcpConfig: { asker }, permissionPromptTool: "mcp__asker__allow" }),
      },
      // The session it resumes has one result already.
      { prompt: "the second prompt", rules: runs(ECHO, 1) },
    ),
    third: cli(
      {
        cwd: work,
        attachments: true,
        agents: { critic: { description: "d", prompt: "You are the critic." } },
        agent: "critic",
        continue: true,
        persistSession: false,
        maxBudgetUsd: 1e-9,
        model: "claude-sonnet-4-6",
      },
      { prompt: "What does @note.txt say in the third prompt?" },
    ),
    fourth: cli(
      {
        executable: place.program("exits-3"),
        strictExitStatus: true,
        model: "claude-first",
        fallbackModel: "claude-second",
        env: { CLAUDE_CODE_MAX_RETRIES: "3" },
      },
      { rules: [{ match: { model: "claude-first" }, fault: { status: 529 } }, { reply: { text: "second" } }] },
    ),
    fifth: cli({ executable: place.program("exits-3"), slashCommands: true }, { prompt: "/cost" }),
    oddVersion: cli(
      { mode: "auto", executable: place.program("odd-version"), permissiveVersionCheck: true },
      { prompt: "/cost" },
    ),
    oddRefused: cli({ executable: place.program("odd-version") }),
    // Options of a run.
    told: cli(
      { allowedTools: ["Bash"] },
      {
        options: {
          instructions: "Be brief.",
          tools: [noting("allowed")],
          hooks: { "before-tool": [() => void marks.push("hook")] },
          permission: ({ name }) => ({ allow: marks.push(`permission ${name}`) > 0 }),
          permissions: { ask: ["allowed"] },
          guards: [{ name: "g", place: "output", check: () => void marks.push("guard") }],
          outputMode: "buffer",
          context: { tenant: 7 },
          ...telemetry({ attributes: { tenant: "seven" }, recordContent: true, meter: true }),
          record: place.tape,
          cwd: join(home, "more"),
          env: { PROOF: "of the run" },
          maxTokens: 4321,
          retry: { attempts: 3 },
        },
        rules: [
          {
            match: { turn: 0, tool: "Bash" },
            reply: { toolCalls: [{ name: "mcp__millrace__allowed", input: { a: 25, b: 17 } }, bash(ECHO)] },
          },
          { reply: { text: "finished" } },
        ],
      },
    ),
    rules: run(
      {
        tools: four,
        permissions: { allow: ["allowed"], deny: ["denied"], ask: ["asked"], otherwise: "deny" },
        permission: ({ name }) => ({ allow: marks.push(`permission ${name}`) > 0 }),
      },
      { rules: own("allowed", "denied", "asked", "other") },
    ),
    noAllow: run(
      { tools: four, permissions: { deny: ["allowed", "denied", "asked", "other"] } },
      { rules: own("allowed", "denied", "asked", "other") },
    ),
    noRules: run({ tools: four }, { rules: own("allowed", "denied", "asked", "other") }),
    guarded: run({ guards: [{ name: "g", place: "input", check: () => ({ deny: "no" }) }] }),
    unbuffered: run({ guards: [{ name: "g", place: "output", check: () => void marks.push("guard") }] }),
    output: run({ output: { schema: picky, jsonSchema: told, repairs: 1 } }, { rules: answers }),
    noRepairs: run({ output: { schema: picky, jsonSchema: told, repairs: 0 } }, { rules: answers }),
    otherSchema: run({ output: { schema: { total: "number" }, repairs: 0 } }, { rules: answers }),
    resumed: run(
      { session: { resume: SESSION, fork: true }, limits: { turns: 1 } },
      { prompt: "the resumed prompt", rules: runs(ECHO, 1) },
    ),
    continued: run(
      { session: { continue: true }, limits: { costUsd: 1e-9 }, thinkingTokens: 2345 },
      {
        target: "claude-code/claude-sonnet-4-6",
        prompt: "the continued prompt",
      },
    ),
    fewTokens: run({ limits: { tokens: 1 } }),
    soon: run({ limits: { timeoutMs: 300 } }),
    silent: run(
      { limits: { idleMs: 1500 }, retry: false },
      { rules: [{ reply: { text: "a long answer" }, fault: { stallAfterEvents: 2 } }] },
    ),
    slowTool: run({ tools: [never], limits: { toolMs: 1000 } }, { rules: own("never") }),
    slowPerson: run(
      { tools: [noting("allowed")], limits: { permissionMs: 1000 }, permission: () => new Promise(() => undefined) },
      { rules: own("allowed") },
    ),
    fewBytes: run({ limits: { replyBytes: 4 } }),
    handedOver: run(
      { limits: { handoffs: 1 } },
      {
        target: swarm([
          agent({ name: "first", backend: "claude-code", handoffs: ["second"] }),
          agent({
            name: "second",
            backend: createScriptedBackend([{ calls: [{ name: "handoff", input: { to: "first", message: "back" } }] }]),
            handoffs: ["first"],
          }),
        ]),
        rules: [
          {
            match: { turn: 0 },
            reply: { toolCalls: [{ name: "mcp__millrace__handoff", input: { to: "second", message: "go on" } }] },
          },
          { reply: { text: "finished" } },
        ],
      },
    ),
    aborted: run({ signal: AbortSignal.abort() }),
    raw: run({ keepRaw: true }),
    strict: run({ strict: true, temperature: 1 }),
    replayed: cli({}, { options: { replay: place.tape, tools: [noting("allowed")] }, prompt: "another prompt" }),
    replayedOn: cli(
      {},
      {
        options: { replay: { tape: place.tape, onDifference: "warn" }, tools: [noting("allowed")] },
        prompt: "another prompt",
      },
    ),
    torn: cli(
      {},
      {
        options: { replay: { tape: join(home, "torn.tape"), onDifference: "warn", allowTorn: true } },
        before: () => writeFileSync(join(home, "torn.tape"), readFileSync(place.tape, "utf8").slice(0, -20)),
      },
    ),
    tornRefused: cli({}, { options: { replay: join(home, "torn.tape") } }),
    edited: cli(
      {},
      {
        options: { replay: { tape: join(home, "edited.tape"), onDifference: "warn", allowEdited: true } },
        before: () => {
          writeFileSync(join(home, "edited.tape"), readFileSync(place.tape, "utf8").replace("finished", "Finished"));
        },
      },
    ),
    editedRefused: cli({}, { options: { replay: join(home, "edited.tape") } }),
  } satisfies Record<string, Start>;
}

const system = ({ requests }: Seen): string => JSON.stringify(requests[0]?.body["system"] ?? "");
const said = ({ requests }: Seen): string => JSON.stringify(requests.map(({ body }) => body["messages"]));
const noted =
  (pattern: RegExp) =>
  ({ marks }: Seen): boolean =>
    marks.some((mark) => pattern.test(mark));
const hasLeft =
  (name: string) =>
  ({ left }: Seen): boolean =>
    left.includes(name);
const ended =
  (how: RegExp) =>
  ({ result }: Seen): boolean =>
    result !== undefined && how.test(`${result.subtype} ${result.error?.code ?? ""}`);
const lists = (field: string, name: string) => (seen: Seen) => JSON.stringify(seen.init[field] ?? []).includes(name);
const inSystem = (text: string) => (seen: Seen) => system(seen).includes(text);
const knows = (text: string) => (seen: Seen) => said(seen).includes(text);
const frameOf = (type: string) => (seen: Seen) => seen.frames.some((frame) => frame["type"] === type);
const flows =
  (text: string) =>
  ({ marks: all }: Seen) =>
    all.some((mark) => mark.includes(text));
const ran = (name: string) => noted(new RegExp(`^ran ${name} `));
const isTold = (field: string, value: unknown) => (seen: Seen) => seen.requests[0]?.body[field] === value;
const startMode = ({ log }: Seen): unknown => log.find((event) => event.type === "start")?.mode;

/** Every option of Claude Code. One without a row does not compile. */
export const CLI_ROWS: { readonly [Option in keyof typeof CLAUDE_CODE_ROWS]: RealProof | ShownElsewhere } = {
  "claudeCode.model": { in: "rich", shows: isTold("model", "claude-sonnet-4-6") },
  "claudeCode.fallbackModel": {
    in: "fourth",
    shows: ({ requests }) => requests.some(({ body }) => body["model"] === "claude-second"),
  },
  "claudeCode.maxTurns": { in: "second", shows: ended(/max_turns/) },
  "claudeCode.maxBudgetUsd": { in: "third", shows: ended(/budget/) },
  "claudeCode.maxThinkingTokens": { in: "second", shows: ({ asked }) => asked.includes('"budget_tokens":2345') },
  "claudeCode.effort": { in: "rich", shows: ({ asked }) => asked.includes('"effort":"low"') },
  "claudeCode.systemPrompt": { in: "second", shows: inSystem("REPLACED") },
  "claudeCode.appendSystemPrompt": { in: "rich", shows: inSystem("APPENDED") },
  "claudeCode.allowedTools": { in: "rich", shows: hasLeft("made") },
  "claudeCode.disallowedTools": {
    in: "rich",
    shows: ({ offered }) => offered.includes("Write") && !offered.includes("Read"),
  },
  "claudeCode.toolFilter": {
    in: "second",
    against: "rich",
    // What is denied is offered all the same.
    shows: ({ offered, options }) =>
      (options.claudeCode?.disallowedTools ?? []).every((name) => offered.includes(name)),
  },
  "claudeCode.tools": {
    in: "rich",
    shows: ({ offered }) => offered.includes("Write") && !offered.includes("WebFetch"),
  },
  "claudeCode.mcpConfig": { in: "rich", shows: lists("mcp_servers", '"given"') },
  "claudeCode.strictMcpConfig": { in: "rich", shows: lists("mcp_servers", '"users"') },
  "claudeCode.permissionMode": { in: "rich", shows: ({ init }) => init["permissionMode"] === "acceptEdits" },
  "claudeCode.permissionPromptTool": { in: "second", mode: "plain", shows: hasLeft("asked-server") },
  "claudeCode.resume": { in: "second", shows: knows("the rich prompt") },
  "claudeCode.continue": { in: "third", shows: knows("the second prompt") },
  "claudeCode.forkSession": {
    in: "second",
    against: "rich",
    shows: ({ init }) => typeof init["session_id"] === "string" && init["session_id"] !== SESSION,
  },
  "claudeCode.sessionId": { in: "rich", shows: ({ init }) => init["session_id"] === SESSION },
  "claudeCode.persistSession": {
    in: "third",
    against: "rich",
    shows: ({ init, prompt }, { home }) => !isKept(home, String(init["session_id"]), prompt),
  },
  "claudeCode.cwd": { in: "rich", against: "told", shows: ({ init }, { work }) => init["cwd"] === work },
  "claudeCode.addDirs": { in: "rich", shows: (seen, { home }) => system(seen).includes(join(home, "more")) },
  "claudeCode.env": { in: "rich", shows: knows("[given]") },
  "claudeCode.executable": { in: "rich", shows: hasLeft("wrapped-ran") },
  // Plain is what happens anyway.
  "claudeCode.mode": {
    in: "bare",
    against: "oddVersion",
    mode: "control",
    shows: (seen) => startMode(seen) === "control",
  },
  "claudeCode.attachments": { in: "third", shows: knows("what the note says") },
  "claudeCode.slashCommands": {
    in: "fifth",
    shows: ({ requests, result }) => requests.length === 0 && result?.status === "success",
  },
  "claudeCode.repositoryGit": { in: "second", against: "rich", shows: hasLeft("fsmonitor-ran") },
  "claudeCode.settingSources": { in: "rich", shows: knows("[of the user]") },
  "claudeCode.settings": { in: "rich", shows: knows("[of settings]") },
  "claudeCode.includePartialMessages": { in: "rich", shows: (seen) => !frameOf("stream_event")(seen) },
  "claudeCode.includeHookEvents": {
    in: "rich",
    against: "second",
    shows: ({ frames }) => frames.some(({ subtype }) => subtype === "hook_started"),
  },
  "claudeCode.agents": { in: "rich", shows: lists("agents", '"critic"') },
  "claudeCode.agent": { in: "third", against: "rich", shows: inSystem("You are the critic.") },
  "claudeCode.jsonSchema": { in: "rich", shows: ({ offered }) => offered.includes("StructuredOutput") },
  "claudeCode.betas": {
    in: "rich",
    // The CLI's own choice of a model has this one anyway.
    against: "third",
    shows: ({ requests }) => String(requests[0]?.headers["anthropic-beta"]).includes("context-1m-2025-08-07"),
  },
  "claudeCode.pluginDirs": { in: "rich", shows: lists("plugins", '"proof-plugin"') },
  "claudeCode.extraArgs": { in: "rich", shows: hasLeft("debug.txt") },
  "claudeCode.skipVersionCheck": {
    in: "rich",
    // The first that is started from its path; a version is remembered.
    against: "fourth",
    shows: ({ starts }) => !starts.some(({ args }) => args.includes("--version")),
  },
  "claudeCode.permissiveVersionCheck": {
    in: "oddVersion",
    against: "oddRefused",
    shows: ({ init }) => init["session_id"] !== undefined,
  },
  "claudeCode.strictExitStatus": {
    in: "fourth",
    against: "fifth",
    shows: ({ log }) => log.some((event) => event.type === "error"),
  },
  "claudeCode.keepBackground": { shownIn: "test/claude-code/ends.test.ts: F-B4: with keepBackground it is reported" },
  "claudeCode.maxLineBytes": { in: "unguarded", shows: ended(/buffer-overflow/) },
  "claudeCode.stderr": { in: "rich", shows: noted(/^stderr a remark$/) },
  "claudeCode.spawn": { in: "unguarded", shows: noted(/^own spawn$/) },
  "claudeCode.watchdog": { in: "unguarded", shows: ({ watchdogs }) => watchdogs === 0, mode: "plain" },
};

/** Whether the CLI has kept a session with this text in it. */
function isKept(home: string, session: string, text: string): boolean {
  const folder = join(home, ".claude", "projects", join(home, "work").replaceAll(/[^A-Za-z0-9]/g, "-"));
  try {
    return readFileSync(join(folder, `${session}.jsonl`), "utf8").includes(text);
  } catch {
    return false;
  }
}

type Provider = "anthropic" | "openai" | "openrouter" | "deepseek" | "vllm" | "modal" | "google";

/** The options that the table does not let hold on Claude Code. */
type NotOnCli =
  | Provider
  | `${Provider}.${string}`
  | "toolChoice"
  | "parallelToolCalls"
  | "temperature"
  | "retry.totalMs"
  | "retry.afterFirstToken";

const SEEN_IN_OPTIONS = "test/conformance/options.test.ts: F-C2: on the real Claude Code CLI";

/** Every option of a run that holds on Claude Code. One without a row does not compile. */
export const RUN_ROWS: { readonly [Option in Exclude<SupportedOption, NotOnCli>]: RealProof | ShownElsewhere } = {
  instructions: { in: "told", shows: inSystem("Be brief.") },
  tools: { in: "told", mode: "control", shows: ran("allowed") },
  toolConcurrency: {
    shownIn: "test/conformance/tool-calls.test.ts: those of readOnly tools run as many as toolConcurrency says",
  },
  output: { in: "output", shows: ({ offered }) => offered.includes("StructuredOutput") },
  "output.schema": { in: "otherSchema", against: "output", shows: ({ asked }) => asked.includes('"total"') },
  "output.jsonSchema": { in: "output", against: "otherSchema", shows: ({ asked }) => asked.includes("TOLD") },
  "output.repairs": {
    in: "output",
    against: "noRepairs",
    shows: (seen) => (said(seen).match(/not good enough/g) ?? []).length > 0,
  },
  hooks: { in: "told", mode: "control", shows: noted(/^hook$/) },
  permission: { in: "told", mode: "control", shows: noted(/^permission allowed$/) },
  permissions: { in: "rules", against: "noRules", mode: "control", shows: (seen) => !ran("denied")(seen) },
  "permissions.allow": { in: "rules", against: "noAllow", mode: "control", shows: ran("allowed") },
  "permissions.deny": { in: "rules", against: "noRules", mode: "control", shows: (seen) => !ran("denied")(seen) },
  "permissions.ask": { in: "rules", against: "noRules", mode: "control", shows: noted(/^permission asked$/) },
  "permissions.otherwise": { in: "rules", against: "noRules", mode: "control", shows: (seen) => !ran("other")(seen) },
  guards: { in: "guarded", shows: ended(/guard-denied/) },
  outputMode: { in: "told", against: "unbuffered", shows: (seen) => noted(/^guard$/)(seen) && ended(/success/)(seen) },
  "limits.turns": { in: "resumed", shows: ended(/max_turns/) },
  "limits.handoffs": {
    in: "handedOver",
    mode: "control",
    shows: ({ log, result }) =>
      log.filter(({ type }) => type === "handoff").length === 1 && /handoffs/.test(result?.subtype ?? ""),
  },
  "limits.costUsd": { in: "continued", shows: ended(/budget/) },
  "limits.tokens": { in: "fewTokens", shows: ended(/tokens/) },
  "limits.timeoutMs": { in: "soon", shows: ended(/timeout/) },
  "limits.idleMs": { in: "silent", shows: ended(/stalled/) },
  "limits.toolMs": {
    in: "slowTool",
    mode: "control",
    shows: (seen) => noted(/^began$/)(seen) && ended(/success/)(seen),
  },
  "limits.replyBytes": { in: "fewBytes", shows: ended(/reply/) },
  "limits.permissionMs": {
    in: "slowPerson",
    against: "told",
    mode: "control",
    shows: (seen) => ended(/success/)(seen) && !ran("allowed")(seen),
  },
  "limits.parkMs": {
    shownIn: "test/durability/real-cli.test.ts: a question is parked without a process, and its session continues",
  },
  context: { in: "told", mode: "control", shows: noted(/^ran allowed with \{"tenant":7\}$/) },
  signal: { in: "aborted", shows: ({ result }) => result?.status === "aborted" },
  retry: { shownIn: `${SEEN_IN_OPTIONS}, retry: false` },
  "retry.attempts": { shownIn: `${SEEN_IN_OPTIONS}, retry: { attempts: 2 }` },
  fallback: { shownIn: `${SEEN_IN_OPTIONS}, fallback names the model` },
  maxTokens: { in: "told", shows: isTold("max_tokens", 4321) },
  thinkingTokens: { in: "continued", shows: ({ asked }) => asked.includes('"budget_tokens":2345') },
  "session.resume": { in: "resumed", shows: knows("the rich prompt") },
  "session.orReplay": {
    shownIn: "test/server/threads-resume.test.ts: a session that is gone is told again as text, and a notice says so",
  },
  "session.continue": { in: "continued", shows: knows("the resumed prompt") },
  "session.fork": {
    in: "resumed",
    against: "rich",
    shows: ({ init }) => typeof init["session_id"] === "string" && init["session_id"] !== SESSION,
  },
  cwd: { in: "told", shows: ({ init }, { home }) => init["cwd"] === join(home, "more") },
  env: { in: "told", shows: knows("[of the run]") },
  keepRaw: { in: "raw", shows: ({ log }) => log.some(({ raw }) => raw?.json.includes('"session_id"') === true) },
  strict: { in: "strict", shows: ({ refusal }) => refusal !== undefined },
  claudeCode: { in: "rich", shows: isTold("model", "claude-sonnet-4-6") },
  record: { in: "told", shows: hasLeft("run.tape") },
  replay: { in: "replayed", shows: ended(/tape-difference/) },
  "replay.tape": { in: "replayedOn", shows: ({ starts, result }) => starts.length === 0 && result !== undefined },
  "replay.onDifference": {
    in: "replayedOn",
    against: "replayed",
    shows: ({ result }) => result?.status === "success" && JSON.stringify(result.warnings).includes("tape-difference"),
  },
  "replay.allowTorn": { in: "torn", against: "tornRefused", shows: ({ refusal }) => refusal === undefined },
  "replay.allowEdited": { in: "edited", against: "editedRefused", shows: ({ refusal }) => refusal === undefined },
  telemetry: { in: "told", shows: flows("span ") },
  "telemetry.tracer": { in: "told", shows: flows("span ") },
  "telemetry.attributes": { in: "told", shows: flows('"tenant":"seven"') },
  "telemetry.meter": { in: "told", shows: noted(/^measured/) },
  "telemetry.recordContent": { in: "told", shows: noted(/^(?:span|attributes?) .*"text":"go"|content.*go/) },
};

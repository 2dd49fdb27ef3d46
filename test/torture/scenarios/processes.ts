import { agent, formatRegistry, type RunOptions, startRun, startSession, swarm } from "#runtime";
import { HANDOFF_TOOL } from "#agents";
import type { SpawnScript, SpawnStep } from "#testing";
import { stopProcess } from "#transports";
import { createClaudeCodeBackend } from "../../../src/backends/claude-code/backend.ts";
import type { ClaudeCodeOptions } from "../../../src/backends/claude-code/options.ts";
import { openQuery } from "../../../src/backends/claude-code/query.ts";
import { createCommandBackend } from "../../../src/backends/command/backend.ts";
import { answers, calls, greet, INIT, line, result, says, writes } from "../../claude-code/scripted.ts";
import { callOwnTool } from "../../simulation/agent-process.ts";
import type { Scenario } from "../play.ts";
import type { Stage } from "../stage.ts";
import { lookTool } from "./models.ts";

// Longer than an argument may be, so that a file is written for it.
const OPTIONS: ClaudeCodeOptions = { systemPrompt: "Be brief. ".repeat(20_000) };

const VERSION: readonly SpawnStep[] = [{ write: "2.1.197 (Claude Code)\n" }, { exit: 0 }];
const ANSWER = [writes(INIT), { stderr: "a word aside\n" }, writes(says("m1", "Hello."), result("Hello."))];

/** A CLI that says its version, and then does this. */
const cli =
  (plain: readonly SpawnStep[], control: readonly SpawnStep[] = plain): SpawnScript =>
  ({ args }) => {
    if (args.includes("--version")) return VERSION;
    return args.includes("--input-format") ? control : plain;
  };

const answersPlainly = cli(
  [{ waitForInput: "end" }, ...ANSWER, { exit: 0 }],
  [greet, { waitForInput: "line" }, ...ANSWER, { waitForInput: "end" }, { exit: 0 }],
);

/** Two messages in one process, each with an answer. */
const conversesTwice = cli(
  [{ waitForInput: "end" }, ...ANSWER, { exit: 0 }],
  [
    greet,
    { waitForInput: "line" },
    ...ANSWER,
    { waitForInput: "line" },
    writes(says("m2", "Again."), result("Again.")),
    { waitForInput: "end" },
    { exit: 0 },
  ],
);

const asksForBash = {
  type: "control_request",
  request_id: "permission-1",
  request: { subtype: "can_use_tool", tool_name: "Bash", input: { command: "ls" }, tool_use_id: "bash-1" },
};

/** A CLI that calls a tool of ours and asks for a permission for one of its own. */
const usesTools = cli(
  [],
  [
    greet,
    { waitForInput: "line" },
    writes(INIT),
    ...callOwnTool({ name: "look", input: { n: 1 }, turn: 0, asksFirst: true }),
    writes(calls("m2", "bash-1", "Bash", { command: "ls" }), asksForBash),
    {
      reply: (text) => line(answers("bash-1", text.includes('"allow"') ? "a b" : "Denied.", !text.includes('"allow"'))),
    },
    writes(says("m3", "All is well."), result("All is well.")),
    { waitForInput: "end" },
    { exit: 0 },
  ],
);

function claudeCode(stage: Stage, mode?: "plain" | "control") {
  return createClaudeCodeBackend({ ...OPTIONS, ...(mode !== undefined && { mode }) }, stage.claudeCode);
}

function watched({ fault }: Stage): RunOptions {
  return {
    tools: [lookTool(fault)],
    hooks: {
      "before-tool": [async () => fault.strike("hook before-tool")],
      "after-tool": [async () => fault.strike("hook after-tool")],
    },
    permission: async () => {
      fault.strike("permission callback");
      return { allow: true };
    },
  };
}

const TEXT = formatRegistry().require("text");
const FORMAT = { name: TEXT.name, load: async () => TEXT };

export const PROCESS_SCENARIOS: readonly Scenario[] = [
  {
    name: "Claude Code, plain",
    processes: answersPlainly,
    play: (stage) => stage.run(claudeCode(stage, "plain"), "hello"),
  },
  {
    name: "Claude Code, control",
    processes: answersPlainly,
    play: (stage) => stage.run(claudeCode(stage, "control"), "hello"),
  },
  {
    name: "Claude Code with our tools, hooks and permissions",
    processes: usesTools,
    play: (stage) => stage.run(claudeCode(stage), "hello", watched(stage)),
  },
  {
    name: "Claude Code, a session with several messages",
    processes: conversesTwice,
    async play(stage) {
      const session = startSession(claudeCode(stage, "control"), {}, stage.world);
      try {
        for (const text of ["hello", "again"]) await stage.read(session.send(text));
      } finally {
        await session.close();
      }
    },
  },
  {
    name: "Claude Code, an abort in the middle",
    processes: cli(
      [],
      [greet, { waitForInput: "line" }, writes(INIT, says("m1", "I begin.")), { ignore: ["SIGTERM"] }, { hang: true }],
    ),
    async play(stage) {
      const run = startRun(claudeCode(stage, "control"), "hello", {}, stage.world);
      stage.clock.after(3000, () => void run.abort("enough"));
      await stage.read(run);
    },
  },
  {
    name: "Claude Code, its own messages",
    processes: answersPlainly,
    async play(stage) {
      const query = await openQuery("hello", OPTIONS, stage.claudeCode);
      try {
        for await (const item of query) stage.notes.push(JSON.stringify(item));
      } finally {
        await query.close();
      }
    },
    tells: { stdout: ({ notes }) => notes.some((note) => note.includes('"type":"result"')) },
  },
  {
    name: "a handoff from a model to Claude Code",
    host: { rules: [{ reply: { toolCalls: [{ name: HANDOFF_TOOL, input: { to: "b", message: "On." } }] } }] },
    processes: answersPlainly,
    play: (stage) =>
      stage.run(
        swarm([
          agent({ name: "a", backend: "anthropic/first", handoffs: ["b"] }),
          agent({ name: "b", backend: claudeCode(stage) }),
        ]),
        "Go.",
      ),
  },
  {
    name: "a foreign command",
    processes: [
      { waitForInput: "end" },
      { stderr: "a word aside\n" },
      { write: "All is" },
      { write: " well.\n" },
      { exit: 0 },
    ],
    play(stage) {
      const { spawn, clock } = stage.world;
      const backend = createCommandBackend(
        { executable: "/bin/agent", args: [], format: FORMAT, input: "stdin", cwd: undefined, env: {} },
        {
          clock,
          missing: async () => undefined,
          start: async (request) => {
            const handle = await spawn(request);
            const stop = async (): Promise<void> =>
              void (await stopProcess(handle, { clock, immediate: true, table: undefined }));
            return { handle, stop };
          },
        },
      );
      return stage.run(backend, "Go.");
    },
    // A command may well answer before it has read everything, as `head -1` does.
    tells: { stdin: ({ logs }) => logs.every((log) => log.at(-1)?.type === "done") },
  },
];

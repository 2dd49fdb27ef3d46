import { readdirSync, readFileSync } from "node:fs";
import { createRun, type Run } from "#run";
import type { AgentBackend, AgentConversation, AgentLink, AgentSettings } from "#backends";
import { type AgentEvent, type Clock, type EventOf, type Message, type Random, type RunResult } from "#domain";
import { createEmulator, type EmulatorScript } from "#emulator";
import { createPolicy, type PolicySettings } from "#policy";
import { assertRunLog } from "#testing";
import { runTool, type SettledOutcome, type Tool } from "#tools";
import {
  createProcessTable,
  createSpawn,
  createSystemFiles,
  probeExecutable,
  systemClock,
  systemRandom,
} from "#transports";
import {
  type ClaudeCodeBackend,
  type ClaudeCodeBackendOptions,
  createClaudeCodeBackend,
} from "../../src/backends/claude-code/backend.ts";
import type { ClaudeCodeWorld } from "../../src/backends/claude-code/world.ts";
import { realCliOptions } from "../real-cli.ts";
import { makeFolder, removeFolder } from "../temporary-folder.ts";

/** An empty home and an offline model: everything the real CLI needs. */
export interface Place {
  readonly home: string;
  readonly world: ClaudeCodeWorld;
  readonly env: Readonly<Record<string, string>>;
  readonly emulator: ReturnType<typeof createEmulator>;
  backend(options?: ClaudeCodeBackendOptions): ClaudeCodeBackend;
  close(): Promise<void>;
}

export async function openPlace(script?: EmulatorScript): Promise<Place> {
  const emulator = createEmulator(script === undefined ? {} : { script });
  const { url } = await emulator.listen();
  const home = makeFolder("cc");
  const env = {
    PATH: process.env["PATH"] ?? "",
    HOME: home,
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_API_KEY: "sk-ant-offline",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    CLAUDE_CODE_MAX_RETRIES: "0",
  };
  const world = realWorld(env, home);
  return {
    home,
    world,
    env,
    emulator,
    backend: (options = {}) => createClaudeCodeBackend({ ...realCliOptions(), cwd: home, ...options }, world),
    async close() {
      await emulator.close();
      await removeFolder(home);
    },
  };
}

/** The real world, with these variables and this folder. */
export function realWorld(env: Readonly<Record<string, string>>, cwd: string): ClaudeCodeWorld {
  return {
    clock: systemClock,
    random: systemRandom,
    spawn: createSpawn(),
    files: createSystemFiles(),
    probe: probeExecutable,
    env,
    cwd,
    temporaryFolder: cwd,
    processes: createProcessTable(),
  };
}

export interface Asked {
  readonly tools?: readonly Tool[];
  readonly policy?: Partial<PolicySettings>;
  readonly settings?: Partial<AgentSettings>;
  readonly signal?: AbortSignal;
  readonly clock?: Clock;
  readonly random?: Random;
  readonly context?: unknown;
  /** Nothing is sent after this turn. */
  readonly isLast?: boolean;
}

/** What `settings` says for these tools and this policy. */
export function settingsFor({ tools = [], policy, settings }: Asked): AgentSettings {
  return {
    instructions: undefined,
    tools,
    features: featuresOf(policy ?? {}, tools),
    outputSchema: undefined,
    turns: undefined,
    costUsd: undefined,
    resume: undefined,
    cwd: undefined,
    env: {},
    strict: false,
    ...settings,
  };
}

function featuresOf(policy: Partial<PolicySettings>, tools: readonly Tool[]): AgentSettings["features"] {
  return [
    ...(tools.length > 0 ? (["tools"] as const) : []),
    ...((policy.hooks ?? []).length > 0 ? (["hooks"] as const) : []),
    ...(policy.permission === undefined ? [] : (["permission"] as const)),
    ...((policy.rules ?? []).length > 0 ? (["permission-rules"] as const) : []),
    ...((policy.guards ?? []).length > 0 ? (["guards"] as const) : []),
  ];
}

/** One turn of a conversation as a run. */
export function sendAsRun(
  conversation: Pick<AgentConversation, "send">,
  input: string | readonly Message[],
  asked: Asked = {},
  after?: () => Promise<void>,
): Run {
  const clock = asked.clock ?? systemClock;
  return createRun(
    async (writer) => {
      const policy = createPolicy(
        { hooks: [], rules: [], permission: undefined, guards: [], outputMode: undefined, ...asked.policy },
        {
          runId: writer.runId,
          agent: undefined,
          context: asked.context,
          signal: writer.signal,
          clock,
          write: (chunks) => void writer.write(chunks),
          ask: (callId) => writer.ask(callId),
        },
      );
      const link: AgentLink = {
        runId: writer.runId,
        signal: writer.signal,
        write: (chunks) => writer.write(chunks),
        cleanUp: writer.cleanUp,
        isLast: asked.isLast,
        policy,
        async runTool({ callId, name, input: given, signal }) {
          const tool = (asked.tools ?? []).find((one) => one.name === name);
          if (tool === undefined) return { kind: "failed", why: "unknown-tool", output: "no such tool" };
          const { runId } = writer;
          const { context } = asked;
          return (await runTool(tool, given, {
            callId,
            runId,
            agent: undefined,
            context,
            signal: signal ?? writer.signal,
            clock,
            onProgress() {},
          })) as SettledOutcome;
        },
      };
      await conversation.send(messagesOf(input), link);
      if (after !== undefined) writer.cleanUp(after());
    },
    {
      clock,
      random: asked.random ?? systemRandom,
      signal: asked.signal,
      onListenerError: (error) => {
        throw error;
      },
    },
  );
}

/** A whole run: open, one turn, close. */
export async function runOn(
  backend: AgentBackend,
  input: string | readonly Message[],
  asked: Asked = {},
): Promise<{ readonly run: Run; readonly conversation: AgentConversation }> {
  const conversation = await backend.open(settingsFor(asked));
  return { conversation, run: sendAsRun(conversation, input, { ...asked, isLast: true }, () => conversation.close()) };
}

/** A whole run, read to its end; its log keeps every promise. */
export async function ask(
  backend: AgentBackend,
  input: string | readonly Message[],
  asked: Asked = {},
): Promise<{ readonly log: readonly AgentEvent[]; readonly result: RunResult }> {
  const { run } = await runOn(backend, input, asked);
  return readLog(run);
}

export async function readLog(run: Run): Promise<{ readonly log: readonly AgentEvent[]; readonly result: RunResult }> {
  const log: AgentEvent[] = [];
  for await (const event of run) log.push(event);
  assertRunLog(log);
  const result = await run.result();
  await run.closed;
  return { log, result };
}

export function ofType<Type extends AgentEvent["type"]>(log: readonly AgentEvent[], type: Type): EventOf<Type>[] {
  return log.filter((event): event is EventOf<Type> => event.type === type);
}

export function messagesOf(input: string | readonly Message[]): readonly Message[] {
  if (typeof input !== "string") return input;
  return [{ id: "u1", role: "user", blocks: [{ type: "text", text: input }] }];
}

/** The processes whose environment holds this text. */
export function processesWith(text: string): number[] {
  return readdirSync("/proc").flatMap((entry) => {
    if (!/^\d+$/.test(entry) || Number(entry) === process.pid) return [];
    try {
      return readFileSync(`/proc/${entry}/environ`, "utf8").includes(text) ? [Number(entry)] : [];
    } catch {
      return [];
    }
  });
}

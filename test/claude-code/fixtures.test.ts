import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { createRun } from "#run";
import type { AgentConversation } from "#backends";
import type { AgentEvent, ProcessHandle, ProcessRequest } from "#domain";
import { createPolicy } from "#policy";
import { assertRunLog, createMemoryFiles, createSeededRandom, createVirtualClock } from "#testing";
import { runTool, type SettledOutcome, tool } from "#tools";
import { createBytePipe } from "../../src/testing/byte-pipe.ts";
import { createClaudeCodeBackend } from "../../src/backends/claude-code/backend.ts";
import { readTranscripts, type Transcript } from "../formats/claude-code-transcripts.ts";
import { messagesOf, ofType, settingsFor } from "./place.ts";

/** The tools the captured conversations had, as ours. */
const tools = [
  tool("add", "Add two numbers", { a: "number", b: "number" }, ({ a, b }) => a + b),
  tool("boom", "Always fails", {}, () => {
    throw new Error("boom");
  }),
  tool("huge", "Returns much", {}, () => "x".repeat(1000)),
  tool("slow", "Takes long", {}, () => "slow"),
];

interface Line {
  readonly dir: "in" | "out" | "err" | "exit";
  readonly line?: string;
}

/** Both sides of a captured conversation; of a plain one there is only what the CLI wrote. */
function readLines({ name, kind, bytes }: Transcript): readonly Line[] {
  const lines = new TextDecoder().decode(bytes).split("\n");
  if (kind === "plain") return lines.filter((line) => line !== "").map((line) => ({ dir: "out", line }));
  const path = new URL(`../fixtures/claude-code/${name}.ndjson`, import.meta.url);
  return readFileSync(path, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Line);
}

function readExit({ name }: Transcript): { readonly code: number | null; readonly signal: string | null } {
  const path = new URL(`../fixtures/claude-code/${name}.meta.json`, import.meta.url);
  const { exit } = JSON.parse(readFileSync(path, "utf8")) as { exit?: { code: number | null; signal: string | null } };
  return { code: exit?.code ?? null, signal: exit?.signal ?? null };
}

/**
 * A CLI that says what was captured. It waits for a message of ours wherever the captured one had been answered and was
 * given another; what else it was told meanwhile does not matter to it.
 */
function replay(transcript: Transcript, request: ProcessRequest): ProcessHandle {
  const stdout = createBytePipe(Number.MAX_SAFE_INTEGER);
  const stderr = createBytePipe();
  const queue = [...readLines(transcript)];
  let exited: (exit: { code: number | null; signal: string | null }) => void = () => undefined;
  const exit = new Promise<{ code: number | null; signal: string | null }>((resolve) => (exited = resolve));
  let isOver = false;
  let greeting: string | undefined;
  const end = (how: { code: number | null; signal: string | null }): void => {
    if (isOver) return;
    isOver = true;
    stdout.end();
    stderr.end();
    exited(how);
  };
  const play = (): void => {
    let hasResult = false;
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      if (typeof next.line !== "string" || isOver) continue;
      if (next.dir !== "out") {
        if (hasResult && next.line.includes('"type":"user"')) return;
        continue;
      }
      // Their server and their first request are ours.
      const line = next.line
        .replaceAll("mcp__calc__", "mcp__millrace__")
        .replaceAll('"server_name":"calc"', '"server_name":"millrace"')
        .replace(/"request_id":"(?:req_1|[a-z0-9]{8,16})"(?=.{0,40}"response")/, `"request_id":"${greeting ?? ""}"`);
      hasResult ||= line.includes('"type":"result"');
      void stdout.write(new TextEncoder().encode(`${line}\n`)).catch(() => undefined);
    }
    end(readExit(transcript));
  };
  if (!request.args.includes("--input-format")) queueMicrotask(play);
  return {
    pid: 1,
    stdout,
    stderr,
    async write(bytes) {
      for (const line of new TextDecoder().decode(bytes).split("\n")) {
        if (line.includes('"initialize"')) greeting = (JSON.parse(line) as { request_id: string }).request_id;
        if (line.includes('"type":"user"')) queueMicrotask(play);
      }
    },
    endInput: () => undefined,
    kill: (signal) => end({ code: null, signal }),
    exit,
  };
}

function send(conversation: AgentConversation, clock: ReturnType<typeof createVirtualClock>, seed: number) {
  return createRun(
    async (writer) => {
      const policy = createPolicy(
        { hooks: [], rules: [], permission: undefined, guards: [], outputMode: undefined },
        {
          runId: writer.runId,
          agent: undefined,
          context: undefined,
          signal: writer.signal,
          clock,
          write: (chunks) => void writer.write(chunks),
          ask: (callId) => writer.ask(callId),
        },
      );
      await conversation.send(messagesOf("go"), {
        runId: writer.runId,
        signal: writer.signal,
        policy,
        write: (chunks) => writer.write(chunks),
        async runTool({ callId, name, input }) {
          const one = tools.find((known) => known.name === name);
          if (one === undefined) return { kind: "failed", why: "unknown-tool", output: "unknown" };
          const { runId, signal } = writer;
          return (await runTool(one, input, {
            callId,
            runId,
            signal,
            clock,
            agent: undefined,
            context: undefined,
            onProgress() {},
          })) as SettledOutcome;
        },
      });
    },
    { clock, random: createSeededRandom(seed), onListenerError: () => undefined },
  );
}

describe.each(readTranscripts())("$name through the backend", (transcript) => {
  it("gives logs that keep every guarantee, and leaves no process", async () => {
    const clock = createVirtualClock();
    const handles: ProcessHandle[] = [];
    const backend = createClaudeCodeBackend(
      { mode: transcript.kind, skipVersionCheck: true },
      {
        clock,
        random: createSeededRandom(7),
        spawn: async (request) => {
          const handle = replay(transcript, request);
          handles.push(handle);
          return handle;
        },
        files: createMemoryFiles(),
        probe: async () => "executable",
        env: { PATH: "/usr/bin" },
        cwd: "/work",
        temporaryFolder: "/tmp",
        processes: undefined,
      },
    );
    const conversation = await backend.open(settingsFor({ tools: transcript.kind === "control" ? tools : [] }));
    const logs: AgentEvent[][] = [];
    // As often as the first process lives: a captured conversation may have several turns.
    for (let turn = 0; turn < 8 && handles.length <= 1; turn += 1) {
      const run = send(conversation, clock, turn);
      const log: AgentEvent[] = [];
      const reading = (async () => {
        for await (const event of run) log.push(event);
      })();
      for (let step = 0; step < 400 && !run.isComplete(); step += 1) await clock.advance(step < 50 ? 10 : 1000);
      expect(run.isComplete()).toBe(true);
      await reading;
      logs.push(log);
      if (ofType(log, "result").length === 0 || transcript.kind === "plain") break;
    }
    const closing = conversation.close();
    await clock.advance(20_000);
    await closing;
    for (const log of logs) assertRunLog(log);
    const first = logs[0] ?? [];
    const hasResult = new TextDecoder().decode(transcript.bytes).includes('"type":"result"');
    const failures = ofType(first, "error").filter((error) => error.terminal);
    expect([ofType(first, "result").length > 0, failures.length]).toEqual([hasResult, hasResult ? 0 : 1]);
    for (const handle of handles) await handle.exit;
    expect(clock.pending()).toBe(0);
  });
});

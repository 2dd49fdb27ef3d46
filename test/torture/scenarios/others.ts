import fs, { readFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { replayIn, startRun } from "#runtime";
import { createLogSink, createNdjsonSink, createTerminalSink, joinSinks, type Sink } from "#sinks";
import { createToolServer } from "#tools";
import { makeFolder, removeFolderNow } from "../../temporary-folder.ts";
import type { Fault } from "../fault.ts";
import type { Scenario } from "../play.ts";
import type { Stage } from "../stage.ts";
import { lookTool } from "./models.ts";

const HOST: Scenario["host"] = {
  rules: [
    { match: { times: 1 }, reply: { text: "I look.", toolCalls: [{ name: "look", input: { n: 1 } }] } },
    { reply: { text: "All is well." } },
  ],
};

/** Has the calls fail that a tape is written with. They go through no seam: the real ones are replaced meanwhile. */
async function withFaultyTape(stage: Stage, act: () => Promise<void>): Promise<void> {
  const { fault } = stage;
  const { openSync, writeSync, closeSync } = fs;
  const tapes = new Set<number>();
  fs.openSync = (path, ...rest) => {
    if (!String(path).endsWith(".tape")) return openSync(path, ...rest);
    if (fault.reach("tape.open")) throw Object.assign(new Error("tape.open failed on purpose"), { code: "EIO" });
    const file = openSync(path, ...rest);
    tapes.add(file);
    return file;
  };
  fs.writeSync = ((file: number, ...rest: [never]) => {
    if (tapes.has(file)) fault.strike("tape.write");
    return writeSync(file, ...rest);
  }) as typeof fs.writeSync;
  fs.closeSync = (file) => {
    closeSync(file);
    if (tapes.delete(file)) fault.strike("tape.close");
  };
  syncBuiltinESMExports();
  try {
    await act();
  } finally {
    Object.assign(fs, { openSync, writeSync, closeSync });
    syncBuiltinESMExports();
    if (tapes.size > 0) stage.open("tape");
  }
}

async function record(stage: Stage, folder: string): Promise<string> {
  const path = join(folder, "run.tape");
  const options = { tools: [lookTool(stage.fault)], record: path };
  await stage.read(startRun("anthropic/test", "Go.", options, stage.world));
  return path;
}

async function inFolder(act: (folder: string) => Promise<void>): Promise<void> {
  const folder = makeFolder("torture");
  try {
    await act(folder);
  } finally {
    removeFolderNow(folder);
  }
}

/** A sink that may fail at everything it does. */
function breakSink(name: string, sink: Sink, fault: Fault): Sink {
  return {
    accept(event) {
      fault.strike(`${name}.accept`);
      sink.accept(event);
    },
    room() {
      fault.strike(`${name}.room`);
      return sink.room?.();
    },
    async close() {
      fault.strike(`${name}.close`);
      await sink.close?.();
    },
  };
}

export const OTHER_SCENARIOS: readonly Scenario[] = [
  {
    name: "a recorded run",
    host: HOST,
    play: (stage) => inFolder((folder) => withFaultyTape(stage, async () => void (await record(stage, folder)))),
  },
  {
    name: "a replay of a damaged tape",
    host: HOST,
    play: (stage) =>
      inFolder(async (folder) => {
        const path = await record(stage, folder);
        stage.logs.length = 0;
        const lines = readFileSync(path, "utf8").split("\n");
        const damaged = lines.map((line) =>
          line !== "" && stage.fault.reach("line of the tape") ? line.slice(0, Math.floor(line.length / 2)) : line,
        );
        const run = replayIn(new TextEncoder().encode(damaged.join("\n")), {}, stage.world);
        await stage.read(run);
      }),
    tells: {
      "line of the tape": ({ logs, notes }) =>
        notes.some((note) => note.includes("line ")) ||
        logs.every((log) => JSON.stringify(log.at(-1)).includes("tape")),
    },
  },
  {
    name: "listeners and sinks",
    host: HOST,
    async play(stage) {
      const { fault, world } = stage;
      const run = startRun("anthropic/test", "Go.", { tools: [lookTool(fault)] }, world);
      run.on("*", () => fault.strike("listener"));
      const later = async (): Promise<void> => fault.strike("listener that is async");
      // Listeners are not asked for promises; many are written as if they were.
      run.on("message", later as () => void);
      const out = (text: string): void => {
        fault.strike("write of a sink");
        void text;
      };
      const sinks = joinSinks(
        [
          breakSink(
            "sink",
            createNdjsonSink(() => undefined),
            fault,
          ),
          createTerminalSink({ out, aside: out, color: false, width: 80, showThinking: false }),
          createLogSink({ path: "/log/run.jsonl", files: world.files }),
        ],
        stage.note,
      );
      run.on("*", (event) => {
        sinks.accept(event);
        sinks.room?.()?.catch(stage.note);
      });
      await stage.read(run);
      await sinks.close?.();
    },
  },
  {
    name: "a run as a web response",
    host: HOST,
    async play(stage) {
      const { fault, world } = stage;
      const start = () => startRun("openai/test", "Go.", { tools: [lookTool(fault)] }, world);
      for (const events of ["millrace", "runner", "chat"] as const) {
        const run = start();
        const reading = stage.read(run);
        const text = await run.toResponse({ events }).text();
        stage.notes.push(text);
        await reading;
      }
      const run = start();
      const reading = stage.read(run);
      await run
        .toTextResponse()
        .text()
        .catch((error: unknown) => stage.note(error));
      await reading;
    },
  },
  {
    name: "our tools as an MCP server",
    async play(stage) {
      const look = lookTool(stage.fault);
      const server = createToolServer({
        name: "torture",
        version: "1",
        tools: [look],
        call: async ({ input }) => {
          stage.fault.strike("call of the server");
          return { output: input, isError: false };
        },
      });
      const params = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "t", version: "1" } };
      const requests = [
        { method: "initialize", params },
        { method: "tools/list" },
        { method: "tools/call", params: { name: "look", arguments: { n: 1 } } },
        { method: "tools/call", params: { name: "look", arguments: { n: 2 } } },
      ];
      for (const [id, request] of requests.entries()) {
        const answer = await server.receive({ jsonrpc: "2.0", id, ...request });
        if (answer === undefined) throw new Error(`The request ${id} was not answered.`);
        stage.notes.push(JSON.stringify(answer));
      }
      server.close();
    },
    // What was thrown may hold anything, so the peer is told that, and not what.
    tells: { "call of the server": ({ notes }) => notes.some((note) => note.includes('"isError":true')) },
  },
];

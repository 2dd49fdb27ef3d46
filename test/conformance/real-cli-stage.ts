import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { spawnSync } from "node:child_process";
import { type AgentEvent, isStartError, type ProcessRequest, type RunResult, type Spawn } from "#domain";
import type { EmulatorScript } from "#emulator";
import { type RunOptions, startRun, type Target, type World } from "#runtime";
import { assertRunLog } from "#testing";
import { locateRealCli, realCliOptions } from "../real-cli.ts";
import { openStage } from "./targets.ts";

type Json = Readonly<Record<string, unknown>>;

/** One start of the real CLI, or one run on it: as many options as do not disturb each other. */
export interface Start {
  readonly options: RunOptions;
  readonly prompt?: string;
  readonly rules?: EmulatorScript["rules"];
  readonly target?: Target;
  /** What the tape, the disk and the like need to look like before it. */
  readonly before?: (place: Place) => void;
}

/** What could be seen of it from outside. */
export interface Seen {
  readonly options: RunOptions;
  readonly prompt: string;
  readonly log: readonly AgentEvent[];
  readonly result: RunResult | undefined;
  /** Why it did not start. */
  readonly refusal: string | undefined;
  /** What the CLI printed, line by line. */
  readonly frames: readonly Json[];
  /** Its first frame: what it says it was started with. */
  readonly init: Json;
  /** What the model was asked. */
  readonly requests: readonly { readonly body: Json; readonly headers: Json }[];
  /** The first of them, as text. */
  readonly asked: string;
  /** The names of the tools the model was offered. */
  readonly offered: readonly string[];
  /** The processes that were started through the world. */
  readonly starts: readonly ProcessRequest[];
  /** The files in its home that it left, the way they were called. */
  readonly left: readonly string[];
  /** What callbacks have noted. */
  readonly marks: readonly string[];
  /** Our children that look after what the CLI starts. */
  readonly watchdogs: number;
}

export interface Place {
  readonly home: string;
  readonly work: string;
  /** Programs in front of the real CLI. */
  readonly program: (name: "wrapped" | "exits-3" | "odd-version") => string;
  readonly marks: string[];
  readonly tape: string;
  readonly spawn: Spawn;
  play(start: Start): Promise<Seen>;
  close(): Promise<void>;
}

/** Files by which effects are seen. Each start begins without them. */
const TRACES = ["made", "asked-server", "fsmonitor-ran", "wrapped-ran", "debug.txt"];

/** An MCP server with one tool, which allows what it is asked about and leaves a file. */
const SERVER = `
const { writeFileSync } = require("node:fs");
const send = (id, result) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, result }) + "\\n");
require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === "initialize")
    send(id, { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "asker", version: "1" } });
  else if (method === "tools/list")
    send(id, { tools: [{ name: "allow", description: "d", inputSchema: { type: "object" } }] });
  else if (method === "tools/call") {
    writeFileSync(process.argv[2], "");
    const answer = { behavior: "allow", updatedInput: params.arguments.input };
    send(id, { content: [{ type: "text", text: JSON.stringify(answer) }] });
  } else if (id !== undefined) send(id, {});
});
`;

/** A home with settings, a plugin, a repository and programs that an option may reach or not. */
export async function openPlace(): Promise<Place> {
  let rules: EmulatorScript["rules"] = [];
  const stage = await openStage({
    get rules() {
      return rules;
    },
  });
  const { home } = stage;
  const work = join(home, "work");
  const at = (...names: readonly string[]): string => join(home, ...names);
  const write = (path: string, text: string, mode = 0o644): void => {
    mkdirSync(join(path, ".."), { recursive: true });
    writeFileSync(path, text);
    chmodSync(path, mode);
  };
  for (const folder of ["work", "more"]) mkdirSync(at(folder));
  spawnSync("git", ["init", "--quiet", "."], { cwd: work });
  write(at("fsmonitor"), `#!/bin/sh\ntouch ${at("fsmonitor-ran")}\n`, 0o755);
  spawnSync("git", ["config", "core.fsmonitor", at("fsmonitor")], { cwd: work });
  write(join(work, "note.txt"), "what the note says");
  write(at("server.cjs"), SERVER);
  write(at("plugin", ".claude-plugin", "plugin.json"), JSON.stringify({ name: "proof-plugin", version: "1.0.0" }));
  write(at(".claude", "settings.json"), JSON.stringify({ env: { FROM_USER: "of the user" } }));
  write(at(".claude.json"), JSON.stringify({ mcpServers: { users: { command: "true" } } }));
  const cli = locateRealCli() ?? "claude";
  const wrap = (name: string, body: string): void => write(at("bin", name), `#!/bin/sh\n${body}\n`, 0o755);
  wrap("wrapped", `echo "a remark" >&2\ntouch ${at("wrapped-ran")}\nexec ${cli} "$@"`);
  wrap("exits-3", `case "$*" in *--version*) exec ${cli} "$@";; esac\n${cli} "$@"\nexit 3`);
  wrap("odd-version", `case "$*" in *--version*) echo "no version"; exit 0;; esac\nexec ${cli} "$@"`);

  const marks: string[] = [];
  const printed: string[] = [];
  const starts: ProcessRequest[] = [];
  const spawn: Spawn = async (request) => {
    const handle = await stage.world.spawn(request);
    if (request.args.includes("--version")) return handle;
    const stdout = tee(handle.stdout, (text) => printed.push(text));
    // Its other members are getters of the handle itself.
    return new Proxy(handle, {
      get: (target, name) => (name === "stdout" ? stdout : Reflect.get(target, name, target)),
    });
  };
  const world: World = {
    ...stage.world,
    spawn: (request) => {
      starts.push(request);
      return spawn(request);
    },
  };

  const place: Place = {
    home,
    work,
    program: (name) => at("bin", name),
    marks,
    tape: at("run.tape"),
    spawn,
    async play(start) {
      rules = start.rules ?? [];
      marks.length = 0;
      printed.length = 0;
      starts.length = 0;
      for (const name of TRACES) rmSync(at(name), { force: true });
      rmSync(join(work, "made"), { force: true });
      start.before?.(place);
      const from = stage.emulator.requests.length;
      const log: AgentEvent[] = [];
      let result: RunResult | undefined;
      let refusal: string | undefined;
      const { prompt = "go" } = start;
      const { claudeCode, ...rest } = start.options;
      const options: RunOptions = {
        ...(claudeCode?.cwd === undefined && { cwd: work }),
        ...rest,
        claudeCode: { ...realCliOptions(), ...claudeCode },
      };
      try {
        const run = startRun(start.target ?? "claude-code", prompt, options, world);
        for await (const event of run) log.push(event);
        assertRunLog(log);
        result = await run.result();
        await run.closed;
      } catch (error) {
        if (!isStartError(error)) throw error;
        refusal = error.message;
      }
      const frames = printed
        .join("")
        .split("\n")
        .flatMap((line) => (line.startsWith("{") ? [JSON.parse(line) as Json] : []));
      const requests = stage.emulator.requests
        .slice(from)
        .filter(({ path }) => path.startsWith("/v1/messages"))
        .map(({ body, headers }) => ({ body: body as Json, headers: headers as Json }));
      return {
        options,
        prompt,
        log,
        result,
        refusal,
        frames,
        init: frames.find(({ subtype }) => subtype === "init") ?? {},
        requests,
        asked: JSON.stringify(requests[0]?.body ?? {}),
        offered: ((requests[0]?.body["tools"] ?? []) as readonly { name: string }[]).map(({ name }) => name),
        starts: [...starts],
        left: [
          ...[...TRACES, "run.tape"].filter((name) => existsSync(at(name))),
          ...(existsSync(join(work, "made")) ? ["made"] : []),
        ],
        marks: [...marks],
        watchdogs: countWatchdogs(),
      };
    },
    close: () => stage.close(),
  };
  return place;
}

async function* tee(stream: AsyncIterable<Uint8Array>, take: (text: string) => void): AsyncGenerator<Uint8Array> {
  const decoder = new TextDecoder();
  for await (const bytes of stream) {
    take(decoder.decode(bytes, { stream: true }));
    yield bytes;
  }
}

/** The companions of this process: see src/transports/process/watchdog.ts. */
function countWatchdogs(): number {
  return readdirSync("/proc").filter((entry) => {
    if (!/^\d+$/.test(entry)) return false;
    try {
      const parent = Number(/\) \S (\d+)/.exec(readFileSync(`/proc/${entry}/stat`, "utf8"))?.[1]);
      return parent === process.pid && readFileSync(`/proc/${entry}/cmdline`, "utf8").includes("watchdog");
    } catch {
      return false;
    }
  }).length;
}

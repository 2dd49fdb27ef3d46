import type { Chunk, ProcessExit } from "#domain";
import type { JsonRecord } from "#wire";
import { ControlConnection } from "../control/connection.ts";
import type { ControlContext } from "../control/hooks.ts";
import { asksForPermission, initializeRequest } from "../control/initialize.ts";
import { createOwnToolServer } from "../control/own-tools.ts";
import type { ConversationPlan } from "./plan.ts";
import type { TakeChunks } from "./read-output.ts";
import { type CliProcess, launchCli } from "../launch.ts";
import type { ClaudeCodeOptions } from "../options.ts";
import { createTaskCount, type TaskCount } from "../result-rule-frames.ts";

/** What a tool server calls itself. */
const SERVER_VERSION = "1.0.0";

/** A process of a conversation, and what is known of it between turns. */
export interface Live {
  readonly process: CliProcess;
  readonly connection: ControlConnection;
  readonly tasks: TaskCount;
  /** It has written something. */
  hasOutput: boolean;
  /** Turns of the CLI that have begun and not ended. */
  openTurns: number;
}

export interface LiveRequest {
  readonly plan: ConversationPlan;
  readonly options: ClaudeCodeOptions;
  readonly features: readonly string[];
  readonly context: ControlContext;
  /** There is a process. Called before anything it says. */
  readonly onLive: (live: Live) => void;
  readonly take: (live: Live, chunks: Chunk[]) => ReturnType<TakeChunks>;
  readonly onBusy: (isBusy: boolean) => void;
  readonly onExit: (live: Live, exit: ProcessExit | undefined, rest: readonly Chunk[]) => void;
  /** `initialize` came to nothing. */
  readonly onRefusal: (live: Live, thrown: unknown) => void;
}

/** Starts a process in control mode. Rejects with `StartError`. */
export async function startLive(request: LiveRequest): Promise<Live> {
  const { plan, options, features, context } = request;
  const { cli, tools, world } = plan;
  const argv = { mode: "control", permissionPrompts: asksForPermission(features) } as const;
  const process = await launchCli({ cli, options, plan: argv }, world);
  const connection = new ControlConnection({
    process,
    world,
    context,
    server: tools.length === 0 ? undefined : createOwnToolServer(tools, SERVER_VERSION, context),
    initialize: initializeRequest({ features, hasTools: tools.length > 0 }),
    maxLineBytes: options.maxLineBytes,
    keepRaw: plan.keepRaw,
    take(chunks) {
      if (chunks.length === 0) return undefined;
      live.hasOutput = true;
      return request.take(live, chunks);
    },
    onBusy: request.onBusy,
    onExit: (exit, rest) => request.onExit(live, exit, rest),
  });
  const live: Live = { process, connection, tasks: createTaskCount(), hasOutput: false, openTurns: 0 };
  request.onLive(live);
  connection.ready.catch((thrown: unknown) => request.onRefusal(live, thrown));
  return live;
}

/** Asks a running process for something. Rejects with `RunError`. */
export function requestOf(live: Live, request: JsonRecord): Promise<JsonRecord> {
  live.connection.write("");
  return live.connection.channel.request(request);
}

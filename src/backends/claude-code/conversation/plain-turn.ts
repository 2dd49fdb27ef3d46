import {
  type Chunk,
  type ErrorDetail,
  errorItem,
  type Message,
  startFailure,
  type WarningDetail,
  warningItem,
} from "#domain";
import type { ClaudeCodeAdapter, Decoder } from "#dialects";
import { createDeferred, followSignal, type SilenceWatch } from "#streams";
import type { AgentLink } from "../../backend.ts";
import type { ArgvPlan } from "../argv.ts";
import { createCliDecoder } from "../cli-decoder.ts";
import { judgeAttachments } from "../attachments.ts";
import { lostAgent } from "./answers.ts";
import {
  backgroundNotice,
  backgroundWarning,
  exitError,
  inputWarning,
  stalledError,
  withoutEndFaults,
} from "./exit.ts";
import { renderInput, userLine } from "./input.ts";
import type { ConversationPlan } from "./plan.ts";
import { pumpOutput } from "./read-output.ts";
import { watchTurn } from "./silence.ts";
import { awaitExit, type CliProcess } from "../cli-process.ts";
import { launchCli } from "../launch.ts";
import type { ClaudeCodeOptions } from "../options.ts";
import { RESULT_GRACE_MS, type RuleInput } from "../result-rule.ts";
import { createTaskCount, readChunk, type TaskCount } from "../result-rule-frames.ts";
import { TurnRule } from "./turn-rule.ts";
import { explainVerdict } from "../verdict-words.ts";

/** The work for one process. */
export interface PlainWork {
  readonly options: ClaudeCodeOptions;
  readonly messages: readonly Message[];
  /** The CLI has the earlier conversation. */
  readonly isKnown: boolean;
  /** The process is started when this has resolved. */
  readonly after: Promise<void>;
}

/** One process from its prompt to its end, according to the result rule. The process may outlive its turn. */
export class PlainTurn {
  sessionId: string | undefined;
  /** The CLI has begun to work on the prompt. */
  hasStarted = false;
  /** Resolves when the process is gone, or will never be started. */
  readonly gone: Promise<void>;
  private readonly _plan: ConversationPlan;
  private readonly _link: AgentLink;
  private readonly _tasks: TaskCount = createTaskCount();
  private readonly _decoder: Decoder;
  private readonly _adapter: ClaudeCodeAdapter;
  private readonly _over = createDeferred<void>();
  private readonly _gone = createDeferred<void>();
  private _process: CliProcess | undefined;
  private readonly _rule: TurnRule;
  private _silence: SilenceWatch | undefined;
  private _stopClock: (() => void) | undefined;
  /** Called when the last kept shell has ended. */
  private _onShellsOver: (() => void) | undefined;
  private _hasOutput = false;
  private _agent: string | undefined;
  /** Nothing more is written: the turn was aborted, or a terminal error was written. */
  private _isMute = false;

  constructor(plan: ConversationPlan, link: AgentLink) {
    this._plan = plan;
    const { decoder, adapter } = createCliDecoder({ mode: "plain" }, plan.keepRaw, plan.options.maxLineBytes);
    this._decoder = decoder;
    this._adapter = adapter;
    this._rule = new TurnRule({ strictExitStatus: plan.options.strictExitStatus });
    this._link = link;
    this.gone = this._gone.promise;
  }

  get hasResult(): boolean {
    return this._rule.hasResult;
  }

  /** The CLI's id of the last message. */
  get lastMessageId(): string | undefined {
    return this._adapter.lastMessageId;
  }

  /** The process stays after its turn, for its shells. */
  get isKept(): boolean {
    return this._onShellsOver !== undefined;
  }

  /** The process is kept, and the run is responsible for its end. */
  get isHandedOver(): boolean {
    return this.isKept && this._link.isLast === true;
  }

  async carryOut(work: PlainWork): Promise<void> {
    const unfollow = followSignal(this._link.signal, () => this._mute());
    try {
      await work.after;
      if (!this._isMute) await this._start(work);
      await this._over.promise;
      await this._warnOfInput();
    } catch (thrown) {
      if (!this._isMute) await this._link.write([startFailure(thrown)]);
    } finally {
      unfollow();
      this._silence?.stop();
      this._stopClock?.();
      await this._leave();
    }
  }

  private async _warnOfInput(): Promise<void> {
    const warning = this.hasResult && this._process !== undefined ? inputWarning(this._process) : undefined;
    if (warning !== undefined && !this._isMute) await this._link.write([warningItem(warning)]);
  }

  /** Stops a kept process. Resolves when it is gone. */
  stopKept(): Promise<void> {
    this._onShellsOver?.();
    return this.gone;
  }

  /** Stops the process, without waiting for it if the link does. */
  private async _leave(): Promise<void> {
    const { shells } = this._tasks;
    const isKept = !this._isMute && shells.length > 0 && this._plan.options.keepBackground === true;
    if (!this._isMute && shells.length > 0) await this._link.write([backgroundNotice(shells, isKept)]);
    if (isKept) return this._keep();
    const stopping = this._stop();
    if (this._link.cleanUp === undefined) await stopping;
    else this._link.cleanUp(stopping);
  }

  private async _stop(): Promise<void> {
    try {
      await this._process?.stop({ immediate: true });
    } finally {
      this._gone.resolve();
    }
  }

  /** Keeps the process until its shells have ended; after that the CLI would begin a turn that was not requested. */
  private _keep(): void {
    const over = createDeferred<void>();
    const stopped = over.promise.then(() => this._stop());
    this._onShellsOver = () => {
      this._onShellsOver = undefined;
      over.resolve();
    };
    // In a session the conversation stops it; a separate run is over, and only an abort can still stop it.
    if (this._link.isLast !== true) return void stopped.catch(() => undefined);
    const unfollow = followSignal(this._link.signal, () => this._onShellsOver?.());
    this._link.cleanUp?.(stopped.finally(unfollow), { maxMs: Number.POSITIVE_INFINITY });
  }

  /** SIGINT makes the CLI end its turn with a result. */
  interrupt(): void {
    this._process?.signalInterrupt();
  }

  /** Resolves when the process is gone. */
  close(): Promise<void> {
    this._fail({ code: "aborted", message: "The conversation was closed.", terminal: true });
    return this._gone.promise;
  }

  private async _start({ options, messages, isKnown }: PlainWork): Promise<void> {
    const { cli, world } = this._plan;
    this._agent = options.agent;
    const input = renderInput(messages, isKnown, options);
    const refusal = await judgeAttachments(input.text, this._plan, this._link);
    if (refusal !== undefined) return this._fail(refusal);
    if (this._isMute) return;
    const isText = input.blocks === undefined;
    const plan: ArgvPlan = isText ? { mode: "plain", prompt: "stdin" } : { mode: "plain" };
    const process = await launchCli({ cli, options, plan }, world);
    this._process = process;
    if (this._isMute) return;
    this._watch();
    this._read(process).catch(() => this._over.resolve());
    process.write(isText ? input.text : userLine(input, undefined));
    process.endInput();
  }

  private _watch(): void {
    this._silence = watchTurn(this._plan, this._link, (silentMs) => {
      if (this.hasResult) this._follow({ kind: "stalled", warning: this._leftWarning(silentMs) });
      else this._fail(stalledError(silentMs, this._process?.inputFailure));
    });
  }

  private _leftWarning(silentMs: number): WarningDetail {
    const { agents, shells } = this._tasks;
    const kept = shells.length > 0 && this._plan.options.keepBackground === true;
    return backgroundWarning(agents, { silentMs, kept });
  }

  private async _read(process: CliProcess): Promise<void> {
    await pumpOutput(process, this._decoder, (chunks) => this._take(chunks));
    if (this._decoder.isOver) return;
    const exit = await awaitExit(process, this._plan.world.clock);
    if (this.isKept) this._onShellsOver?.();
    const rest = this._decoder.end();
    if (exit === undefined) {
      await this._give(withoutEndFaults(rest, { code: null, signal: null }));
      this._follow({ kind: "eof" });
    } else {
      await this._give(withoutEndFaults(rest, exit));
      const { lastNonJsonLine } = this._decoder;
      const error = exitError(exit, process, { hasOutput: this._hasOutput, lastNonJsonLine });
      this._follow({ kind: "exit", code: exit.code, signal: exit.signal, error });
    }
    this._over.resolve();
  }

  private _take(chunks: Chunk[]): Promise<void> | undefined {
    if (this.isKept) {
      for (const chunk of chunks) readChunk(chunk, this._tasks, true);
      if (this._tasks.shells.length === 0) this._onShellsOver?.();
      return undefined;
    }
    if (this._isMute || chunks.length === 0) return undefined;
    this._hasOutput = true;
    this._silence?.alive();
    const room = this._give(chunks);
    this._watchEnd();
    return room;
  }

  /** After the verdict the turn ends soon, however much is still written; a further turn has its own time. */
  private _watchEnd(): void {
    if (!this._rule.isJudged) {
      this._stopClock?.();
      this._stopClock = undefined;
    } else {
      const { clock } = this._plan.world;
      this._stopClock ??= clock.after(RESULT_GRACE_MS, () => this._follow({ kind: "silence" }));
    }
  }

  /** Passes chunks on as far as the rule allows. */
  private _give(chunks: readonly Chunk[]): Promise<void> | undefined {
    if (this._isMute) return undefined;
    const passed: Chunk[] = [];
    for (const chunk of chunks) {
      if (!this._pass(chunk, passed)) break;
    }
    return passed.length === 0 ? undefined : this._link.write(passed);
  }

  /** Returns `false` if the following chunks do not count. */
  private _pass(written: Chunk, passed: Chunk[]): boolean {
    const chunk = written.type === "result" ? explainVerdict(written, this._plan.options) : written;
    if (chunk.type === "start") this.hasStarted = true;
    const lost = chunk.type === "start" ? lostAgent(this._agent, this._adapter.agents) : undefined;
    if (lost !== undefined) {
      passed.push(chunk, errorItem(lost));
      this._mute();
      return false;
    }
    if (chunk.type === "start" || chunk.type === "result") this.sessionId = chunk.sessionId ?? this.sessionId;
    const given = this._rule.pass(chunk, readChunk(chunk, this._tasks, this._rule.isLate));
    if (given !== undefined) passed.push(given);
    if (!this._rule.isClosed) return true;
    if (given?.type === "error") this._mute();
    this._over.resolve();
    return false;
  }

  /** Handles an event that is not a chunk: reports it, and then the turn may be over. */
  private _follow(input: RuleInput): void {
    if (this._isMute) return;
    const told = this._rule.note(input);
    if (told.length > 0) this._link.write(told)?.catch(() => undefined);
    if (told.at(-1)?.type === "error") this._mute();
    else if (this._rule.isClosed) this._over.resolve();
  }

  private _fail(error: ErrorDetail): void {
    if (this._isMute) return;
    this._isMute = true;
    this._link.write([errorItem(error)])?.catch(() => undefined);
    this._over.resolve();
  }

  private _mute(): void {
    this._isMute = true;
    this._over.resolve();
  }
}

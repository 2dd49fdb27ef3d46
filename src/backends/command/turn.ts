import {
  type Chunk,
  type ErrorDetail,
  errorItem,
  noticeItem,
  type ProcessHandle,
  startFailure,
  startItem,
} from "#domain";
import { createMissingVerdict, createReplyDecoder, type Format } from "#dialects";
import { followSignal, watchSilence } from "#streams";
import { createStderrTail } from "#transports";
import type { AgentLink } from "../backend.ts";
import type { CommandSettings, CommandWorld } from "./settings.ts";

const IDLE_MS = 300_000;
const NOTICE_MS = 60_000;

/** A command with its format loaded. */
export type StartedCommand = Omit<CommandSettings, "format"> & { readonly format: Format };

interface TurnWorld extends CommandWorld {
  readonly idleMs: number | undefined;
  readonly keepRaw: boolean | undefined;
  readonly replyBytes: number | undefined;
}

/** One start of a command, from its prompt to its exit. */
export class CommandTurn {
  private readonly _command: StartedCommand;
  private readonly _world: TurnWorld;
  private readonly _link: AgentLink;
  private _stop: (() => Promise<void>) | undefined;
  /** Nothing more is written: the turn was aborted, or a terminal error was written. */
  private _isMute = false;
  private _hasStarted = false;

  constructor(command: StartedCommand, world: CommandTurn["_world"], link: AgentLink) {
    this._command = command;
    this._world = world;
    this._link = link;
  }

  async carryOut(prompt: string): Promise<void> {
    const unfollow = followSignal(this._link.signal, () => {
      this._isMute = true;
      this.stop().catch(() => undefined);
    });
    try {
      const handle = await this._start(prompt);
      if (!this._isMute) await this._read(handle, prompt);
    } catch (thrown) {
      await this._write([startFailure(thrown)]);
    } finally {
      unfollow();
      // `done` does not wait for what the command has left behind.
      const stopped = this.stop();
      if (this._link.cleanUp === undefined) await stopped;
      else this._link.cleanUp(stopped);
    }
  }

  /** Resolves when nothing of the command is left. */
  async stop(): Promise<void> {
    await this._stop?.();
  }

  private async _start(prompt: string): Promise<ProcessHandle> {
    const { executable, args, input, cwd, env } = this._command;
    const { handle, stop } = await this._world.start({
      executable,
      args: input === "argument" ? [...args, prompt] : args,
      env,
      ...(cwd !== undefined && { cwd }),
    });
    this._stop = stop;
    return handle;
  }

  private async _read(handle: ProcessHandle, prompt: string): Promise<void> {
    const { format, onStderr } = this._command;
    const stderr = createStderrTail({ ...(onStderr !== undefined && { onLine: (line) => onStderr(`${line}\n`) }) });
    const drained = stderr.drain(handle.stderr);
    feed(handle, this._command.input === "stdin" ? prompt : "");
    const decoder = createReplyDecoder(format, this._world);
    const verdict = createMissingVerdict();
    const silence = this._watch();
    try {
      for await (const bytes of handle.stdout) {
        silence.alive();
        await this._write(verdict.look(decoder.push(bytes)));
        if (decoder.isOver || this._isMute) return;
      }
    } finally {
      silence.stop();
    }
    const exit = await handle.exit;
    if (exit.code === 0) return this._write([...verdict.look(decoder.end()), ...verdict.missing()]);
    await drained;
    const how = exit.code === null ? `was ended by ${exit.signal}` : `ended with exit code ${exit.code}`;
    const stderrTail = stderr.text().trim().slice(-2000);
    // The last line of stderr; the rest is in the diagnostic.
    const lastLine = (stderrTail.split("\n").at(-1) ?? "").trim().replace(/[.:]+$/u, "");
    const rest = decoder
      .end()
      .filter((chunk) => !(chunk.type === "error" && chunk.terminal) && chunk.type !== "result");
    await this._write(rest);
    await this._fail({
      code: "process-exited",
      message: `The command ${this._command.executable} ${how}${lastLine === "" ? "" : `: ${lastLine}`}.`,
      terminal: true,
      diagnostic: {
        troubleshooting: "Run the command by itself and read what it says, or correct its arguments.",
        ...(exit.code !== null && { exitCode: exit.code }),
        ...(stderrTail !== "" && { stderrTail }),
      },
    });
  }

  private _watch() {
    const { clock, idleMs = IDLE_MS } = this._world;
    return watchSilence({
      clock,
      firstMs: idleMs,
      betweenMs: idleMs,
      noticeMs: Math.min(NOTICE_MS, idleMs),
      onNotice: (silentMs) => {
        this._link.write([noticeItem("stall", { silentMs })])?.catch(() => undefined);
      },
      onExpire: (silentMs) => {
        const message = `The command ${this._command.executable} reached limits.idleMs: it has written nothing for ${silentMs} ms. Try again, or raise it if answers may take this long.`;
        const troubleshooting = "Raise limits.idleMs if it may take this long.";
        this._fail({ code: "stalled", message, terminal: true, diagnostic: { troubleshooting } }).catch(
          () => undefined,
        );
      },
    });
  }

  private async _fail(error: ErrorDetail): Promise<void> {
    await this._write([errorItem(error)]);
    this._isMute = true;
    this.stop().catch(() => undefined);
  }

  /** Adds a `start` item, once, if the format gives none. */
  private async _write(chunks: readonly Chunk[]): Promise<void> {
    if (this._isMute || chunks.length === 0) return;
    const isFirst = !this._hasStarted;
    this._hasStarted = true;
    const start = isFirst && !chunks.some(({ type }) => type === "start");
    await this._link.write(start ? [startItem({ backend: "command", mode: "plain" }), ...chunks] : chunks);
    if (chunks.some((chunk) => chunk.type === "error" && chunk.terminal)) this._isMute = true;
  }
}

/** Writes the prompt to stdin. A command that reads no input closes it, which is not an error. */
function feed(handle: ProcessHandle, prompt: string): void {
  const written = prompt === "" ? Promise.resolve() : handle.write(new TextEncoder().encode(prompt));
  written.then(
    () => handle.endInput(),
    () => handle.endInput(),
  );
}

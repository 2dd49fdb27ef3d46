import { type Clock, type ErrorDetail, type Raw, StartError, type WarningDetail } from "#domain";
import { parseJson } from "#wire";
import { buildArgv } from "./argv.ts";
import { inputWarning } from "./conversation/exit.ts";
import { asPlainText } from "./conversation/input.ts";
import { requireFlags } from "./features.ts";
import type { CliProcess } from "./cli-process.ts";
import { findCli, type FoundCli } from "./find-cli.ts";
import { launchCli, prepareCli } from "./launch.ts";
import type { ClaudeCodeWorld } from "./world.ts";
import { withOwnSpawn } from "./own-spawn.ts";
import type { ClaudeCodeMessage } from "./messages/message.ts";
import type { QueryItem } from "./query-item.ts";
import { type OutsideEnd, type QueryOptions, splitQueryOptions, watchOutside } from "./query-limits.ts";
import { PULL, QuerySource } from "./query-source.ts";
import { mayWait, RESULT_GRACE_MS, RULE_START, type RuleItem, type RuleState, stepRule } from "./result-rule.ts";

export type { QueryItem } from "./query-item.ts";
export type { QueryOptions } from "./query-limits.ts";

/**
 * The messages of one process. A result is a message like any other; the reader must check whether it is a success.
 *
 * The process is stopped when the stream ends, is closed, or is left. The end follows within a second after the result:
 * a process that exits slowly is stopped afterwards, and `close` resolves when it is gone.
 */
export interface Query extends AsyncIterable<QueryItem> {
  /** The next item; after the last one always `end`. Overlapping calls are answered in order. Never rejects. */
  next(): Promise<QueryItem>;
  /** Stops the process and ends pending calls of `next`. Resolves when nothing is left. Idempotent. */
  close(): Promise<void>;
  /** Every item except `end`. Leaving the loop closes the query. */
  [Symbol.asyncIterator](): AsyncIterableIterator<QueryItem, undefined>;
}

/** Starts the CLI with a prompt, in plain mode. Rejects with `StartError`. */
export async function openQuery(prompt: string, given: QueryOptions, machine: ClaudeCodeWorld): Promise<Query> {
  if (typeof prompt !== "string" || prompt.trim() === "") {
    throw new StartError("invalid-input", "The prompt is empty. Give it text.");
  }
  const { limits, options } = splitQueryOptions(given);
  const world = withOwnSpawn(options, machine);
  const plan = { mode: "plain", prompt: "stdin" } as const;
  const argv = buildArgv(options, plan);
  const outside = watchOutside(limits, world.clock);
  let process: CliProcess;
  let cli: FoundCli;
  try {
    // An abort before the start gives the same items as one after it, and no process.
    if (outside.error !== undefined) return endedQuery(outside.error);
    cli = await prepareCli(await findCli(options, world), options, world);
    if (outside.error !== undefined) return endedQuery(outside.error);
    requireFlags(cli.version, argv);
    process = await launchCli({ cli, options, plan }, world);
  } catch (thrown) {
    outside.stop();
    throw thrown;
  }
  process.write(options.slashCommands === true ? prompt : asPlainText(prompt));
  process.endInput();
  return new MessageStream(process, world.clock, {
    warnings: [...cli.warnings, ...argv.warnings],
    strictExitStatus: options.strictExitStatus,
    keepBackground: options.keepBackground,
    maxLineBytes: options.maxLineBytes,
    idleMs: limits.idleMs,
    outside,
  });
}

/** The items of a query that ended before it had a process. */
function endedQuery(error: ErrorDetail): Query {
  let items: readonly QueryItem[] = [{ kind: "error", error }];
  const next = async (): Promise<QueryItem> => {
    const [item = END] = items;
    items = [];
    return item;
  };
  const close = async (): Promise<void> => {
    items = [];
  };
  return { next, close, [Symbol.asyncIterator]: () => iterate({ next, close }) };
}

/** Every item except `end`; leaving the loop closes the query. */
function iterate(query: Pick<Query, "next" | "close">): AsyncIterableIterator<QueryItem, undefined> {
  const iterator: AsyncIterableIterator<QueryItem, undefined> = {
    next: async () => {
      const value = await query.next();
      return value.kind === "end" ? { done: true, value: undefined } : { done: false, value };
    },
    return: async () => {
      await query.close();
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]: () => iterator,
  };
  return iterator;
}

interface QueryParts {
  readonly warnings: readonly WarningDetail[];
  readonly strictExitStatus: boolean | undefined;
  readonly keepBackground: boolean | undefined;
  readonly maxLineBytes: number | undefined;
  readonly idleMs: number | undefined;
  readonly outside: OutsideEnd;
}

const END: QueryItem = { kind: "end" };
const CLOSED: RuleState = { ...RULE_START, phase: "closed" };

class MessageStream implements Query {
  private readonly _process: CliProcess;
  private readonly _source: QuerySource;
  private readonly _clock: Clock;
  private readonly _options: Omit<QueryParts, "warnings">;
  private readonly _warnings: WarningDetail[];
  private _state: RuleState = RULE_START;
  private _last: Promise<unknown> = Promise.resolve();
  private _closed: Promise<void> | undefined;
  private _isCutTold = false;
  private _coverFrame: ((frame: Raw) => Raw) | undefined;
  /** Why it was ended from outside, until that was reported. */
  private _endError: ErrorDetail | undefined;
  /** When the end is due, once there is a result. */
  private _dueAt: number | undefined;

  constructor(process: CliProcess, clock: Clock, given: QueryParts) {
    this._process = process;
    this._clock = clock;
    this._source = new QuerySource(process, clock, {
      keepsShells: given.keepBackground === true,
      idleMs: given.idleMs,
      maxLineBytes: given.maxLineBytes,
    });
    this._warnings = [...given.warnings];
    this._options = given;
    given.outside.onEnd((error) => this._endFromOutside(error));
  }

  next(): Promise<QueryItem> {
    const item = this._last.then(() => this._pull());
    this._last = item.catch(() => undefined);
    return item;
  }

  close(): Promise<void> {
    this._closed ??= this._release();
    return this._closed;
  }

  [Symbol.asyncIterator](): AsyncIterableIterator<QueryItem, undefined> {
    return iterate(this);
  }

  /** An earlier result stays valid: only the end follows it. */
  private _endFromOutside(error: ErrorDetail): void {
    if (this._closed !== undefined) return;
    const wait = mayWait(this._state);
    if (wait === "for-ever" || wait === "background") this._endError = error;
    this.close().catch(() => undefined);
  }

  private async _release(): Promise<void> {
    this._options.outside.stop();
    this._state = CLOSED;
    this._warnings.length = 0;
    this._source.close();
    await this._process.stop({ immediate: true });
  }

  private async _pull(): Promise<QueryItem> {
    const warning = this._warnings.shift();
    if (warning !== undefined) return { kind: "warning", warning: this._process.cover(warning) };
    for (;;) {
      const wait = mayWait(this._state);
      const { input, given } =
        wait === "no" ? PULL : await this._source.next(wait === "drain" ? { leftMs: this._leftMs() } : wait);
      // If it was closed meanwhile, the state shows it, and the input is dropped.
      const step = stepRule(this._state, input, { strictExitStatus: this._options.strictExitStatus });
      this._state = step.state;
      const more = mayWait(step.state);
      if (more === "drain") this._dueAt ??= this._clock.now() + RESULT_GRACE_MS;
      // The stop has what is left of the time after the result.
      else if (more !== "no") this._dueAt = undefined;
      if (step.item === undefined) continue;
      if (step.state.phase === "closed") await this._end();
      const endError = step.item.kind === "end" ? this._endError : undefined;
      if (endError !== undefined) {
        this._endError = undefined;
        return { kind: "error", error: endError };
      }
      // Reported last: how much of its input a process has read is known only when it is gone.
      const hasResult = step.state.result !== undefined;
      const cut = step.item.kind === "end" && hasResult ? inputWarning(this._process) : undefined;
      if (cut !== undefined && !this._isCutTold) {
        this._isCutTold = true;
        return { kind: "warning", warning: cut };
      }
      return this._process.cover(this._coverLine(itemOf(step.item, given)));
    }
  }

  /** Partial messages spread a text over several items. */
  private _coverLine(item: QueryItem): QueryItem {
    if (item.kind !== "message") return item;
    this._coverFrame ??= this._process.coverLines();
    const raw = this._coverFrame(item.raw);
    if (raw === item.raw) return item;
    const { value } = parseJson(raw.json);
    return { kind: "message", raw, message: (value ?? item.message) as ClaudeCodeMessage };
  }

  private _leftMs(): number {
    const latest = this._clock.now() + RESULT_GRACE_MS;
    // Never postponed: the system clock may have been set back.
    if (this._dueAt !== undefined) this._dueAt = Math.min(this._dueAt, latest);
    return Math.max(0, (this._dueAt ?? latest) - latest + RESULT_GRACE_MS);
  }

  /** Stops the process, and waits for that as long as there is time. Shells that are kept continue. */
  private async _end(): Promise<void> {
    this._options.outside.stop();
    if (this._closed === undefined && this._options.keepBackground === true && this._source.hasShells) return;
    const leftMs = this._leftMs();
    const gone = this.close();
    await new Promise<void>((resolve) => {
      const stopClock = this._clock.after(leftMs, resolve);
      const settle = (): void => {
        stopClock();
        resolve();
      };
      gone.then(settle, settle);
    });
  }
}

function itemOf(item: RuleItem, given: QueryItem | undefined): QueryItem {
  switch (item.kind) {
    case "given":
      return given ?? END;
    case "error":
      return given?.kind === "error" ? given : { kind: "error", error: item.error };
    default:
      return item;
  }
}

import type { ProcessExit, ProcessHandle, ProcessRequest, Spawn } from "#domain";
import { HIDDEN } from "#secrets";
import { createDeferred, type Deferred, followSignal } from "#streams";
import { rebuildFailure } from "../tape-line.ts";
import { readRecorded, turn } from "../recorded-answer.ts";
import type { TapeDelivery, TapeEntry } from "../tape.ts";
import { comparePlain, oneSided, pickNearest, type PathDifference } from "./compare.ts";
import { describeChange, describeGap, type WireDifference } from "./difference.ts";
import { recordedText, sentText } from "./settled-text.ts";
import { createWireInput, type LineProtocol, type ProcessEntryAt, type WireInput } from "./wire-input.ts";
import type { WireContext } from "./wire-context.ts";

type SpawnEntry = Extract<TapeEntry, { readonly type: "spawn" }>;

interface Start {
  readonly entry: SpawnEntry;
  readonly index: number;
  /** From 1, in the order of the tape. */
  readonly number: number;
}

/** The processes of a tape, for a run that starts them and writes their input anew. */
export interface WireSpawn {
  readonly spawn: Spawn;
  /** The recorded processes that were not started, and the recorded lines that were not written. */
  leftOver(): readonly WireDifference[];
}

export function createWireSpawn(context: WireContext, protocol: LineProtocol): WireSpawn {
  const all: Start[] = context.tape.entries
    .flatMap((entry, index) => (entry.type === "spawn" ? [{ entry, index }] : []))
    .map((one, at) => ({ ...one, number: at + 1 }));
  const left = [...all];
  const inputs: WireInput[] = [];
  let started = 0;
  const placeOf = ({ entry, number }: Start): string => `process ${number} (${fileName(entry.executable)})`;

  return {
    async spawn(request) {
      context.signal.throwIfAborted();
      started += 1;
      for (const [name, value] of Object.entries(request.env)) context.redactor.addVariable(name, value);
      const picked = pickNearest(left, ({ entry }) => compareStarts(entry, request, context));
      if (picked === undefined) {
        const count = all.length === 1 ? "1 process" : `${all.length} processes`;
        const what = `the tape has ${count}, and now there is one more: ${fileName(request.executable)}`;
        throw context.fail(describeGap(`process ${started}`, what));
      }
      const { entry: start, differences } = picked;
      const place = placeOf(start);
      if (differences.length > 0) context.differ(describeChange(place, differences));
      context.pass(start.index);
      const own = entriesOf(context, start);
      const refused = own.find(({ entry }) => entry.type === "not-spawned")?.entry;
      if (refused?.type === "not-spawned") throw rebuildFailure(refused.failure);
      const input = createWireInput(context, { place, entries: own, protocol });
      inputs.push(input);
      return new WireProcess(context, own, input, place).handle();
    },
    leftOver: () => [
      ...left.map((start) => describeGap(placeOf(start), "it is on the tape, but was not started this time")),
      ...inputs.flatMap((input) => input.leftOver()),
    ],
  };
}

function entriesOf({ tape }: WireContext, { entry: { id } }: Start): readonly ProcessEntryAt[] {
  return tape.entries.flatMap((entry, index) => ("id" in entry && entry.id === id ? [{ entry, index }] : []));
}

/** One process of a tape: it produces each recorded output as soon as it has received the input that preceded it. */
class WireProcess {
  private readonly _context: WireContext;
  private readonly _entries: readonly ProcessEntryAt[];
  private readonly _input: WireInput;
  private readonly _place: string;
  private readonly _exit: Deferred<ProcessExit> = createDeferred<ProcessExit>();
  private readonly _waiting = new Map<"stdout" | "stderr", () => void>();
  private _isGone = false;
  /** The output that must be read before the exit, as in the recording. */
  private readonly _unread = new Set<number>();

  constructor(context: WireContext, entries: readonly ProcessEntryAt[], input: WireInput, place: string) {
    this._context = context;
    this._entries = entries;
    this._input = input;
    this._place = place;
    for (const { entry, index } of entries) if (isOutput(entry)) this._unread.add(index);
  }

  handle(): ProcessHandle {
    const remove = this._context.add({ stuck: () => this._stuck() });
    const unfollow = followSignal(this._context.signal, () => this._leave({ code: null, signal: "SIGKILL" }));
    this._exit.promise.then(
      () => {
        remove();
        unfollow();
      },
      () => undefined,
    );
    this._input.onProgress = () => this._goOn();
    this._goOn();
    const isRunning = (): boolean => !this._isGone;
    return {
      get isRunning() {
        return isRunning();
      },
      // None: the recorded id may belong to another process now, which must not be signalled.
      pid: undefined,
      stdout: this._output("stdout"),
      stderr: this._output("stderr"),
      write: (bytes) => this._input.write(bytes),
      endInput: () => this._input.end(),
      kill: (signal) => {
        // The response to an interrupt is on the tape after it.
        if (signal !== "SIGINT") this._leave(this._recordedExit() ?? { code: null, signal });
      },
      exit: this._exit.promise,
    };
  }

  private _output(name: "stdout" | "stderr"): AsyncIterable<Uint8Array> {
    const entries = this._entries.filter(({ entry }) => entry.type === name || entry.type === `${name}-end`);
    let at = 0;
    let isLeft = false;
    const next = async (): Promise<TapeDelivery> => {
      while (!isLeft && !this._isGone && !this._isDue(entries[at])) await this._wait(name);
      const one = entries[at];
      if (isLeft || one === undefined || !this._isDue(one)) return { type: `${name}-end`, id: 0 };
      await turn();
      at += 1;
      this._unread.delete(one.index);
      this._context.pass(one.index);
      this._goOn();
      return one.entry as TapeDelivery;
    };
    const skipRest = (): void => {
      isLeft = true;
      for (const { index } of entries) this._unread.delete(index);
      this._goOn();
    };
    return readRecorded(next, skipRest);
  }

  private _isDue(one: ProcessEntryAt | undefined): boolean {
    return one !== undefined && one.index < this._input.nextIndex;
  }

  private _wait(name: "stdout" | "stderr"): Promise<void> {
    this._context.stir();
    return new Promise((resolve) => this._waiting.set(name, resolve));
  }

  /** Wakes pending reads, and exits when its turn has come. */
  private _goOn(): void {
    for (const [name, wake] of this._waiting) {
      this._waiting.delete(name);
      wake();
    }
    if (this._isGone) return;
    const exit = this._entries.find(({ entry }) => entry.type === "exit");
    if (exit === undefined || !this._isDue(exit)) return;
    for (const index of this._unread) if (index < exit.index) return;
    this._context.pass(exit.index);
    this._leave(this._recordedExit() ?? { code: null, signal: null });
  }

  private _recordedExit(): ProcessExit | undefined {
    const exit = this._entries.find(({ entry }) => entry.type === "exit")?.entry;
    return exit?.type === "exit" ? { code: exit.code, signal: exit.signal } : undefined;
  }

  private _leave(exit: ProcessExit): void {
    if (this._isGone) return;
    this._isGone = true;
    this._exit.resolve(exit);
    this._goOn();
  }

  private _stuck() {
    if (this._isGone || !this._waiting.has("stdout")) return undefined;
    const missing = this._input.missing();
    if (missing !== undefined) return { ...missing, goOn: () => this._input.giveUp() };
    const left = this._entries.some(({ entry, index }) => isOutput(entry) && this._unread.has(index));
    if (left) return undefined;
    const what = "the tape has no more output of this process, because the recorded run did not wait for it";
    return { index: -1, difference: describeGap(this._place, what) };
  }
}

function isOutput(entry: TapeEntry): boolean {
  return entry.type.startsWith("stdout") || entry.type.startsWith("stderr");
}

/** The folder of the executable and the working folder may be those of another machine, so they are not compared. */
function compareStarts(entry: SpawnEntry, request: ProcessRequest, context: WireContext): readonly PathDifference[] {
  const found = [...comparePlain("executable", fileName(entry.executable), fileName(request.executable))];
  const sent = context.redactor.args(request.args);
  const count = Math.max(entry.args.length, sent.length);
  for (let index = 0; index < count; index += 1) {
    const old = entry.args[index];
    const now = sent[index];
    const path = `argument ${index + 1}`;
    if (old === undefined || now === undefined) {
      found.push(oneSided(path, old, now));
      continue;
    }
    if (old === HIDDEN || now === HIDDEN || old.endsWith(`=${HIDDEN}`)) continue;
    // The folders of files that were written for a process depend on the machine.
    const arePaths = isPath(old) && isPath(now);
    const [before, given] = arePaths ? [fileName(old), fileName(now)] : [old, now];
    found.push(...comparePlain(path, recordedText(context, before), sentText(context, given)));
  }
  return found;
}

function isPath(text: string): boolean {
  return text.startsWith("/") || /^[A-Za-z]:\\/.test(text);
}

function fileName(path: string): string {
  return path.slice(Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")) + 1);
}

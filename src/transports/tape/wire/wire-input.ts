import { parseJson } from "#wire";
import { bytesOf, rebuildFailure } from "../tape-line.ts";
import type { TapeEntry } from "../tape.ts";
import { compareTexts, pickNearest, type PathDifference } from "./compare.ts";
import { describeChange, describeGap, type WireDifference } from "./difference.ts";
import { recordedText, sentText } from "./settled-text.ts";
import type { WireContext } from "./wire-context.ts";

/**
 * Identifies a line of a process's input according to its protocol: the answer to a question is then compared with the
 * recorded answer to the same question. `undefined`: the line has no identity.
 */
export type LineIdentity = (line: unknown) => string | undefined;

/** The protocol of a process's input. */
export interface LineProtocol {
  readonly identity?: LineIdentity;
  /**
   * Whether a place within a line must equal the recorded one, because the recorded process then did what this value
   * allowed. A run that differs there cannot continue.
   */
  readonly mustAgree?: (path: string) => boolean;
}

/** The input of a recorded process, compared line by line. */
export interface WireInput {
  write(bytes: Uint8Array): Promise<void>;
  end(): void;
  /** From this index on, the tape waits for a line that was not written yet. */
  readonly nextIndex: number;
  /** The line that the tape is waiting for. */
  missing(): { readonly index: number; readonly difference: WireDifference } | undefined;
  /** Stops waiting for that line. */
  giveUp(): void;
  leftOver(): readonly WireDifference[];
  /** Called when a line was written. */
  onProgress: () => void;
}

interface Line {
  readonly text: string;
  /** Its index on the tape. */
  readonly index: number;
  /** From 1. */
  readonly number: number;
  readonly identity: string | undefined;
}

export interface WireInputOptions {
  readonly place: string;
  readonly entries: readonly ProcessEntryAt[];
  readonly protocol: LineProtocol;
}

export function createWireInput(context: WireContext, { place, entries, protocol }: WireInputOptions): WireInput {
  const { identity = () => undefined, mustAgree = () => false } = protocol;
  const identityOf = (text: string): string | undefined => {
    const parsed = parseJson(text);
    return parsed.fault === undefined ? identity(parsed.value) : undefined;
  };
  const all = linesOf(entries).map(
    ({ text, index }, at): Line => ({ text, index, number: at + 1, identity: identityOf(text) }),
  );
  const left = [...all];
  const refusals = refusalsOf(entries);
  const decoder = new TextDecoder();
  let rest = "";
  let writes = 0;
  let lines = 0;
  let isEnded = false;

  const take = (text: string): void => {
    lines += 1;
    const named = identityOf(text);
    const same = left.filter((line) => line.identity === named);
    const picked = pickNearest(same, (line) => compareLines(line, text, context));
    if (picked === undefined) {
      const what = `now there is a line that is not on the tape: ${JSON.stringify(sentText(context, text).slice(0, 200))}`;
      context.differ(describeGap(`${place}, line ${lines} of stdin`, what));
      return;
    }
    const { entry: line, differences } = picked;
    left.splice(left.indexOf(line), 1);
    context.pass(line.index);
    if (differences.length === 0) return;
    const change = describeChange(`${place}, line ${line.number} of stdin`, differences);
    if (differences.some(({ path }) => mustAgree(path))) throw context.fail(change);
    context.differ(change);
  };

  const describeMissing = (line: Line): WireDifference =>
    describeGap(
      `${place}, line ${line.number} of stdin`,
      `the tape has ${JSON.stringify(recordedText(context, line.text).slice(0, 200))}, and now nothing is written`,
    );

  const input: WireInput = {
    onProgress: () => undefined,
    get nextIndex() {
      return left.length === 0 ? Number.POSITIVE_INFINITY : Math.min(...left.map(({ index }) => index));
    },
    async write(bytes) {
      if (context.isClosed || isEnded) return;
      writes += 1;
      rest += decoder.decode(bytes, { stream: true });
      const complete = rest.split("\n");
      rest = complete.pop() ?? "";
      for (const text of complete) take(text);
      input.onProgress();
      const refusal = refusals.get(writes);
      if (refusal !== undefined) throw rebuildFailure(refusal);
    },
    end() {
      if (isEnded || context.isClosed || context.signal.aborted) return;
      isEnded = true;
      try {
        if (rest !== "") take(rest);
      } catch {
        // The replay has already ended with this error, which is reported elsewhere.
      }
      input.onProgress();
    },
    missing() {
      const [line] = left;
      return line === undefined ? undefined : { index: line.index, difference: describeMissing(line) };
    },
    giveUp() {
      left.shift();
      input.onProgress();
    },
    leftOver: () => left.map(describeMissing),
  };
  return input;
}

/** The written lines, each with the index at which it was complete. A last part without a line end counts as a line. */
function linesOf(entries: readonly ProcessEntryAt[]): readonly { readonly text: string; readonly index: number }[] {
  const decoder = new TextDecoder();
  const lines: { text: string; index: number }[] = [];
  let rest = "";
  let last = -1;
  for (const { entry, index } of entries) {
    if (entry.type !== "stdin") continue;
    last = index;
    rest += decoder.decode(bytesOf(entry), { stream: true });
    const complete = rest.split("\n");
    rest = complete.pop() ?? "";
    for (const text of complete) lines.push({ text, index });
  }
  if (rest !== "") lines.push({ text: rest, index: last });
  return lines;
}

/** The writes that were refused, by their number from 1. */
function refusalsOf(entries: readonly ProcessEntryAt[]) {
  const refusals = new Map<number, Parameters<typeof rebuildFailure>[0]>();
  let writes = 0;
  for (const { entry } of entries) {
    if (entry.type === "stdin") writes += 1;
    if (entry.type === "stdin-refused") refusals.set(writes, entry.failure);
  }
  return refusals;
}

function compareLines(line: Line, text: string, context: WireContext): readonly PathDifference[] {
  return compareTexts("stdin", recordedText(context, line.text), sentText(context, text));
}

/** An entry of one process, and its index on the tape. */
export interface ProcessEntryAt {
  readonly entry: Extract<TapeEntry, { readonly id: number }>;
  readonly index: number;
}

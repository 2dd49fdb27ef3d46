import { parseJson } from "#wire";
import { rebuildFailure } from "../rebuild-failure.ts";
import { bytesOf } from "../tape-line.ts";
import { compareTexts, type PlaceDifference } from "./compare.ts";
import { describeChange, describeGap } from "./difference.ts";
import { pickNearest } from "./pick.ts";
import { recordedText, sentText } from "./settled-text.ts";
import type { WireDifference } from "./tape-difference.ts";
import type { WireContext } from "./wire-context.ts";
import type { ProcessEntryAt } from "./process-entry.ts";

/**
 * What tells the lines of a process's input apart, for whoever knows its protocol: the answer to one question is compared
 * with the recorded answer to the same question. `undefined`: nothing does.
 */
export type LineIdentity = (line: unknown) => string | undefined;

/** What is known of the protocol in which a process is spoken to. */
export interface LineProtocol {
  readonly identity?: LineIdentity;
  /**
   * Whether a place within a line must be as it was, because the recorded process went on to do what this place allowed.
   * A run that differs there cannot go on.
   */
  readonly mustAgree?: (path: string) => boolean;
}

/** The input of a recorded process, compared line by line. */
export interface WireInput {
  write(bytes: Uint8Array): Promise<void>;
  end(): void;
  /** What the tape has from here on waits for a line that was not written yet. */
  readonly nextIndex: number;
  /** The line that is waited for. */
  missing(): { readonly index: number; readonly difference: WireDifference } | undefined;
  /** The line that is waited for will not come. */
  giveUp(): void;
  leftOver(): readonly WireDifference[];
  /** Called when a line was written. */
  onProgress: () => void;
}

interface Line {
  readonly text: string;
  /** Where the tape has it. */
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

export function createWireInput(desk: WireContext, { place, entries, protocol }: WireInputOptions): WireInput {
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
    const picked = pickNearest(same, (line) => compareLines(line, text, desk));
    if (picked === undefined) {
      const what = `now there is a line that is not on the tape: ${JSON.stringify(sentText(desk, text).slice(0, 200))}`;
      desk.differ(describeGap(`${place}, line ${lines} of stdin`, what));
      return;
    }
    const { entry: line, differences } = picked;
    left.splice(left.indexOf(line), 1);
    desk.pass(line.index);
    if (differences.length === 0) return;
    const change = describeChange(`${place}, line ${line.number} of stdin`, differences);
    if (differences.some(({ path }) => mustAgree(path))) throw desk.fail(change);
    desk.differ(change);
  };

  const describeMissing = (line: Line): WireDifference =>
    describeGap(
      `${place}, line ${line.number} of stdin`,
      `the tape has ${JSON.stringify(recordedText(desk, line.text).slice(0, 200))}, and now nothing is written`,
    );

  const input: WireInput = {
    onProgress: () => undefined,
    get nextIndex() {
      return left.length === 0 ? Number.POSITIVE_INFINITY : Math.min(...left.map(({ index }) => index));
    },
    async write(bytes) {
      if (desk.isClosed || isEnded) return;
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
      if (isEnded || desk.isClosed || desk.signal.aborted) return;
      isEnded = true;
      try {
        if (rest !== "") take(rest);
      } catch {
        // The play has ended with it, and says so.
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

/** The lines that were written, each where it was complete. What has no end is a line, too. */
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

/** Which of the writes were refused, by their number from 1. */
function refusalsOf(entries: readonly ProcessEntryAt[]) {
  const refusals = new Map<number, Parameters<typeof rebuildFailure>[0]>();
  let writes = 0;
  for (const { entry } of entries) {
    if (entry.type === "stdin") writes += 1;
    if (entry.type === "stdin-refused") refusals.set(writes, entry.failure);
  }
  return refusals;
}

function compareLines(line: Line, text: string, desk: WireContext): readonly PlaceDifference[] {
  return compareTexts("stdin", recordedText(desk, line.text), sentText(desk, text));
}

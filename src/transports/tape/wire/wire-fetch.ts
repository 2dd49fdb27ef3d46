import type { Fetch, HttpRequest, HttpResponse } from "#domain";
import { isSecretHeader } from "#secrets";
import { followSignal } from "#streams";
import { bytesOf, isDigestOf, rebuildFailure } from "../tape-line.ts";
import type { TapeEntry } from "../tape.ts";
import { copyHeaders, readRecorded, showRequest, textOfBody, turn } from "../recorded-answer.ts";
import { comparePlain, compareTexts, oneSided, pickNearest, type PathDifference } from "./compare.ts";
import { describeChange, describeGap, type WireDifference } from "./difference.ts";
import { recordedText, sentText } from "./settled-text.ts";
import type { WireContext } from "./wire-context.ts";
import { comparedHeaders } from "../difference.ts";

type RequestEntry = Extract<TapeEntry, { readonly type: "request" }>;

interface Exchange {
  readonly entry: RequestEntry;
  readonly index: number;
  /** From 1, in the order of the tape. */
  readonly number: number;
}

/** The exchanges of a tape, for a run that makes its requests anew. */
export interface WireFetch {
  readonly fetch: Fetch;
  /** The recorded exchanges that were not requested. */
  leftOver(): readonly WireDifference[];
}

export function createWireFetch(context: WireContext): WireFetch {
  const all: Exchange[] = context.tape.entries
    .flatMap((entry, index) => (entry.type === "request" ? [{ entry, index }] : []))
    .map((one, at) => ({ ...one, number: at + 1 }));
  const left = [...all];
  let asked = 0;
  const placeOf = ({ entry, number }: Exchange): string =>
    `exchange ${number} of ${all.length} (${showRequest(entry)})`;

  return {
    async fetch(request) {
      request.signal?.throwIfAborted();
      context.signal.throwIfAborted();
      asked += 1;
      // The headers first: the keys in them are masked from now on.
      context.redactor.headers(request.headers);
      const picked = pickNearest(left, ({ entry }) => compareRequests(entry, request, context));
      if (picked === undefined) {
        const url = context.redactor.text(request.url);
        const count = all.length === 1 ? "1 exchange" : `${all.length} exchanges`;
        const what = `the tape has ${count}, and now there is one more: ${showRequest({ method: request.method, url })}`;
        throw context.fail(describeGap(`exchange ${asked}`, what));
      }
      const { entry: exchange, differences } = picked;
      if (differences.length > 0) context.differ(describeChange(placeOf(exchange), differences));
      context.pass(exchange.index);
      return answer(context, exchange, placeOf(exchange), request.signal);
    },
    leftOver: () =>
      left.map((exchange) => describeGap(placeOf(exchange), "it is on the tape, but was not requested this time")),
  };
}

async function answer(
  context: WireContext,
  exchange: Exchange,
  place: string,
  signal: AbortSignal | undefined,
): Promise<HttpResponse> {
  const { id } = exchange.entry;
  const reader = createReader(context, { id, from: exchange.index, place, signal });
  const head = await reader.next();
  if (head.type === "no-answer") throw rebuildFailure(head.failure);
  if (head.type !== "head") throw new TypeError(`A head was due, not ${head.type}.`);
  return { status: head.status, headers: copyHeaders(head.headers), body: readRecorded(reader.next, reader.end) };
}

type Answer = Extract<TapeEntry, { readonly type: "head" | "body" | "body-end" | "body-break" | "no-answer" }>;

interface Reader {
  next(): Promise<Answer>;
  end(): void;
}

interface Reading {
  readonly id: number;
  readonly from: number;
  readonly place: string;
  readonly signal: AbortSignal | undefined;
}

/** Reads the entries of one response in order. Each comes in its own turn of the event loop, as from the network. */
function createReader(context: WireContext, { id, from, place, signal }: Reading): Reader {
  const { entries } = context.tape;
  let at = from;
  let isWaiting = false;
  const find = (): number => {
    for (let index = at + 1; index < entries.length; index += 1) {
      const entry = entries[index] as TapeEntry;
      if (isAnswer(entry) && entry.id === id) return index;
    }
    return -1;
  };
  const remove = context.add({
    stuck() {
      if (!isWaiting || find() !== -1) return undefined;
      const what = "the recorded answer breaks off here, because the recorded run did not wait for the rest of it";
      return { index: at, difference: describeGap(place, what) };
    },
  });
  return {
    end: remove,
    async next() {
      const index = find();
      if (index === -1) {
        isWaiting = true;
        context.stir();
        try {
          return await never([signal, context.signal]);
        } finally {
          isWaiting = false;
          remove();
        }
      }
      await turn();
      signal?.throwIfAborted();
      context.signal.throwIfAborted();
      at = index;
      const entry = entries[index] as Answer;
      if (entry.type !== "head" && entry.type !== "body") remove();
      context.pass(index);
      return entry;
    },
  };
}

function isAnswer(entry: TapeEntry): entry is Answer {
  switch (entry.type) {
    case "head":
    case "body":
    case "body-end":
    case "body-break":
    case "no-answer":
      return true;
    default:
      return false;
  }
}

/** Never resolves; rejects when one of the signals fires. */
function never(signals: readonly (AbortSignal | undefined)[]): Promise<never> {
  return new Promise((_, reject) => {
    const unfollow: (() => void)[] = [];
    for (const signal of signals) {
      if (signal === undefined) continue;
      unfollow.push(
        followSignal(signal, (reason) => {
          for (const leave of unfollow) leave();
          reject(reason);
        }),
      );
    }
  });
}

function compareRequests(entry: RequestEntry, request: HttpRequest, context: WireContext): readonly PathDifference[] {
  return [
    ...comparePlain("method", entry.method, request.method),
    ...comparePlain("address", recordedText(context, entry.url), sentText(context, request.url)),
    ...compareHeaders(entry.headers, request.headers, context),
    ...compareBodies(entry.body, request.body, context),
  ];
}

function compareHeaders(
  recorded: RequestEntry["headers"],
  sent: HttpRequest["headers"],
  context: WireContext,
): readonly PathDifference[] {
  const before = comparedHeaders(recorded);
  const now = comparedHeaders(sent);
  const names = new Set([...before.keys(), ...now.keys()]);
  return [...names].flatMap((name) => {
    const old = before.get(name);
    const given = now.get(name);
    const path = `header ${name}`;
    const isSecret = isSecretHeader(name);
    if (old === undefined || given === undefined) {
      // A key is not needed for a replay, so a missing one is not a difference.
      if (isSecret) return [];
      return [oneSided(path, old, given === undefined ? undefined : sentText(context, given))];
    }
    return isSecret ? [] : comparePlain(path, recordedText(context, old), sentText(context, given));
  });
}

function compareBodies(
  recorded: RequestEntry["body"],
  sent: HttpRequest["body"],
  context: WireContext,
): readonly PathDifference[] {
  const now = sent === undefined ? undefined : textOfBody(sent);
  if (recorded === undefined || now === undefined) {
    if (recorded === undefined && now === undefined) return [];
    const old = recorded !== undefined && "text" in recorded ? recorded.text : undefined;
    return [
      oneSided("body", recorded === undefined ? undefined : (old ?? "a long body"), now && sentText(context, now)),
    ];
  }
  if ("sum" in recorded) {
    const text = context.redactor.text(now);
    if (isDigestOf(recorded, text)) return [];
    return [{ path: "body", recorded: `${recorded.length} characters`, sent: `${text.length} other characters` }];
  }
  const old = "text" in recorded ? recorded.text : new TextDecoder().decode(bytesOf(recorded));
  return compareTexts("body", recordedText(context, old), sentText(context, now));
}

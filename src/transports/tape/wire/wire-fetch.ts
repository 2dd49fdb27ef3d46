import type { Fetch, HttpRequest, HttpResponse } from "#domain";
import { isSecretHeader } from "#secrets";
import { followSignal } from "#streams";
import { rebuildFailure } from "../rebuild-failure.ts";
import type { TapeEntry } from "../tape.ts";
import { copyHeaders, readRecorded, showRequest, textOfBody } from "../recorded-answer.ts";
import { bytesOf, sumOf } from "../tape-line.ts";
import { comparePlain, compareTexts, oneSided, type PlaceDifference } from "./compare.ts";
import { describeChange, describeGap } from "./difference.ts";
import { pickNearest } from "./pick.ts";
import { recordedText, sentText } from "./settled-text.ts";
import type { WireDifference } from "./tape-difference.ts";
import { turn } from "./turn.ts";
import type { WireContext } from "./wire-context.ts";

type RequestEntry = Extract<TapeEntry, { readonly type: "request" }>;

interface Exchange {
  readonly entry: RequestEntry;
  readonly index: number;
  /** From 1, in the order of the tape. */
  readonly number: number;
}

/** Headers that say who asks and when, not what is asked. */
const UNTOLD = new Set(["user-agent", "content-length", "host", "date"]);

/** The exchanges of a tape, for a run that makes its requests anew. */
export interface WireFetch {
  readonly fetch: Fetch;
  /** The recorded exchanges that nobody has asked for. */
  leftOver(): readonly WireDifference[];
}

export function createWireFetch(desk: WireContext): WireFetch {
  const all: Exchange[] = desk.tape.entries
    .flatMap((entry, index) => (entry.type === "request" ? [{ entry, index }] : []))
    .map((one, at) => ({ ...one, number: at + 1 }));
  const left = [...all];
  let asked = 0;
  const placeOf = ({ entry, number }: Exchange): string =>
    `exchange ${number} of ${all.length} (${showRequest(entry)})`;

  return {
    async fetch(request) {
      request.signal?.throwIfAborted();
      desk.signal.throwIfAborted();
      asked += 1;
      // The headers first: their keys are secrets from now on.
      desk.redactor.headers(request.headers);
      const picked = pickNearest(left, ({ entry }) => compareRequests(entry, request, desk));
      if (picked === undefined) {
        const url = desk.redactor.text(request.url);
        const count = all.length === 1 ? "1 exchange" : `${all.length} exchanges`;
        const what = `the tape has ${count}, and now there is one more: ${showRequest({ method: request.method, url })}`;
        throw desk.fail(describeGap(`exchange ${asked}`, what));
      }
      const { entry: exchange, differences } = picked;
      if (differences.length > 0) desk.differ(describeChange(placeOf(exchange), differences));
      desk.pass(exchange.index);
      return answer(desk, exchange, placeOf(exchange), request.signal);
    },
    leftOver: () =>
      left.map((exchange) => describeGap(placeOf(exchange), "it is on the tape, and now nobody has asked for it")),
  };
}

async function answer(
  desk: WireContext,
  exchange: Exchange,
  place: string,
  signal: AbortSignal | undefined,
): Promise<HttpResponse> {
  const { id } = exchange.entry;
  const reader = createReader(desk, { id, from: exchange.index, place, signal });
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

/** The entries of one answer in their order. Each comes in a turn of its own, as it did from the network. */
function createReader(desk: WireContext, { id, from, place, signal }: Reading): Reader {
  const { entries } = desk.tape;
  let at = from;
  let isWaiting = false;
  const find = (): number => {
    for (let index = at + 1; index < entries.length; index += 1) {
      const entry = entries[index] as TapeEntry;
      if (isAnswer(entry) && entry.id === id) return index;
    }
    return -1;
  };
  const remove = desk.add({
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
        desk.stir();
        try {
          return await never([signal, desk.signal]);
        } finally {
          isWaiting = false;
          remove();
        }
      }
      await turn();
      signal?.throwIfAborted();
      desk.signal.throwIfAborted();
      at = index;
      const entry = entries[index] as Answer;
      if (entry.type !== "head" && entry.type !== "body") remove();
      desk.pass(index);
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

/** Waits for nothing: rejects when one of the signals fires. */
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

function compareRequests(entry: RequestEntry, request: HttpRequest, desk: WireContext): readonly PlaceDifference[] {
  return [
    ...comparePlain("method", entry.method, request.method),
    ...comparePlain("address", recordedText(desk, entry.url), sentText(desk, request.url)),
    ...compareHeaders(entry.headers, request.headers, desk),
    ...compareBodies(entry.body, request.body, desk),
  ];
}

function compareHeaders(
  recorded: RequestEntry["headers"],
  sent: HttpRequest["headers"],
  desk: WireContext,
): readonly PlaceDifference[] {
  const before = byName(recorded);
  const now = byName(sent);
  const names = new Set([...before.keys(), ...now.keys()]);
  return [...names].flatMap((name) => {
    const old = before.get(name);
    const given = now.get(name);
    const path = `header ${name}`;
    const isSecret = isSecretHeader(name);
    if (old === undefined || given === undefined) {
      // A key is not needed to play, so one that is missing is no difference.
      if (isSecret) return [];
      return [oneSided(path, old, given === undefined ? undefined : sentText(desk, given))];
    }
    return isSecret ? [] : comparePlain(path, recordedText(desk, old), sentText(desk, given));
  });
}

function compareBodies(
  recorded: RequestEntry["body"],
  sent: HttpRequest["body"],
  desk: WireContext,
): readonly PlaceDifference[] {
  const now = sent === undefined ? undefined : textOfBody(sent);
  if (recorded === undefined || now === undefined) {
    if (recorded === undefined && now === undefined) return [];
    const old = recorded !== undefined && "text" in recorded ? recorded.text : undefined;
    return [oneSided("body", recorded === undefined ? undefined : (old ?? "a long body"), now && sentText(desk, now))];
  }
  if ("sum" in recorded) {
    const text = desk.redactor.text(now);
    if (text.length === recorded.length && sumOf(text) === recorded.sum) return [];
    return [{ path: "body", recorded: `${recorded.length} characters`, sent: `${text.length} other characters` }];
  }
  const old = "text" in recorded ? recorded.text : new TextDecoder().decode(bytesOf(recorded));
  return compareTexts("body", recordedText(desk, old), sentText(desk, now));
}

function byName(headers: Readonly<Record<string, string>>): ReadonlyMap<string, string> {
  const named = new Map<string, string>();
  for (const [name, value] of Object.entries(headers)) {
    if (!UNTOLD.has(name.toLowerCase())) named.set(name.toLowerCase(), value);
  }
  return named;
}

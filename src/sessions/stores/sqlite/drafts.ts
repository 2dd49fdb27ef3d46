import { type AgentEvent, describeThrown, type Message } from "#domain";
import { cutEvent, cutJson, encodeEvent, endOfPiece, type LongText, measureJson } from "#wire";
import type { Question } from "../store.ts";
import { isStoreError, StoreError } from "../store-error.ts";
import { searchText } from "../thread-rules.ts";
import type { Argument, EngineQuestion } from "./engine.ts";
import { writeBody } from "./rows.ts";

/** JSON that is ready to be stored: as a text, or as a draft that the engine has. */
export interface Body {
  readonly argument: Exclude<Argument, number | null>;
  readonly bytes: number;
}

/** A message, and what of it is found by a search. */
export interface MessageBody extends Body {
  readonly search: Body["argument"];
}

/** More characters than these are handed over bit by bit. */
const LARGE_CHARACTERS = 262_144;

/** So many characters are handed over before others have their turn. */
const TURN_CHARACTERS = 262_144;

/** Whether encoding these in one go, and handing them over, would keep others waiting. */
export function isLarge(events: readonly AgentEvent[], messages: readonly Message[] = []): boolean {
  let characters = messages.length === 0 ? 0 : measureJson(messages, LARGE_CHARACTERS);
  for (const event of events) {
    if (characters >= LARGE_CHARACTERS) return true;
    if (event.type === "text-delta" || event.type === "thinking-delta") characters += event.text.length;
    else if (event.type === "tool-input-delta") characters += event.json.length;
    else characters += measureJson(event, LARGE_CHARACTERS);
  }
  return characters >= LARGE_CHARACTERS;
}

/** Encoded at once. @throws StoreError `invalid-event` for what cannot be JSON. */
export function encodeAll(runId: string, events: readonly AgentEvent[]): readonly string[] {
  try {
    return events.map(encodeEvent);
  } catch (error) {
    throw unwritable(runId, error);
  }
}

export function encodeBody(value: unknown): Body {
  const text = writeBody(value);
  return { argument: text, bytes: Buffer.byteLength(text) };
}

export function encodeMessage(message: Message): MessageBody {
  return { ...encodeBody(message), search: plain(searchText(message)) };
}

/** Text to be searched only: what SQLite would stumble over is left out. */
export function plain(text: string): string {
  return text.replaceAll("\0", " ");
}

/** What was handed over for one write. */
export interface Handed {
  readonly events: readonly Body[];
  readonly messages: readonly MessageBody[];
  readonly questions: readonly Body[];
  /** To be dropped when it is written. */
  readonly drafts: readonly number[];
}

/**
 * Hands large JSON over to an engine, bit by bit: in no turn of the event loop is more than a piece of it encoded or
 * copied. A long text goes over once, however often it stands in what is written; the engine puts it where it belongs.
 */
export class DraftWriter {
  private readonly _ask: (question: EngineQuestion) => Promise<unknown>;
  private _drafts = 0;

  constructor(ask: (question: EngineQuestion) => Promise<unknown>) {
    this._ask = ask;
  }

  async hand(
    runId: string,
    events: readonly AgentEvent[],
    messages: readonly Message[],
    questions: readonly Question[] = [],
  ): Promise<Handed> {
    const hand = new Hand(this._ask, () => (this._drafts += 1));
    try {
      const bodies: Body[] = [];
      for (const event of events) bodies.push(await hand.write(cutEvent(event)));
      const handedMessages: MessageBody[] = [];
      for (const message of messages) {
        const body = await hand.write(cutJson(message));
        const { argument: search } = await hand.write(piecesOf(plain(searchText(message))));
        handedMessages.push({ ...body, search });
      }
      const handedQuestions: Body[] = [];
      for (const question of questions) handedQuestions.push(await hand.write(cutJson(question)));
      return { events: bodies, messages: handedMessages, questions: handedQuestions, drafts: hand.drafts };
    } catch (error) {
      this.drop(hand.drafts);
      throw isStoreError(error) ? error : unwritable(runId, error);
    }
  }

  /** The drafts are written, or never will be. */
  drop(drafts: readonly number[]): void {
    if (drafts.length > 0) this._ask({ kind: "drop", drafts }).catch(() => undefined);
  }
}

function* piecesOf(text: string): Generator<string, undefined> {
  for (let from = 0; from < text.length; ) {
    const end = endOfPiece(text, from, TURN_CHARACTERS);
    yield text.slice(from, end);
    from = end;
  }
  return undefined;
}

/** An engine that could not do it says so. */
async function carriedOut(answering: Promise<unknown>): Promise<unknown> {
  const answer = await answering;
  if (typeof answer !== "object" || answer === null) return answer;
  throw new StoreError("store-failed", `The database did not take it: ${(answer as { failure: string }).failure}`);
}

/** One handing over: the texts it has sent. */
class Hand {
  readonly drafts: number[] = [];
  private readonly _ask: (question: EngineQuestion) => Promise<unknown>;
  private readonly _nextDraft: () => number;
  /** A map by text would hash megabytes; there are few of them, and mostly one and the same. */
  private readonly _texts: { readonly text: string; readonly draft: number }[] = [];

  constructor(ask: (question: EngineQuestion) => Promise<unknown>, nextDraft: () => number) {
    this._ask = (question) => carriedOut(ask(question));
    this._nextDraft = nextDraft;
  }

  async write(pieces: Iterable<string | LongText>): Promise<Body> {
    const draft = this._begin();
    let waiting: (string | number)[] = [];
    let characters = 0;
    for (const piece of pieces) {
      if (typeof piece === "string") {
        waiting.push(piece);
        characters += piece.length;
      } else {
        waiting.push(await this._send(piece.text));
      }
      if (characters < TURN_CHARACTERS) continue;
      await this._ask({ kind: "draft", draft, pieces: waiting });
      waiting = [];
      characters = 0;
    }
    await this._ask({ kind: "draft", draft, pieces: waiting });
    return { argument: { draft }, bytes: Number(await this._ask({ kind: "seal", draft })) };
  }

  /** The draft of a long text. */
  private async _send(text: string): Promise<number> {
    const known = this._texts.find((one) => one.text === text);
    if (known !== undefined) return known.draft;
    const draft = this._begin();
    this._texts.push({ text, draft });
    for (const piece of piecesOf(text)) await this._ask({ kind: "draft", draft, pieces: [piece] });
    return draft;
  }

  private _begin(): number {
    const draft = this._nextDraft();
    this.drafts.push(draft);
    return draft;
  }
}

function unwritable(runId: string, error: unknown): StoreError {
  const message = `An event of run ${runId} cannot be written: ${describeThrown(error)}`;
  return new StoreError("invalid-event", message, { cause: error });
}

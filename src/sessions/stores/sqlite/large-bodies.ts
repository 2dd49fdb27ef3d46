import { type AgentEvent, isDelta, type Message } from "#domain";
import { cutEvent, cutJson, encodeEvent, endOfPiece, type LongText } from "#wire";
import type { Question } from "../store.ts";
import { isStoreError } from "../store-error.ts";
import { type Body, encodeBody, encodeMessage, isLarge, type MessageBody, searchOf, unwritable } from "./bodies.ts";
import type { CommitQueue } from "./commit-queue.ts";
import type { BodyPart, WorkStep } from "./engine.ts";

/** What one row of a part holds. */
const PIECE_CHARACTERS = 65_536;

/** So many characters are encoded and written before others have their turn. */
const TURN_CHARACTERS = 196_608;

/** Long texts of a run that are stored. Who holds this holds no copy of them: the run has the same texts in its messages. */
export type StoredTexts = { readonly text: string; readonly part: BodyPart }[];

/** What was written for one transaction, and belongs to nothing until that is carried out. */
export interface LargeBodies {
  readonly events: readonly Body[];
  readonly messages: readonly MessageBody[];
  readonly questions: readonly Body[];
  /** Makes the parts permanent, in the transaction with the rows that name them. */
  readonly keep: readonly WorkStep[];
  /** Bytes of all parts. */
  readonly bytes: number;
  /** To be remembered when the transaction was carried out. */
  readonly texts: StoredTexts;
  /** The rows that name the parts could not be written. */
  drop(): void;
}

export interface LargeWanted {
  readonly runId: string;
  readonly key: number;
  readonly events?: readonly AgentEvent[];
  readonly messages?: readonly Message[];
  readonly questions?: readonly Question[];
  readonly known?: StoredTexts;
}

/**
 * Writes large bodies in pieces before the rows that name them: neither here nor in the worker is the JSON of one ever
 * whole, and in no turn of the event loop is more than a few pieces of it encoded or copied. A long text is stored once
 * per run, however often it stands in what is written. What a killed program leaves half-written goes at the next start.
 */
export class LargeBodyWriter {
  private readonly _queue: CommitQueue;
  private _lastPart: number;

  constructor(queue: CommitQueue, lastPart: number) {
    this._queue = queue;
    this._lastPart = lastPart;
  }

  /** @throws StoreError `invalid-event` for what cannot be JSON, `store-failed` when the disk does not take it. */
  async write({
    runId,
    key,
    events = [],
    messages = [],
    questions = [],
    known = [],
  }: LargeWanted): Promise<LargeBodies> {
    const hand = new Hand(key, this._queue, () => (this._lastPart += 1), known);
    try {
      const eventBodies: Body[] = [];
      // Each by itself: many bodies of a usual size are many rows of the usual kind, which are read much faster.
      for (const event of events) {
        eventBodies.push(isLarge([event]) ? await hand.write(cutEvent(event), !isDelta(event)) : encodeWhole(event));
      }
      const messageBodies: MessageBody[] = [];
      for (const message of messages) {
        if (!isLarge([], [message])) {
          messageBodies.push(encodeMessage(message));
          continue;
        }
        const body = await hand.write(cutJson(message), true);
        messageBodies.push({ ...body, search: await hand.writeSearch(searchOf(message)) });
      }
      const questionBodies: Body[] = [];
      for (const question of questions) questionBodies.push(await hand.write(cutJson(question), true));
      const { keep, bytes, texts } = await hand.finish();
      const drop = (): void => hand.drop();
      return { events: eventBodies, messages: messageBodies, questions: questionBodies, keep, bytes, texts, drop };
    } catch (error) {
      hand.drop();
      throw isStoreError(error) ? error : unwritable(runId, error);
    }
  }
}

function encodeWhole(event: AgentEvent): Body {
  const text = encodeEvent(event);
  return { text, bytes: Buffer.byteLength(text) };
}

interface OpenPart {
  readonly number: number;
  pieces: number;
  bytes: number;
}

/** The writing for one transaction. */
class Hand {
  readonly texts: StoredTexts = [];
  private readonly _key: number;
  private readonly _queue: CommitQueue;
  private readonly _nextPart: () => number;
  private readonly _known: StoredTexts;
  private readonly _parts: OpenPart[] = [];
  /** Parts that the transaction itself drops. */
  private readonly _passed: OpenPart[] = [];
  /** Not to be remembered: the text of a delta stands in no message. */
  private readonly _passing: StoredTexts = [];
  private _work: WorkStep[] = [];
  private _characters = 0;

  constructor(key: number, queue: CommitQueue, nextPart: () => number, known: StoredTexts) {
    this._key = key;
    this._queue = queue;
    this._nextPart = nextPart;
    this._known = known;
  }

  async write(pieces: Iterable<string | LongText>, isLasting: boolean): Promise<Body> {
    const parts: BodyPart[] = [];
    let characters = 0;
    let waiting = "";
    let json: OpenPart | undefined;
    const endJson = async (): Promise<void> => {
      if (json !== undefined) {
        await this._add(json, waiting);
        parts.push({ json: json.number, pieces: json.pieces });
      } else if (waiting !== "") {
        parts.push(waiting);
      }
      json = undefined;
      waiting = "";
    };
    for (const piece of pieces) {
      if (typeof piece === "string") {
        characters += piece.length;
        waiting += piece;
        if (waiting.length < PIECE_CHARACTERS) continue;
        json ??= this._begin();
        await this._add(json, waiting);
        waiting = "";
      } else {
        characters += piece.text.length;
        await endJson();
        parts.push(await this._addText(piece.text, isLasting));
      }
    }
    // Most of what comes along with something large is small, and stands in its row like everything small.
    if (parts.length === 0 && json === undefined) return { text: waiting, bytes: Buffer.byteLength(waiting) };
    await endJson();
    return encodeBody([characters, ...parts]);
  }

  /** What is only searched is put together by the database, and its pieces are gone then. */
  async writeSearch(text: string): Promise<MessageBody["search"]> {
    if (text.length <= PIECE_CHARACTERS) return text;
    const part = this._begin();
    await this._add(part, text);
    this._parts.splice(this._parts.indexOf(part), 1);
    this._passed.push(part);
    return { part: part.number };
  }

  /** Resolves when all pieces are stored. */
  async finish(): Promise<{ keep: readonly WorkStep[]; bytes: number; texts: StoredTexts }> {
    await this._flush();
    const keep = this._parts.map(({ number, bytes }): WorkStep => ["run", "keepPart", bytes, number]);
    return { keep, bytes: this._parts.reduce((sum, { bytes }) => sum + bytes, 0), texts: this.texts };
  }

  /** Should this fail, the parts go at the next start. */
  drop(): void {
    const work = [...this._parts, ...this._passed].map(({ number }): WorkStep => ["run", "dropPart", number]);
    if (work.length > 0) this._queue.add({ work }).catch(() => undefined);
  }

  private async _addText(text: string, isLasting: boolean): Promise<BodyPart> {
    // A map by text would hash megabytes; there are few of them, and mostly one and the same.
    const isSame = (one: StoredTexts[number]): boolean => one.text === text;
    const known = this._known.find(isSame) ?? this.texts.find(isSame);
    if (known !== undefined) return known.part;
    const part = this._passing.find(isSame)?.part ?? (await this._writeText(text));
    (isLasting ? this.texts : this._passing).push({ text, part });
    return part;
  }

  private async _writeText(text: string): Promise<BodyPart> {
    const open = this._begin();
    for (let from = 0; from < text.length; ) {
      const end = endOfPiece(text, from, PIECE_CHARACTERS);
      await this._addPiece(open, JSON.stringify(text.slice(from, end)).slice(1, -1));
      from = end;
    }
    return { text: open.number, pieces: open.pieces };
  }

  private _begin(): OpenPart {
    const part = { number: this._nextPart(), pieces: 0, bytes: 0 };
    this._parts.push(part);
    this._work.push(["run", "addPart", part.number, this._key]);
    return part;
  }

  private async _add(part: OpenPart, json: string): Promise<void> {
    for (let from = 0; from < json.length; ) {
      const end = endOfPiece(json, from, PIECE_CHARACTERS);
      await this._addPiece(part, json.slice(from, end));
      from = end;
    }
  }

  private async _addPiece(part: OpenPart, json: string): Promise<void> {
    this._work.push(["run", "addPiece", part.number, part.pieces, json]);
    part.pieces += 1;
    part.bytes += Buffer.byteLength(json);
    this._characters += json.length;
    if (this._characters >= TURN_CHARACTERS) await this._flush();
  }

  private async _flush(): Promise<void> {
    const work = this._work;
    if (work.length === 0) return;
    this._work = [];
    this._characters = 0;
    await this._queue.add({ work });
  }
}

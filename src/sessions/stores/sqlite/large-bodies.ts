import { type AgentEvent, isDelta, type Message } from "#domain";
import { cutEvent, cutJson, encodeEvent, endOfPiece, type LongText } from "#wire";
import { isStoreError } from "../store-error.ts";
import {
  type Body,
  encodeBody,
  encodeMessage,
  isLarge,
  type MessageBody,
  type Refusal,
  searchOf,
  unwritable,
} from "./bodies.ts";
import type { CommitQueue } from "./commit-queue.ts";
import type { BodyPart, WorkStep } from "./worker/requests.ts";

/** The size of one row of a part. */
const PIECE_CHARACTERS = 65_536;

/** How many characters are encoded and written before yielding to the event loop. */
const TURN_CHARACTERS = 196_608;

/**
 * The long strings of a run that are already stored. This holds no copies: the run's messages contain the same strings.
 */
export type StoredTexts = { readonly text: string; readonly part: BodyPart }[];

/** What was written for one transaction; it belongs to nothing until the transaction is committed. */
export interface LargeBodies {
  readonly events: readonly Body[];
  readonly messages: readonly MessageBody[];
  readonly values: readonly Body[];
  /** Makes the parts permanent, in the transaction of the rows that refer to them. */
  readonly keep: readonly WorkStep[];
  /** The bytes of all parts. */
  readonly bytes: number;
  /** To be remembered after the transaction was committed. */
  readonly texts: StoredTexts;
  /** Removes the parts, because the rows that refer to them could not be written. */
  drop(): void;
}

export interface LargeWanted {
  readonly runId: string;
  /** The parts are removed with the run of this key. */
  readonly key: number;
  readonly events?: readonly AgentEvent[];
  readonly messages?: readonly Message[];
  /** Other JSON objects: questions, settings, answers. */
  readonly values?: readonly object[];
  readonly known?: StoredTexts;
  readonly refusal?: Refusal;
}

/**
 * Writes large bodies in pieces before the rows that refer to them: neither this thread nor the worker ever holds the
 * whole JSON of one, and no turn of the event loop encodes or copies more than a few pieces. A long string is stored
 * once per run, however often it occurs. Pieces that a killed program left behind are removed at the next start.
 */
export class LargeBodyWriter {
  private readonly _queue: CommitQueue;
  private _lastPart: number;

  constructor(queue: CommitQueue, lastPart: number) {
    this._queue = queue;
    this._lastPart = lastPart;
  }

  /**
   * Writes the large bodies of one transaction.
   * @throws StoreError `invalid-event`, or the code of `refusal`, for a value that cannot be JSON; `store-failed` when
   * the disk does not accept it.
   */
  async write({
    runId,
    key,
    events = [],
    messages = [],
    values = [],
    known = [],
    refusal,
  }: LargeWanted): Promise<LargeBodies> {
    const hand = new Hand(key, this._queue, () => this.nextPart(), known);
    try {
      const eventBodies: Body[] = [];
      // Each by itself: bodies of usual size become ordinary rows, which are read much faster.
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
      const valueBodies: Body[] = [];
      for (const value of values) valueBodies.push(await hand.write(cutJson(value), true));
      const { keep, bytes, texts } = await hand.finish();
      const drop = (): void => hand.drop();
      return { events: eventBodies, messages: messageBodies, values: valueBodies, keep, bytes, texts, drop };
    } catch (error) {
      hand.drop();
      throw isStoreError(error) ? error : unwritable(runId, error, refusal);
    }
  }

  /** The number of a new part. */
  nextPart(): number {
    this._lastPart += 1;
    return this._lastPart;
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

/** The writes of one transaction. */
class Hand {
  readonly texts: StoredTexts = [];
  private readonly _key: number;
  private readonly _queue: CommitQueue;
  private readonly _nextPart: () => number;
  private readonly _known: StoredTexts;
  private readonly _parts: OpenPart[] = [];
  /** Parts that the transaction itself removes. */
  private readonly _passed: OpenPart[] = [];
  /** Not to be remembered: the text of a delta occurs in no message. */
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
    // Most bodies that come along with a large one are small, and are stored in their row as usual.
    if (parts.length === 0 && json === undefined) return { text: waiting, bytes: Buffer.byteLength(waiting) };
    await endJson();
    return encodeBody([characters, ...parts]);
  }

  /** Text that is only searched is joined by the database, which then removes its pieces. */
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

  /** If this fails, the parts are removed at the next start. */
  drop(): void {
    const work = [...this._parts, ...this._passed].map(({ number }): WorkStep => ["run", "dropPart", number]);
    if (work.length > 0) this._queue.add({ work }).catch(() => undefined);
  }

  private async _addText(text: string, isLasting: boolean): Promise<BodyPart> {
    // A map keyed by text would hash megabytes; there are few of them, and mostly the same one.
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

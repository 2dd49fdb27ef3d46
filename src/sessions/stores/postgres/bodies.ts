import { type AgentEvent, type Clock, describeThrown, JsonReader, type Message } from "#domain";
import { decodeEvent, decodeEventValue, encodeEvent, encodeEventInSlices, encodeInSlices, measureJson } from "#wire";
import { StoreError, type StoreErrorCode } from "../store-error.ts";
import { searchText } from "../thread-rules.ts";

/** Longer bodies are encoded and parsed in turns of the event loop. */
const LARGE_CHARACTERS = 262_144;
const TURN_CHARACTERS = 196_608;

/** A message as it is stored: its JSON, and its searchable text. */
export type MessageBody = readonly [body: string, search: string];

/** How a value is refused that cannot be JSON. */
export interface Refusal {
  readonly code: StoreErrorCode;
  readonly what: string;
}

/** Turns values into JSON and back without blocking other work for long. */
export class Bodies {
  private readonly _clock: Clock;

  constructor(clock: Clock) {
    this._clock = clock;
  }

  /** A promise only if the event is large. */
  event(event: AgentEvent): string | Promise<string> {
    const refusal: Refusal = { code: "invalid-event", what: `An event of run ${event.runId}` };
    if (!isLarge(event)) return refuse(refusal, () => encodeEvent(event));
    return this._join(refusal, () => encodeEventInSlices(event));
  }

  async value(value: unknown, refusal: Refusal): Promise<string> {
    if (!isLarge(value)) return refuse(refusal, () => JSON.stringify(value));
    return await this._join(refusal, () => encodeInSlices(value));
  }

  async message(message: Message, refusal: Refusal): Promise<MessageBody> {
    return [await this.value(message, refusal), plain(searchText(message))];
  }

  async readEvent(body: string): Promise<AgentEvent> {
    const decoded = body.length < LARGE_CHARACTERS ? decodeEvent(body) : decodeEventValue(await this._parse(body));
    if (decoded.fault !== undefined) throw damaged(decoded.fault);
    return decoded.event;
  }

  async read<Value>(body: string): Promise<Value> {
    if (body.length >= LARGE_CHARACTERS) return (await this._parse(body)) as Value;
    try {
      return JSON.parse(body) as Value;
    } catch (error) {
      throw damaged(describeThrown(error));
    }
  }

  private async _join(refusal: Refusal, encode: () => Iterable<string>): Promise<string> {
    const pieces: string[] = [];
    let characters = 0;
    const slices = refuse(refusal, encode)[Symbol.iterator]();
    for (;;) {
      const next = refuse(refusal, () => slices.next());
      if (next.done === true) return pieces.join("");
      pieces.push(next.value);
      characters += next.value.length;
      if (characters < TURN_CHARACTERS) continue;
      characters = 0;
      await this._turn();
    }
  }

  private async _parse(body: string): Promise<unknown> {
    // Any depth: what was written has to be readable.
    const reader = new JsonReader(true);
    for (let from = 0; from < body.length; from += TURN_CHARACTERS) {
      reader.push(body.slice(from, from + TURN_CHARACTERS));
      await this._turn();
    }
    const { value, fault } = reader.end();
    if (fault !== undefined) throw damaged(fault);
    return value;
  }

  private _turn(): Promise<void> {
    return new Promise((resolve) => {
      this._clock.after(0, resolve);
    });
  }
}

function isLarge(value: unknown): boolean {
  try {
    return measureJson(value, LARGE_CHARACTERS) >= LARGE_CHARACTERS;
  } catch {
    // It contains itself, which is reported when it is encoded.
    return false;
  }
}

function refuse<Value>({ code, what }: Refusal, encode: () => Value): Value {
  try {
    return encode();
  } catch (error) {
    throw new StoreError(code, `${what} cannot be written: ${describeThrown(error)}`, { cause: error });
  }
}

/** Text that is only searched: as Postgres takes it, without NUL and halves of characters. */
export function plain(text: string): string {
  return Buffer.from(text.replaceAll("\0", " "), "utf8").toString("utf8");
}

function damaged(why: string): StoreError {
  return new StoreError("store-failed", `The database holds something that cannot be read: ${why}`);
}

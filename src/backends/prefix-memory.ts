import type { Message } from "#domain";

/** A turn adds two or three messages; whoever goes further back has another conversation before him. */
const LOOK_BACK = 16;

/** The beginning of a transcript, and what was made of it. */
interface Beginning<Value> {
  readonly messages: readonly Message[];
  readonly value: Value;
}

/**
 * What was made of the beginning of a transcript. A model is shown the whole conversation in every turn; with this, a
 * turn costs what is new in it, beside one comparison per message. Nothing is kept longer than its last message lives.
 */
export class PrefixMemory<Value> {
  private readonly _kept = new WeakMap<Message, Beginning<Value>>();

  /** Takes out what was kept for a beginning of these messages, and how many of them it covers. */
  take(messages: readonly Message[]): { readonly count: number; readonly value: Value } | undefined {
    const first = Math.max(0, messages.length - LOOK_BACK);
    for (let at = messages.length - 1; at >= first; at -= 1) {
      const last = messages[at] as Message;
      const kept = this._kept.get(last);
      if (kept === undefined || !isBeginning(kept.messages, messages)) continue;
      this._kept.delete(last);
      return { count: kept.messages.length, value: kept.value };
    }
    return undefined;
  }

  /** Keeps what was made of these messages, for a transcript that goes on from here. */
  keep(messages: readonly Message[], value: Value): void {
    const last = messages.at(-1);
    if (last !== undefined) this._kept.set(last, { messages: messages.slice(), value });
  }
}

/** A loop of its own: it alone runs once per message. */
function isBeginning(beginning: readonly Message[], messages: readonly Message[]): boolean {
  if (beginning.length > messages.length) return false;
  for (let at = 0; at < beginning.length; at += 1) if (beginning[at] !== messages[at]) return false;
  return true;
}

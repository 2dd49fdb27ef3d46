import { describeThrown } from "#domain";
import type { NodeNote } from "./store.ts";
import { show } from "./sequence.ts";
import { StoreError } from "./store-error.ts";

const LONGEST_NODE = 200;

/** Rejects a name of a node that is none. Returns the note as JSON; `undefined` if there is none. */
export function readNote(node: string, note: unknown): string | undefined {
  if (typeof node !== "string" || node === "" || node.length > LONGEST_NODE) {
    throw new StoreError("invalid-node", `The name of a node must be 1 to ${LONGEST_NODE} characters: ${show(node)}.`);
  }
  if (note === undefined) return undefined;
  let body: string | undefined;
  try {
    body = JSON.stringify(note);
  } catch (error) {
    throw new StoreError("invalid-node", `The note of ${show(node)} cannot be written: ${describeThrown(error)}`);
  }
  if (body !== undefined) return body;
  throw new StoreError("invalid-node", `The note of ${show(node)} is a ${typeof note}. Give a JSON value.`);
}

/** The notes of nodes in this process, for stores that only one process has open. */
export class NodeNotes {
  private readonly _bodies = new Map<string, string>();

  exchange(node: string, note: unknown): readonly NodeNote[] {
    const body = readNote(node, note);
    if (body === undefined) this._bodies.delete(node);
    else this._bodies.set(node, body);
    const others = [...this._bodies].filter(([name]) => name !== node);
    return others.map(([name, said]) => ({ node: name, note: JSON.parse(said) as unknown }));
  }
}

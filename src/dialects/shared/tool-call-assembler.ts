import type { ToolCall, ToolCallFragment } from "#domain";
import { JsonAhead, type Parsed } from "#wire";
import { createJsonScan, type JsonScan } from "./json-text.ts";

/** A tool call still being written. `id` and `name` are `""` until the host has said them. */
export interface OpenCall {
  /** 0, 1, 2 … in order of first appearance, without gaps, whatever the host's own numbers are. */
  readonly position: number;
  readonly id: string;
  readonly name: string;
}

/** A fragment whose fields may also be there and empty, as a decoder reads them. */
export type LooseFragment = { readonly [Field in keyof ToolCallFragment]?: ToolCallFragment[Field] | undefined };

/** A tool call as it stood when the reply was over: a `ToolCall`, and where it came from. */
export interface AssembledCall extends ToolCall {
  readonly position: number;
  /** Part of the reply was lost while this call was being written; what is here may not be all of it. */
  readonly hasGap: boolean;
  /** The arguments as JSON. */
  parse(): Parsed;
}

/**
 * Puts the fragments of one reply together into whole tool calls. Fragments of several calls may interleave.
 *
 * A fragment belongs to the call of its `index`; without one, to the call of its `id`; without both, to the call
 * written last, unless it names another tool. Hosts that give every call the same index are understood by the new id.
 * The cost is linear in the text, however finely it is cut.
 */
export interface ToolCallAssembler {
  /** Takes the next fragment and returns the call it went to: the same object for every fragment of that call. */
  feed(fragment: LooseFragment): OpenCall;
  /** Something was lost here: every call whose arguments are not closed yet may miss a part. */
  noteGap(): void;
  /** The calls in order of index, equal ones by arrival; `[]` when there were none. A call without an id has got one. */
  finalize(): AssembledCall[];
}

interface Call extends OpenCall {
  readonly position: number;
  readonly index: number | undefined;
  id: string;
  name: string;
  /** Joined once at the end: growing one text per fragment is quadratic when somebody looks at it in between. */
  readonly parts: string[];
  readonly scan: JsonScan;
  readonly ahead: JsonAhead;
  readonly parse: () => Parsed;
  hasGap: boolean;
}

/**
 * An assembler for one reply.
 *
 * @param options.idPrefix starts the ids made for calls that have none (`<prefix>_<position>`); default `call`.
 */
export function createToolCallAssembler(options: { readonly idPrefix?: string } = {}): ToolCallAssembler {
  return new CallAssembler(options.idPrefix ?? "call");
}

class CallAssembler implements ToolCallAssembler {
  private readonly _idPrefix: string;
  private readonly _calls: Call[] = [];
  // Made for the first call: most replies have none.
  private _byIndex: Map<number, Call> | undefined;
  private _byId: Map<string, Call> | undefined;
  /** Calls that no gap was noted for yet. Each leaves at the first gap after it began: closed by then, or marked. */
  private _unmarked: Call[] = [];
  private _latest: Call | undefined;

  constructor(idPrefix: string) {
    this._idPrefix = idPrefix;
  }

  feed(fragment: LooseFragment): OpenCall {
    const known = this._locate(fragment);
    const call = known === undefined || startsAnother(known, fragment) ? this._open(fragment.index) : known;
    // An id belongs to one call. A second call that claims it gets its own at the end, or results could not be paired.
    if (fragment.id && call.id === "" && this._byId?.has(fragment.id) !== true) {
      call.id = fragment.id;
      this._byId ??= new Map();
      this._byId.set(fragment.id, call);
    }
    if (fragment.name && (call.name === "" || call.parts.length === 0)) call.name = fragment.name;
    if (fragment.argumentsDelta) {
      call.parts.push(fragment.argumentsDelta);
      call.ahead.add(fragment.argumentsDelta, () => call.parts.join(""));
    }
    this._latest = call;
    return call;
  }

  noteGap(): void {
    for (const call of this._unmarked) call.hasGap = !call.scan.isClosed(call.parts);
    this._unmarked = [];
  }

  finalize(): AssembledCall[] {
    const taken = new Set(this._byId?.keys());
    for (const call of this._calls) if (call.id === "") call.id = makeId(this._idPrefix, call.position, taken);
    return this._calls
      .toSorted((a, b) => (a.index ?? a.position) - (b.index ?? b.position))
      .map(({ id, name, parts, position, hasGap, parse }) => ({
        id,
        name,
        arguments: parts.join(""),
        position,
        hasGap,
        parse,
      }));
  }

  private _locate(fragment: LooseFragment): Call | undefined {
    if (fragment.index !== undefined) return this._byIndex?.get(fragment.index);
    if (fragment.id) return this._byId?.get(fragment.id);
    return this._latest;
  }

  private _open(index: number | undefined): Call {
    const position = this._calls.length;
    const parts: string[] = [];
    const ahead = new JsonAhead();
    const call: Call = {
      position,
      index,
      id: "",
      name: "",
      parts,
      scan: createJsonScan(),
      ahead,
      parse: () => ahead.parse(() => parts.join("")),
      hasGap: false,
    };
    this._calls.push(call);
    this._unmarked.push(call);
    if (index !== undefined) {
      this._byIndex ??= new Map();
      this._byIndex.set(index, call);
    }
    return call;
  }
}

/**
 * The start of made-up call ids: it carries the reply's own id, because ids must differ over a whole conversation and
 * not only within one reply. Short, and of letters, digits, `-` and `_` only, because some hosts refuse anything else.
 */
export function callIdPrefix(replyId: string | undefined): string {
  // The end of an id is what differs; 28 leaves room for the position within the 40 characters that hosts allow.
  const tail = (replyId ?? "").slice(-28).replaceAll(/[^A-Za-z0-9_-]/g, "");
  return tail === "" ? "call" : `call_${tail}`;
}

/** Whether a fragment that was sent under a known call's key is in truth the beginning of another call. */
function startsAnother(call: Call, fragment: LooseFragment): boolean {
  const name = fragment.name ?? "";
  if (fragment.id && call.id !== "" && fragment.id !== call.id) {
    // Some hosts number every call 0; others write a fresh id into every fragment of one call. Only the first kind
    // repeats a name with it, or goes on after the arguments were closed.
    return (name !== "" && call.name !== "") || call.scan.isClosed(call.parts);
  }
  if (name === "" || call.name === "") return false;
  if (name !== call.name) return call.parts.length > 0;
  return /\S/.test(fragment.argumentsDelta ?? "") && call.scan.isClosed(call.parts);
}

function makeId(prefix: string, position: number, taken: Set<string>): string {
  let id = `${prefix}_${position}`;
  for (let next = position + 1; taken.has(id); next++) id = `${prefix}_${next}`;
  taken.add(id);
  return id;
}

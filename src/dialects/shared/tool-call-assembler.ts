import type { ParsedJson, ToolCall, ToolCallFragment } from "#domain";
import { JsonAhead } from "#wire";
import { createJsonScan, type JsonScan } from "./json-text.ts";

/** A tool call that is being written. `id` and `name` are `""` until the host has sent them. */
export interface OpenCall {
  /** 0, 1, 2 … in order of first appearance, without gaps, whatever the host's own numbers are. */
  readonly position: number;
  readonly id: string;
  readonly name: string;
}

/** A fragment whose fields may also be `undefined`, as a decoder reads them. */
export type LooseFragment = { readonly [Field in keyof ToolCallFragment]?: ToolCallFragment[Field] | undefined };

/** A tool call at the end of the reply, with its position. */
export interface AssembledCall extends ToolCall {
  readonly position: number;
  /** Part of the reply was lost while this call was being written, so it may be incomplete. */
  readonly hasGap: boolean;
  /** The arguments, parsed as JSON. */
  parse(): ParsedJson;
}

/**
 * Assembles the fragments of one reply into whole tool calls. Fragments of several calls may interleave.
 *
 * A fragment belongs to the call with its `index`; without one, to the call with its `id`; without both, to the call
 * written last, unless it names another tool. If a host gives every call the same index, a new id starts a new call.
 * The cost is linear in the text, however finely it is cut.
 */
export interface ToolCallAssembler {
  /** Adds the next fragment and returns its call: the same object for every fragment of that call. */
  feed(fragment: LooseFragment): OpenCall;
  /** Something was lost here: every call whose arguments are not closed yet may lack a part. */
  noteGap(): void;
  /** The calls ordered by index, then by arrival; `[]` if there are none. Calls without an id get one. */
  finalize(): AssembledCall[];
}

interface Call extends OpenCall {
  readonly position: number;
  readonly index: number | undefined;
  id: string;
  name: string;
  /** Joined once at the end: appending to a string per fragment is quadratic if it is read in between. */
  readonly parts: string[];
  readonly scan: JsonScan;
  readonly ahead: JsonAhead;
  readonly parse: () => ParsedJson;
  hasGap: boolean;
}

/**
 * Creates an assembler for one reply.
 *
 * @param options.idPrefix starts the ids made for calls that have none (`<prefix>_<position>`); default `call`.
 */
export function createToolCallAssembler(options: { readonly idPrefix?: string } = {}): ToolCallAssembler {
  return new CallAssembler(options.idPrefix ?? "call");
}

class CallAssembler implements ToolCallAssembler {
  private readonly _idPrefix: string;
  private readonly _calls: Call[] = [];
  // Created for the first call: most replies have none.
  private _byIndex: Map<number, Call> | undefined;
  private _byId: Map<string, Call> | undefined;
  /** Calls without a recorded gap. Each is removed at the first gap after it began: closed by then, or marked. */
  private _unmarked: Call[] = [];
  private _latest: Call | undefined;

  constructor(idPrefix: string) {
    this._idPrefix = idPrefix;
  }

  feed(fragment: LooseFragment): OpenCall {
    const known = this._locate(fragment);
    const call = known === undefined || startsAnother(known, fragment) ? this._open(fragment.index) : known;
    // An id belongs to one call. A second call with the same id gets a new one at the end; otherwise results could not
    // be matched to calls.
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
        // Joined on demand: arguments of many megabytes were parsed while they arrived.
        get arguments() {
          return parts.join("");
        },
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
 * The prefix of generated call ids. It contains the reply's id, because ids must be unique in a whole conversation and
 * not only in one reply. It is short and has only letters, digits, `-` and `_`, because some hosts refuse anything
 * else.
 */
export function callIdPrefix(replyId: string | undefined): string {
  // The end of an id varies most; 28 leaves room for the position within the 40 characters that hosts allow.
  const tail = (replyId ?? "").slice(-28).replaceAll(/[^A-Za-z0-9_-]/g, "");
  return tail === "" ? "call" : `call_${tail}`;
}

/** Whether a fragment with a known call's key actually begins another call. */
function startsAnother(call: Call, fragment: LooseFragment): boolean {
  const name = fragment.name ?? "";
  if (fragment.id && call.id !== "" && fragment.id !== call.id) {
    // Some hosts number every call 0; others send a new id with every fragment of one call. Only the first kind repeats
    // the name with it, or continues after the arguments were closed.
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

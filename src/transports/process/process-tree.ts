import type { ProcessEntry, ProcessTag } from "#domain";
import type { ProcessTable } from "./process-table.ts";

/** A process, everything it has started, and everything that carries its tag, across sessions and groups. */
export interface ProcessTree {
  /** See `ProcessFamily.look`. A process that was once part of the tree stays part of it. */
  look(how?: { readonly fresh: boolean }): Promise<readonly ProcessEntry[]>;
}

export interface TreeRequest {
  readonly table: ProcessTable;
  /** The process itself, if it is alive: the id of a dead process may belong to another one. */
  readonly root: number | undefined;
  /** When the process started, if known: an older process cannot descend from it. */
  readonly since?: number | undefined;
  readonly tag: ProcessTag | undefined;
  /** The ids of processes that the system itself assigns to the tree. */
  readonly contained?: (() => readonly number[]) | undefined;
}

/**
 * After this many samples the ids of unrelated processes are forgotten, because they may have been reused by members.
 */
const FRESH_EVERY = 50;

/**
 * Follows a tree by several traces, because each one can be lost. Parent ids identify children that cleared their
 * variables. The tag identifies processes whose parent died between two samples. Groups and sessions led by members
 * identify processes whose variables cannot be read: no process joins them from outside.
 */
export function watchTree(request: TreeRequest): ProcessTree {
  let last: Promise<unknown> = Promise.resolve();
  let looks = 0;
  const state = createState(request);
  return {
    look(how = { fresh: false }) {
      looks += 1;
      const isFresh = how.fresh || looks % FRESH_EVERY === 0;
      // One at a time: two simultaneous samples would each miss half of what the other finds.
      const looking = last.then(() => lookOnce(state, request, isFresh));
      last = looking.catch(() => undefined);
      return looking;
    },
  };
}

interface TreeState {
  readonly members: Map<number, ProcessEntry>;
  /** All former members: the groups they led, and on Windows their children, still refer to them. */
  readonly former: Map<number, ProcessEntry>;
  strangers: Set<number>;
  oldest: number;
  isRootKnown: boolean;
}

function createState({ root, since = 0 }: TreeRequest): TreeState {
  return {
    members: new Map(),
    former: new Map(),
    strangers: new Set(),
    oldest: since,
    isRootKnown: root === undefined,
  };
}

async function lookOnce(state: TreeState, request: TreeRequest, isFresh: boolean): Promise<readonly ProcessEntry[]> {
  const { table, tag, contained } = request;
  const { members, former } = state;
  const inside = new Set(contained?.());
  if (isFresh) state.strangers = new Set();
  for (const pid of inside) state.strangers.delete(pid);
  const listed = new Map((await table.list(state.strangers)).map((entry) => [entry.pid, entry]));
  noteRoot(state, request, listed);
  for (const { pid, startTicks } of [...members.values()]) {
    const now = listed.get(pid);
    if (now?.startTicks === startTicks) members.set(pid, now);
    else members.delete(pid);
  }
  const newcomers = [...listed.values()].filter(
    (entry) => !members.has(entry.pid) && (inside.has(entry.pid) || isCandidate(entry, state.oldest)),
  );
  const add = (entry: ProcessEntry): void => {
    members.set(entry.pid, entry);
    former.set(entry.pid, entry);
  };
  for (const entry of newcomers) if (inside.has(entry.pid) && !isOurselves(entry)) add(entry);
  if (tag !== undefined) for (const entry of await table.tagged(newcomers, tag)) add(entry);
  addRelatives(newcomers, { state, listed, keepsParents: table.source === "windows" }, add);
  for (const { pid } of listed.values()) if (!members.has(pid)) state.strangers.add(pid);
  forgetFormer(state);
  return [...members.values()];
}

/** A process that is gone is remembered as long as a member refers to it. */
function forgetFormer({ members, former }: TreeState): void {
  const named = new Set<number | undefined>();
  for (const { parent, group, session } of members.values()) named.add(parent).add(group).add(session);
  for (const pid of former.keys()) if (!members.has(pid) && !named.has(pid)) former.delete(pid);
}

function noteRoot(state: TreeState, { root }: TreeRequest, listed: ReadonlyMap<number, ProcessEntry>): void {
  if (state.isRootKnown || root === undefined) return;
  state.isRootKnown = true;
  const entry = listed.get(root);
  if (entry === undefined) return;
  state.members.set(root, entry);
  state.former.set(root, entry);
  state.oldest = entry.startTicks;
}

/**
 * Never our own process, never the first process, never one that is older than the root and thus cannot descend from
 * it.
 */
function isCandidate(entry: ProcessEntry, oldest: number): boolean {
  return !isOurselves(entry) && entry.startTicks >= oldest;
}

function isOurselves({ pid }: ProcessEntry): boolean {
  return pid === process.pid || pid <= 1;
}

interface Relations {
  readonly state: TreeState;
  readonly listed: ReadonlyMap<number, ProcessEntry>;
  /** A process whose parent is gone still carries its id. */
  readonly keepsParents: boolean;
}

/** Adds children of members, and processes in groups and sessions that members lead, until none are left. */
function addRelatives(
  candidates: readonly ProcessEntry[],
  { state, listed, keepsParents }: Relations,
  add: (entry: ProcessEntry) => void,
): void {
  const { members, former } = state;
  const isElder = (elder: ProcessEntry | undefined, entry: ProcessEntry): boolean =>
    elder !== undefined && elder.startTicks <= entry.startTicks;
  /** Either the member itself is alive, or no other process has its id; then what it led still belongs to it. */
  const isLedBy = (leader: number | undefined, entry: ProcessEntry): boolean =>
    leader !== undefined && isElder(former.get(leader), entry) && (members.has(leader) || !isHeld(leader));
  const isHeld = (pid: number): boolean => listed.has(pid) || state.strangers.has(pid);
  const belongs = (entry: ProcessEntry): boolean =>
    isElder(members.get(entry.parent), entry) ||
    (keepsParents && isLedBy(entry.parent, entry)) ||
    isLedBy(entry.group, entry) ||
    isLedBy(entry.session, entry);
  let grown = true;
  while (grown) {
    grown = false;
    for (const entry of candidates) {
      if (members.has(entry.pid) || !belongs(entry)) continue;
      add(entry);
      grown = true;
    }
  }
}

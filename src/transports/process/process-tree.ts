import type { ProcessEntry, ProcessTable } from "./process-table.ts";

/** The variable by which a run's processes are found again. */
export interface ProcessTag {
  readonly name: string;
  readonly value: string;
}

/** A process, everything it has started, and everything that carries its tag, across sessions and groups. */
export interface ProcessTree {
  /** Looks at the table; returns who of the tree lives. Who was once part of it stays part of it. */
  look(): readonly ProcessEntry[];
}

export interface TreeRequest {
  readonly table: ProcessTable;
  /** The process itself, if it lives: the number of one that is gone may be anybody's. */
  readonly root: number | undefined;
  readonly tag: ProcessTag | undefined;
}

/**
 * Follows a tree by two threads. Parents: holds for children that threw their variables away. The tag: holds for those
 * whose parent died before we looked.
 */
export function watchTree({ table, root, tag }: TreeRequest): ProcessTree {
  const members = new Map<number, ProcessEntry>();
  // Who was looked at and does not carry the tag: variables are read once per process, not once per look.
  const strangers = new Map<number, number>();
  let rootEntry: ProcessEntry | undefined;
  let hasLooked = false;

  const isTagged = (entry: ProcessEntry, by: ProcessTag): boolean => {
    if (strangers.get(entry.pid) === entry.startTicks) return false;
    if (table.carries(entry, by.name, by.value)) return true;
    strangers.set(entry.pid, entry.startTicks);
    return false;
  };

  return {
    look() {
      const alive = new Map<number, ProcessEntry>();
      for (const entry of table.list()) alive.set(entry.pid, entry);
      if (!hasLooked && root !== undefined) rootEntry = alive.get(root);
      hasLooked = true;
      if (rootEntry !== undefined) members.set(rootEntry.pid, rootEntry);
      for (const [pid, member] of members) if (alive.get(pid)?.startTicks !== member.startTicks) members.delete(pid);
      const candidates = [...alive.values()].filter((entry) => isCandidate(entry, rootEntry));
      if (tag !== undefined) {
        for (const entry of candidates)
          if (!members.has(entry.pid) && isTagged(entry, tag)) members.set(entry.pid, entry);
      }
      addDescendants(candidates, members);
      return [...members.values()];
    },
  };
}

/** Never ourselves, never the first process, never one that is older than the root and so did not come from it. */
function isCandidate(entry: ProcessEntry, root: ProcessEntry | undefined): boolean {
  if (entry.pid === process.pid || entry.pid <= 1) return false;
  return root === undefined || entry.startTicks >= root.startTicks;
}

/** Adds children of members until none is left to add. */
function addDescendants(candidates: readonly ProcessEntry[], members: Map<number, ProcessEntry>): void {
  let grown = true;
  while (grown) {
    grown = false;
    for (const entry of candidates) {
      if (members.has(entry.pid) || !members.has(entry.parent)) continue;
      members.set(entry.pid, entry);
      grown = true;
    }
  }
}

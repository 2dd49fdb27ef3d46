import type { ProcessEntry, ProcessTable } from "./process-table.ts";

/** The variable by which a run's processes are found again. */
export interface ProcessTag {
  readonly name: string;
  readonly value: string;
}

/** A process, everything it has started, and everything that carries its tag, across sessions and groups. */
export interface ProcessTree {
  /**
   * Looks at the table; returns who of the tree lives. Who was once part of it stays part of it. A process that was
   * looked at and is not part of it is not looked at again, which is what makes a second look cheap; `fresh` looks at
   * all of them, since a number may have come to somebody else.
   */
  look(how?: { readonly fresh: boolean }): readonly ProcessEntry[];
}

export interface TreeRequest {
  readonly table: ProcessTable;
  /** The process itself, if it lives: the number of one that is gone may be anybody's. */
  readonly root: number | undefined;
  /** When the process started, if that is known: nobody who is older came from it. */
  readonly since?: number | undefined;
  readonly tag: ProcessTag | undefined;
}

/**
 * Follows a tree by two threads. Parents: holds for children that threw their variables away. The tag: holds for those
 * whose parent died before we looked.
 */
export function watchTree({ table, root, since, tag }: TreeRequest): ProcessTree {
  const members = new Map<number, ProcessEntry>();
  const rootEntry = root === undefined ? undefined : table.read(root);
  if (rootEntry !== undefined) members.set(rootEntry.pid, rootEntry);
  const oldest = rootEntry?.startTicks ?? since ?? 0;
  let strangers = new Set<number>();

  const isTagged = (entry: ProcessEntry): boolean => tag !== undefined && table.carries(entry, tag.name, tag.value);

  /** Those who may have come to the tree since the last look. */
  const readNewcomers = (): readonly ProcessEntry[] => {
    const newcomers: ProcessEntry[] = [];
    for (const pid of table.numbers()) {
      if (strangers.has(pid) || members.has(pid)) continue;
      const entry = table.read(pid);
      if (entry !== undefined && isCandidate(entry, oldest)) newcomers.push(entry);
      else if (entry !== undefined) strangers.add(pid);
    }
    return newcomers;
  };

  return {
    look({ fresh } = { fresh: false }) {
      if (fresh) strangers = new Set();
      for (const { pid, startTicks } of members.values()) {
        if (table.read(pid)?.startTicks !== startTicks) members.delete(pid);
      }
      const newcomers = readNewcomers();
      for (const entry of newcomers) if (isTagged(entry)) members.set(entry.pid, entry);
      addDescendants(newcomers, members);
      for (const { pid } of newcomers) if (!members.has(pid)) strangers.add(pid);
      return [...members.values()];
    },
  };
}

/** Never ourselves, never the first process, never one that is older than the root and so did not come from it. */
function isCandidate(entry: ProcessEntry, oldest: number): boolean {
  return entry.pid !== process.pid && entry.pid > 1 && entry.startTicks >= oldest;
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

import type { Clock, ProcessEntry, ProcessFamily, ProcessTag } from "#domain";
import { type ControlGroup, type ControlGroups, groupNameOf } from "./control-group.ts";
import type { ProcessTable } from "./process-table.ts";
import { watchTree } from "./process-tree.ts";

/** A started process and its family, if there is a process and it can be followed. */
export interface Followed<Child> {
  readonly child: Child;
  readonly family: ProcessFamily | undefined;
}

/** Starts a process and follows it from then on. Throws what `start` throws. */
export type FollowProcess = <Child extends { readonly pid?: number | undefined }>(
  tag: ProcessTag,
  start: () => Child,
) => Followed<Child>;

export interface FollowOptions {
  readonly table: ProcessTable | undefined;
  readonly groups: Pick<ControlGroups, "create">;
  readonly clock: Clock;
}

/**
 * The sampling interval for a family without a control group. Processes that start and end between two samples are
 * missed.
 */
const SAMPLE_MS: Readonly<Record<ProcessTable["source"], number>> = { proc: 500, ps: 2000, windows: 10_000 };
/** How often children that started before the process was moved are searched for. */
const MAX_SWEEPS = 5;
const REMOVE_PAUSE_MS = 50;
const MAX_REMOVALS = 40;

/**
 * Creates a function that follows processes: in a control group where one can be created, which no process leaves by
 * accident; otherwise by sampling the process table and remembering every process seen in the tree.
 */
export function createFollow({ table, groups, clock }: FollowOptions): FollowProcess {
  // All families together are sampled as often as a single one would be.
  let sampled = 0;
  return (tag, start) => {
    if (table === undefined) return { child: start(), family: undefined };
    const { child, group, isWhole } = startInGroup(groups.create(groupNameOf(tag)), start);
    const { pid } = child;
    if (pid === undefined) return { child, family: undefined };
    const tree = watchTree({
      table,
      // The first sample may come long after the start, when the id may already belong to another process.
      root: isWhole ? undefined : pid,
      since: isWhole ? group?.startOf(pid) : undefined,
      tag,
      contained: group === undefined ? undefined : () => group.pids(),
    });
    let seen = "";
    let closed = false;
    let stopClock = (): void => undefined;

    const family: ProcessFamily = {
      controlGroup: group?.path,
      onChange: () => undefined,
      async look(how) {
        const living = await tree.look(how);
        const names = living.map(({ pid: number, startTicks }) => `${number}:${startTicks}`).join(" ");
        if (names !== seen) family.onChange(living);
        seen = names;
        return living;
      },
      killAtOnce: () => group?.kill(),
      close() {
        if (closed) return;
        closed = true;
        stopClock();
        if (group === undefined) sampled -= 1;
        else removeSoon(group, clock, MAX_REMOVALS);
      },
    };

    const sample = (): void => {
      const rest = (): void => {
        if (!closed) stopClock = clock.after(SAMPLE_MS[table.source] * sampled, sample);
      };
      family.look().then(rest, rest);
    };
    if (group === undefined) {
      sampled += 1;
      sample();
    } else if (!isWhole) gather(group, family).catch(() => undefined);
    return { child, family };
  };
}

interface Started<Child> {
  readonly child: Child;
  readonly group: ControlGroup | undefined;
  /** The process was in the group from its first instruction, so everything it has started is in it too. */
  readonly isWhole: boolean;
}

/** Starts a process in the group; without it if the process cannot be placed there. */
function startInGroup<Child extends { readonly pid?: number | undefined }>(
  group: ControlGroup | undefined,
  start: () => Child,
): Started<Child> {
  if (group === undefined) return { child: start(), group, isWhole: false };
  let isKept = false;
  try {
    const child = group.startInside(start);
    const isWhole = child.pid !== undefined && group.pids().includes(child.pid);
    isKept = isWhole || (child.pid !== undefined && group.add(child.pid));
    return { child, group: isKept ? group : undefined, isWhole };
  } finally {
    if (!isKept) group.remove();
  }
}

/** Moves the processes into the group that the root started before it was moved itself. */
async function gather(group: ControlGroup, family: ProcessFamily): Promise<void> {
  for (let sweep = 0; sweep < MAX_SWEEPS; sweep += 1) {
    const living: readonly ProcessEntry[] = await family.look().catch(() => []);
    const inside = new Set(group.pids());
    const outside = living.filter(({ pid }) => !inside.has(pid));
    if (outside.length === 0) return;
    for (const { pid } of outside) group.add(pid);
  }
}

/** A killed process stays in its group until the system has reaped it. */
function removeSoon(group: ControlGroup, clock: Clock, attempts: number): void {
  if (group.remove() || attempts === 0) return;
  clock.after(REMOVE_PAUSE_MS, () => removeSoon(group, clock, attempts - 1));
}

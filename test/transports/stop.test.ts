import { spawnSync } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import type { ProcessHandle } from "#domain";
import {
  type ControlGroups,
  createControlGroups,
  createFollow,
  createProcessTable,
  createSpawn,
  type ProcessTable,
  stopProcess,
  systemClock,
  systemRandom,
} from "#transports";
import { byEffort, isQuick } from "../effort.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import {
  canMakeGroups,
  listProcesses,
  mountOfGroups,
  onLinux,
  openFiles,
  readProc,
  tagged,
  tagOf,
  until,
  zombies,
} from "./processes.ts";

const ABORTS = Number(process.env["MILLRACE_ABORTS"] ?? byEffort({ quick: 24, full: 1000 }));
const PATH = process.env["PATH"] ?? "";

/** What the phase of an abort finds: each script says `ready` when it stands. */
const SCRIPTS = {
  obedient: "echo ready; exec cat",
  "deaf to the end of input": "echo ready; while :; do sleep 60; done",
  "deaf to SIGTERM": "trap '' TERM; echo ready; while :; do sleep 60; done",
  "deaf to SIGTERM, with a child that is too": "trap '' TERM; (while :; do sleep 60; done) & echo ready; wait",
  "with a child in a session of its own": "setsid sleep 60 & echo ready; cat >/dev/null",
  "with a child in a session of its own, deaf to SIGTERM":
    "setsid sh -c 'trap \"\" TERM; while :; do sleep 60; done' & echo ready; cat >/dev/null",
  "with a child that threw its variables away": "env -i PATH=$PATH setsid sleep 60 & echo ready; cat >/dev/null",
  "with an orphan that holds the pipes": "(setsid sleep 60 &) ; echo ready; cat >/dev/null",
  "gone, with an orphan in a session of its own that holds the pipes": "(setsid sleep 60 &) ; echo ready",
  "stopped in the middle": "echo ready; kill -STOP $$; cat",
  "writing for ever": "echo ready; exec yes",
  "starting children all the time": "echo ready; while :; do sleep 60 & sleep 0.01; done",
} as const;

type Kind = keyof typeof SCRIPTS;

const proc = createProcessTable() as ProcessTable;
const ps = createProcessTable({ source: "ps" }) as ProcessTable;
const noGroups: Pick<ControlGroups, "create"> = { create: () => undefined };

interface Means {
  readonly table: ProcessTable;
  /** `undefined`: the process is not followed, and found when it is stopped. */
  readonly groups: Pick<ControlGroups, "create"> | undefined;
}

/** The ways in which what a process has started is found. The quick set tries those that a Linux machine uses. */
const MEANS: Readonly<Record<string, Means>> = {
  "/proc, followed from the start": { table: proc, groups: noGroups },
  ...(canMakeGroups() && { "a control group": { table: proc, groups: createControlGroups() } }),
  ...(!isQuick && {
    "/proc": { table: proc, groups: undefined },
    ps: { table: ps, groups: undefined },
    "ps, followed from the start": { table: ps, groups: noGroups },
  }),
};

interface Started {
  readonly handle: ProcessHandle;
  readonly tag: { readonly name: string; readonly value: string };
  readonly reader: AsyncIterator<Uint8Array>;
}

interface StartOptions {
  readonly ready?: boolean;
  readonly means?: Means;
  /** Sends a line when the process is in its group: a CLI does nothing either before it is asked. */
  readonly go?: boolean;
}

async function start(script: string, { ready = true, means, go = false }: StartOptions = {}): Promise<Started> {
  const tag = { name: "MILLRACE_RUN", value: systemRandom.id() };
  const { table, groups } = means ?? { table: proc, groups: undefined };
  const isFollowed = groups !== undefined;
  const follow = isFollowed ? createFollow({ table, groups, clock: systemClock }) : undefined;
  const handle = await createSpawn(follow === undefined ? {} : { follow })({
    executable: "/bin/sh",
    args: ["-c", script],
    env: { PATH, [tag.name]: tag.value },
    ...(isFollowed && { tag }),
  });
  const reader = handle.stdout[Symbol.asyncIterator]();
  if (go) await handle.write(new TextEncoder().encode("go\n"));
  if (ready) await reader.next();
  return { handle, tag, reader };
}

/** Nothing with the tag, no child of the process, and nothing else we know of is left. */
function expectNothingLeft({ handle, tag }: Started): void {
  expect(tagged(tag.value)).toEqual([]);
  expect(listProcesses().filter((entry) => entry.parent === handle.pid)).toEqual([]);
}

describe.runIf(onLinux).each(Object.entries(MEANS))("F-A14: stopping a real process by means of %s", (_name, means) => {
  afterAll(() => until(() => zombies().length === 0));

  it.concurrent.each(Object.keys(SCRIPTS) as Kind[])("R8: leaves nothing of one that is %s", async (kind) => {
    const started = await start(SCRIPTS[kind], { means });
    const report = await stopProcess(started.handle, {
      clock: systemClock,
      tag: started.tag,
      table: means.table,
      stdinGraceMs: 150,
      termGraceMs: 150,
    });
    expect(report.survivors).toEqual([]);
    expectNothingLeft(started);
    await started.reader.return?.();
    await started.handle.exit;
  });
});

/** Forked twice, without variables, in a session of its own, and its parents are gone: no trace leads to it. */
const DAEMON =
  "read go; env -i PATH=$PATH setsid sh -c 'sleep 61.5 >/dev/null 2>&1 </dev/null & exit 0'; echo ready; cat";

const daemons = (): readonly number[] =>
  listProcesses()
    .map(({ pid }) => pid)
    .filter((pid) => readProc(`${pid}/cmdline`) === ["sleep", "61.5", ""].join("\0"));

describe.runIf(onLinux && (canMakeGroups() || process.env["CI"] === "true"))(
  "F-A5: a process that is kept in a control group",
  () => {
    const means: Means = { table: proc, groups: createControlGroups() };

    it.each([{ immediate: true }, { stdinGraceMs: 100 }])(
      "cannot leave a daemon without any trace: %o",
      async (how) => {
        const { handle, tag, reader } = await start(DAEMON, { means, go: true });
        // "ready" comes from the parent: the child may not have become `sleep` yet.
        await until(() => daemons().length === 1);
        expect(listProcesses().find(({ pid }) => pid === daemons()[0])?.parent).not.toBe(handle.pid);
        const report = await stopProcess(handle, { clock: systemClock, tag, termGraceMs: 100, ...how });
        expect(report.survivors).toEqual([]);
        expect(daemons()).toEqual([]);
        await reader.return?.();
      },
    );

    it("holds what is started in its first instant, before anybody could have moved it there", async () => {
      const script = DAEMON.replace("read go; ", "");
      for (let round = 0; round < 10; round += 1) {
        const { handle, tag, reader } = await start(script, { means });
        await stopProcess(handle, { clock: systemClock, tag, immediate: true, termGraceMs: 100 });
        expect(daemons()).toEqual([]);
        await reader.return?.();
      }
      // And we are not in there ourselves.
      expect(readProc("self/cgroup")).not.toContain("millrace-");
    });

    it("kills what ignores SIGTERM, and goes away itself, with the groups that were made in it", async () => {
      const script = `trap '' TERM; mkdir "$GROUP/inner"; setsid sh -c 'echo $$ > "$GROUP/inner/cgroup.procs"; trap "" TERM; echo ready; while :; do sleep 60; done'`;
      const { handle, tag, reader } = await start(
        `read go; GROUP=$(sed -n "s|^0::||p" /proc/self/cgroup); GROUP=${JSON.stringify(mountOfGroups())}$GROUP; export GROUP; ${script}`,
        { means, go: true },
      );
      const group = handle.family?.controlGroup ?? "";
      expect(existsSync(`${group}/inner`)).toBe(true);
      const report = await stopProcess(handle, { clock: systemClock, tag, immediate: true, termGraceMs: 50 });
      expect(report).toEqual({ how: "killed", survivors: [] });
      await until(() => !existsSync(group));
      await reader.return?.();
    });
  },
);

describe.runIf(onLinux)("F-A5: without control groups", () => {
  it("a daemon is remembered that was seen before it lost every trace", async () => {
    // It is there for a second look before its parent goes.
    const script =
      "env -i PATH=$PATH setsid sh -c 'sleep 61.5 >/dev/null 2>&1 </dev/null & read go < \"$0\"' $FIFO; echo ready; cat";
    const folder = temporaryFolder("daemon");
    const fifo = join(folder, "fifo");
    spawnSync("/bin/sh", ["-c", `mkfifo ${fifo}`]);
    const means: Means = { table: proc, groups: noGroups };
    const { handle, tag, reader } = await start(`FIFO=${fifo}; ${script}`, { means, ready: false });
    await until(() => daemons().length === 1);
    await handle.family?.look();
    writeFileSync(fifo, "go\n");
    await reader.next();
    expect(listProcesses().find(({ pid }) => pid === daemons()[0])?.parent).not.toBe(handle.pid);
    await stopProcess(handle, { clock: systemClock, tag, immediate: true, termGraceMs: 100 });
    expect(daemons()).toEqual([]);
    await reader.return?.();
  });
});

describe.runIf(onLinux)("S3-27: stopping a real process", () => {
  it("says what it took", async () => {
    // What works is given all the time it may need on a busy machine.
    const take = async (kind: Kind, graces: { stdinGraceMs: number; termGraceMs: number }): Promise<string> => {
      const { handle, tag, reader } = await start(SCRIPTS[kind]);
      const { how } = await stopProcess(handle, { clock: systemClock, tag, ...graces });
      await reader.return?.();
      return how;
    };
    expect(await take("obedient", { stdinGraceMs: 60_000, termGraceMs: 100 })).toBe("end-of-input");
    expect(await take("deaf to the end of input", { stdinGraceMs: 100, termGraceMs: 60_000 })).toBe("terminated");
    expect(await take("deaf to SIGTERM", { stdinGraceMs: 100, termGraceMs: 100 })).toBe("killed");
  });

  it("finds a child that threw its variables away by its parent, and an orphan by its tag", async () => {
    for (const kind of ["with a child that threw its variables away", "with an orphan that holds the pipes"] as const) {
      const started = await start(SCRIPTS[kind]);
      // Whatever runs `sleep 60` below the process or with its tag.
      const found = new Set(tagged(started.tag.value).map((entry) => entry.pid));
      const children = listProcesses().filter((entry) => entry.parent === started.handle.pid || found.has(entry.pid));
      expect(children.length).toBeGreaterThan(0);
      await stopProcess(started.handle, { clock: systemClock, tag: started.tag, immediate: true, termGraceMs: 100 });
      const left = listProcesses();
      for (const child of children) {
        expect(left.some((entry) => entry.pid === child.pid && entry.startTicks === child.startTicks)).toBe(false);
      }
      await started.reader.return?.();
    }
  });

  it("does not wait for a reader that has stopped reading", async () => {
    const started = await start(SCRIPTS["writing for ever"]);
    // Nobody pulls any more: the exit waits for the reader, the stop must not.
    const { handle, tag } = started;
    const report = await stopProcess(handle, { clock: systemClock, tag, immediate: true, termGraceMs: 60_000 });
    expect(report).toEqual({ how: "terminated", survivors: [] });
    await started.reader.return?.();
    await started.handle.exit;
  });

  it("touches nobody else: a neighbour with another tag, and ourselves, live on", async () => {
    const neighbour = await start(SCRIPTS["deaf to the end of input"]);
    const { handle, tag, reader } = await start(SCRIPTS["deaf to SIGTERM"]);
    await stopProcess(handle, { clock: systemClock, tag, immediate: true, termGraceMs: 50 });
    expect(tagged(neighbour.tag.value).length).toBeGreaterThan(0);
    await stopProcess(neighbour.handle, { clock: systemClock, tag: neighbour.tag, immediate: true });
    await Promise.all([reader.return?.(), neighbour.reader.return?.()]);
  });

  it("is harmless on a process that has long been gone, and when called twice at once", async () => {
    const started = await start(SCRIPTS.obedient);
    const stop = () => stopProcess(started.handle, { clock: systemClock, tag: started.tag, immediate: true });
    const reports = await Promise.all([stop(), stop()]);
    expect(reports.map((report) => report.survivors)).toEqual([[], []]);
    await started.reader.return?.();
    await started.handle.exit;
    expect(await stop()).toEqual({ how: "gone", survivors: [] });
  });

  it(
    `R8: ${ABORTS} aborts at any moment leave no process, no zombie and no file descriptor`,
    async () => {
      const kinds = Object.keys(SCRIPTS) as Kind[];
      const tags: string[] = [];
      const abort = async (round: number): Promise<void> => {
        const kind = kinds[round % kinds.length] as Kind;
        const started = await start(SCRIPTS[kind], { ready: round % 3 !== 0 });
        tags.push(started.tag.value);
        // Abort at different moments: at once, a little later, while it is still being set up.
        if (round % 4 === 1) await new Promise((resolve) => setTimeout(resolve, (round * 7) % 40));
        const report = await stopProcess(started.handle, {
          clock: systemClock,
          tag: started.tag,
          immediate: true,
          termGraceMs: 60,
        });
        expect([kind, report.survivors]).toEqual([kind, []]);
        await started.reader.return?.();
        await started.handle.stderr[Symbol.asyncIterator]().return?.();
        await started.handle.exit;
      };
      await abort(0);
      const before = openFiles();
      for (let round = 0; round < ABORTS; round += 6) {
        await Promise.all([0, 1, 2, 3, 4, 5].map((step) => abort(round + step)));
      }
      const mine = new Set(tags);
      expect(mine.size).toBeGreaterThan(ABORTS);
      for (const { pid } of listProcesses()) {
        if (mine.has(tagOf(pid) ?? "")) expect.fail(`${pid} has survived`);
      }
      await until(() => zombies().length === 0);
      await until(() => openFiles() <= before);
    },
    60_000 + ABORTS * 200,
  );
});

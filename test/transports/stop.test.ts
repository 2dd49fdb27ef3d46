import { describe, expect, it } from "vitest";
import type { ProcessHandle } from "#domain";
import { createSpawn, stopProcess, systemClock, systemRandom } from "#transports";
import { listProcesses, onLinux, openFiles, realTable, tagged, until, zombies } from "./processes.ts";

const spawn = createSpawn();
const ABORTS = Number(process.env["MILLRACE_ABORTS"] ?? 1000);
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

interface Started {
  readonly handle: ProcessHandle;
  readonly tag: { readonly name: string; readonly value: string };
  readonly reader: AsyncIterator<Uint8Array>;
}

async function start(kind: Kind, { ready = true }: { readonly ready?: boolean } = {}): Promise<Started> {
  const tag = { name: "MILLRACE_RUN", value: systemRandom.id() };
  const handle = await spawn({
    executable: "/bin/sh",
    args: ["-c", SCRIPTS[kind]],
    env: { PATH, [tag.name]: tag.value },
  });
  const reader = handle.stdout[Symbol.asyncIterator]();
  if (ready) await reader.next();
  return { handle, tag, reader };
}

/** Nothing with the tag, no child of the process, and nothing else we know of is left. */
function expectNothingLeft({ handle, tag }: Started): void {
  expect(tagged(tag.value)).toEqual([]);
  expect(listProcesses().filter((entry) => entry.parent === handle.pid)).toEqual([]);
}

describe.runIf(onLinux)("stopping a real process", () => {
  it.each(Object.keys(SCRIPTS) as Kind[])("R8: leaves nothing of one that is %s", async (kind) => {
    const started = await start(kind);
    const report = await stopProcess(started.handle, {
      clock: systemClock,
      tag: started.tag,
      stdinGraceMs: 150,
      termGraceMs: 150,
    });
    expect(report.survivors).toEqual([]);
    expectNothingLeft(started);
    await started.reader.return?.();
    await started.handle.exit;
    expect(zombies()).toEqual([]);
  });

  it("says what it took", async () => {
    const take = async (kind: Kind): Promise<string> => {
      const { handle, tag, reader } = await start(kind);
      const { how } = await stopProcess(handle, { clock: systemClock, tag, stdinGraceMs: 400, termGraceMs: 400 });
      await reader.return?.();
      return how;
    };
    expect(await take("obedient")).toBe("end-of-input");
    expect(await take("deaf to the end of input")).toBe("terminated");
    expect(await take("deaf to SIGTERM")).toBe("killed");
  });

  it("finds a child that threw its variables away by its parent, and an orphan by its tag", async () => {
    for (const kind of ["with a child that threw its variables away", "with an orphan that holds the pipes"] as const) {
      const started = await start(kind);
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
    const started = await start("writing for ever");
    // Nobody pulls any more: the exit waits for the reader, the stop must not.
    const report = await stopProcess(started.handle, { clock: systemClock, tag: started.tag, immediate: true });
    expect(report).toEqual({ how: "terminated", survivors: [] });
    await started.reader.return?.();
    await started.handle.exit;
  });

  it("touches nobody else: a neighbour with another tag, and ourselves, live on", async () => {
    const neighbour = await start("deaf to the end of input");
    const { handle, tag, reader } = await start("deaf to SIGTERM");
    await stopProcess(handle, { clock: systemClock, tag, immediate: true, termGraceMs: 50 });
    expect(tagged(neighbour.tag.value).length).toBeGreaterThan(0);
    await stopProcess(neighbour.handle, { clock: systemClock, tag: neighbour.tag, immediate: true });
    await Promise.all([reader.return?.(), neighbour.reader.return?.()]);
  });

  it("is harmless on a process that has long been gone, and when called twice at once", async () => {
    const started = await start("obedient");
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
        const started = await start(kind, { ready: round % 3 !== 0 });
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
      const table = realTable();
      for (const entry of listProcesses()) {
        for (const tag of mine) if (table.carries(entry, "MILLRACE_RUN", tag)) expect.fail(`${entry.pid} has survived`);
      }
      expect(zombies()).toEqual([]);
      await until(() => openFiles() <= before);
    },
    60_000 + ABORTS * 200,
  );
});

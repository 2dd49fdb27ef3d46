import { describe, expect, it } from "vitest";
import { type ProcessFamily, type ProcessRequest, type Spawn, StartError } from "#domain";
import { createSeededRandom } from "#testing";
import type { Watchdog } from "#transports";
import { createClaudeCodeBackend } from "../../src/backends/claude-code/backend.ts";
import { findCli } from "../../src/backends/claude-code/find-cli.ts";
import type { ClaudeCodeWorld } from "../../src/backends/claude-code/world.ts";
import type { ClaudeCodeOptions } from "../../src/backends/claude-code/options.ts";
import { openQuery } from "../../src/backends/claude-code/query.ts";
import { startSession } from "../../src/runtime/open-session.ts";
import { systemWorld } from "../../src/runtime/world.ts";
import { readLog, sendAsRun, settingsFor } from "./place.ts";
import { greet, INIT, openScripted, result, says, type ScriptedPlace, writes } from "./scripted.ts";

/** What the watchdog was told and what was started, in order. Each start with the tag it carries. */
interface Diary {
  readonly place: ScriptedPlace;
  readonly world: ClaudeCodeWorld;
  readonly entries: string[];
}

function keepDiary({ fails = false } = {}): Diary {
  const place = openScripted((request) => {
    entries.push(`start ${request.env["MILLRACE_RUN"]}`);
    if (fails) throw new StartError("spawn", "no more processes");
    const answer = writes(INIT, says("m1", "Hello."), result("Hello."));
    return isControl(request)
      ? [greet, { waitForInput: "line" }, answer, { waitForInput: "end" }, { exit: 0 }]
      : [{ waitForInput: "end" }, answer, { exit: 0 }];
  });
  const entries: string[] = [];
  const family: ProcessFamily = {
    controlGroup: undefined,
    onChange: () => undefined,
    look: async () => [],
    killAtOnce: () => undefined,
    close: () => void entries.push("close"),
  };
  const spawn: Spawn = async (request) => {
    expect(request.tag?.value).toBe(request.env["MILLRACE_RUN"]);
    return Object.assign(await place.spawn(request), { family });
  };
  const watchdog: Watchdog = {
    follow: ({ value }, followed) => void entries.push(followed === family ? `follow ${value}` : "another"),
    guard: async ({ name, value }) => void entries.push(name === "MILLRACE_RUN" ? `guard ${value}` : name),
    release: ({ value }) => void entries.push(`release ${value}`),
    close: () => undefined,
  };
  return { place, world: { ...place.world, watchdog, spawn }, entries };
}

const isControl = ({ args }: ProcessRequest): boolean => args.includes("--input-format");

/** Moves virtual time on until something has happened. */
async function settle<Value>({ clock }: ScriptedPlace, work: Promise<Value>): Promise<Value> {
  let over = false;
  const note = (): void => void (over = true);
  work.then(note, note);
  for (let step = 0; step < 400 && !over; step += 1) await clock.advance(step < 100 ? 0 : 1000);
  return work;
}

async function converse({ place, world }: Diary, options: ClaudeCodeOptions): Promise<void> {
  const backend = createClaudeCodeBackend({ skipVersionCheck: true, ...options }, world);
  const conversation = await backend.open(settingsFor({}));
  const run = sendAsRun(conversation, "hello", { clock: place.clock, random: createSeededRandom(3) });
  await settle(place, readLog(run));
  await settle(place, conversation.close());
}

/** Every way in which the CLI is started. */
const WAYS: Readonly<Record<string, (diary: Diary, options: ClaudeCodeOptions) => Promise<void>>> = {
  plain: (diary, options) => converse(diary, { mode: "plain", ...options }),
  control: (diary, options) => converse(diary, { mode: "control", ...options }),
  async query({ place, world }, options) {
    const query = await openQuery("hello", { skipVersionCheck: true, ...options }, world);
    await settle(place, query.close());
  },
  async session({ place, world }, options) {
    const backend = createClaudeCodeBackend({ skipVersionCheck: true, mode: "control", ...options }, world);
    const random = createSeededRandom(3);
    const session = startSession(backend, {}, { ...systemWorld(), clock: place.clock, random });
    const { status, error } = await settle(place, session.send("hello").result());
    await settle(place, session.close());
    if (status !== "success") throw new Error(error?.message);
  },
};

describe.each(Object.entries(WAYS))("S1-96: the watchdog, wired to a CLI that is started for: %s", (_way, go) => {
  it("guards the tag before its process is started, and releases it when that has exited", async () => {
    const diary = keepDiary();
    await go(diary, {});
    const tag = diary.entries[0]?.slice("guard ".length) ?? "";
    expect(tag).not.toBe("");
    expect(diary.entries).toEqual([`guard ${tag}`, `start ${tag}`, `follow ${tag}`, "close", `release ${tag}`]);
  });

  it("releases the tag of a process that could not be started", async () => {
    const diary = keepDiary({ fails: true });
    await go(diary, {}).catch(() => undefined);
    const tag = diary.entries[0]?.slice("guard ".length) ?? "";
    expect(diary.entries).toEqual([`guard ${tag}`, `start ${tag}`, `release ${tag}`]);
  });

  it("guards nothing with watchdog: false", async () => {
    const diary = keepDiary();
    await go(diary, { watchdog: false });
    expect(diary.entries.filter((entry) => /^(?:guard|follow)/.test(entry))).toEqual([]);
    expect(diary.entries.filter((entry) => entry.startsWith("start"))).toHaveLength(1);
  });
});

describe("F-A5 S1-96: the watchdog, while the CLI is asked for its version", () => {
  const ask = async (options: ClaudeCodeOptions, fails = false): Promise<readonly string[]> => {
    const diary = keepDiary({ fails });
    await settle(diary.place, findCli(options, diary.world)).catch(() => undefined);
    return diary.entries.map((entry) => entry.split(" ")[0] ?? "");
  };

  it("guards that process, too, and releases it when it has exited", async () => {
    expect(await ask({})).toEqual(["guard", "start", "close", "release"]);
    expect(await ask({}, true)).toEqual(["guard", "start", "release"]);
    expect(await ask({ watchdog: false })).toEqual(["start", "close"]);
  });
});

describe.each(Object.entries(WAYS))("F-A4: repositories below the working folder, for: %s", (_way, go) => {
  it("are searched for once when the CLI is started for the first time", async () => {
    const diary = keepDiary();
    const searched: string[] = [];
    const findRepositories = async (folder: string) => {
      searched.push(folder);
      return { folders: [], isComplete: true };
    };
    await go({ ...diary, world: { ...diary.world, findRepositories } }, {});
    expect(searched).toEqual(["/work"]);
  });
});

describe("F-A4: a conversation with a separate working folder", () => {
  it("gets a warning about the repositories there, and they are searched for again if it starts later", async () => {
    const diary = keepDiary();
    const searched: string[] = [];
    const world: ClaudeCodeWorld = {
      ...diary.world,
      findRepositories: async (folder) => {
        searched.push(folder);
        return { folders: [], isComplete: folder !== "/elsewhere" };
      },
    };
    const backend = createClaudeCodeBackend({ skipVersionCheck: true, mode: "plain" }, world);
    const open = (cwd: string | undefined) => backend.open(settingsFor({ settings: { cwd } }));
    await (await open(undefined)).close();
    const conversation = await open("/elsewhere");
    await diary.place.clock.advance(2000);
    const run = sendAsRun(conversation, "hello", { clock: diary.place.clock, random: createSeededRandom(3) });
    const { log } = await settle(diary.place, readLog(run));
    expect(log.filter(({ type }) => type === "warning")).toMatchObject([
      { code: "git-not-isolated", context: { folder: "/elsewhere" } },
    ]);
    expect(searched).toEqual(["/work", "/elsewhere", "/elsewhere"]);
    await settle(diary.place, conversation.close());
  });
});

describe("F-A4: a clock that was set back after the search for repositories", () => {
  it("does not make the search valid again", async () => {
    const diary = keepDiary();
    let back = 0;
    let searches = 0;
    const { clock } = diary.place;
    const world: ClaudeCodeWorld = {
      ...diary.world,
      clock: { now: () => clock.now() - back, after: (ms, call) => clock.after(ms, call) },
      findRepositories: async () => {
        searches += 1;
        return { folders: [], isComplete: true };
      },
    };
    const backend = createClaudeCodeBackend({ skipVersionCheck: true, mode: "plain" }, world);
    const conversation = await backend.open(settingsFor({}));
    back = 5000;
    const run = sendAsRun(conversation, "hello", { clock, random: createSeededRandom(3) });
    await settle(diary.place, readLog(run));
    expect(searches).toBe(2);
    await settle(diary.place, conversation.close());
  });
});

/** As npm writes it. */
const SHIM = '@SET dp0=%~dp0\r\n"%_prog%"  "%dp0%\\node_modules\\@anthropic-ai\\claude-code\\cli.js" %*\r\n';

describe.each(Object.entries(WAYS))("F-A14: on Windows, a CLI that npm has installed, for: %s", (_way, go) => {
  const onWindows = (shim: string): Diary => {
    const diary = keepDiary();
    const { files } = diary.place.world;
    const world: ClaudeCodeWorld = {
      ...diary.world,
      platform: "win32",
      env: { Path: "C:\\npm" },
      cwd: "C:\\work",
      probe: async (path) => (path === "C:\\npm\\claude.cmd" ? "executable" : "missing"),
      files: {
        ...files,
        read: (path) => (path.endsWith(".cmd") ? Promise.resolve(new TextEncoder().encode(shim)) : files.read(path)),
      },
    };
    return { ...diary, world };
  };

  it("is started as the script that its batch file names, by our own Node and without a shell", async () => {
    const diary = onWindows(SHIM);
    await go(diary, {});
    const { executable, args } = diary.place.spawn.calls[0] as { executable: string; args: readonly string[] };
    expect(executable).toBe(process.execPath);
    expect(args[0]).toBe("C:\\npm\\node_modules\\@anthropic-ai\\claude-code\\cli.js");
    expect(args.length).toBeGreaterThan(1);
  });

  it("is rejected by name if the batch file is something else", async () => {
    const diary = onWindows("@start notepad %*\r\n");
    await expect(go(diary, {})).rejects.toThrow("C:\\npm\\claude.cmd is a batch file that npm has not written");
    expect(diary.place.spawn.calls).toEqual([]);
  });

  it("reports once in explain what is not guaranteed there, and nothing on Linux", () => {
    const explain = (platform: NodeJS.Platform): string =>
      createClaudeCodeBackend({}, { ...keepDiary().world, platform }).explain(settingsFor({})).text;
    expect(explain("win32").match(/^Limit: /gm)?.length).toBe(2);
    expect(explain("darwin").match(/^Limit: /gm)?.length).toBe(1);
    expect(explain("linux")).not.toContain("Limit:");
  });
});

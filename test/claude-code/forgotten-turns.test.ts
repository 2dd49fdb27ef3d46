import { afterEach, describe, expect, it } from "vitest";
import type { Run } from "#run";
import type { RunResult } from "#domain";
import { openSession, startSession, systemWorld, type World } from "#runtime";
import type { Session } from "#sessions";
import { createSeededRandom, type SpawnStep } from "#testing";
import { describeRealCli, realCliHas, realCliOptions } from "../real-cli.ts";
import { openPlace, type Place, processesWith } from "./place.ts";
import { INIT, openScripted, result, says, writes } from "./scripted.ts";

const rules = [
  { match: { user: "alpha" }, reply: { text: "first answer" } },
  { match: { user: "stalls", times: 1 }, reply: { text: "half an answer" }, fault: { stallAfterEvents: 4 } },
  { match: { user: "stalls" }, reply: { text: "whole answer" } },
  { match: { user: "refused" }, reply: { text: "never" }, fault: { status: 400, times: 1 } },
  { reply: { text: "later answer" } },
];

const open: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).toReversed()) await close();
});

/** A session with the real CLI and an offline model. */
async function openReal(mode: Mode, more: object = {}, given?: Place): Promise<{ session: Session; place: Place }> {
  const place = given ?? (await openPlace({ rules }));
  const session = openSession("claude-code", {
    cwd: place.home,
    retry: { attempts: 1 },
    claudeCode: { ...realCliOptions(), env: place.env, ...MODES[mode] },
    ...more,
  });
  if (given === undefined) open.push(() => place.close());
  open.push(() => session.close());
  return { session, place };
}

/** A CLI of an unknown version is not asked to go back by itself: another process goes on where it was. */
const MODES = {
  plain: { mode: "plain" },
  control: { mode: "control" },
  "control with another process": { mode: "control", skipVersionCheck: true },
} as const;
type Mode = keyof typeof MODES;

/** What the model was told last, without what the CLI adds by itself. */
function lastTold(place: Place): string {
  const { body } = place.emulator.requests.findLast(({ path }) => path.startsWith("/v1/messages")) ?? {};
  const { messages = [] } = (body ?? {}) as { messages?: { role: string; content: unknown }[] };
  return JSON.stringify(messages.filter(({ role }) => role !== "system"));
}

async function abortWhenItSpeaks(run: Run): Promise<void> {
  for await (const event of run.detach()) if (event.type === "text-delta") break;
  await run.abort("enough");
}

describeRealCli(
  "F-B12 on the real Claude Code CLI",
  () => {
    describe.each(Object.keys(MODES) as Mode[])("%s", (mode) => {
      it("after an abort and after a failure the model receives neither, and retry() sends the message once more", async () => {
        const { session, place } = await openReal(mode);
        expect(await session.send("alpha").output()).toBe("first answer");
        const id = session.sessionId();
        await abortWhenItSpeaks(session.send("this one stalls"));
        expect(await session.send("beta").output()).toBe("later answer");
        expect(lastTold(place)).toMatch(/alpha.*first answer.*beta/);
        expect(lastTold(place)).not.toMatch(/stalls|half an answer|interrupted/i);
        expect(await session.send("this is refused").result()).toMatchObject({ status: "error" });
        expect(await session.retry().output()).toBe("never");
        const told = lastTold(place);
        expect(told).toMatch(/alpha.*first answer.*beta.*later answer.*refused/);
        expect(told.match(/refused/g)).toHaveLength(1);
        expect(session.sessionId()).toBe(id);
        await session.close();
        expect(processesWith(place.home)).toEqual([]);
      });
    });

    it.each(["plain", "control"] as const)(
      "%s: two failures in a row, and a failing first message, leave nothing either",
      async (mode) => {
        const { session, place } = await openReal(mode);
        await abortWhenItSpeaks(session.send("this one stalls"));
        expect(await session.send("alpha").output()).toBe("first answer");
        expect(lastTold(place)).not.toMatch(/stalls|half an answer|interrupted/i);
        expect(await session.send("this is refused").result()).toMatchObject({ status: "error" });
        await session.send("never mind").abort("at once");
        expect(await session.send("beta").output()).toBe("later answer");
        expect(lastTold(place)).toMatch(/alpha.*first answer.*beta/);
        expect(lastTold(place)).not.toMatch(/refused|never mind|stalls/);
      },
    );

    it.runIf(realCliHas("rewind-conversation"))(
      "control: the process stays, and a resumed session forgets its first message, too",
      async () => {
        const { session, place } = await openReal("control");
        expect(await session.send("alpha").output()).toBe("first answer");
        const id = session.sessionId();
        await session.close();
        const resumed = await openReal("control", { session: { resume: id } }, place);
        await abortWhenItSpeaks(resumed.session.send("this one stalls"));
        const processes = processesWith(place.home);
        expect(await resumed.session.send("beta").output()).toBe("later answer");
        expect(processesWith(place.home)).toEqual(processes);
        expect(lastTold(place)).toMatch(/alpha.*first answer.*beta/);
        expect(lastTold(place)).not.toMatch(/stalls|half an answer|interrupted/i);
      },
    );
  },
  "partial",
);

describe("F-B12 on a scripted CLI in plain mode", () => {
  const good = (id: string): readonly SpawnStep[] => [
    { waitForInput: "end" },
    writes(INIT, { ...says(id, "ok"), uuid: `uuid-${id}` }, result("ok")),
    { exit: 0 },
  ];
  const refused: readonly SpawnStep[] = [
    { waitForInput: "end" },
    writes(INIT, { ...says("m-bad", "no"), uuid: "uuid-bad" }, result("no", { is_error: true })),
    { exit: 1 },
  ];
  const notFound: readonly SpawnStep[] = [
    { waitForInput: "end" },
    writes(result("", { subtype: "error_during_execution", is_error: true, errors: ["No message found"] })),
    { exit: 1 },
  ];

  /** Plays one process after the other; gives each one's session flags and what it was told. */
  async function play(scripts: readonly (readonly SpawnStep[])[], texts: readonly string[]) {
    let started = 0;
    const place = openScripted(() => [...(scripts[(started += 1) - 1] ?? [])]);
    const world: World = { ...systemWorld(), clock: place.clock, random: createSeededRandom(5) };
    const session = startSession(place.backend({ mode: "plain" }), {}, world);
    const results: RunResult[] = [];
    for (const text of texts) {
      const run = session.send(text);
      for (let step = 0; step < 200 && !run.isComplete(); step += 1) await place.clock.advance(10);
      results.push(await run.result());
    }
    const closing = session.close();
    await place.clock.advance(20_000);
    await closing;
    const starts = place.spawn.calls.map(({ args, stdin }) => ({
      flags: args.flatMap((arg, at) =>
        arg.startsWith("--resume") ? [arg.includes("=") ? arg : `${arg} ${args[at + 1]}`] : [],
      ),
      stdin,
    }));
    return { statuses: results.map(({ status }) => status), starts };
  }

  it("continues from the last message of the last run that was kept, and from the end of the session after that", async () => {
    const { statuses, starts } = await play(
      [good("m1"), refused, refused, good("m2"), good("m3")],
      ["one", "bad", "worse", "two", "three"],
    );
    expect(statuses).toEqual(["success", "error", "error", "success", "success"]);
    expect(starts.map(({ flags }) => flags)).toEqual([
      [],
      ["--resume session-1"],
      ["--resume session-1", "--resume-session-at=uuid-m1"],
      ["--resume session-1", "--resume-session-at=uuid-m1"],
      ["--resume session-1"],
    ]);
    expect(starts.at(-1)?.stdin).toBe("three");
  });

  it("sends the conversation to a new session if the CLI no longer has that message", async () => {
    const { statuses, starts } = await play([good("m1"), refused, notFound, good("m2")], ["one", "bad", "lost", "two"]);
    expect(statuses).toEqual(["success", "error", "error", "success"]);
    expect(starts.at(-1)?.flags).toEqual([]);
    expect(starts.at(-1)?.stdin).toMatch(/User: one\nAssistant: ok[^]*two$/);
    expect(starts.at(-1)?.stdin).not.toMatch(/bad|lost/);
  });

  it("begins another session if the first message has failed", async () => {
    const { starts } = await play([refused, good("m1")], ["bad", "one"]);
    expect(starts.map(({ flags, stdin }) => [flags, stdin])).toEqual([
      [[], "bad"],
      [[], "one"],
    ]);
  });
});

import { describe, expect, it } from "vitest";
import type { AgentLink } from "#backends";
import type { Message, RunResult } from "#domain";
import { startSession, systemWorld, type World } from "#runtime";
import { createSeededRandom } from "#testing";
import { type Asked, sendAsRun, settingsFor } from "./place.ts";
import { greet, INIT, inputs, openScripted, result, says, writes } from "./scripted.ts";

const answer = (id: string) => writes(INIT, says(id, "ok"), result("ok"));

describe("F-C11: a session that is not saved", () => {
  it("uses control mode, so that the second message is answered by the same process", async () => {
    const place = openScripted([
      greet,
      { waitForInput: "line" },
      answer("m1"),
      { waitForInput: "line" },
      answer("m2"),
      { waitForInput: "end" },
    ]);
    const world: World = { ...systemWorld(), clock: place.clock, random: createSeededRandom(5) };
    const session = startSession(place.backend({ persistSession: false }), {}, world);
    for (const text of ["one", "two"]) {
      const run = session.send(text);
      for (let step = 0; step < 100 && !run.isComplete(); step += 1) await place.clock.advance(10);
      expect(await run.result()).toMatchObject({ status: "success", text: "ok" });
    }
    expect(place.spawn.calls).toHaveLength(1);
    const closing = session.close();
    await place.clock.advance(20_000);
    await closing;
    expect(place.spawn.calls[0]?.isGone).toBe(true);
  });

  it("is explained with its reason, and rejected by name if plain mode was forced", async () => {
    const settings = settingsFor({ settings: { features: ["session"] } });
    const { mode, reasons } = openScripted([]).backend({ persistSession: false }).explain(settings);
    expect({ mode, reasons }).toEqual({ mode: "control", reasons: [expect.stringContaining("unsaved-session")] });
    const forced = openScripted([]).backend({ persistSession: false, mode: "plain" }).open(settings);
    await expect(forced).rejects.toMatchObject({ code: "feature-unavailable", message: /persistSession.*mode/ });
  });

  it.each([
    ["has exited", false],
    ["went with an aborted run", true],
  ])(
    "sends the conversation to the next process if the one before %s, because there is nothing to resume",
    async (_, aborts) => {
      let started = 0;
      const place = openScripted(() => {
        started += 1;
        const begin = [greet, { waitForInput: "line" }, answer(`m${started}`)] as const;
        if (started > 1) return [...begin, { waitForInput: "end" }];
        return aborts ? [...begin, { waitForInput: "line" }, writes(INIT), { hang: true }] : [...begin, { exit: 0 }];
      });
      const world: World = { ...systemWorld(), clock: place.clock, random: createSeededRandom(5) };
      const session = startSession(place.backend({ persistSession: false, attachments: true }), {}, world);
      const ask = async (text: string): Promise<RunResult> => {
        const run = session.send(text);
        for (let step = 0; step < 100 && !run.isComplete(); step += 1) await place.clock.advance(10);
        return run.result();
      };
      expect(await ask("My name is Ada.")).toMatchObject({ status: "success" });
      await place.clock.advance(1000);
      if (aborts) {
        const run = session.send("Never answered.");
        await place.clock.advance(100);
        const aborted = run.abort();
        await place.clock.advance(20_000);
        await aborted;
      }
      expect(await ask("Who am I?")).toMatchObject({ status: "success" });
      expect(place.spawn.calls[1]?.args).not.toContain("--resume");
      const [asked] = inputs(place.spawn.calls[1]?.stdin ?? "").filter(({ type }) => type === "user");
      expect(JSON.stringify(asked)).toMatch(/My name is Ada\..*ok.*Who am I\?/);
      expect(JSON.stringify(asked)).not.toContain("Never answered.");
      const closing = session.close();
      await place.clock.advance(20_000);
      await closing;
    },
  );

  it.each(["warmUp", "mcpStatus"] as const)(
    "sends the conversation to a process that %s has started after the one before had exited",
    async (control) => {
      let started = 0;
      const place = openScripted(() => {
        started += 1;
        if (started === 1) return [greet, { waitForInput: "line" }, answer("m1"), { exit: 0 }];
        const asked = control === "mcpStatus" ? [greet] : [];
        return [greet, ...asked, { waitForInput: "line" }, answer("m2"), { waitForInput: "end" }];
      });
      const world: World = { ...systemWorld(), clock: place.clock, random: createSeededRandom(5) };
      const session = startSession(place.backend({ persistSession: false }), {}, world);
      const ask = async (text: string): Promise<RunResult> => {
        const run = session.send(text);
        for (let step = 0; step < 100 && !run.isComplete(); step += 1) await place.clock.advance(10);
        return run.result();
      };
      await ask("My name is Ada.");
      await place.clock.advance(1000);
      const reached = session[control]();
      for (let step = 0; step < 20; step += 1) await place.clock.advance(10);
      await reached;
      expect(place.spawn.calls).toHaveLength(2);
      expect(await ask("Who am I?")).toMatchObject({ status: "success" });
      expect(place.spawn.calls).toHaveLength(2);
      const [asked] = inputs(place.spawn.calls[1]?.stdin ?? "").filter(({ type }) => type === "user");
      expect(JSON.stringify(asked)).toMatch(/My name is Ada\..*ok.*Who am I\?/);
      const closing = session.close();
      await place.clock.advance(20_000);
      await closing;
    },
  );

  it("sends the conversation to the next process if hooks are added for the first time", async () => {
    const place = openScripted(() => [greet, { waitForInput: "line" }, answer("m"), { waitForInput: "end" }]);
    const { clock } = place;
    const conversation = await place
      .backend({ persistSession: false, mode: "control" })
      .open(settingsFor({ settings: { features: ["session"] } }));
    const say = (id: string, role: "user" | "assistant", text: string): Message => ({
      ...{ id, role, blocks: [{ type: "text", text }] },
    });
    const first = say("u1", "user", "My name is Ada.");
    const next = say("u2", "user", "Who am I?");
    const send = async (message: Message, transcript: readonly Message[], policy: Asked["policy"]): Promise<void> => {
      const speaker = {
        send: (all: readonly Message[], link: AgentLink) => conversation.send(all, { ...link, transcript }),
      };
      const run = sendAsRun(speaker, [message], { clock, isLast: false, policy: policy ?? {} });
      for (let step = 0; step < 40 && !run.isComplete(); step += 1) await clock.advance(10);
      expect(await run.result()).toMatchObject({ status: "success" });
    };
    await send(first, [first], {});
    await send(next, [first, say("a1", "assistant", "ok"), next], { hooks: [{ "before-tool": [() => undefined] }] });
    expect(place.spawn.calls).toHaveLength(2);
    const [asked] = inputs(place.spawn.calls[1]?.stdin ?? "").filter(({ type }) => type === "user");
    expect(JSON.stringify(asked)).toMatch(/My name is Ada\..*ok.*Who am I\?/);
    const closing = conversation.close();
    await clock.advance(20_000);
    await closing;
  });

  it("changes nothing for a single run, which has one message", () => {
    const { mode } = openScripted([]).backend({ persistSession: false }).explain(settingsFor({}));
    expect(mode).toBe("plain");
  });
});

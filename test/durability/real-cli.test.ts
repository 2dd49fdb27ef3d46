import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { systemWorld } from "#runtime";
import { assertRunLog } from "#testing";
import { tool } from "#tools";
import { resumeStored, startStored } from "../../src/runtime/stored-run.ts";
import { createMemoryStore } from "../../src/sessions/stores/memory/memory-store.ts";
import { ofType, openPlace, processesWith } from "../claude-code/place.ts";
import { describeRealCli } from "../real-cli.ts";

const call = { name: "mcp__millrace__work", input: { n: 1 } };

describeRealCli("Runs that survive: Claude Code", () => {
  it("a question is parked without a process, and its session continues with the stored answer: the tool runs once", async () => {
    const place = await openPlace({
      rules: [
        { match: { user: "go on with it", turn: 0, times: 1 }, reply: { text: "I ask.", toolCalls: [call] } },
        { match: { user: "Your process ended", times: 1 }, reply: { text: "Again.", toolCalls: [call] } },
      ],
      otherwise: { text: "All done." },
    });
    try {
      const store = createMemoryStore();
      let ran = 0;
      const work = tool("work", "Work", { n: "number" }, () => (ran += 1));
      const options = { tools: [work], permissions: { ask: ["work"] } };
      const target = () => place.backend({ mode: "control" });
      const run = startStored(
        store,
        target(),
        "Please go on with it.",
        { ...options, limits: { parkMs: 300 } },
        systemWorld(),
      );
      const parked = await run.parked();
      await run.closed;
      expect(parked).toMatchObject({ calls: [{ name: "work", for: "answer" }] });
      expect(processesWith(place.home)).toEqual([]);
      const callId = parked?.calls[0]?.callId as string;
      expect(await store.addAnswer(run.id, { callId, at: 1, decision: { allow: true } })).toBe(true);
      const next = await resumeStored(store, run.id, { target: target(), ...options }, systemWorld());
      const result = await next.result();
      await next.closed;
      const log = await store.read(run.id);
      assertRunLog(log);
      expect({ ran, status: result.status, text: result.text }).toEqual({
        ran: 1,
        status: "success",
        text: "All done.",
      });
      const sessions = new Set(ofType(log, "start").map(({ sessionId }) => sessionId));
      expect(sessions.size).toBe(1);
      expect(ofType(log, "permission").map(({ state }) => state)).toEqual(["asked", "asked", "allowed"]);
    } finally {
      await place.close();
    }
  });

  it("a parked session continues on another machine: its transcript is in the store, without secrets, until the run is over", async () => {
    const rules = [
      { match: { user: "go on with it", turn: 0, times: 1 }, reply: { text: "I ask.", toolCalls: [call] } },
      { match: { user: "Your process ended", times: 1 }, reply: { text: "All done." } },
    ];
    const first = await openPlace({ rules });
    const second = await openPlace({ rules: rules.slice(1) });
    try {
      const store = createMemoryStore();
      const names: string[] = [];
      const keepFile: typeof store.keepFile = (name, data) => {
        names.push(name);
        return store.keepFile(name, data);
      };
      const noting = { ...store, keepFile };
      const options = { tools: [tool("work", "Work", { n: "number" }, () => 1)], permissions: { ask: ["work"] } };
      const prompt = "Please go on with it. The key is sk-ant-offline.";
      const target = first.backend({ mode: "control" });
      const run = startStored(noting, target, prompt, { ...options, limits: { parkMs: 300 } }, systemWorld());
      const parked = await run.parked();
      await run.closed;
      const callId = parked?.calls[0]?.callId as string;
      const file = new TextDecoder().decode(await store.findFile(names[0] ?? ""));
      expect(file).toContain("Please go on with it.");
      expect(file).not.toContain("sk-ant-offline");
      await store.addAnswer(run.id, { callId, at: 1, decision: { allow: false, reason: "No." } });
      const elsewhere = second.backend({ mode: "control" });
      const next = await resumeStored(store, run.id, { target: elsewhere, ...options }, systemWorld());
      expect(await next.result()).toMatchObject({ status: "success", text: "All done." });
      await next.closed;
      const log = await store.read(run.id);
      assertRunLog(log);
      expect(new Set(ofType(log, "start").map(({ sessionId }) => sessionId)).size).toBe(1);
      const asked = second.emulator.requests.map(({ body }) => JSON.stringify(body));
      expect(asked.at(-1)).toContain("Please go on with it.");
      expect(asked.at(-1)).toContain("I ask.");
      expect(await store.findFile(names[0] ?? "")).toBeUndefined();
    } finally {
      await first.close();
      await second.close();
    }
  });

  it("after a crash in a tool, a machine without the session is told what was said and what may have run: the tool runs once", async () => {
    const rules = [
      { match: { user: "go on with it", turn: 0, times: 1 }, reply: { text: "I do.", toolCalls: [call] } },
    ];
    const first = await openPlace({ rules });
    const second = await openPlace({ rules: [], otherwise: { text: "All done." } });
    try {
      const kept = createMemoryStore();
      let isDead = false;
      const append: typeof kept.append = (...given) => (isDead ? new Promise(() => undefined) : kept.append(...given));
      let ran = 0;
      let begin = (): void => undefined;
      const begun = new Promise<void>((resolve) => {
        begin = resolve;
      });
      const work = tool("work", "Work", { n: "number" }, () => {
        ran += 1;
        isDead = true;
        begin();
        return new Promise(() => undefined);
      });
      const options = { tools: [work], limits: { turns: 5 } };
      const target = first.backend({ mode: "control" });
      const run = startStored({ ...kept, append }, target, "Please go on with it.", options, systemWorld());
      await begun;
      run.abort().catch(() => undefined);
      const elsewhere = second.backend({ mode: "control" });
      const next = await resumeStored(kept, run.id, { target: elsewhere, ...options }, systemWorld());
      expect(await next.result()).toMatchObject({ status: "success", text: "All done.", turns: 2 });
      await next.closed;
      const log = await kept.read(run.id);
      assertRunLog(log);
      expect(ran).toBe(1);
      expect(ofType(log, "notice").map(({ kind }) => kind)).toContain("session-lost");
      const asked = second.emulator.requests.map(({ body }) => JSON.stringify(body)).join();
      for (const text of ["Please go on with it.", "I do.", "may have run"]) expect(asked).toContain(text);
    } finally {
      await first.close();
      await second.close();
    }
  });

  it("a session whose file has no message yet, because the CLI was killed before it wrote one, is begun anew with what was said", async () => {
    const rules = [{ match: { user: "go on with it", times: 1 }, reply: { text: "I ask.", toolCalls: [call] } }];
    const place = await openPlace({ rules, otherwise: { text: "All done." } });
    try {
      const store = createMemoryStore();
      const options = { tools: [tool("work", "Work", { n: "number" }, () => 1)], permissions: { ask: ["work"] } };
      const target = () => place.backend({ mode: "control" });
      const prompt = "Please go on with it.";
      const run = startStored(store, target(), prompt, { ...options, limits: { parkMs: 300 } }, systemWorld());
      const parked = await run.parked();
      await run.closed;
      await store.addAnswer(run.id, {
        callId: parked?.calls[0]?.callId as string,
        at: 1,
        decision: { allow: false, reason: "No." },
      });
      const [name = ""] = readdirSync(place.home, { recursive: true, encoding: "utf8" }).filter(isSession);
      const file = join(place.home, name);
      const [queued] = readFileSync(file, "utf8").split("\n");
      writeFileSync(file, `${queued}\n`);
      // The store of another machine has no file of it either.
      const next = await resumeStored(
        { ...store, findFile: async () => undefined },
        run.id,
        { target: target(), ...options },
        systemWorld(),
      );
      expect(await next.result()).toMatchObject({ status: "success", text: "All done." });
      await next.closed;
      const log = await store.read(run.id);
      assertRunLog(log);
      expect(ofType(log, "notice").map(({ kind }) => kind)).toContain("session-lost");
      expect(JSON.stringify(place.emulator.requests.at(-1)?.body)).toContain(prompt);
    } finally {
      await place.close();
    }
  });
});

const isSession = (name: string): boolean => name.includes("projects") && name.endsWith(".jsonl");

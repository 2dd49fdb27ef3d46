import { describe, expect, it } from "vitest";
import type { Leg } from "#agents";
import type { AgentBackend, AgentConversation, AgentLink, AgentSettings } from "#backends";
import { type Message, messageItem, resultItem, startItem, StartError, textDelta } from "#domain";
import { logOf, openTestSession, shown } from "./support.ts";

type Act = (turn: {
  readonly link: AgentLink;
  readonly end: () => void;
  readonly reply: (text: string) => void;
}) => void;

/** An agent that lives on this side of the process border: its turns are played by a test. */
function scriptAgent(acts: readonly Act[], more: Partial<AgentConversation> = {}, name = "agent") {
  const opened: AgentSettings[] = [];
  const asked: (readonly Message[])[] = [];
  const calls: string[] = [];
  let turns = 0;
  let ends: (() => void)[] = [];
  const backend: AgentBackend = {
    kind: "agent",
    name: "scripted-agent",
    model: undefined,
    explain: () => ({
      backend: "scripted-agent",
      mode: "control",
      features: [],
      requiresControl: true,
      override: undefined,
      reasons: [],
      ignored: [],
      text: "",
    }),
    async open(settings) {
      opened.push(settings);
      const number = opened.length;
      const conversation: AgentConversation = {
        sessionId: `session-${number}`,
        send: (messages, link) =>
          new Promise<void>((resolve) => {
            asked.push(messages);
            ends.push(resolve);
            const act = acts[Math.min(turns, acts.length - 1)];
            turns += 1;
            const id = `${name}-reply-${turns}`;
            const start = { backend: "scripted-agent", mode: "control", sessionId: `session-${number}` } as const;
            void link.write([startItem(start)]);
            const reply = (text: string): void => {
              void link.write([
                textDelta(id, 0, text),
                messageItem({ id, role: "assistant", blocks: [{ type: "text", text }] }),
                resultItem({ subtype: "success", isError: false, text, usage: {}, turns: 1 }),
              ]);
              resolve();
            };
            act?.({ link, end: resolve, reply });
          }),
        interrupt: async () => {
          calls.push(`interrupt ${number}`);
          for (const end of ends) end();
          ends = [];
        },
        setModel: async (model) => void calls.push(`model ${model} ${number}`),
        setPermissionMode: async (mode) => void calls.push(`mode ${mode} ${number}`),
        close: async () => void calls.push(`close ${number}`),
        ...more,
      };
      return conversation;
    },
  };
  const leg: Leg = { backend, fallback: [], tools: [], limits: {} };
  return { backend, leg, opened, asked, calls };
}

const answer =
  (text: string): Act =>
  ({ reply }) =>
    reply(text);
const silent: Act = () => undefined;

describe("a session with an agent", () => {
  it("S0-60 AT-14: one conversation for all runs, each told only what is new", async () => {
    const agent = scriptAgent([answer("one"), answer("two"), answer("three")]);
    const { session } = openTestSession([agent.leg]);
    const runs = ["a", "b", "c"].map((text) => session.send(text));
    await Promise.all(runs.map(logOf));
    expect(agent.opened).toHaveLength(1);
    expect(agent.opened[0]?.features).toContain("session");
    expect(agent.asked.map(shown)).toEqual([["user: a"], ["user: b"], ["user: c"]]);
    expect(shown(session.messages())).toEqual([
      "user: a",
      "assistant: one",
      "user: b",
      "assistant: two",
      "user: c",
      "assistant: three",
    ]);
    await session.close();
    expect(agent.calls).toEqual(["close 1"]);
  });

  it("S0-66 AT-16: the id is known after the first frame, before it there is a typed error", async () => {
    const agent = scriptAgent([answer("one")]);
    const { session } = openTestSession([agent.leg]);
    expect(() => session.sessionId()).toThrow(expect.objectContaining({ code: "session-id-unknown" }));
    await session.send("a").result();
    expect(session.sessionId()).toBe("session-1");
  });

  it("S0-80: an interrupt ends the turn by the agent's own means, and its conversation continues", async () => {
    const signals: AbortSignal[] = [];
    const agent = scriptAgent([({ link }) => void signals.push(link.signal), answer("two")]);
    const { session, clock } = openTestSession([agent.leg]);
    const first = session.send("a");
    const second = session.send("b");
    await clock.advance(0);
    await session.interrupt();
    expect((await first.result()).status).toBe("aborted");
    expect((await second.result()).text).toBe("two");
    expect(agent.calls).toEqual(["interrupt 1"]);
    expect(agent.opened).toHaveLength(1);
    expect(clock.pending()).toBe(0);
    await clock.advance(60_000);
    expect(signals[0]?.aborted).toBe(false);
    await logOf(first);
    await logOf(second);
  });

  it.each([
    ["fails", async () => Promise.reject(new Error("no such request")), 0],
    [
      "throws",
      () => {
        throw new Error("not connected");
      },
      0,
    ],
    ["does nothing", async () => undefined, 5000],
  ])("an interrupt that %s is followed by the abort itself", async (_, interrupt, after) => {
    let abortedAt = -1;
    const agent = scriptAgent(
      [
        ({ link, end }) =>
          link.signal.addEventListener("abort", () => {
            abortedAt = clock.now();
            end();
          }),
        answer("two"),
      ],
      { interrupt },
    );
    const { session, clock } = openTestSession([agent.leg]);
    const first = session.send("a");
    const second = session.send("b");
    await clock.advance(0);
    const at = clock.now();
    void first.abort();
    await clock.advance(after);
    expect(abortedAt).toBe(at + after);
    expect((await second.result()).text).toBe("two");
    expect((await first.result()).status).toBe("aborted");
  });

  it("what is ours ends at once: nothing an agent asks for after the abort is allowed", async () => {
    let link: AgentLink | undefined;
    const agent = scriptAgent([(turn) => void (link = turn.link)], { interrupt: async () => undefined });
    const leg: Leg = {
      ...agent.leg,
      policy: {
        hooks: [],
        rules: [{ allow: ["Bash"] }],
        permission: undefined,
        guards: [],
        outputMode: undefined,
      },
    };
    const { session, clock } = openTestSession([leg]);
    const run = session.send("a");
    await clock.advance(0);
    void run.abort();
    const verdict = await link?.policy.checkCall({ callId: "c", name: "Bash", input: {}, executedBy: "backend" });
    expect(verdict?.kind).toBe("denied");
    await clock.advance(30_000);
    expect((await run.result()).status).toBe("aborted");
  });

  it("a turn that never returns is abandoned: the next one resumes its conversation in another process", async () => {
    const agent = scriptAgent([answer("zero"), silent, answer("two")], { interrupt: async () => undefined });
    const { session, clock } = openTestSession([agent.leg]);
    await session.setModel("big");
    await session.send("before").result();
    const first = session.send("a");
    const second = session.send("b");
    await clock.advance(0);
    void first.abort();
    await clock.advance(15_000);
    expect((await first.result()).errors.map((error) => error.code)).toEqual(["cleanup-timeout"]);
    expect((await second.result()).text).toBe("two");
    expect(agent.opened.map((settings) => settings.resume)).toEqual([
      undefined,
      { kind: "resume", sessionId: "session-1", fork: false },
    ]);
    expect(agent.asked.map(shown)).toEqual([["user: before"], ["user: a"], ["user: b"]]);
    await clock.advance(60_000);
    await session.close();
    expect(agent.calls).toEqual(["model big 1", "model big 2", "close 1", "close 2"]);
    expect(clock.pending()).toBe(0);
  });

  it("F-B12: an agent that can forget is told which runs are kept; one that never answers is resumed where it was before", async () => {
    const settled: boolean[] = [];
    const agent = scriptAgent([answer("zero"), silent, answer("two"), ({ end }) => end(), answer("four")], {
      interrupt: async () => undefined,
      point: "after-zero",
      settle: (isKept) => void settled.push(isKept),
    });
    const { session, clock } = openTestSession([agent.leg]);
    await session.send("before").result();
    const stuck = session.send("a");
    await clock.advance(0);
    void stuck.abort();
    await clock.advance(15_000);
    await session.send("b").result();
    expect(agent.opened[1]?.resume).toEqual({ kind: "resume", sessionId: "session-1", fork: false, at: "after-zero" });
    const messages = ["c1", "c2"].map((id) => ({ id, role: "user", blocks: [{ type: "text", text: id }] }) as const);
    expect((await session.send(messages).result()).status).toBe("error");
    expect((await session.retry().result()).text).toBe("four");
    expect(settled).toEqual([true, false, true, false, true]);
    expect(agent.asked.slice(-2).map(shown)).toEqual([
      ["user: c1", "user: c2"],
      ["user: c1", "user: c2"],
    ]);
    await clock.advance(60_000);
    await session.close();
  });

  it("an agent that cannot be had fails that run; the next one tries again", async () => {
    const agent = scriptAgent([answer("here")]);
    let missing = true;
    const backend: AgentBackend = {
      ...agent.backend,
      open: async (settings) => {
        if (missing) throw new StartError("cli-not-found", "There is no claude.");
        return agent.backend.open(settings);
      },
    };
    const { session } = openTestSession([{ ...agent.leg, backend }]);
    const first = session.send("a");
    expect((await first.result()).error?.code).toBe("cli-not-found");
    missing = false;
    expect((await session.send("b").result()).text).toBe("here");
    await logOf(first);
    await session.close();
    expect(agent.calls).toEqual(["close 1"]);
  });

  it("S0-79: settings made before the agent exists are sent to it first; a model it rejects fails the run", async () => {
    const agent = scriptAgent([answer("one")]);
    const { session } = openTestSession([agent.leg]);
    await session.setModel("small");
    await session.setModel("big");
    await session.setPermissionMode("plan");
    await session.send("a").result();
    await session.setModel("huge");
    expect(agent.calls).toEqual(["model big 1", "mode plan 1", "model huge 1"]);

    const picky = scriptAgent([answer("one")], {
      setModel: async (model) => {
        if (model === "bad") throw new Error("There is no model bad.");
      },
    });
    const other = openTestSession([picky.leg]).session;
    await other.setModel("bad");
    const failed = await other.send("a").result();
    expect(failed.error?.message).toBe("There is no model bad.");
    expect(picky.calls).toEqual(["close 1"]);
    await other.setModel("good");
    expect((await other.send("a").result()).text).toBe("one");
    await expect(other.setModel("bad")).rejects.toThrow("no model bad");
  });

  it("S0-80: an agent that does not say what it lacks is judged by its methods, before the first run and after it", async () => {
    const agent = scriptAgent([answer("one"), answer("two")]);
    const { session } = openTestSession([agent.leg]);
    for (const text of ["a", "b"]) {
      await expect(session.setAgent("critic")).rejects.toThrow(
        /^setAgent is not available on scripted-agent: .*Open the session with swarm\(…\)/,
      );
      await expect(session.mcpStatus()).rejects.toThrow(
        /^mcpStatus is not available on scripted-agent: .*option tools\.$/,
      );
      expect(await session.warmUp()).toBe(false);
      expect((await session.send(text).result()).status).toBe("success");
    }
    expect(agent.opened).toHaveLength(1);
  });

  it("S0-80: an agent with all controls receives them, also before its conversation exists and in the middle of a turn", async () => {
    const calls: string[] = [];
    const agent = scriptAgent([silent, answer("two")], {
      setAgent: async (name) => void calls.push(`agent ${name}`),
      mcpStatus: async () => [{ name: "files", status: "connected" }],
      warmUp: async () => calls.push("warm up") > 0,
    });
    const { session, clock } = openTestSession([
      { ...agent.leg, backend: { ...agent.backend, cannotControl: () => undefined } },
    ]);
    await session.setAgent("critic");
    expect(calls).toEqual([]);
    expect(await session.warmUp()).toBe(true);
    expect(calls).toEqual(["agent critic", "warm up"]);
    const run = session.send("a");
    await clock.advance(0);
    expect(await session.mcpStatus()).toEqual([{ name: "files", status: "connected" }]);
    await session.setAgent("writer");
    expect(calls).toEqual(["agent critic", "warm up", "agent writer"]);
    expect(agent.opened).toHaveLength(1);
    await session.close();
    expect((await run.result()).status).toBe("aborted");
    expect(agent.calls).toContain("close 1");
  });

  it("AT-18: an error result ends its run, and the same conversation answers the next input", async () => {
    const failing: Act = ({ link, end }) => {
      void link.write([resultItem({ subtype: "error_during_execution", isError: true, text: "broken", usage: {} })]);
      end();
    };
    const agent = scriptAgent([failing, answer("mended")]);
    const { session } = openTestSession([agent.leg]);
    const first = session.send("a");
    expect((await first.result()).subtype).toBe("error_during_execution");
    const second = session.send("b");
    expect((await second.result()).text).toBe("mended");
    expect(agent.opened).toHaveLength(1);
    for (const run of [first, second]) await logOf(run);
  });

  it("close ends a turn under way by force, does not wait for its patience, and closes the conversation after it", async () => {
    const order: string[] = [];
    const agent = scriptAgent(
      [
        ({ link, end }) =>
          link.signal.addEventListener("abort", () => {
            order.push("aborted");
            end();
          }),
      ],
      { interrupt: () => new Promise(() => undefined), close: async () => void order.push("closed") },
    );
    const { session, clock } = openTestSession([agent.leg]);
    const run = session.send("a");
    await clock.advance(0);
    await session.close();
    expect(order).toEqual(["aborted", "closed"]);
    expect((await run.result()).status).toBe("aborted");
    expect(clock.pending()).toBe(0);
    await logOf(run);
  });

  it("close reports what could not be closed", async () => {
    const agent = scriptAgent([answer("one")], { close: async () => Promise.reject(new Error("still there")) });
    const { session } = openTestSession([agent.leg]);
    await session.send("a").result();
    await expect(session.close()).rejects.toThrow("still there");
  });

  it("S2-32: each agent of a swarm keeps its own conversation, and gets every handoff", async () => {
    const handOver = (to: string): Act =>
      function ({ link, reply }) {
        void link.runTool({ callId: `c-${to}`, name: "handoff", input: { to, message: `over to ${to}` } }).then(() => {
          reply("gone");
        });
      };
    const triage = scriptAgent([handOver("billing"), handOver("billing")], {}, "triage");
    const billing = scriptAgent([answer("refunded"), answer("refunded again")]);
    const { session } = openTestSession([
      { ...triage.leg, agent: "triage", handoffs: ["billing"] },
      { ...billing.leg, agent: "billing" },
    ]);
    expect((await session.send("one").result()).agent).toBe("billing");
    await session.setAgent("triage");
    const second = session.send("two");
    expect((await second.result()).text).toContain("refunded again");
    expect([triage.opened.length, billing.opened.length]).toEqual([1, 1]);
    expect(billing.asked.map(shown)).toEqual([["user: over to billing"], ["user: over to billing"]]);
    await logOf(second);
    await session.close();
    expect([...triage.calls, ...billing.calls]).toEqual(["close 1", "close 1"]);
  });
});

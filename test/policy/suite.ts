import { describe, expect, it } from "vitest";
import type { Run } from "#run";
import type { AgentEvent, EventOf, EventType } from "#domain";
import type { RunOptions } from "#runtime";
import { type Tool, tool } from "#tools";
import { MISBEHAVIOURS, type Misbehaviour } from "./misbehaviours.ts";

/** What a model asks for. */
export interface Wish {
  readonly name: string;
  readonly input: unknown;
}

/** One backend to prove the policy on. */
export interface Stage {
  readonly name: string;
  /**
   * Runs a program in which the model, at the prompt "go", asks for these calls in one reply and says "after" once they
   * are answered; without calls it says `text` at once. Gives the whole log, checked with `assertRunLog`.
   */
  play(scene: Scene): Promise<readonly AgentEvent[]>;
}

export interface Scene {
  readonly calls?: readonly Wish[];
  readonly text?: string;
  readonly options: RunOptions;
  /** Nobody reads or listens until the run is over: whoever is asked then cannot answer. */
  readonly isAlone?: boolean;
  /** Called when the run has begun, to answer questions or to abort it. */
  readonly onRun?: (run: Run<unknown>) => void;
}

/** A tool that remembers what it was called with. */
export function createProbe(name = "probe"): { readonly tool: Tool; readonly ran: unknown[] } {
  const ran: unknown[] = [];
  const probe = tool(name, "Remembers what it is called with", { text: "string" }, (input) => {
    ran.push(input);
    return `probed ${input.text}`;
  });
  return { tool: probe, ran };
}

const wish = (text = "one"): Wish => ({ name: "probe", input: { text } });

function all<Type extends EventType>(log: readonly AgentEvent[], type: Type): EventOf<Type>[] {
  return log.filter((event): event is EventOf<Type> => event.type === type);
}

const resultOf = (log: readonly AgentEvent[]) => (log.at(-1) as EventOf<"done">).result;
const shownText = (log: readonly AgentEvent[]): string =>
  all(log, "text-delta")
    .map((event) => event.text)
    .join("");

/** The policy's promises, the same for every backend. */
export function describePolicy(stage: Stage): void {
  const play = async (scene: Scene) => {
    const probe = createProbe();
    const log = await stage.play({
      calls: [wish()],
      ...scene,
      options: { ...scene.options, tools: [probe.tool, ...(scene.options.tools ?? [])] },
    });
    return { log, ran: probe.ran, result: resultOf(log) };
  };

  describe(`hooks on ${stage.name}`, () => {
    it("S0-93: a before-tool hook that blocks prevents the tool from running; the model gets the reason; the run continues", async () => {
      const { log, ran, result } = await play({
        options: { hooks: { "before-tool": [() => ({ block: "not today" })] } },
      });
      expect(ran).toEqual([]);
      expect(all(log, "permission")).toMatchObject([{ state: "denied", by: "hook", name: "probe" }]);
      expect(all(log, "tool-result")).toMatchObject([{ isError: true }]);
      expect(String(all(log, "tool-result")[0]?.output)).toContain("not today");
      expect(result).toMatchObject({ status: "success" });
    });

    it("S0-76: a hook runs for the tools its matcher names, once per call, with name and arguments", async () => {
      const seen: string[] = [];
      const see =
        (which: string) =>
        ({ name, input }: { name: string; input: unknown }) => {
          seen.push(`${which} ${name} ${JSON.stringify(input)}`);
        };
      const { ran } = await play({
        options: {
          hooks: {
            "before-tool": [
              { tool: "probe", run: see("exact") },
              { tool: "other|probe", run: see("either") },
              { tool: "pro*", run: see("pattern") },
              { tool: "prob", run: see("never") },
            ],
          },
        },
      });
      expect(seen).toEqual([
        'exact probe {"text":"one"}',
        'either probe {"text":"one"}',
        'pattern probe {"text":"one"}',
      ]);
      expect(ran).toEqual([{ text: "one" }]);
    });

    it("a hook may replace the arguments, and the tool gets the new ones", async () => {
      const { ran, log } = await play({ options: { hooks: { "before-tool": [() => ({ input: { text: "two" } })] } } });
      expect(ran).toEqual([{ text: "two" }]);
      expect(String(all(log, "tool-result")[0]?.output)).toContain("probed two");
    });

    it("of hooks that run at the same time, the one that blocks wins", async () => {
      const { ran } = await play({
        options: {
          hooks: {
            "before-tool": [() => ({ allow: true }), () => ({ block: "no" }), () => ({ input: { text: "x" } })],
          },
        },
      });
      expect(ran).toEqual([]);
    });

    it("an after-tool hook sees what came out, and may replace it", async () => {
      const seen: unknown[] = [];
      const { log } = await play({
        options: {
          hooks: {
            "after-tool": [
              ({ output, isError }) => {
                seen.push([output, isError]);
                return { output: "replaced" };
              },
            ],
          },
        },
      });
      expect(seen).toEqual([["probed one", false]]);
      expect(String(all(log, "tool-result")[0]?.output)).toContain("replaced");
    });

    it("a prompt hook may block the prompt: nothing is asked", async () => {
      const { log, ran, result } = await play({
        options: { hooks: { prompt: [() => ({ block: "not about this" })] } },
      });
      expect(ran).toEqual([]);
      expect(all(log, "text-delta")).toEqual([]);
      expect(result).toMatchObject({ status: "error", subtype: "prompt-blocked" });
      expect(result.error?.message).toContain("not about this");
    });

    it("a hook may stop the run after its step", async () => {
      const { log, result } = await play({ options: { hooks: { "after-tool": [() => ({ stop: "enough" })] } } });
      expect(all(log, "tool-result")).toHaveLength(1);
      expect(result.status).not.toBe("success");
      expect(shownText(log)).not.toContain("after");
    });

    it("a before-stop hook sends the agent back to work once, and the run-end hook hears of the end", async () => {
      const ends: unknown[] = [];
      let asked = 0;
      const { result } = await play({
        options: {
          hooks: {
            "before-stop": [
              () => {
                asked += 1;
                return asked === 1 ? { block: "go on" } : undefined;
              },
            ],
            "run-end": [({ status }) => void ends.push(status)],
          },
        },
      });
      expect(asked).toBe(2);
      expect(result.status).toBe("success");
      expect(ends).toEqual(["success"]);
    });
  });

  describe(`permissions on ${stage.name}`, () => {
    it.each([
      ["a name", "probe"],
      ["a pattern of names", "pro*"],
      ["a pattern of arguments", "probe(on*)"],
    ])("a rule that denies by %s keeps the tool from running, whatever hooks and callbacks say", async (_, rule) => {
      let asked = 0;
      const { ran, log } = await play({
        options: {
          permissions: { deny: [rule], allow: ["probe"] },
          hooks: { "before-tool": [() => ({ allow: true })] },
          permission: () => {
            asked += 1;
            return { allow: true };
          },
        },
      });
      expect(ran).toEqual([]);
      expect(asked).toBe(0);
      expect(all(log, "permission")).toMatchObject([{ state: "denied", by: "rule" }]);
    });

    it("rules are judged on the arguments a hook has put there", async () => {
      const { ran } = await play({
        options: {
          permissions: { deny: ["probe(secret*)"] },
          hooks: { "before-tool": [() => ({ input: { text: "secret plan" } })] },
        },
      });
      expect(ran).toEqual([]);
    });

    it("AT-34: a callback allows, allows with other arguments, or denies with its message", async () => {
      const allowed = await play({ options: { permission: () => ({ allow: true }) } });
      expect(allowed.ran).toEqual([{ text: "one" }]);
      expect(all(allowed.log, "permission")).toMatchObject([{ state: "allowed", by: "callback" }]);
      const changed = await play({ options: { permission: () => ({ allow: true, input: { text: "else" } }) } });
      expect(changed.ran).toEqual([{ text: "else" }]);
      const denied = await play({ options: { permission: () => ({ allow: false, reason: "not on my watch" }) } });
      expect(denied.ran).toEqual([]);
      expect(String(all(denied.log, "tool-result")[0]?.output)).toContain("not on my watch");
      expect(denied.result.status).toBe("success");
    });

    it.each([
      ["yes", { allow: true } as const, [{ text: "one" }]],
      ["yes, but so", { allow: true, input: { text: "so" } } as const, [{ text: "so" }]],
      ["no", { allow: false, reason: "rather not" } as const, []],
    ])("a question waits for its answer: %s", async (_, decision, expected) => {
      const { ran, log } = await play({
        options: { permissions: { ask: ["probe"] } },
        onRun: (run) =>
          void run.on("permission", (event) => {
            if (event.state === "asked") expect(run.answer(event.callId, decision)).toBe(true);
          }),
      });
      expect(ran).toEqual(expected);
      expect(all(log, "permission").map((event) => event.state)).toEqual([
        "asked",
        decision.allow ? "allowed" : "denied",
      ]);
    });

    it("a person's change that a rule denies is denied", async () => {
      const { ran } = await play({
        options: { permissions: { ask: ["probe"], deny: ["probe(secret)"] } },
        onRun: (run) =>
          void run.on("permission", (event) => {
            if (event.state === "asked") run.answer(event.callId, { allow: true, input: { text: "secret" } });
          }),
      });
      expect(ran).toEqual([]);
    });

    it("an abort while a question is open: the tool never runs, and a late answer changes nothing", async () => {
      let late: Promise<boolean> | undefined;
      const { ran, result } = await play({
        options: { permissions: { ask: ["probe"] } },
        onRun: (run) =>
          void run.on("permission", (event) => {
            if (event.state !== "asked") return;
            late = run.abort("changed my mind").then(() => run.answer(event.callId, { allow: true }));
          }),
      });
      expect(ran).toEqual([]);
      expect(result.status).toBe("aborted");
      expect(await late).toBe(false);
    });

    it.each([
      ["an allow list that does not name it", { allow: ["other"] }],
      ["an allow list for other arguments", { allow: ["probe(two*)"] }],
      ["otherwise ask", { otherwise: "ask" }],
      ["an ask rule", { ask: ["probe"] }],
    ] as const)("F-D2 F-B13: %s, and nobody to answer: denied with the remedy", async (_, permissions) => {
      const { ran, log, result } = await play({ isAlone: true, options: { permissions } });
      expect(ran).toEqual([]);
      expect(all(log, "permission").map(({ state, by }) => `${state} by ${by}`)).toEqual([
        "asked by rule",
        "denied by rule",
      ]);
      const unanswered = all(log, "warning").filter(({ code }) => code === "nobody-can-answer");
      expect(unanswered).toMatchObject([{ context: { name: "probe" } }]);
      expect(all(log, "tool-result")).toMatchObject([{ isError: true }]);
      expect(result.status).toBe("success");
    });

    it.each([
      ["an allow list that names it", { allow: ["probe"] }, 1],
      ["an allow list for these arguments", { allow: ["probe(on*)"] }, 1],
      ["otherwise allow beside an allow list", { allow: ["other"], otherwise: "allow" }, 1],
      ["otherwise deny", { otherwise: "deny" }, 0],
      ["otherwise deny beside a rule that allows it", { allow: ["probe"], otherwise: "deny" }, 1],
    ] as const)("F-D2: %s", async (_, permissions, runs) => {
      const { ran, log } = await play({ isAlone: true, options: { permissions } });
      expect(ran).toHaveLength(runs);
      expect(all(log, "permission").map(({ state }) => state)).toEqual([runs === 1 ? "allowed" : "denied"]);
    });

    it("F-D2: what an allow list does not contain waits for a person, with a notice at once", async () => {
      const { ran, log } = await play({
        options: { permissions: { allow: ["other"] } },
        onRun: (run) =>
          void run.on("notice", (event) => {
            const { callId } = (event.data ?? {}) as { callId?: string };
            if (event.kind === "waiting") expect(run.answer(callId ?? "", { allow: true })).toBe(true);
          }),
      });
      expect(ran).toEqual([{ text: "one" }]);
      expect(all(log, "permission").map(({ state }) => state)).toEqual(["asked", "allowed"]);
    });

    it("F-B6: a permission callback that fails denies, and the run says so", async () => {
      const { ran, log } = await play({ options: { permission: () => Promise.reject(new Error("boom")) } });
      expect(ran).toEqual([]);
      expect(all(log, "warning")).toMatchObject([{ code: "permission-failed", context: { name: "probe" } }]);
    });

    it("F-B6: a permission callback that never answers denies when its time is up", async () => {
      const { ran, log, result } = await play({
        options: { permission: () => new Promise(() => undefined), limits: { permissionMs: 1_000 } },
      });
      expect(ran).toEqual([]);
      expect(all(log, "warning")).toMatchObject([{ code: "permission-failed" }]);
      expect(result.status).toBe("success");
    });

    it("R12: of fifty calls in one reply exactly those run that were allowed, each once", async () => {
      const calls = Array.from({ length: 50 }, (_, index) => wish(`n${index}`));
      const { ran, log } = await play({
        calls,
        options: {
          toolConcurrency: 8,
          permission: async ({ input }) => {
            await Promise.resolve();
            const { text } = input as { text: string };
            return Number(text.slice(1)) % 2 === 0 ? { allow: true } : { allow: false, reason: "odd" };
          },
        },
      });
      const texts = (ran as { text: string }[]).map(({ text }) => text).sort();
      expect(texts).toEqual(
        calls
          .map((_, index) => `n${index}`)
          .filter((_, index) => index % 2 === 0)
          .sort(),
      );
      expect(all(log, "tool-result")).toHaveLength(50);
    });
  });

  describe(`guards on ${stage.name}`, () => {
    const guard = (place: "input" | "tool-call" | "tool-result" | "output", check: () => unknown) => ({
      name: `${place} guard`,
      place,
      check: check as never,
      timeoutMs: 1000,
    });

    it("an input guard that denies: nothing is asked", async () => {
      const { log, ran, result } = await play({ options: { guards: [guard("input", () => ({ deny: "not this" }))] } });
      expect(ran).toEqual([]);
      expect(all(log, "text-delta")).toEqual([]);
      expect(result).toMatchObject({ status: "error", subtype: "guard-denied" });
    });

    it("AT-61: a guard on tool calls denies the third call of a live run, the others run", async () => {
      let count = 0;
      const deny = guard("tool-call", () => {
        count += 1;
        return count === 3 ? { deny: "not the third" } : undefined;
      });
      const { ran, log } = await play({
        calls: [wish("a"), wish("b"), wish("c"), wish("d")],
        options: { guards: [deny] },
      });
      expect((ran as { text: string }[]).map(({ text }) => text)).toEqual(["a", "b", "d"]);
      expect(all(log, "tool-result")).toHaveLength(4);
    });

    it("a guard on tool results may replace what the model sees, or withhold it", async () => {
      const replaced = await play({ options: { guards: [guard("tool-result", () => ({ replace: "clean" }))] } });
      expect(String(all(replaced.log, "tool-result")[0]?.output)).toContain("clean");
      const denied = await play({ options: { guards: [guard("tool-result", () => ({ deny: "private" }))] } });
      expect(JSON.stringify(all(denied.log, "tool-result")[0]?.output)).not.toContain("probed");
    });

    it("AT-61 S4-28: an output guard that buffers sees the whole text, and a denial shows not one character", async () => {
      const seen: string[] = [];
      const check = ((content: { text: string }) => {
        seen.push(content.text);
        return { deny: "not for you" };
      }) as never;
      const { log, result } = await play({
        calls: [],
        text: "The secret is 42.",
        options: { guards: [{ name: "secrets", place: "output", check }], outputMode: "buffer" },
      });
      expect(seen.join("")).toContain("The secret is 42.");
      expect(JSON.stringify(log)).not.toContain("The secret");
      expect(result).toMatchObject({ status: "error", subtype: "guard-denied", text: "" });
    });

    it("an output guard may replace: readers see the replacement, once", async () => {
      const { log, result } = await play({
        calls: [],
        text: "The secret is 42.",
        options: { guards: [guard("output", () => ({ replace: "The secret is safe." }))], outputMode: "buffer" },
      });
      expect(shownText(log)).toBe("The secret is safe.");
      expect(result).toMatchObject({ status: "success", text: "The secret is safe." });
    });

    it("a window releases what has passed and never a character of what has not", async () => {
      const text = "fine words ".repeat(20) + "FORBIDDEN" + " more words".repeat(20);
      const check = ((content: { text: string }) =>
        content.text.includes("FORBID") ? { deny: "no" } : undefined) as never;
      const { log } = await play({
        calls: [],
        text,
        options: { guards: [{ name: "words", place: "output", check }], outputMode: { windowCharacters: 64 } },
      });
      expect(text.startsWith(shownText(log))).toBe(true);
      expect(JSON.stringify(log)).not.toContain("FORBID");
    });
  });

  describe(`R12 misbehaviour on ${stage.name}`, () => {
    const bad = (one: Misbehaviour): never => one.make() as never;

    it.each(MISBEHAVIOURS.map((one) => [one.title, one] as const))(
      "a before-tool hook that %s: the tool never runs",
      async (_, one) => {
        const { ran, log } = await play({
          options: { hooks: { "before-tool": [{ run: bad(one), timeoutMs: 1000 }] } },
        });
        expect(ran).toEqual(one.isHarmless ? [{ text: "one" }] : []);
        expect(all(log, "tool-result")).toHaveLength(1);
      },
    );

    it.each(MISBEHAVIOURS.filter((one) => !one.hangs).map((one) => [one.title, one] as const))(
      "a permission callback that %s: the tool never runs",
      async (_, one) => {
        const { ran } = await play({ options: { permission: bad(one) } });
        expect(ran).toEqual([]);
      },
    );

    for (const place of ["tool-call", "tool-result", "input", "output"] as const) {
      it.each(MISBEHAVIOURS.map((one) => [one.title, one] as const))(
        `a guard on ${place} that %s: it does not pass`,
        async (_, one) => {
          const isOutput = place === "output";
          const { ran, log, result } = await play({
            ...(isOutput && { calls: [], text: "The secret is 42." }),
            options: {
              guards: [{ name: "bad", place, check: bad(one), timeoutMs: 1000 }],
              ...(isOutput && { outputMode: "buffer" as const }),
            },
          });
          if (one.isHarmless) {
            expect(result.status).toBe("success");
            return;
          }
          if (place === "tool-call" || place === "input") expect(ran).toEqual([]);
          if (place === "tool-result") expect(JSON.stringify(all(log, "tool-result"))).not.toContain("probed");
          if (isOutput) expect(JSON.stringify(log)).not.toContain("secret");
          if (isOutput || place === "input") expect(result).toMatchObject({ subtype: "guard-denied" });
        },
      );
    }
  });
}

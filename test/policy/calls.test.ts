import { type CallVerdict, type Decision, type HookAnswer, type PermissionRequest, type PolicySettings } from "#policy";
import { describe, expect, it } from "vitest";
import { callOf, openTrial } from "./place.ts";

const INPUT = { command: "git status" };

interface Row {
  readonly title: string;
  readonly rules?: PolicySettings["rules"][number];
  readonly hooks?: readonly HookAnswer[];
  readonly callback?: Decision | "ask";
  readonly person?: Decision;
  readonly steps: readonly string[];
}

const ROWS: readonly Row[] = [
  { title: "only something else is watched", hooks: [{}], steps: ["allowed by rule"] },
  { title: "a rule allows", rules: { allow: ["Bash"] }, steps: ["allowed by rule"] },
  { title: "a rule denies", rules: { deny: ["Bash"] }, steps: ["denied by rule"] },
  {
    title: "deny wins over allow and ask",
    rules: { allow: ["Bash"], ask: ["Bash"], deny: ["Bash"] },
    steps: ["denied by rule"],
  },
  {
    title: "a deny rule wins over a hook's approval",
    rules: { deny: ["Bash"] },
    hooks: [{ allow: true }],
    steps: ["denied by rule"],
  },
  {
    title: "a deny rule is named before a hook's block",
    rules: { deny: ["Bash"] },
    hooks: [{ block: "no" }],
    steps: ["denied by rule"],
  },
  {
    title: "a deny rule wins over the callback",
    rules: { deny: ["Bash"] },
    callback: { allow: true },
    steps: ["denied by rule"],
  },
  { title: "a hook blocks", hooks: [{ block: "no" }], steps: ["denied by hook"] },
  {
    title: "a hook's block wins over an allow rule",
    rules: { allow: ["Bash"] },
    hooks: [{ block: "no" }],
    steps: ["denied by hook"],
  },
  {
    title: "one block among approvals",
    hooks: [{ allow: true }, { block: "no" }, { allow: true }],
    steps: ["denied by hook"],
  },
  { title: "a hook that ends the run", hooks: [{ stop: "enough" }, { allow: true }], steps: ["denied by hook"] },
  {
    title: "a hook approves, the callback is not asked",
    hooks: [{ allow: true }],
    callback: { allow: false },
    steps: ["allowed by hook"],
  },
  {
    title: "an allow rule, the callback is not asked",
    rules: { allow: ["Bash"] },
    callback: { allow: false },
    steps: ["allowed by rule"],
  },
  { title: "the callback allows", callback: { allow: true }, steps: ["allowed by callback"] },
  { title: "the callback denies", callback: { allow: false, reason: "no" }, steps: ["denied by callback"] },
  {
    title: "the callback asks, yes",
    callback: "ask",
    person: { allow: true },
    steps: ["asked by callback", "allowed by user"],
  },
  {
    title: "the callback asks, no",
    callback: "ask",
    person: { allow: false },
    steps: ["asked by callback", "denied by user"],
  },
  {
    title: "an ask rule",
    rules: { ask: ["Bash"] },
    person: { allow: true },
    steps: ["asked by rule", "allowed by user"],
  },
  {
    title: "ask wins over allow",
    rules: { ask: ["Bash"], allow: ["Bash"] },
    person: { allow: true },
    steps: ["asked by rule", "allowed by user"],
  },
  {
    title: "an ask rule wins over a hook's approval",
    rules: { ask: ["Bash"] },
    hooks: [{ allow: true }],
    person: { allow: false },
    steps: ["asked by rule", "denied by user"],
  },
  {
    title: "a hook asks",
    hooks: [{ ask: "sure?" }],
    person: { allow: true },
    steps: ["asked by hook", "allowed by user"],
  },
  {
    title: "a hook's ask wins over an allow rule",
    rules: { allow: ["Bash"] },
    hooks: [{ ask: true }],
    person: { allow: false },
    steps: ["asked by hook", "denied by user"],
  },
  {
    title: "ask wins over allow among hooks",
    hooks: [{ allow: true }, { ask: true }],
    person: { allow: true },
    steps: ["asked by hook", "allowed by user"],
  },
  {
    title: "an ask rule goes to the callback first",
    rules: { ask: ["Bash"] },
    callback: { allow: true },
    steps: ["allowed by callback"],
  },
  {
    title: "an argument rule that fits",
    rules: { allow: ["Bash(git *)"] },
    callback: { allow: false },
    steps: ["allowed by rule"],
  },
  {
    title: "an argument rule that does not fit leaves it to the callback",
    rules: { allow: ["Bash(npm *)"] },
    callback: { allow: true },
    steps: ["allowed by callback"],
  },
  {
    title: "F-D2: a tool allowed with other arguments only, and nobody to answer",
    rules: { allow: ["Bash(npm *)"] },
    steps: ["asked by rule", "denied by rule"],
  },
  {
    title: "F-D2: a tool allowed with other arguments only, and a person",
    rules: { allow: ["Bash(npm *)"] },
    person: { allow: true },
    steps: ["asked by rule", "allowed by user"],
  },
  {
    title: "a hook may allow what no rule does",
    rules: { allow: ["Bash(npm *)"] },
    hooks: [{ allow: true }],
    steps: ["allowed by hook"],
  },
  {
    title: "rules about other arguments do not restrict",
    rules: { deny: ["Bash(rm *)"], ask: ["Bash(git push *)"] },
    steps: ["allowed by rule"],
  },
  {
    title: "F-D2: an allow list limits tools it does not name",
    rules: { deny: ["Read"], allow: ["Write(x)"] },
    steps: ["asked by rule", "denied by rule"],
  },
  { title: "F-D2: an empty allow list is one", rules: { allow: [] }, steps: ["asked by rule", "denied by rule"] },
  { title: "F-D2: rules about another tool", rules: { deny: ["Read"], ask: ["Write"] }, steps: ["allowed by rule"] },
  {
    title: "F-D2: the callback decides about what the allow list leaves out",
    rules: { allow: ["Read"] },
    callback: { allow: true },
    steps: ["allowed by callback"],
  },
  { title: "F-D2: otherwise allow", rules: { allow: ["Read"], otherwise: "allow" }, steps: ["allowed by rule"] },
  {
    title: "F-D2: otherwise allow leaves the callback its say",
    rules: { otherwise: "allow" },
    callback: { allow: false },
    steps: ["denied by callback"],
  },
  { title: "F-D2: otherwise deny", rules: { otherwise: "deny" }, steps: ["denied by rule"] },
  {
    title: "F-D2: otherwise deny asks nobody",
    rules: { allow: ["Read"], otherwise: "deny" },
    callback: { allow: true },
    steps: ["denied by rule"],
  },
  {
    title: "F-D2: otherwise deny leaves what is allowed alone",
    rules: { allow: ["Bash(git *)"], otherwise: "deny" },
    steps: ["allowed by rule"],
  },
  {
    title: "F-D2: an ask rule wins over otherwise deny",
    rules: { ask: ["Bash"], otherwise: "deny" },
    person: { allow: true },
    steps: ["asked by rule", "allowed by user"],
  },
  {
    title: "F-D2: a hook may allow what otherwise is denied",
    rules: { otherwise: "deny" },
    hooks: [{ allow: true }],
    steps: ["allowed by hook"],
  },
  {
    title: "F-D2: otherwise ask",
    rules: { otherwise: "ask" },
    person: { allow: false },
    steps: ["asked by rule", "denied by user"],
  },
  {
    title: "F-D2: otherwise ask, and nobody to answer",
    rules: { otherwise: "ask" },
    steps: ["asked by rule", "denied by rule"],
  },
  {
    title: "F-B13: an ask rule, and nobody to answer",
    rules: { ask: ["Bash"] },
    steps: ["asked by rule", "denied by rule"],
  },
  {
    title: "F-B13: a hook asks, and nobody to answer",
    hooks: [{ ask: "sure?" }],
    steps: ["asked by hook", "denied by hook"],
  },
  {
    title: "F-B13: the callback asks, and nobody to answer",
    callback: "ask",
    steps: ["asked by callback", "denied by callback"],
  },
];

describe("the order of a decision", () => {
  it.each(ROWS)("S0-77 SEC20: $title", async ({ rules, hooks, callback, person, steps }) => {
    const settings = {
      rules: rules === undefined ? [] : [rules],
      hooks: [{ "before-tool": (hooks ?? []).map((answer) => () => answer) }],
      permission: callback === undefined ? undefined : () => callback,
    };
    const trial = openTrial(settings, person !== undefined);
    const verdict = trial.policy.checkCall(callOf(INPUT));
    await trial.clock.advance(0);
    if (person !== undefined) expect(trial.answer("c1", person)).toBe(true);
    expect((await verdict).kind).toBe(steps.at(-1)?.startsWith("allowed") ? "run" : "denied");
    expect(trial.steps()).toEqual(steps);
    for (const { state, reason } of trial.permissions()) if (state !== "asked") expect(reason).toMatch(/\w/);
  });

  it("rules of the run and of the agent hold together, whoever allows", async () => {
    const trial = openTrial({ rules: [{ deny: ["Bash(rm *)"] }, { allow: ["Bash"] }] });
    expect((await trial.policy.checkCall(callOf({ command: "ls; rm x" }))).kind).toBe("denied");
    expect((await trial.policy.checkCall(callOf({ command: "ls" }))).kind).toBe("run");
  });

  it.each([
    ["allow", [{ otherwise: "allow" }, { deny: ["Read"] }], "run"],
    ["ask", [{ otherwise: "allow" }, { allow: ["Read"] }], "denied"],
    ["deny", [{ otherwise: "deny" }, { otherwise: "allow" }], "denied"],
    ["deny", [{ allow: ["Bash(npm *)"] }, { otherwise: "deny" }], "denied"],
  ] as const)("F-D2: of two sets of rules the stricter otherwise holds: %s", async (_, rules, kind) => {
    expect((await openTrial({ rules }, false).policy.checkCall(callOf(INPUT))).kind).toBe(kind);
  });

  it("F-D2: a question that one set of rules wants is not put when another denies", async () => {
    const rules = [{ allow: ["Read"] }, { otherwise: "deny" }] as const;
    const trial = openTrial({ rules, permission: () => ({ allow: true }) });
    expect(await trial.policy.checkCall(callOf(INPUT))).toMatchObject({ kind: "denied", by: "rule" });
    expect(trial.steps()).toEqual(["denied by rule"]);
  });

  it("F-D2: a call that gives the final answer is no business of otherwise, but of a rule that names it", async () => {
    const call = callOf({}, { name: "StructuredOutput", isFinal: true });
    const otherwise = openTrial({ rules: [{ otherwise: "deny" }] });
    expect(await otherwise.policy.checkCall(call)).toMatchObject({ kind: "run", by: "rule" });
    const named = openTrial({ rules: [{ deny: ["StructuredOutput"] }] });
    expect(await named.policy.checkCall(call)).toMatchObject({ kind: "denied" });
  });

  it("F-B13: nobody to answer is a warning with the remedy, somebody is a notice at once", async () => {
    const alone = openTrial({ rules: [{ ask: ["Bash"] }] }, false);
    await alone.policy.checkCall(callOf(INPUT));
    expect(alone.warnings()).toMatchObject([{ code: "nobody-can-answer", context: { callId: "c1", name: "Bash" } }]);
    expect(alone.warnings()[0]?.message).toContain("run.answer");
    const watched = openTrial({ rules: [{ ask: ["Bash"] }] });
    const verdict = watched.policy.checkCall(callOf(INPUT));
    await watched.clock.advance(0);
    expect(watched.written).toMatchObject([
      { type: "permission", state: "asked" },
      { type: "notice", kind: "waiting", data: { for: "answer", callId: "c1", name: "Bash" } },
    ]);
    watched.answer("c1", { allow: true });
    expect((await verdict).kind).toBe("run");
  });

  it("F-A12: what cannot be read for certain is asked, and denied where nobody can answer", async () => {
    const call = callOf({ command: "$x -rf y" });
    const rules = [{ deny: ["Bash(rm *)"] }];
    const alone = openTrial({ rules }, false);
    expect(await alone.policy.checkCall(call)).toMatchObject({ kind: "denied", by: "rule" });
    const asked: unknown[] = [];
    const callback = openTrial({
      rules,
      permission: ({ reason }) => {
        asked.push(reason);
        return { allow: true };
      },
    });
    expect(await callback.policy.checkCall(call)).toMatchObject({ kind: "run", by: "callback" });
    expect(asked).toEqual([expect.stringContaining("It is not certain what this does")]);
    const certain = openTrial({ rules, permission: () => ({ allow: true }) });
    expect(await certain.policy.checkCall(callOf({ command: "ls | xargs rm" }))).toMatchObject({ kind: "denied" });
    const allowed = openTrial({ rules: [{ allow: ["Bash"], deny: ["Bash(rm *)"] }] }, false);
    expect(await allowed.policy.checkCall(call)).toMatchObject({ kind: "denied" });
  });

  it("calls the backend runs itself are judged the same way", async () => {
    const trial = openTrial({ rules: [{ deny: ["Bash"] }] });
    expect((await trial.policy.checkCall(callOf(INPUT, { executedBy: "backend" }))).kind).toBe("denied");
  });

  it("nothing is set: a call runs and no event is due", async () => {
    const trial = openTrial({ rules: [{ ask: [], deny: [] }], hooks: [{ prompt: [() => undefined] }] });
    expect(trial.policy.isSilentOnTools).toBe(true);
    const verdict = await trial.policy.checkCall(callOf(INPUT));
    expect(verdict).toMatchObject({ kind: "run", input: INPUT });
    expect(trial.written).toEqual([]);
    expect(openTrial({ hooks: [{ "after-tool": [() => undefined] }] }).policy.isSilentOnTools).toBe(false);
  });
});

describe("the final arguments", () => {
  it("S0-76: the last hook in the list that replaces them is followed, however slow the others are", async () => {
    const seen: unknown[] = [];
    const trial = openTrial({
      hooks: [
        {
          "before-tool": [
            () => ({ input: { command: "first" } }),
            {
              run: () =>
                new Promise((resolve) => void trial.clock.after(500, () => resolve({ input: { command: "second" } }))),
            },
            ({ input }) => void seen.push(input),
          ],
        },
      ],
      permission: ({ input }) => {
        seen.push(input);
        return { allow: true };
      },
    });
    const verdict = trial.policy.checkCall(callOf(INPUT));
    await trial.clock.advance(500);
    expect(await verdict).toMatchObject({ kind: "run", input: { command: "second" } });
    expect(seen).toEqual([INPUT, { command: "second" }]);
    expect(trial.permissions()).toMatchObject([{ state: "allowed", input: { command: "second" } }]);
  });

  it("SEC5: rules are held against what hooks and guards made of them", async () => {
    const trial = openTrial({
      rules: [{ deny: ["Bash(rm *)"] }],
      hooks: [{ "before-tool": [() => ({ input: { command: "ls" }, allow: true })] }],
      guards: [{ name: "twist", place: "tool-call", check: () => ({ replace: { command: "rm x" } }) }],
    });
    expect(await trial.policy.checkCall(callOf(INPUT))).toMatchObject({ kind: "denied", by: "rule" });
  });

  it("AT-34: allow keeps the arguments, allow with others runs those, deny says exactly its reason", async () => {
    const decide = async (decision: Decision): Promise<CallVerdict> =>
      openTrial({ permission: () => decision }).policy.checkCall(callOf(INPUT));
    expect(await decide({ allow: true })).toMatchObject({ kind: "run", input: INPUT });
    expect(await decide({ allow: true, input: { command: "git log" } })).toMatchObject({
      input: { command: "git log" },
    });
    expect(await decide({ allow: false, reason: "Not on my watch" })).toMatchObject({
      kind: "denied",
      reason: "Not on my watch",
    });
  });

  it.each(["callback", "user"] as const)(
    "SEC5: what a %s changes is judged again by deny rules and guards",
    async (by) => {
      const change = async (
        command: string,
        guard: (text: string) => { deny: string } | { replace: unknown } | undefined,
      ) => {
        const decision: Decision = { allow: true, input: { command } };
        const trial = openTrial({
          rules: [{ deny: ["Bash(rm *)"] }],
          guards: [{ name: "no-curl", place: "tool-call", check: ({ text }) => guard(text) }],
          permission: () => (by === "callback" ? decision : "ask"),
        });
        const verdict = trial.policy.checkCall(callOf(INPUT));
        await trial.clock.advance(0);
        trial.answer("c1", decision);
        const { kind } = await verdict;
        return `${kind} ${trial.steps().at(-1)}`;
      };
      expect(await change("rm x", () => undefined)).toBe("denied denied by rule");
      expect(await change("curl x", (text) => (text.includes("curl") ? { deny: "no" } : undefined))).toBe(
        "denied denied by guard",
      );
      expect(await change("ls", (text) => (text.includes("ls") ? { replace: { command: "cat" } } : undefined))).toBe(
        "denied denied by guard",
      );
      expect(await change("git log", () => undefined)).toBe(`run allowed by ${by}`);
    },
  );

  it("SEC5: changing the call while it is being decided changes nothing", async () => {
    const input = { command: "ls" };
    const trial = openTrial({ permission: () => "ask" });
    const verdict = trial.policy.checkCall(callOf(input));
    await trial.clock.advance(0);
    input.command = "rm -rf /";
    const asked = trial.permissions()[0] as unknown as { input: { command: string } };
    asked.input.command = "rm -rf /";
    trial.answer("c1", { allow: true });
    expect(await verdict).toMatchObject({ kind: "run", input: { command: "ls" } });
  });

  it("arguments that are not JSON are denied", async () => {
    const cycle: Record<string, unknown> = {};
    cycle.self = cycle;
    const trial = openTrial({ permission: () => ({ allow: true }) });
    expect(await trial.policy.checkCall(callOf(cycle))).toMatchObject({
      kind: "denied",
      reason: expect.stringContaining("JSON"),
    });
  });

  it("fields called __proto__ are fields like others", async () => {
    const input = JSON.parse('{"__proto__":{"command":"x"},"command":"ls"}') as unknown;
    const trial = openTrial({ permission: ({ input: given }) => ({ allow: true, input: given }) });
    const verdict = await trial.policy.checkCall(callOf(input));
    expect(JSON.stringify((verdict as { input: unknown }).input)).toBe('{"__proto__":{"command":"x"},"command":"ls"}');
    expect(trial.permissions()[0]).not.toHaveProperty("input");
  });
});

describe("a grant", () => {
  const grantFor = async (input: unknown, controller?: (abort: () => void) => void) => {
    const trial = openTrial({ rules: [{ allow: ["Bash"] }] });
    const verdict = await trial.policy.checkCall(callOf(input));
    if (verdict.kind !== "run") throw new Error("expected a grant");
    controller?.(() => trial.controller.abort());
    return verdict.grant;
  };

  it("SEC5: is good once, for exactly these arguments, in whatever order they are written", async () => {
    const grant = await grantFor({ a: 1, b: { c: 2, d: 3 } });
    expect(grant.redeem({ b: { d: 3, c: 2 }, a: 1 })).toBe(true);
    expect(grant.redeem({ a: 1, b: { c: 2, d: 3 } })).toBe(false);
  });

  it.each([
    [{ a: 2 }],
    [{ a: 1, b: 1 }],
    [{}],
    ["x"],
    [undefined],
    [{ a: "1" }],
    [JSON.parse('{"a":1,"__proto__":1}')],
  ])("SEC5: other arguments use it up: %j", async (other) => {
    const grant = await grantFor({ a: 1 });
    expect(grant.redeem(other)).toBe(false);
    expect(grant.redeem({ a: 1 })).toBe(false);
  });

  it("I6: is worth nothing after an abort", async () => {
    const grant = await grantFor({ a: 1 }, (abort) => abort());
    expect(grant.redeem({ a: 1 })).toBe(false);
  });
});

describe("questions", () => {
  it("S0-77: a person is never timed out, and sees the reason for the question", async () => {
    const trial = openTrial({
      rules: [{ ask: ["Bash(git *)"] }],
      hooks: [{ "before-tool": [() => ({ ask: "It is late." })] }],
    });
    const verdict = trial.policy.checkCall(callOf(INPUT));
    await trial.clock.advance(1_000 * 60 * 60 * 24 * 30);
    expect(trial.permissions()).toMatchObject([
      { state: "asked", by: "rule", input: INPUT, reason: expect.stringMatching(/Bash\(git \*\)[^]*It is late\./) },
    ]);
    trial.answer("c1", { allow: true });
    expect((await verdict).kind).toBe("run");
  });

  it("the callback receives what a rule wants, and gets a copy", async () => {
    const requests: PermissionRequest[] = [];
    const trial = openTrial({
      rules: [{ ask: ["Bash"] }],
      permission: (request) => {
        requests.push(request);
        (request.input as { command: string }).command = "rm -rf /";
        return { allow: true };
      },
    });
    expect(await trial.policy.checkCall(callOf(INPUT))).toMatchObject({ kind: "run", input: INPUT });
    expect(requests).toMatchObject([
      { callId: "c1", name: "Bash", agent: "worker", runId: "run-1", context: { user: 7 } },
    ]);
    expect(requests[0]?.reason).toContain('"Bash"');
  });

  it("R12: 50 calls at once get each their own decision, and each is logged once", async () => {
    const trial = openTrial({
      rules: [{ deny: ["Bash(rm *)"] }],
      hooks: [{ "before-tool": [({ callId }) => ({ context: callId })] }],
      permission: ({ callId }) =>
        Number(callId.slice(1)) % 3 === 0
          ? "ask"
          : new Promise(
              (resolve) =>
                void trial.clock.after(Number(callId.slice(1)), () =>
                  resolve({ allow: Number(callId.slice(1)) % 3 === 1 }),
                ),
            ),
    });
    const ids = Array.from({ length: 50 }, (_, index) => index);
    const verdicts = Promise.all(
      ids.map((id) => trial.policy.checkCall(callOf({ command: id % 10 === 0 ? "rm x" : "ls" }, { callId: `c${id}` }))),
    );
    await trial.clock.advance(60);
    for (const id of ids.toReversed()) trial.answer(`c${id}`, { allow: id % 2 === 0 });
    for (const [id, verdict] of (await verdicts).entries()) {
      const isAllowed = id % 10 !== 0 && (id % 3 === 0 ? id % 2 === 0 : id % 3 === 1);
      expect(verdict.kind, `call ${id}`).toBe(isAllowed ? "run" : "denied");
      expect(verdict.notes).toEqual([`c${id}`]);
      const events = trial.permissions().filter(({ callId, state }) => callId === `c${id}` && state !== "asked");
      expect(events).toHaveLength(1);
    }
  });
});

describe("I6: an abort while a decision is pending", () => {
  const hang = (): Promise<never> => new Promise(() => undefined);
  const settings: Record<string, Partial<PolicySettings>> = {
    hook: { hooks: [{ "before-tool": [hang] }] },
    guard: { guards: [{ name: "slow", place: "tool-call", check: hang }] },
    callback: { permission: hang },
    user: { rules: [{ ask: ["Bash"] }] },
  };
  it.each(Object.keys(settings))(
    "by a %s: the call is denied at once, and a late answer changes nothing",
    async (by) => {
      const trial = openTrial(settings[by]);
      const verdict = trial.policy.checkCall(callOf(INPUT));
      await trial.clock.advance(10);
      trial.controller.abort(new Error("enough"));
      expect(await verdict).toMatchObject({ kind: "denied", by, reason: expect.stringContaining("aborted") });
      trial.answer("c1", { allow: true });
      await trial.clock.advance(0);
      // Nobody has decided; that the run was aborted is said by the result the call gets.
      expect(trial.steps().filter((step) => !step.startsWith("asked"))).toEqual([]);
      expect(trial.clock.pending()).toBe(0);
    },
  );

  it("after an abort no function of the caller's is started", async () => {
    let started = 0;
    const count = (): undefined => {
      started += 1;
      return undefined;
    };
    const trial = openTrial({
      hooks: [
        {
          prompt: [count],
          "before-tool": [count],
          "after-tool": [count],
          "before-handoff": [count],
          "after-handoff": [count],
          "before-stop": [count],
        },
      ],
      permission: () => {
        count();
        return { allow: true };
      },
      guards: (["input", "tool-call", "tool-result", "output"] as const).map((place) => ({
        name: place,
        place,
        check: count,
      })),
      outputMode: "buffer",
    });
    trial.controller.abort();
    const { policy } = trial;
    expect((await policy.checkCall(callOf(INPUT))).kind).toBe("denied");
    expect((await policy.checkPrompt([{ id: "u", role: "user", blocks: [{ type: "text", text: "hi" }] }])).kind).toBe(
      "blocked",
    );
    expect(await policy.checkResult(callOf(INPUT), { output: "secret", isError: false })).toMatchObject({
      isError: true,
      output: expect.not.stringContaining("secret"),
    });
    expect((await policy.checkHandoff({ from: "a", to: "b", message: "m" })).kind).toBe("blocked");
    await policy.noteHandoff({ from: "a", to: "b", message: "m" });
    expect((await policy.checkStop("text", 0)).kind).toBe("stop");
    expect(started).toBe(0);
  });

  it("an abort in the moment of the callback's yes is a no", async () => {
    const trial = openTrial({
      permission: () => {
        trial.controller.abort();
        return { allow: true };
      },
    });
    expect((await trial.policy.checkCall(callOf(INPUT))).kind).toBe("denied");
  });
});

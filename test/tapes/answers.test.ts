import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { AgentEvent } from "#domain";
import type { RunOptions, Target } from "#runtime";
import { tool, type Tool } from "#tools";
import { isQuick } from "../effort.ts";
import { locateRealCli, realCliOptions } from "../real-cli.ts";
import { type AnswerPlace, errorOf, openAnswerPlace, settled, warningsOf } from "./answer-place.ts";
import { record } from "./tape-world.ts";

let place: AnswerPlace;
beforeAll(async () => {
  place = await openAnswerPlace();
});
afterAll(() => place.close());

let calls = 0;
const adder = (add: (a: number, b: number) => unknown, description = "Add two numbers"): Tool =>
  tool("add", description, { a: "number", b: "number" }, ({ a, b }) => {
    calls += 1;
    return add(a, b);
  });
const add = adder((a, b) => a + b);

interface Way {
  readonly name: string;
  readonly target: (model?: string) => Target;
  readonly options: () => RunOptions;
  readonly isCli: boolean;
  /** Where in what is sent: the prompt, the answer of the tool, its description, the model's name, the answer of a hook. */
  readonly at: {
    readonly prompt: string;
    readonly answer: string;
    readonly description: string;
    readonly model: string;
    readonly hook: string;
    readonly permission: string;
  };
}

const model = (provider: string, at: Omit<Way["at"], "hook" | "permission">): Way => ({
  name: provider,
  target: (name = "test") => `${provider}/${name}`,
  options: () => ({}),
  isCli: false,
  at: { ...at, hook: at.answer, permission: at.answer },
});

const ANTHROPIC = {
  prompt: "body.messages[0].content[0].text",
  answer: "body.messages[2].content[0].content",
  description: "body.tools[0].description",
  model: "body.model",
};

const MODELS: readonly Way[] = [
  // One model, under one name.
  { ...model("offline", ANTHROPIC), target: () => "offline" },
  model("anthropic", ANTHROPIC),
  model("openai", {
    prompt: "body.messages[0].content",
    answer: "body.messages[2].content",
    description: "body.tools[0].function.description",
    model: "body.model",
  }),
  model("google", {
    prompt: "body.contents[0].parts[0].text",
    answer: "body.contents[2].parts[0].functionResponse.response",
    description: "body.tools[0].functionDeclarations[0].description",
    model: "address",
  }),
];

const CONTROL: readonly Way[] =
  isQuick || locateRealCli() === undefined
    ? []
    : [
        {
          name: "claude-code, control mode",
          target: (name = "offline") => `claude-code/${name}`,
          options: () => ({ claudeCode: { ...realCliOptions(), cwd: place.home } }),
          isCli: true,
          at: {
            prompt: "stdin.message.content",
            answer: "stdin.response.response.mcp_response.result.content[0].text",
            description: "stdin.response.response.mcp_response.result.tools[0].description",
            model: "argument",
            hook: "stdin.response.response.hookSpecificOutput.updatedInput.a",
            permission: "stdin.response.response.hookSpecificOutput.permissionDecision",
          },
        },
      ];

const TOOL_WAYS = [...MODELS, ...CONTROL];

describe.each(TOOL_WAYS)("F-D11: $name answers from a tape", (way) => {
  let tape = "";
  let events: readonly AgentEvent[] = [];
  const options: RunOptions = {
    tools: [add],
    permission: () => ({ allow: true }),
    hooks: { "before-tool": [() => undefined], "after-tool": [() => undefined] },
  };
  const answered = (
    changed: RunOptions,
    { target = way.target(), ...how }: { target?: Target; input?: string; world?: AnswerPlace["world"] } = {},
  ): Promise<readonly AgentEvent[]> => place.answered(target, { ...way.options(), ...options, ...changed }, how);

  beforeAll(async () => {
    const recorded = await record(way.target(), { ...way.options(), ...options }, place.world);
    expect(recorded.events.at(-1)).toMatchObject({ type: "done", result: { status: "success" } });
    expect(recorded.text).not.toContain("canary");
    tape = recorded.path;
    events = recorded.events;
  });

  it("gives the same events, without a key, the network or a CLI, and really calls the tool", async () => {
    calls = 0;
    const again = await answered({ replay: tape });
    expect(settled(again)).toEqual(settled(events));
    expect(calls).toBe(1);
  });

  it("is the same with other keys and addresses", async () => {
    const env = {
      OPENAI_API_KEY: "sk-another-key-of-another-length-123456789",
      ANTHROPIC_BASE_URL: "https://other.test",
    };
    const world = { ...place.emptyWorld, env };
    expect(errorOf(await answered({ replay: tape }, { world }))).toBeUndefined();
  });

  const changes: readonly [
    string,
    Way["at"][keyof Way["at"]],
    RunOptions,
    { target?: Target; input?: string },
    RegExp,
  ][] = [
    ["the prompt", way.at.prompt, {}, { input: "What is 25 + 18?" }, /25 \+ 17.*25 \+ 18/],
    ["the answer of a tool", way.at.answer, { tools: [adder(() => "many")] }, {}, /42.*many/],
    [
      "the description of a tool",
      way.at.description,
      { tools: [adder((a, b) => a + b, "Add up")] },
      {},
      /Add two.*Add up/,
    ],
    ["the name of the model", way.at.model, {}, { target: way.target("another") }, /another/],
    [
      "the answer of a hook",
      way.at.hook,
      { hooks: { "before-tool": [() => ({ input: { a: 1, b: 2 } })], "after-tool": [() => undefined] } },
      {},
      /(42|25).*(3|1)/,
    ],
    [
      "the answer of a permission callback",
      way.at.permission,
      { permission: () => ({ allow: false, reason: "Not today." }) },
      {},
      /Not today/,
    ],
  ];
  const possible = changes.filter(([name]) => !(way.name === "offline" && name === "the name of the model"));
  it.each(possible)("says where, when it is another: %s", async (_, path, changed, there, what) => {
    const error = errorOf(await answered({ ...changed, replay: tape }, there));
    expect(error).toMatchObject({ code: "tape-difference", terminal: true });
    expect(error?.message).toMatch(/^The run differs from its tape in (exchange|process) \d/);
    expect(error?.message).toContain(path);
    expect(error?.message).toMatch(what);
    expect(error?.diagnostic?.troubleshooting).toMatch(/record the tape again/);
  });

  const decided = "the answer of a permission callback";
  it.each(possible.filter(([name]) => !(way.isCli && name === decided)))(
    "continues with the recorded answer and warns, when it is another: %s",
    async (_, path, changed, there, what) => {
      const replayed = { tape, onDifference: "warn" } as const;
      const again = await answered({ ...changed, replay: replayed }, there);
      const [warning] = warningsOf(again);
      expect(warning?.message).toContain(path);
      expect(warning?.message).toMatch(what);
      expect(warning?.context).toMatchObject({ place: expect.stringMatching(/^(exchange|process) \d/) });
      expect(again.at(-1)).toMatchObject({ type: "done", result: { status: "success" } });
    },
  );

  if (!way.isCli) return;
  it("I15: does not continue, even with warnings, where the recorded CLI did what is forbidden now", async () => {
    calls = 0;
    const permission = (): { allow: false; reason: string } => ({ allow: false, reason: "Not today." });
    const error = errorOf(await answered({ permission, replay: { tape, onDifference: "warn" } }));
    expect(error).toMatchObject({ code: "tape-difference", terminal: true });
    expect(error?.message).toContain(way.at.permission);
    expect(calls).toBe(0);
  });
});

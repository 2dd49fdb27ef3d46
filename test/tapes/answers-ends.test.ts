import { readFileSync, writeFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type AgentEvent, isStartError } from "#domain";
import {
  agent,
  agentTool,
  commandIn,
  type RunOptions,
  startRun,
  startSession,
  swarm,
  systemWorld,
  type World,
} from "#runtime";
import { createScriptedBackend, createScriptedSpawn, type SpawnStep } from "#testing";
import { tool } from "#tools";
import { replay } from "../../src/runtime/replay.ts";
import { greet, INIT, result, says, writes } from "../claude-code/scripted.ts";
import { describeRealCli, realCliOptions } from "../real-cli.ts";
import { type AnswerPlace, errorOf, openAnswerPlace, PROMPT, settled, warningsOf } from "./answer-place.ts";
import { eventsOf, newTapePath, record, scriptedWorld, withoutMode, withoutTimes } from "./tape-world.ts";

const add = tool("add", "Add two numbers", { a: "number", b: "number" }, ({ a, b }) => a + b);
const statusOf = (events: readonly AgentEvent[]): unknown => {
  const last = events.at(-1);
  return last?.type === "done" ? last.result.status : undefined;
};

let place: AnswerPlace;
beforeAll(async () => {
  place = await openAnswerPlace();
});
afterAll(() => place.close());

describe("F-D11: a command answers from a tape", () => {
  const COUNT =
    "let text='';process.stdin.on('data',d=>text+=d).on('end',()=>console.log(text.split(' ').length+' words'))";
  const counter = (input: "stdin" | "argument", code = COUNT) =>
    commandIn([process.execPath, "-e", code], { format: "text", input }, systemWorld());

  it.each(["stdin", "argument"] as const)(
    "with its prompt as %s: the same events, and a change is named",
    async (input) => {
      const code = input === "stdin" ? COUNT : "console.log(process.argv.at(-1).split(' ').length+' words')";
      const recorded = await record(counter(input, code), {}, place.world);
      expect(recorded.events.at(-1)).toMatchObject({
        result: { status: "success", text: expect.stringContaining("5 words") },
      });
      const again = await place.answered(counter(input, code), { replay: recorded.path });
      expect(settled(again)).toEqual(settled(recorded.events));
      const changed = await place.answered(
        counter(input, code),
        { replay: recorded.path },
        { input: "What is 25 + 18?" },
      );
      expect(errorOf(changed)?.message).toMatch(
        /^The run differs from its tape in process 1 \(node\)(, line 1 of stdin: stdin|: argument 3): the tape has ".*25 \+ 17\?", and now there is ".*25 \+ 18\?"\.$/,
      );
      const other = await place.answered(counter(input, "console.log(1)"), { replay: recorded.path });
      expect(errorOf(other)?.message).toMatch(/process 1 \(node\): argument 2: the tape has "/);
      const warned = await place.answered(counter(input, "1"), {
        replay: { tape: recorded.path, onDifference: "warn" },
      });
      expect(warningsOf(warned)).toHaveLength(1);
      expect(statusOf(warned)).toBe("success");
    },
  );

  it("AT-66: and its tape can be played by itself", async () => {
    const recorded = await record(counter("stdin"), {}, place.world);
    const again = await eventsOf(replay(recorded.path));
    expect(withoutTimes(withoutMode(again))).toEqual(withoutTimes(withoutMode(recorded.events)));
  });

  it("one that reads nothing and fails does so again", async () => {
    const failing = () =>
      commandIn([process.execPath, "-e", "process.stdin.destroy();process.exit(3)"], { format: "text" }, systemWorld());
    const recorded = await record(failing(), {}, place.world);
    expect(errorOf(recorded.events)).toMatchObject({ code: "process-exited" });
    expect(settled(await place.answered(failing(), { replay: recorded.path }))).toEqual(settled(recorded.events));
  });
});

describeRealCli("F-D11: the real CLI in plain mode answers from a tape", () => {
  it("with the same events; a changed prompt, model or instruction is named", async () => {
    const claudeCode = { ...realCliOptions(), cwd: place.home, mode: "plain" } as const;
    const recorded = await record("claude-code/offline", { claudeCode }, place.world, { input: "Say hello" });
    expect(statusOf(recorded.events)).toBe("success");
    const answered = (input: string, more: RunOptions = {}, target = "claude-code/offline") =>
      place.answered(target, { claudeCode, replay: recorded.path, ...more }, { input });
    expect(settled(await answered("Say hello"))).toEqual(settled(recorded.events));
    expect(errorOf(await answered("Say good bye"))?.message).toMatch(
      /process 2 \(claude\), line 1 of stdin.*Say hello.*Say good bye/,
    );
    expect(errorOf(await answered("Say hello", {}, "claude-code/other"))?.message).toMatch(
      /process 2 \(claude\): argument \d+: the tape has "offline", and now there is "other"/,
    );
    // Too long for an argument, so it is written to a file.
    const instructions = "Be brief. ".repeat(5000);
    const long = await record("claude-code/offline", { claudeCode, instructions }, place.world, {
      input: "Say hello",
    });
    const same = await answered("Say hello", { instructions, replay: long.path });
    expect(settled(same)).toEqual(settled(long.events));
    const other = await answered("Say hello", { instructions: `${instructions}Please.`, replay: long.path });
    expect(errorOf(other)?.message).toMatch(/file 1 for a process: text: .*and now there is ".*Please\."/);
  });
});

describe("F-D11: Claude Code by a script", () => {
  const asks = (id: string, name: string): SpawnStep =>
    writes({
      type: "control_request",
      request_id: id,
      request: { subtype: "can_use_tool", tool_name: name, input: {}, tool_use_id: `call-${id}` },
    });
  const script: readonly SpawnStep[] = [
    greet,
    { waitForInput: "line" },
    writes(INIT, says("m1", "One moment.")),
    asks("first", "Read"),
    asks("second", "Write"),
    { waitForInput: "line" },
    { waitForInput: "line" },
    writes(says("m2", "Done."), result("Done.")),
    { exit: 0 },
  ];
  const options = (late: string, refused?: string): RunOptions => ({
    claudeCode: { executable: process.execPath, skipVersionCheck: true },
    async permission({ name }) {
      if (name === late) await new Promise((resolve) => setTimeout(resolve, 30));
      return name === refused ? { allow: false, reason: "No." } : { allow: true };
    },
  });

  it("answers that come in another order are compared with the answers to the same questions", async () => {
    const world = { ...place.world, spawn: createScriptedSpawn(script) };
    const recorded = await record("claude-code", options("Read"), world);
    expect(statusOf(recorded.events)).toBe("success");
    const again = await place.answered("claude-code", { ...options("Write"), replay: recorded.path });
    expect(statusOf(again)).toBe("success");
    expect(warningsOf(again)).toEqual([]);
    const refused = await place.answered("claude-code", { ...options("Read", "Write"), replay: recorded.path });
    expect(errorOf(refused)?.message).toMatch(
      /stdin\.response\.response\.behavior: the tape has "allow", and now there is "deny"/,
    );
  });
});

describe("F-D11: what a run does besides asking once", () => {
  const said = (text: string): string =>
    `data: {"choices":[{"index":0,"delta":{"content":${JSON.stringify(text)}},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n`;
  const host = (
    ...answers: readonly {
      status?: number;
      headers?: Record<string, string>;
      body: readonly (string | { stall: true })[];
    }[]
  ) => scriptedWorld(answers as never, { clock: systemWorld().clock });

  /** Real time in which nobody gets anywhere by waiting for long. */
  const impatient = (): World => {
    const { clock } = place.emptyWorld;
    return {
      ...place.emptyWorld,
      clock: { ...clock, after: (ms, fire) => (ms < 100 ? clock.after(ms, fire) : () => undefined) },
    };
  };

  it("waits of a retry are those of the tape, and take no time", async () => {
    const busy = { status: 529, headers: { "retry-after": "1" }, body: ['{"error":{"message":"busy"}}'] };
    const recorded = await record("openai/x", {}, host(busy, { body: [said("Hi")] }));
    expect(statusOf(recorded.events)).toBe("success");
    const again = await place.answered("openai/x", { replay: recorded.path }, { world: impatient() });
    expect(settled(again)).toEqual(settled(recorded.events));
    expect((again.at(-1) as AgentEvent).ts - (again[0] as AgentEvent).ts).toBeGreaterThanOrEqual(990);
  });

  it("a fallback is asked again", async () => {
    const down = { status: 500, body: ['{"error":{"message":"down"}}'] };
    const options: RunOptions = { retry: false, fallback: "openai/b" };
    const recorded = await record("openai/a", options, host(down, { body: [said("From b")] }));
    expect(recorded.events.at(-1)).toMatchObject({ result: { status: "success", text: "From b" } });
    const again = await place.answered("openai/a", { ...options, replay: recorded.path });
    expect(settled(again)).toEqual(settled(recorded.events));
  });

  it("an answer that stalled stalls again, at once", async () => {
    const options: RunOptions = { retry: false, limits: { idleMs: 300 } };
    const recorded = await record("openai/x", options, host({ body: [said("Hel").slice(0, 60), { stall: true }] }));
    expect(errorOf(recorded.events)).toMatchObject({ code: "stalled" });
    const again = await place.answered("openai/x", { ...options, replay: recorded.path }, { world: impatient() });
    expect(errorOf(again)).toMatchObject({ code: "stalled" });
    // A run that would wait for longer is told that there is no more.
    const patient = await place.answered("openai/x", { retry: false, replay: recorded.path });
    expect(errorOf(patient)?.message).toMatch(/exchange 1 of 1 .*the recorded answer breaks off here/);
  });

  it("agents that hand over, and agents within tools", async () => {
    const first = agent({ name: "first", backend: "offline", handoffs: ["second"] });
    const second = agent({ name: "second", backend: "offline", tools: [add] });
    const both = swarm([first, second]);
    const input = "hand over to second: What is 25 + 17?";
    const recorded = await record(both, {}, place.world, { input });
    expect(statusOf(recorded.events)).toBe("success");
    expect(settled(await place.answered(both, { replay: recorded.path }, { input }))).toEqual(settled(recorded.events));
  });

  it("agents within tools, whose waits are cut short, too", async () => {
    const searching = await openAnswerPlace({
      rules: [
        { match: { tool: "helper", turn: 0 }, reply: { toolCalls: [{ name: "helper", input: { prompt: "add" } }] } },
        { match: { tool: "helper" }, reply: { text: "Done." } },
        { match: { tool: "add", turn: 0 }, reply: { toolCalls: [{ name: "add", input: { a: 1, b: 2 } }] } },
        { reply: { text: "3" } },
      ],
    });
    try {
      let calls = 0;
      const counted = tool("add", "Add", { a: "number", b: "number" }, ({ a, b }) => {
        calls += 1;
        return a + b;
      });
      const helper = agent({ name: "helper", backend: "anthropic/x", tools: [counted] });
      const options: RunOptions = { tools: [agentTool(helper)] };
      const recorded = await record("anthropic/x", options, searching.world);
      expect(recorded.events.some((event) => event.type === "notice" && event.kind === "agent-result")).toBe(true);
      calls = 0;
      const again = await searching.answered("anthropic/x", { ...options, replay: recorded.path });
      expect(settled(again)).toEqual(settled(recorded.events));
      expect(calls).toBe(1);
    } finally {
      await searching.close();
    }
  });

  it("an answer with a schema is checked by the schema of today", async () => {
    const output = { sum: "number" } as const;
    const recorded = await record("offline", { output }, place.world);
    expect(statusOf(recorded.events)).toBe("success");
    expect(settled(await place.answered("offline", { output, replay: recorded.path }))).toEqual(
      settled(recorded.events),
    );
    const other = await place.answered("offline", { output: { total: "number" }, replay: recorded.path });
    expect(errorOf(other)?.message).toMatch(/exchange 1 of 1 .*body\..*sum/);
  });

  it("an own abort ends it", async () => {
    const recorded = await record("offline", { tools: [add] }, place.world);
    const run = startRun("offline", PROMPT, { tools: [add], replay: recorded.path }, place.emptyWorld);
    run.on("text-delta", () => void run.abort("seen enough"));
    expect(await run.result()).toMatchObject({ status: "aborted" });
  });

  it("a slow tool takes its time, and its deadline holds", async () => {
    const recorded = await record("offline", { tools: [add] }, place.world);
    const slow = tool("add", "Add two numbers", { a: "number", b: "number" }, async ({ a, b }) => {
      await new Promise((resolve) => setTimeout(resolve, 120));
      return a + b;
    });
    expect(statusOf(await place.answered("offline", { tools: [slow], replay: recorded.path }))).toBe("success");
    const late = await place.answered("offline", { tools: [slow], limits: { toolMs: 20 }, replay: recorded.path });
    expect(errorOf(late)?.message).toMatch(/exchange 2 of 2 .*body\.messages\[2\]/);
  });
});

describe("F-D11: a tape and a run of different lengths", () => {
  const twice = tool("add", "Add two numbers", { a: "number", b: "number" }, ({ a, b }) => a + b);

  it("one request more than the tape has", async () => {
    const recorded = await record("offline", {}, place.world, { input: "Say hello" });
    const hooks = { "before-stop": [() => ({ block: "Go on." })] };
    const again = await place.answered(
      "offline",
      { hooks, limits: { turns: 3 }, replay: { tape: recorded.path, onDifference: "warn" } },
      { input: "Say hello" },
    );
    expect(errorOf(again)).toMatchObject({
      code: "tape-difference",
      message: expect.stringMatching(/in exchange 2: the tape has 1 exchange, and now there is one more: POST http:/),
    });
  });

  it("exchanges that nobody asks for", async () => {
    const recorded = await record("offline", { tools: [twice] }, place.world);
    const options: RunOptions = { tools: [twice], limits: { turns: 1 } };
    const strict = await place.answered("offline", { ...options, replay: recorded.path });
    expect(errorOf(strict)).toMatchObject({
      code: "tape-difference",
      message: expect.stringMatching(/exchange 2 of 2 \(POST .*\): it is on the tape, but was not requested this time/),
    });
    const warned = await place.answered("offline", {
      ...options,
      replay: { tape: recorded.path, onDifference: "warn" },
    });
    expect(errorOf(warned)).toBeUndefined();
    expect(warningsOf(warned)).toHaveLength(1);
  });

  it("a tape that is cut is refused, and plays up to the cut when it is allowed", async () => {
    const recorded = await record("offline", { tools: [add] }, place.world);
    const path = newTapePath();
    const lines = readFileSync(recorded.path, "utf8").split("\n");
    const second = lines.findIndex((line, index) => line.includes('"request"') && index > 2);
    writeFileSync(path, `${lines.slice(0, second + 3).join("\n")}\n`);
    expect(() => startRun("offline", PROMPT, { tools: [add], replay: path }, place.emptyWorld)).toThrow(
      expect.objectContaining({ code: "invalid-tape", message: expect.stringMatching(/breaks off.*allowTorn/) }),
    );
    const cut = await place.answered("offline", { tools: [add], replay: { tape: path, allowTorn: true } });
    expect(errorOf(cut)?.message).toMatch(/exchange 2 of 2 .*the recorded answer breaks off here/);
  });
});

describe("F-D11: what cannot be had is refused before anything starts", () => {
  let tape = "";
  beforeAll(async () => {
    tape = (await record("offline", {}, place.world)).path;
  });

  const refusal = (start: () => unknown): string => {
    try {
      start();
    } catch (error) {
      if (isStartError(error)) return `${error.code}: ${error.message}`;
      throw error;
    }
    return "";
  };
  const run =
    (options: unknown, target: unknown = "offline") =>
    () =>
      startRun(target as never, PROMPT, options as RunOptions, place.emptyWorld);

  it.each<[string, () => unknown, RegExp]>([
    [
      "no file",
      run({ replay: "/nowhere/x.tape" }),
      /^invalid-tape: The tape \/nowhere\/x\.tape cannot be read: .* Check the path/,
    ],
    [
      "another backend",
      () => run({ replay: tape }, "openai/gpt-5")(),
      /^invalid-tape: .*\.tape was recorded with offline, and this run asks openai\. Record a tape with openai, or run offline/,
    ],
    [
      "a command in place of a model",
      () => run({ replay: tape }, commandIn(["true"], {}, systemWorld()))(),
      /recorded with offline, and this run asks command/,
    ],
    [
      "a backend made by hand",
      () => run({ replay: tape }, createScriptedBackend([]))(),
      /^feature-unavailable: replay is not available on .*by name/,
    ],
    [
      "a fallback made by hand",
      () => run({ replay: tape, fallback: createScriptedBackend([]) })(),
      /^feature-unavailable: replay is not available on/,
    ],
    [
      "record and replay",
      () => run({ replay: tape, record: "y.tape" })(),
      /^invalid-option: record and replay are both given/,
    ],
    [
      "an unknown member",
      () => run({ replay: { tape, onDiference: "warn" } })(),
      /There is no replay\.onDiference\. Did you mean onDifference/,
    ],
    [
      "an unknown answer",
      () => run({ replay: { tape, onDifference: "ask" } })(),
      /replay\.onDifference is "ask"\. Give one of: error, warn/,
    ],
    ["no tape", run({ replay: {} }), /replay\.tape is undefined\. Give the path of a tape/],
    ["a number", run({ replay: 7 }), /replay is 7\. Give the path of a tape/],
    [
      "a session",
      () => startSession("offline", { replay: tape } as never, place.emptyWorld),
      /A session cannot be answered from a tape/,
    ],
  ])("%s", (_, start, says) => {
    expect(refusal(start)).toMatch(says);
  });

  it("a tape that was changed by hand, unless that is allowed; and bytes are as good as a path", async () => {
    const text = readFileSync(tape, "utf8").replaceAll("25 + 17", "25 + 18");
    const bytes = new TextEncoder().encode(text);
    expect(refusal(run({ replay: { tape: bytes } }))).toMatch(/^invalid-tape: .*the digest at its end does not fit/);
    const whole = new Uint8Array(readFileSync(tape));
    expect(statusOf(await place.answered("offline", { replay: { tape: whole } }))).toBe("success");
    const edited = await place.answered("offline", { replay: { tape: bytes, allowEdited: true } });
    expect(errorOf(edited)?.message).toMatch(
      /body\.messages\[0\]\.content\[0\]\.text: the tape has "What is 25 \+ 18\?"/,
    );
  });
});

describe("F-D11: secrets", () => {
  it("a key of today in the prompt is not shown, and fits what covers the key of the recording", async () => {
    const prompt = (key: string): string => `Use ${key} and say hello`;
    const then = { ...place.world, env: { ...place.world.env, BILLING_TOKEN: "canary-of-then-012345" } };
    const recorded = await record("offline", {}, then, { input: prompt("canary-of-then-012345") });
    expect(recorded.text).not.toContain("canary-of-then");
    const now = { ...place.emptyWorld, env: { BILLING_TOKEN: "canary-of-now-and-longer-0123456" } };
    const same = await place.answered(
      "offline",
      { replay: recorded.path },
      { input: prompt("canary-of-now-and-longer-0123456"), world: now },
    );
    expect(errorOf(same)).toBeUndefined();
    const other = await place.answered(
      "offline",
      { replay: recorded.path },
      { input: `canary-of-now-and-longer-0123456: say hello`, world: now },
    );
    expect(errorOf(other)?.message).toMatch(/body\.messages\[0\]\.content/);
    expect(errorOf(other)?.message).not.toContain("canary");
  });
});

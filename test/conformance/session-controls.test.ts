import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { AgentBackend } from "#backends";
import { messageItem, resultItem, startItem } from "#domain";
import type { EmulatorScript } from "#emulator";
import { agent, type OpenSessionOptions, type RunOptions, startSession, swarm, type Target } from "#runtime";
import type { Session } from "#sessions";
import { createScriptedBackend } from "#testing";
import { commandIn } from "../../src/runtime/command.ts";
import { makeBackend } from "../../src/runtime/providers.ts";
import { createClaudeCodeBackend } from "../../src/backends/claude-code/backend.ts";
import { processesWith, realWorld } from "../claude-code/place.ts";
import { isQuick } from "../effort.ts";
import { describeRealCli, locateRealCli, realCliOptions } from "../real-cli.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { createTestWorld } from "./model-backends.ts";
import { openStage, type Stage } from "./targets.ts";

type Member = keyof Session;

/** A model that says nothing the first time it is asked to wait, and writes a file when it is told to. */
const scriptFor = (file: string): EmulatorScript => ({
  rules: [
    ...Array.from({ length: 30 }, (_, at) => ({
      match: { user: `wait ${at}.`, times: 1 },
      fault: { stallBeforeHeaders: true },
    })),
    ...["write first", "write second"].map((user) => ({
      match: { user, tool: "Write", times: 1 },
      reply: { toolCalls: [{ name: "Write", input: { file_path: file, content: "text" } }] },
    })),
  ],
});

/** Prints what it was asked; asked to wait, it never ends, unless it was asked before. */
const PROGRAM = `
const { existsSync, writeFileSync } = require("node:fs");
let text = "";
process.stdin.on("data", (piece) => (text += piece)).on("end", () => {
  const waits = /wait \\d+\\.$/.exec(text.trim());
  const mark = waits && process.env.HOME + "/" + waits[0].replace(/\\W/g, "-");
  if (mark && !existsSync(mark)) { writeFileSync(mark, ""); setInterval(() => {}, 1000); }
  else console.log("You said: " + text.slice(-40));
});`;

/** The backends of this file that were asked to wait, and do. */
const waiting = new Set<string>();

/** An agent that can do what its contract asks for, and nothing that is optional in it. */
const bareAgent: AgentBackend = {
  kind: "agent",
  name: "bare",
  model: undefined,
  cannotControl: (control) =>
    ({
      setPermissionMode: "it has no permission modes. Leave them out",
      setAgent: "it is alone. Open the session with swarm(…)",
      setModel: undefined,
      mcpStatus: undefined,
      warmUp: undefined,
    })[control],
  explain: () => ({
    backend: "bare",
    mode: "plain",
    features: [],
    requiresControl: false,
    override: undefined,
    reasons: [],
    ignored: [],
    text: "",
  }),
  async open() {
    let model = "first";
    let end = (): void => undefined;
    const waited = new Set<string>();
    return {
      sessionId: undefined,
      async send(messages, link) {
        const asked = JSON.stringify(messages.at(-1)?.blocks ?? []);
        await link.write([startItem({ backend: "bare", mode: "plain", model })]);
        const isNew = asked.includes("wait") && !waited.has(asked);
        waited.add(asked);
        if (isNew) {
          waiting.add("bare");
          await new Promise<void>((resolve) => (end = resolve));
          return;
        }
        const id = `m${waited.size}`;
        await link.write([
          messageItem({ id, role: "assistant", blocks: [{ type: "text", text: "ok" }] }),
          resultItem({ subtype: "success", isError: false, text: "ok", usage: {} }),
        ]);
      },
      interrupt: async () => end(),
      setModel: async (name) => void (model = name),
      setPermissionMode: async () => undefined,
      close: async () => end(),
    };
  },
};

interface Column {
  readonly name: string;
  /** As errors name it. */
  readonly backend: string;
  readonly isCli?: boolean;
  open(stage: Stage, folder: string): { readonly target: Target; readonly options?: RunOptions };
  /** Controls that are refused, and the remedy that is named. */
  readonly refuses: { readonly [Name in Member]?: RegExp };
}

const ON_MODELS: Column["refuses"] = {
  setPermissionMode: /^setPermissionMode is not available on BACKEND: .*Use the options permission and permissions\.$/,
  setAgent: /^There is no agent "critic"\. .*BACKEND has none itself\. Open it with swarm\(…\)\.$/,
  mcpStatus: /^mcpStatus is not available on BACKEND: .*Give it tools with the option tools\.$/,
  sessionId: /a model has none: resume it from messages\(\)/,
};

const model = (target: string): Column => ({
  name: target,
  backend: target.split("/", 1)[0] as string,
  open: () => ({ target }),
  refuses: ON_MODELS,
});

const AGENTS = { critic: { description: "Finds faults", prompt: "You are the CRITIC of this test." } };
const SERVERS = { files: { command: process.execPath, args: ["-e", ""] } };

const cli = (mode: "plain" | "control"): Column => ({
  name: `claude-code, ${mode} mode`,
  backend: "claude-code",
  isCli: true,
  open: (_, cwd) => ({
    target: "claude-code/claude-first",
    options: { cwd, claudeCode: { ...realCliOptions(), mode, agents: AGENTS, mcpConfig: SERVERS } },
  }),
  refuses:
    mode === "control"
      ? {}
      : { mcpStatus: /^mcpStatus is not available on BACKEND: .*Set claudeCode\.mode to "control"\.$/ },
});

const COLUMNS: readonly Column[] = [
  {
    ...model("offline"),
    refuses: { ...ON_MODELS, setModel: /^The backend BACKEND is one model and has no "other-model"/ },
  },
  model("anthropic/test"),
  model("openai/test"),
  model("google/test"),
  {
    name: "a model with options of its own",
    backend: "openai",
    open: ({ world }) => {
      // Its key is nowhere in the variables: another model of it is asked with the same one.
      const { OPENAI_API_KEY: _, OPENAI_BASE_URL: baseUrl = "", ...env } = world.env;
      return { target: makeBackend("openai", "test", { apiKey: "by-hand", baseUrl }, { ...world, env }) };
    },
    refuses: ON_MODELS,
  },
  {
    name: "a model of somebody else's",
    backend: "theirs",
    open: () => {
      const waits = async function* (_: unknown, signal: AbortSignal) {
        await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
        yield [];
      };
      const replies = [{ text: "hello" }];
      const patient = createScriptedBackend(replies, "theirs");
      const asked = new Set<string>();
      return {
        target: {
          ...patient,
          stream(request, signal) {
            const last = JSON.stringify(request.messages.at(-1)?.blocks);
            if (!last.includes("wait") || asked.has(last)) return patient.stream(request, signal);
            asked.add(last);
            waiting.add("theirs");
            return waits(request, signal);
          },
        },
      };
    },
    refuses: { ...ON_MODELS, setModel: /^setModel is not available on BACKEND: .*Open another session/ },
  },
  {
    name: "a swarm of models",
    backend: "openai",
    open: () => ({
      target: swarm([
        agent({ name: "clerk", backend: "openai/test" }),
        agent({ name: "critic", backend: "anthropic/critic-model" }),
      ]),
    }),
    refuses: {
      setPermissionMode: ON_MODELS.setPermissionMode as RegExp,
      mcpStatus: ON_MODELS.mcpStatus as RegExp,
      sessionId: ON_MODELS.sessionId as RegExp,
    },
  },
  ...(isQuick || locateRealCli() === undefined ? [] : [cli("plain"), cli("control")]),
  {
    name: "command",
    backend: "command",
    open: ({ world, home }) => ({
      target: commandIn([process.execPath, "-e", PROGRAM], { format: "text", cwd: home }, world),
    }),
    refuses: {
      setModel: /^setModel is not available on BACKEND: .*Name the model in its arguments/,
      setPermissionMode: /^setPermissionMode is not available on BACKEND: .*Give it arguments/,
      setAgent: /^setAgent is not available on BACKEND: .*Open the session with swarm\(…\)/,
      mcpStatus: /^mcpStatus is not available on BACKEND: .*Ask the program itself\.$/,
      sessionId: /has not reported a session id/,
    },
  },
  {
    name: "another agent",
    backend: "bare",
    open: () => ({ target: bareAgent }),
    refuses: {
      setPermissionMode:
        /^setPermissionMode is not available on BACKEND: it has no permission modes\. Leave them out\.$/,
      setAgent: /^setAgent is not available on BACKEND: .*Open the session with swarm\(…\)/,
      mcpStatus: /^mcpStatus is not available on BACKEND: it reports no tool servers\. Give it tools/,
      sessionId: /has not reported a session id/,
    },
  },
];

/** A session with what is needed to see what it does. */
interface Scene {
  readonly session: Session<unknown>;
  readonly column: Column;
  readonly stage: Stage;
  readonly folder: string;
  /** The models that were asked so far. */
  asked(): readonly unknown[];
  /** Sends, and expects an answer. */
  say(text: string): Promise<Awaited<ReturnType<ReturnType<Session["send"]>["result"]>>>;
}

let waits = 0;

/** Starts a run that waits for its end, and interrupts it when it is under way. */
async function interruptOne({ session, column, stage }: Scene): Promise<string> {
  const text = `Please wait ${waits}.`;
  waits += 1;
  const mark = join(stage.home, `wait-${waits - 1}-`);
  const run = session.send(text);
  waiting.clear();
  await until(
    () =>
      // The built-in model answers at once, and waits for nobody.
      column.backend === "offline" ||
      existsSync(mark) ||
      waiting.has(column.backend) ||
      stage.emulator.requests.some(({ body }) => JSON.stringify(body ?? "").includes(text)),
  );
  await session.interrupt();
  expect((await run.result()).status).toBe("aborted");
  return text;
}

async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await new Promise((resolve) => setImmediate(resolve));
}

const closes = async ({ session, say, stage, column }: Scene, close: () => Promise<void>): Promise<void> => {
  await say("hello");
  await close();
  expect(() => session.send("more")).toThrow(expect.objectContaining({ code: "session-closed" }));
  if (column.isCli === true) expect(processesWith(`HOME=${stage.home}`)).toEqual([]);
};

/** That a member of a session does what it promises. A new member without a proof does not compile. */
const PROOFS: { readonly [Name in Member]: (scene: Scene) => Promise<void> } = {
  async id({ session }) {
    expect(session.id).toMatch(/\S/);
  },
  async toJSON({ session, say }) {
    await say("hello");
    expect(JSON.parse(JSON.stringify(session))).toMatchObject({ id: session.id, state: "idle" });
  },
  async send({ say }) {
    expect((await say("hello")).status).toBe("success");
  },
  async retry(scene) {
    const text = await interruptOne(scene);
    const { messages, status } = await scene.session.retry().result();
    expect(status).toBe("success");
    expect(JSON.stringify(messages)).toContain(text);
  },
  async setModel(scene) {
    const { session, say, asked, column } = scene;
    await say("hello");
    await session.setModel("other-model");
    const from = asked().length;
    const result = await say("hello again");
    if (column.backend === "bare") expect(result.model).toBe("other-model");
    else expect(asked().slice(from)).toContain("other-model");
    if (column.backend !== "bare") {
      // Said in full it is the same model.
      await session.setModel(`${column.backend}/last-model`);
      const then = asked().length;
      await say("and again");
      expect(asked().slice(then)).toContain("last-model");
    }
  },
  async setPermissionMode({ session, say, folder }) {
    const file = join(folder, "written.txt");
    await say("write first");
    expect(existsSync(file)).toBe(false);
    await session.setPermissionMode("acceptEdits");
    await say("write second");
    expect(existsSync(file)).toBe(true);
  },
  async setAgent({ session, say, stage, column }) {
    await say("hello");
    await session.setAgent("critic");
    const result = await say("what do you think?");
    if (column.isCli === true) {
      expect(JSON.stringify(stage.emulator.requests.at(-1)?.body)).toContain("You are the CRITIC of this test.");
    } else expect(result).toMatchObject({ agent: "critic", model: "critic-model" });
  },
  async mcpStatus({ session }) {
    expect(await session.mcpStatus()).toMatchObject([{ name: "files", status: expect.any(String) }]);
  },
  async warmUp({ session, say, stage, column }) {
    const isStarted = await session.warmUp();
    expect(isStarted).toBe(column.name === "claude-code, control mode");
    if (column.isCli === true) expect(processesWith(`HOME=${stage.home}`).length > 0).toBe(isStarted);
    await say("hello");
  },
  async interrupt(scene) {
    await interruptOne(scene);
    await scene.say("hello");
  },
  async messages({ session, say }) {
    expect(session.messages()).toEqual([]);
    await say("hello there");
    expect(session.messages().map(({ role }) => role)).toEqual(["user", "assistant"]);
    expect(JSON.stringify(session.messages()[0])).toContain("hello there");
  },
  async sessionId({ session, say }) {
    expect(() => session.sessionId()).toThrow(expect.objectContaining({ code: "session-id-unknown" }));
    const { sessionId } = await say("hello");
    expect(session.sessionId()).toBe(sessionId);
    expect(sessionId).toMatch(/\S/);
  },
  close: (scene) => closes(scene, () => scene.session.close()),
  [Symbol.asyncDispose]: (scene) => closes(scene, async () => scene.session[Symbol.asyncDispose]()),
};

/** What is called to see the refusal. */
const CALLS: { readonly [Name in Member]?: (session: Session<unknown>) => Promise<unknown> } = {
  setModel: (session) => session.setModel("other-model"),
  setPermissionMode: (session) => session.setPermissionMode("plan"),
  setAgent: (session) => session.setAgent("critic"),
  mcpStatus: (session) => session.mcpStatus(),
  sessionId: async (session) => session.sessionId(),
};

describe.each(COLUMNS)("F-C10 S0-79 S0-80: a session on $name", (column) => {
  let stage: Stage;
  const folder = temporaryFolder("controls");
  beforeAll(async () => {
    stage = await openStage(scriptFor(join(folder, "written.txt")));
  });
  afterAll(() => stage.close());

  it.each(Reflect.ownKeys(PROOFS) as Member[])("%s works, or is rejected by name", async (member) => {
    const { target, options = {} } = column.open(stage, folder);
    const session = startSession(target, options as OpenSessionOptions, stage.world);
    const scene: Scene = {
      session,
      column,
      stage,
      folder,
      asked: () =>
        stage.emulator.requests.map(
          ({ body, path }) => (body as { model?: unknown } | undefined)?.model ?? /models\/([^:]+):/.exec(path)?.[1],
        ),
      async say(text) {
        const result = await session.send(text).result();
        expect(result.error).toBeUndefined();
        expect(result.status).toBe("success");
        return result;
      },
    };
    try {
      const refusal = column.refuses[member];
      if (refusal === undefined) {
        await PROOFS[member](scene);
        return;
      }
      const wanted = {
        message: expect.stringMatching(new RegExp(refusal.source.replaceAll("BACKEND", column.backend))),
      };
      await expect(CALLS[member]?.(session)).rejects.toMatchObject(wanted);
      // It harms nothing, and is refused in the middle of a conversation as well.
      await scene.say("hello");
      await expect(CALLS[member]?.(session)).rejects.toMatchObject(wanted);
      await scene.say("hello again");
    } finally {
      await session.close();
    }
  });
});

describe("F-C10 S0-79: settings apply to the agent they were made for", () => {
  it("a model applies to its agent, whichever agents answer in between", async () => {
    const { world } = createTestWorld();
    const both = swarm([
      agent({ name: "clerk", backend: "openai/clerk-model" }),
      agent({ name: "critic", backend: "anthropic/critic-model" }),
    ]);
    const session = startSession(both, {}, world);
    const answers = async () => {
      const { agent: name, model: asked } = await session.send("hello").result();
      return [name, asked];
    };
    await session.setModel("small");
    expect(await answers()).toEqual(["clerk", "small"]);
    await session.setAgent("critic");
    expect(await answers()).toEqual(["critic", "critic-model"]);
    await session.setModel("google/gemini-x");
    expect(await answers()).toEqual(["critic", "gemini-x"]);
    await session.setAgent("clerk");
    expect(await answers()).toEqual(["clerk", "small"]);
    await session.close();
  });

  it("an unknown name of an agent lists the existing ones", async () => {
    const { world } = createTestWorld();
    const session = startSession(swarm([agent({ name: "clerk", backend: "openai/test" })]), {}, world);
    await expect(session.setAgent("clark")).rejects.toMatchObject({
      code: "unknown-agent",
      message: 'There is no agent "clark". There are: clerk.',
    });
  });
});

describeRealCli("F-C10 S0-79: what was set on the real CLI", () => {
  it("the CLI with its own options keeps them with another model, and in a swarm a mode applies to it alone", async () => {
    const stage = await openStage();
    const { env, clock, random, spawn, files } = stage.world;
    const machine = { ...realWorld(env as Record<string, string>, stage.home), clock, random, spawn, files };
    const backend = createClaudeCodeBackend({ ...realCliOptions(), systemPrompt: "By hand." }, machine);
    const session = startSession(
      swarm([agent({ name: "clerk", backend: "openai/test" }), agent({ name: "coder", backend })]),
      { cwd: stage.home },
      stage.world,
    );
    try {
      await expect(session.setPermissionMode("plan")).rejects.toThrow(/is not available on openai/);
      await session.setAgent("coder");
      await session.setModel("claude-code/other-model");
      await session.setPermissionMode("acceptEdits");
      await expect(session.setModel("claude-code")).rejects.toThrow(/names none\. Write claude-code\/<model>/);
      expect((await session.send("hello").result()).status).toBe("success");
      const asked = JSON.stringify(stage.emulator.requests.at(-1)?.body);
      expect(asked).toContain('"model":"other-model"');
      expect(asked).toContain("By hand.");
    } finally {
      await session.close();
      await stage.close();
    }
  });

  it("in plain mode an unknown agent of the CLI fails the next run with a list of those it has, until another is set", async () => {
    const stage = await openStage();
    const claudeCode = { ...realCliOptions(), mode: "plain" } as const;
    const session = startSession("claude-code", { cwd: stage.home, claudeCode }, stage.world);
    try {
      expect((await session.send("hello").result()).status).toBe("success");
      await session.setAgent("nobody");
      const { status, error } = await session.send("hello").result();
      expect(status).toBe("error");
      expect(error?.message).toMatch(/no agent "nobody" in claude-code\. There are: .*general-purpose/);
      await session.setAgent("general-purpose");
      expect((await session.send("hello").result()).status).toBe("success");
    } finally {
      await session.close();
      await stage.close();
    }
  });
});

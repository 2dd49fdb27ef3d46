import { HANDOFF_TOOL } from "#agents";
import { agent, agentTool, type RunOptions, startRun, startSession, swarm } from "#runtime";
import { type Tool, tool } from "#tools";
import type { Fault } from "../fault.ts";
import type { Scenario } from "../play.ts";
import type { Stage } from "../stage.ts";

/** A tool any call of which may fail. */
export function lookTool(fault: Fault, name = "look"): Tool {
  return tool(name, "Looks", { n: "number" }, ({ n }) => {
    fault.strike(`tool ${name}`);
    return { seen: n };
  });
}

const look = (...numbers: readonly number[]) => ({
  text: "I look.",
  toolCalls: numbers.map((n) => ({ name: "look", input: { n } })),
});
const END = { reply: { text: "All is well." } };
const once = (reply: object) => ({ match: { times: 1 }, reply });

/** What could not be looked at was not simply allowed. */
function wasAsked({ logs }: Stage): boolean {
  return logs.some((log) => log.some((event) => event.type === "permission" && event.state === "asked"));
}

/** Hooks at every point, and a callback: each of them may fail. */
function watched({ fault }: Stage): RunOptions {
  const hook = (point: string) => async (): Promise<undefined> => fault.strike(`hook ${point}`) as undefined;
  return {
    hooks: {
      prompt: [hook("prompt")],
      "before-tool": [hook("before-tool")],
      "after-tool": [hook("after-tool")],
      "before-handoff": [hook("before-handoff")],
      "after-handoff": [hook("after-handoff")],
      "before-stop": [hook("before-stop")],
      "run-end": [hook("run-end")],
    },
    permission: async () => {
      fault.strike("permission callback");
      return { allow: true };
    },
  };
}

export const MODEL_SCENARIOS: readonly Scenario[] = [
  {
    name: "a model with a tool",
    host: { rules: [once(look(1)), END] },
    play: (stage) => stage.run("anthropic/test", "Go.", { tools: [lookTool(stage.fault)] }),
  },
  {
    name: "parallel tools",
    host: { rules: [once(look(1, 2, 3)), once(look(4, 5)), END] },
    play: (stage) => stage.run("openai/test", "Go.", { tools: [lookTool(stage.fault)], toolConcurrency: 2 }),
  },
  {
    name: "hooks and permissions",
    host: { rules: [once(look(1, 2)), END] },
    play: (stage) => stage.run("google/test", "Go.", { tools: [lookTool(stage.fault)], ...watched(stage) }),
  },
  {
    name: "rules about paths",
    host: { rules: [once({ toolCalls: [{ name: "Read", input: { file_path: "/data/notes.txt" } }] }), END] },
    async play(stage) {
      const { fault } = stage;
      await stage.disk.write("/data/notes.txt", new Uint8Array());
      const read = tool("Read", "Reads", { file_path: "string" }, () => {
        fault.strike("tool Read");
        return "text";
      });
      await stage.run("anthropic/test", "Go.", {
        tools: [read],
        permissions: { deny: ["Read(/private/*)", "Read(secrets/*)"], allow: ["Read"] },
      });
    },
    tells: { "files.realPath": wasAsked, "files.list": wasAsked },
  },
  {
    name: "retries and a fallback",
    host: {
      rules: [{ match: { model: "first" }, fault: { status: 503, times: 2 }, reply: { text: "Late." } }, END],
    },
    play: (stage) =>
      stage.run("anthropic/first", "Go.", { retry: { attempts: 2 }, fallback: ["openai/second", "google/third"] }),
    // The status says it all; the words of a refusal that did not arrive are missed by nobody.
    tells: { body: ({ logs }) => logs.some((log) => JSON.stringify(log).includes('"kind":"retry"')) },
  },
  {
    name: "a retry after the first token",
    host: { rules: [{ match: { times: 1 }, reply: { text: "Half of it." }, fault: { cutAfterEvents: 4 } }, END] },
    play: (stage) => stage.run("anthropic/test", "Go.", { retry: { afterFirstToken: true, attempts: 3 } }),
  },
  {
    name: "a handoff",
    host: {
      rules: [
        {
          match: { model: "first" },
          reply: { toolCalls: [{ name: HANDOFF_TOOL, input: { to: "b", message: "On." } }] },
        },
        { match: { model: "second", times: 1 }, reply: look(1) },
        END,
      ],
    },
    play: (stage) => {
      const team = swarm([
        agent({ name: "a", backend: "anthropic/first", handoffs: ["b"] }),
        agent({ name: "b", backend: "openai/second", tools: [lookTool(stage.fault)] }),
      ]);
      return stage.run(team, "Go.", watched(stage));
    },
  },
  {
    name: "structured output with a repair",
    host: {
      rules: [once({ text: "no JSON at all" }), { reply: { text: '{"name":"Ada","age":36}' } }],
    },
    async play(stage) {
      const run = startRun("anthropic/test", "Who?", { output: { name: "string", age: "number" } }, stage.world);
      const value = run.output().then(
        () => undefined,
        (error: unknown) => stage.note(error),
      );
      await stage.read(run);
      await value;
    },
  },
  {
    name: "an agent as a tool",
    host: {
      rules: [
        { match: { model: "outer", times: 1 }, reply: { toolCalls: [{ name: "helper", input: { prompt: "Look." } }] } },
        { match: { model: "inner", times: 1 }, reply: look(1) },
        END,
      ],
    },
    play(stage) {
      const helper = agent({ name: "helper", backend: "openai/inner", tools: [lookTool(stage.fault)] });
      return stage.run("anthropic/outer", "Go.", { tools: [agentTool(helper)], ...watched(stage) });
    },
  },
  {
    name: "a session with several messages",
    host: { rules: [once(look(1)), END] },
    async play(stage) {
      const session = startSession("anthropic/test", { tools: [lookTool(stage.fault)] }, stage.world);
      try {
        for (const text of ["Go.", "Go on.", "And on."]) await stage.read(session.send(text));
      } finally {
        await session.close();
      }
    },
  },
  {
    name: "guards, the whole message held back",
    host: { rules: [once(look(1)), END] },
    play: (stage) => stage.run("anthropic/test", "Go.", { ...guarded(stage), outputMode: "buffer" }),
  },
  {
    name: "guards, a window held back",
    host: { rules: [once(look(1)), { reply: { text: "All is well, and goes on for a while longer." } }] },
    play: (stage) => stage.run("openai/test", "Go.", { ...guarded(stage), outputMode: { windowCharacters: 10 } }),
  },
  {
    name: "a budget that is used up",
    host: { rules: [once({ ...look(1), usage: { inputTokens: 50, outputTokens: 60 } }), END] },
    play: (stage) =>
      stage.run("anthropic/test", "Go.", {
        tools: [lookTool(stage.fault)],
        limits: { tokens: 100, timeoutMs: 60_000 },
      }),
  },
  {
    name: "an abort in the middle",
    host: { rules: [once(look(1)), { reply: { text: "Slow.", betweenMs: 1000 } }] },
    async play(stage) {
      const controller = new AbortController();
      const run = startRun(
        "anthropic/test",
        "Go.",
        { tools: [lookTool(stage.fault)], signal: controller.signal, ...watched(stage) },
        stage.world,
      );
      stage.clock.after(2500, () => controller.abort("enough"));
      await stage.read(run);
    },
  },
];

function guarded({ fault }: Stage): RunOptions {
  const places = ["input", "tool-call", "tool-result", "output"] as const;
  return {
    tools: [lookTool(fault)],
    guards: places.map((place) => ({
      name: `guard-${place}`,
      place,
      check: async () => fault.strike(`guard ${place}`),
    })),
  };
}

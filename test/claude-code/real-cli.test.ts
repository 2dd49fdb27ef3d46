import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { tool } from "#tools";
import { locateRealCli, realCliHas } from "../real-cli.ts";
import {
  ask,
  type Asked,
  ofType,
  openPlace,
  type Place,
  processesWith,
  readLog,
  runOn,
  sendAsRun,
  settingsFor,
} from "./place.ts";

const add = tool("add", "Add two numbers", { a: "number", b: "number" }, ({ a, b }) => a + b);

const places: Place[] = [];
afterEach(async () => {
  for (const place of places.splice(0)) await place.close();
});

async function open(...given: Parameters<typeof openPlace>): Promise<Place> {
  const place = await openPlace(...given);
  places.push(place);
  return place;
}

/** A model that asks for one shell command, and then says what it saw. */
const shell = (command: string) => ({
  rules: [
    { match: { turn: 0 }, reply: { toolCalls: [{ name: "Bash", input: { command, description: "a command" } }] } },
    { reply: { text: "finished" } },
  ],
});

/** A command without an end. Newer versions refuse a bare `sleep`. */
const ENDLESS = "tail -f /dev/null";

describe.runIf(locateRealCli() !== undefined)("the real Claude Code CLI in control mode", () => {
  it("S0-93 AT-13: a hook denies a tool of the CLI in the middle of the stream, and the turn continues", async () => {
    const place = await open(shell("touch hooked"));
    const seen: unknown[] = [];
    const hook = (occasion: { name: string; input: unknown }) => {
      seen.push([occasion.name, occasion.input]);
      return { block: "Not on this machine." };
    };
    const { log, result } = await ask(place.backend(), "go", { policy: { hooks: [{ "before-tool": [hook] }] } });
    expect(seen).toEqual([["Bash", { command: "touch hooked", description: "a command" }]]);
    expect(ofType(log, "tool-result")).toMatchObject([
      { name: "Bash", isError: true, skipped: "denied", output: "Not on this machine." },
    ]);
    expect(ofType(log, "permission")).toMatchObject([{ state: "denied", by: "hook" }]);
    expect(result).toMatchObject({ status: "success", text: "finished" });
    expect(existsSync(join(place.home, "hooked"))).toBe(false);
  });

  it("I6: a hook denies even if the CLI was told to ask nothing", async () => {
    const place = await open(shell("touch bypassed"));
    const { log } = await ask(place.backend({ permissionMode: "bypassPermissions", env: { IS_SANDBOX: "1" } }), "go", {
      policy: { hooks: [{ "before-tool": [() => ({ block: "no" })] }] },
    });
    expect(ofType(log, "tool-result")).toMatchObject([{ skipped: "denied" }]);
    expect(existsSync(join(place.home, "bypassed"))).toBe(false);
  });

  it("C26: a hook that throws denies; one that only watches leaves the CLI's own rules in force", async () => {
    const place = await open(shell("touch watched"));
    const throwing = await ask(place.backend(), "go", {
      policy: {
        hooks: [
          {
            "before-tool": [
              () => {
                throw new Error("broken hook");
              },
            ],
          },
        ],
      },
    });
    expect(ofType(throwing.log, "tool-result")).toMatchObject([{ isError: true, skipped: "denied" }]);
    const watching = await ask(place.backend(), "go", { policy: { hooks: [{ "before-tool": [() => undefined] }] } });
    expect(ofType(watching.log, "tool-result")).toMatchObject([{ isError: true }]);
    expect(existsSync(join(place.home, "watched"))).toBe(false);
  });

  it.each([
    ["deny", { allow: false, reason: "Not that one." } as const, "Not that one.", []],
    ["allow", { allow: true } as const, undefined, ["original"]],
    [
      "allow with changed input",
      { allow: true, input: { command: "touch changed", description: "another" } } as const,
      undefined,
      ["changed"],
    ],
  ])("AT-34 S0-94: the permission callback answers %s", async (_, decision, output, files) => {
    const place = await open(shell("touch original"));
    const asked: string[] = [];
    const { log } = await ask(place.backend(), "go", {
      policy: {
        permission: ({ name }) => {
          asked.push(name);
          return decision;
        },
      },
    });
    expect(asked).toEqual(["Bash"]);
    const [answer] = ofType(log, "tool-result");
    expect(answer?.isError).toBe(output !== undefined);
    if (output !== undefined) expect(answer).toMatchObject({ output, skipped: "denied" });
    for (const name of ["original", "changed"]) {
      expect([name, existsSync(join(place.home, name))]).toEqual([name, (files as string[]).includes(name)]);
    }
  });

  it("C12: a deny rule applies, and what no rule names is left to the CLI", async () => {
    const place = await open(shell("touch ruled"));
    const denied = await ask(place.backend(), "go", { policy: { rules: [{ deny: ["Bash"] }] } });
    expect(ofType(denied.log, "tool-result")).toMatchObject([{ skipped: "denied" }]);
    const unnamed = await ask(place.backend(), "go", { policy: { rules: [{ deny: ["Write"] }] } });
    expect(ofType(unnamed.log, "tool-result")).toMatchObject([{ isError: true }]);
    expect(existsSync(join(place.home, "ruled"))).toBe(false);
    const allowed = await ask(place.backend(), "go", { policy: { rules: [{ allow: ["Bash(touch *)"] }] } });
    expect(ofType(allowed.log, "tool-result")).toMatchObject([{ isError: false }]);
    expect(existsSync(join(place.home, "ruled"))).toBe(true);
  });

  const secrets: NonNullable<Asked["policy"]> = {
    guards: [
      {
        name: "secrets",
        place: "tool-result",
        check: ({ text }) => ({ replace: text.replace("sesame-42", "***") }),
      },
    ],
  };
  /** What the model was told of the results of tools. Not what old versions ask a helper about a command they ran. */
  const toldResults = (place: Place) => {
    const bodies = place.emulator.requests.map(({ body }) => body as { messages?: { content: unknown }[] } | undefined);
    const blocks = bodies
      .flatMap((body) => body?.messages ?? [])
      .flatMap(({ content }) => content as { type?: string }[]);
    return JSON.stringify(blocks.filter((block) => block.type === "tool_result"));
  };

  const replaces = realCliHas("replace-tool-output");
  const outcome = replaces
    ? "a guard replaces what a command printed before the model and the log see it"
    : "a guard that has to replace what this older CLI cannot replace ends the conversation before the model sees it";
  it.runIf(realCliHas("guards"))(outcome, async () => {
    const place = await open(shell("echo sesame-42"));
    const { log, result } = await ask(place.backend({ allowedTools: ["Bash"] }), "go", { policy: secrets });
    if (replaces) {
      expect(ofType(log, "tool-result")).toMatchObject([{ name: "Bash", isError: false, output: "***" }]);
      expect(toldResults(place)).toContain("***");
    } else expect(result).toMatchObject({ status: "error", error: { code: "guard-denied" } });
    expect(toldResults(place)).not.toContain("sesame-42");
    expect(JSON.stringify(ofType(log, "tool-result"))).not.toContain("sesame-42");
  });

  const knowsGlobAlone = realCliHas("guards") && realCliHas("tools-list");
  it.runIf(knowsGlobAlone)(
    "a guard on a result that the CLI cannot replace ends the conversation before the model sees it",
    async () => {
      const place = await open({
        rules: [
          { match: { turn: 0 }, reply: { toolCalls: [{ name: "Glob", input: { pattern: "*.secret" } }] } },
          { reply: { text: "seen" } },
        ],
      });
      writeFileSync(join(place.home, "hidden.secret"), "");
      const { log, result } = await ask(place.backend({ tools: ["Glob"], allowedTools: ["Glob"] }), "go", {
        policy: { guards: [{ name: "names", place: "tool-result", check: () => ({ deny: "not for you" }) }] },
      });
      expect(result).toMatchObject({ status: "error", error: { code: "guard-denied" } });
      expect(
        ofType(log, "message").some(
          ({ role, blocks }) => role === "assistant" && JSON.stringify(blocks).includes("seen"),
        ),
      ).toBe(false);
      expect(processesWith(place.home)).toEqual([]);
    },
  );

  it("a before-stop hook sends the agent back to work, once", async () => {
    const place = await open({ rules: [{ reply: { text: "one more thing" } }] });
    let times = 0;
    const stop = () => {
      times += 1;
      return times === 1 ? { block: "Look again." } : undefined;
    };
    const { result } = await ask(place.backend(), "go", { policy: { hooks: [{ "before-stop": [stop] }] } });
    expect(times).toBe(2);
    expect(result).toMatchObject({ status: "success", text: "one more thing" });
  });

  it("a hook that stops the run ends it after the step, with its reason", async () => {
    const place = await open(shell("echo hello"));
    const { log, result } = await ask(place.backend({ allowedTools: ["Bash"] }), "go", {
      policy: { hooks: [{ "after-tool": [() => ({ stop: "That is enough." })] }] },
    });
    expect(result).toMatchObject({ status: "error", subtype: "hook_stopped" });
    expect(result.error?.message).toContain("That is enough.");
    expect(ofType(log, "result")).toMatchObject([{ subtype: "hook_stopped", isError: true }]);
  });

  it("AT-40 S4-31: an abort in the middle of a command leaves no process", async () => {
    const place = await open(shell(ENDLESS));
    const { run } = await runOn(place.backend({ allowedTools: ["Bash"] }), "go");
    for await (const event of run.detach()) if (event.type === "tool-call") break;
    // The command is a child of its own session; give it the time to be there.
    await expect.poll(() => processesWith(place.home).length, { timeout: 60_000 }).toBeGreaterThan(1);
    await run.abort();
    expect(processesWith(place.home)).toEqual([]);
    expect(await run.result()).toMatchObject({ status: "aborted" });
    await run.abort();
  });

  it("S0-37 S0-60: one process for three turns; the model and the rest of the session stay", async () => {
    const place = await open();
    const backend = place.backend();
    const conversation = await backend.open(
      settingsFor({ tools: [add], settings: { features: ["tools", "session"] } }),
    );
    const first = await readLog(sendAsRun(conversation, "What is 1 + 2?", { tools: [add] }));
    const pids = processesWith(place.home);
    await conversation.setModel("claude-sonnet-4-5");
    const second = await readLog(sendAsRun(conversation, "What is 3 + 4?", { tools: [add] }));
    const third = await readLog(sendAsRun(conversation, "What is 5 + 6?", { tools: [add] }));
    expect([first, second, third].map(({ result }) => [result.status, result.text.match(/\d+\.?$/)?.[0]])).toEqual([
      ["success", "3."],
      ["success", "7."],
      ["success", "11."],
    ]);
    for (const { log } of [first, second, third]) {
      expect(ofType(log, "start")).toMatchObject([{ sessionId: conversation.sessionId }]);
      expect(ofType(log, "result")).toHaveLength(1);
    }
    expect(ofType(second.log, "start")[0]?.model).toBe("claude-sonnet-4-5");
    expect(processesWith(place.home)).toEqual(pids);
    await conversation.close();
    await conversation.close();
    expect(processesWith(place.home)).toEqual([]);
  });

  it("S0-80: an interrupt ends the turn, and the next one works", async () => {
    const place = await open({
      rules: [
        {
          match: { user: "long" },
          reply: { toolCalls: [{ name: "Bash", input: { command: ENDLESS, description: "x" } }] },
        },
        { reply: { text: "back again" } },
      ],
    });
    const conversation = await place.backend({ mode: "control", allowedTools: ["Bash"] }).open(settingsFor({}));
    const long = sendAsRun(conversation, "long");
    for await (const event of long.detach()) if (event.type === "tool-call") break;
    await conversation.interrupt();
    expect(await long.result()).toMatchObject({ status: "error", subtype: "error_during_execution" });
    const next = await readLog(sendAsRun(conversation, "short"));
    expect(next.result).toMatchObject({ status: "success", text: "back again" });
    await conversation.close();
    expect(processesWith(place.home)).toEqual([]);
  });

  it("AT-18 S0-97: after a failed turn the next one in the same session succeeds", async () => {
    const place = await open({
      rules: [
        { match: { user: "please" }, reply: { text: "fine" } },
        { match: { user: "fail" }, reply: { text: "fine" }, fault: { status: 403 } },
        { reply: { text: "fine" } },
      ],
    });
    const conversation = await place.backend({ mode: "control" }).open(settingsFor({}));
    const failed = await readLog(sendAsRun(conversation, "fail"));
    expect(failed.result.status).toBe("error");
    const { result } = await readLog(sendAsRun(conversation, "please"));
    expect(result).toMatchObject({ status: "success", text: "fine" });
    await conversation.close();
  });

  it("S3-20 S3-40 AT-35: tools that fail and tools that do not exist give results, and contexts do not mix", async () => {
    const who = tool("who", "Says the context", {}, (_, { context }) => String(context));
    const boom = tool("boom", "Fails", {}, () => {
      throw new Error("kaput");
    });
    const calls = (name: string) => ({
      rules: [{ match: { turn: 0 }, reply: { toolCalls: [{ name, input: {} }] } }, { reply: { text: "ok" } }],
    });
    const place = await open(calls("mcp__millrace__who"));
    const runs = await Promise.all(
      ["red", "blue"].map((context) => ask(place.backend(), "go", { tools: [who, boom], context })),
    );
    expect(runs.map(({ log }) => ofType(log, "tool-result")[0]?.output)).toEqual(["red", "blue"]);
    const failing = await open(calls("mcp__millrace__boom"));
    const failed = await ask(failing.backend(), "go", { tools: [who, boom] });
    expect(ofType(failed.log, "tool-result")).toMatchObject([{ name: "boom", isError: true, output: /kaput/ }]);
    expect(failed.result).toMatchObject({ status: "success", text: "ok" });
    for (const name of ["mcp__millrace__nowhere", "Nowhere"]) {
      const missing = await open(calls(name));
      const answered = await ask(missing.backend(), "go", { tools: [who, boom] });
      expect(ofType(answered.log, "tool-result")).toMatchObject([{ isError: true, output: /No such tool/ }]);
      expect(answered.result).toMatchObject({ status: "success", text: "ok" });
      // The model is told, and goes on.
      expect(JSON.stringify(missing.emulator.requests.at(-1)?.body)).toContain("No such tool");
    }
  });

  it("S1-116: the session continues in plain mode and in control mode, by its id", async () => {
    const place = await open();
    const plain = await place.backend({ mode: "plain" }).open(settingsFor({}));
    const first = await readLog(sendAsRun(plain, "What is 20 + 2?"));
    const second = await readLog(sendAsRun(plain, "What is 30 + 3?"));
    expect([first.result.status, second.result.status]).toEqual(["success", "success"]);
    expect(ofType(first.log, "start")).toMatchObject([{ mode: "plain" }]);
    const { sessionId } = plain;
    expect(second.result.sessionId).toBe(sessionId);
    await plain.close();
    const resumed = await ask(place.backend({ mode: "control" }), "What is 40 + 4?", {
      settings: { resume: { kind: "resume", sessionId: sessionId as string, fork: false } },
    });
    expect(resumed.result).toMatchObject({ status: "success", sessionId });
    const asked = place.emulator.requests.map(({ body }) => JSON.stringify(body ?? {}));
    expect(asked.filter((body) => body.includes("What is 40 + 4?")).at(-1)).toContain("What is 20 + 2?");
  });

  it.runIf(realCliHas("append-prompt-file"))(
    "AT-42: a prompt and instructions of 300 KB arrive unchanged",
    async () => {
      const place = await open({ rules: [{ reply: { text: "ok" } }] });
      const long = `"quotes" 'and' $(more)\n`.repeat(13_000);
      for (const mode of ["plain", "control"] as const) {
        const before = place.emulator.requests.length;
        const { result } = await ask(place.backend({ mode }), `P${long}P`, { settings: { instructions: `I${long}I` } });
        expect(result.status).toBe("success");
        // Older versions ask for titles and the like beside the turn.
        const bodies = place.emulator.requests
          .slice(before)
          .map(({ body }) => (body ?? {}) as { system?: unknown; messages?: unknown });
        const holds = (value: unknown, text: string) =>
          JSON.stringify(value ?? "").includes(JSON.stringify(text).slice(1, -1));
        const arrived = bodies.filter((body) => holds(body.messages, `P${long}P`) && holds(body.system, `I${long}I`));
        expect(arrived.length).toBeGreaterThan(0);
      }
      expect(readdirSync(place.home).filter((name) => name.startsWith("millrace-"))).toEqual([]);
    },
  );
});

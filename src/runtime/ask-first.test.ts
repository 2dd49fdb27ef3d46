import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { asksPerson, waitForPerson } from "#domain";
import { createScriptedBackend } from "#testing";
import { tool } from "#tools";
import { createSystemFiles } from "#transports";
import { temporaryFolder } from "../../test/temporary-folder.ts";
import { agent } from "./agent.ts";
import { agentTool } from "./agent-tool.ts";
import { askFirst } from "./ask-first.ts";
import type { RunOptions } from "./options.ts";
import { swarm } from "./swarm.ts";

const refund = tool("refund", "Refund", { id: "string" }, () => "done");
const request = { callId: "c", agent: undefined, runId: "r", context: undefined, signal: new AbortController().signal };
const judge = async (options: RunOptions, name: string, input: unknown = {}, reason?: string): Promise<unknown> =>
  options.permission?.({ ...request, name, input, reason });
const judgeFor = async (options: RunOptions, one: string, name: string): Promise<unknown> =>
  options.permission?.({ ...request, agent: one, name, input: {}, reason: undefined });
const files = createSystemFiles();
const place = { folder: "/", files };

describe("F-A2: an agent with its own tools asks before it acts for another person", () => {
  const asking = askFirst("claude-code", { tools: [refund], cwd: "/srv/app" }, place);

  it.each<[string, unknown]>([
    ["Bash", { command: "ls" }],
    ["Write", { file_path: "/srv/app/a" }],
    ["Edit", { file_path: "/srv/app/a" }],
    ["MultiEdit", {}],
    ["NotebookEdit", {}],
    ["WebFetch", { url: "https://example.com" }],
    ["WebSearch", {}],
    ["Task", {}],
    ["KillShell", {}],
    ["mcp__other__tool", {}],
    ["a tool nobody has heard of", {}],
    ["constructor", {}],
    ["Read", { file_path: "/etc/passwd" }],
    ["Read", { file_path: "../secret" }],
    ["Read", { file_path: "~/.ssh/id_rsa" }],
    ["Read", { file_path: 7 }],
    ["Read", "text"],
    ["Grep", { pattern: "x", path: "/srv/app-2" }],
    ["Glob", { pattern: "/etc/*" }],
    ["Glob", { pattern: "a/../../*" }],
  ])("%s %j needs a question", async (name, input) => {
    expect(await judge(asking, name, input)).toBe("ask");
  });

  it.each<[string, object]>([
    ["Read", { file_path: "/srv/app/src/a.ts" }],
    ["Read", { file_path: "src/a.ts" }],
    ["Grep", { pattern: "/etc/passwd" }],
    ["Glob", { pattern: "**/*.ts" }],
    ["LS", { path: "." }],
    ["TodoWrite", {}],
    ["refund", { id: "1" }],
  ])("%s %j does not", async (name, input) => {
    expect(await judge(asking, name, input)).toEqual({ allow: true });
  });

  it("what an ask rule covers is asked, whatever it is", async () => {
    expect(await judge(asking, "refund", {}, 'The rule "refund" requires a person to decide.')).toBe("ask");
  });

  it("the same applies to an agent and to a swarm in which one has its own tools", async () => {
    const worker = agent({ name: "worker", backend: "claude-code/opus", tools: [refund] });
    const front = agent({ name: "front", backend: "offline", handoffs: ["worker"] });
    for (const target of [worker, swarm([front, worker])]) {
      const options = askFirst(target, {}, { ...place, folder: "/srv/app" });
      expect(await judgeFor(options, "worker", "Bash")).toBe("ask");
      expect(await judgeFor(options, "worker", "refund")).toEqual({ allow: true });
    }
  });

  it("nothing changes for models, nor if the operator has made a decision", () => {
    const own: RunOptions = { permission: () => ({ allow: true }) };
    expect(askFirst("claude-code", own, place)).toBe(own);
    const open: RunOptions = { permissions: { otherwise: "allow" } };
    expect(askFirst("claude-code", open, place)).toBe(open);
    const deciding = agent({ name: "a", backend: "claude-code", permission: () => ({ allow: true }) });
    const options: RunOptions = {};
    expect(askFirst(deciding, options, place)).toBe(options);
    for (const target of ["offline", createScriptedBackend([]), agent({ name: "b", backend: "openai/x" })] as const) {
      expect(askFirst(target, options, place)).toBe(options);
    }
  });

  it("a file in the working folder is read without a question, the target of a link in it is not", async () => {
    const top = realpathSync(temporaryFolder("ask-first"));
    const cwd = join(top, "app");
    for (const folder of ["app/src", "secrets"]) mkdirSync(join(top, folder), { recursive: true });
    writeFileSync(join(top, "secrets/key"), "key");
    writeFileSync(join(cwd, "src/a.ts"), "a");
    symlinkSync("../secrets", join(cwd, "way"));
    symlinkSync("../secrets/key", join(cwd, "src/key"));
    symlinkSync("src", join(cwd, "source"));
    symlinkSync("app", join(top, "linked"));
    for (const folder of [cwd, join(top, "linked")]) {
      const options = askFirst("claude-code", {}, { folder, files });
      const inside: readonly [string, object][] = [
        ["Read", { file_path: join(folder, "src/a.ts") }],
        ["Read", { file_path: join(folder, "source/a.ts") }],
        ["Read", { file_path: join(folder, "src/not-there") }],
        ["Glob", { pattern: "src/*.ts" }],
        ["Grep", { pattern: "x", path: folder, glob: "*.{ts,js}" }],
      ];
      const outside: readonly [string, object][] = [
        ["Read", { file_path: join(folder, "src/key") }],
        ["Read", { file_path: join(folder, "way/key") }],
        ["Read", { file_path: "way/key" }],
        ["Read", { file_path: " /etc/passwd" }],
        ["Read", { file_path: "file:///etc/passwd" }],
        ["Read", { file_path: "/proc/self/environ" }],
        ["Grep", { pattern: "x", path: "way" }],
        ["LS", { path: join(folder, "way") }],
        ["Glob", { pattern: "way/**" }],
        ["Glob", { pattern: "*", path: "way" }],
      ];
      for (const [name, input] of inside) expect(await judge(options, name, input)).toEqual({ allow: true });
      for (const [name, input] of outside) expect([input, await judge(options, name, input)]).toEqual([input, "ask"]);
    }
  });

  it("the same applies to an agent that is a tool of another, at any depth", async () => {
    const worker = agent({ name: "worker", backend: "claude-code" });
    const middle = agent({ name: "middle", backend: "offline", tools: [agentTool(worker)] });
    const front = agent({ name: "front", backend: "offline", tools: [agentTool(middle)] });
    const given: RunOptions = { tools: [agentTool(worker)] };
    for (const options of [askFirst(front, {}, place), askFirst("offline", given, place)]) {
      expect(await judgeFor(options, "worker", "Bash")).toBe("ask");
    }
    expect(await judgeFor(askFirst(front, {}, place), "front", "middle")).toEqual({ allow: true });
  });

  it("the settings of one agent apply to that agent only", async () => {
    const worker = agent({ name: "worker", backend: "claude-code" });
    const open = agent({ name: "open", backend: "claude-code", permissions: { otherwise: "allow" } });
    const denial = { allow: false, reason: "No." } as const;
    const strict = agent({
      name: "strict",
      backend: "offline",
      tools: [refund],
      handoffs: ["worker", "open"],
      permission: waitForPerson(() => denial),
    });
    const options = askFirst(swarm([strict, worker, open]), {}, place);
    expect(await judgeFor(options, "worker", "Bash")).toBe("ask");
    expect(await judgeFor(options, "worker", "refund")).toBe("ask");
    expect(await judgeFor(options, "open", "Bash")).toEqual({ allow: true });
    expect(await judgeFor(options, "strict", "refund")).toEqual(denial);
    expect(asksPerson(options.permission)).toBe(true);
  });
});

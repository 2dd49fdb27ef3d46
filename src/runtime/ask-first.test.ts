import { describe, expect, it } from "vitest";
import { createScriptedBackend } from "#testing";
import { tool } from "#tools";
import { agent } from "./agent.ts";
import { askFirst } from "./ask-first.ts";
import type { RunOptions } from "./options.ts";
import { swarm } from "./swarm.ts";

const refund = tool("refund", "Refund", { id: "string" }, () => "done");
const request = { callId: "c", agent: undefined, runId: "r", context: undefined, signal: new AbortController().signal };
const judge = (options: RunOptions, name: string, input: unknown = {}, reason?: string): unknown =>
  options.permission?.({ ...request, name, input, reason });

describe("F-A2: an agent with tools of its own asks before it acts for somebody else", () => {
  const asking = askFirst("claude-code", { tools: [refund], cwd: "/srv/app" }, "/");

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
  ])("%s %j is asked about", (name, input) => {
    expect(judge(asking, name, input)).toBe("ask");
  });

  it.each<[string, object]>([
    ["Read", { file_path: "/srv/app/src/a.ts" }],
    ["Read", { file_path: "src/a.ts" }],
    ["Grep", { pattern: "/etc/passwd" }],
    ["Glob", { pattern: "**/*.ts" }],
    ["LS", { path: "." }],
    ["TodoWrite", {}],
    ["refund", { id: "1" }],
  ])("%s %j is not", (name, input) => {
    expect(judge(asking, name, input)).toEqual({ allow: true });
  });

  it("what a rule wants asked is asked, whatever it is", () => {
    expect(judge(asking, "refund", {}, 'The rule "refund" wants somebody to decide.')).toBe("ask");
  });

  it("the same for an agent and for a swarm in which one has tools of its own", () => {
    const worker = agent({ name: "worker", backend: "claude-code/opus", tools: [refund] });
    const front = agent({ name: "front", backend: "offline", handoffs: ["worker"] });
    for (const target of [worker, swarm([front, worker])]) {
      const options = askFirst(target, {}, "/srv/app");
      expect([judge(options, "Bash"), judge(options, "refund")]).toEqual(["ask", { allow: true }]);
    }
  });

  it("nothing changes for models, nor where the operator decides himself", () => {
    const own: RunOptions = { permission: () => ({ allow: true }) };
    expect(askFirst("claude-code", own, "/")).toBe(own);
    const open: RunOptions = { permissions: { otherwise: "allow" } };
    expect(askFirst("claude-code", open, "/")).toBe(open);
    const deciding = agent({ name: "a", backend: "claude-code", permission: () => ({ allow: true }) });
    const options: RunOptions = {};
    expect(askFirst(deciding, options, "/")).toBe(options);
    for (const target of ["offline", createScriptedBackend([]), agent({ name: "b", backend: "openai/x" })] as const) {
      expect(askFirst(target, options, "/")).toBe(options);
    }
  });
});

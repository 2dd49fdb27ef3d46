import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { isStartError } from "#domain";
import { agent, systemWorld } from "#runtime";
import { createScriptedBackend } from "#testing";
import { temporaryFolder } from "../temporary-folder.ts";
import { startServer, testWorld, type TestServer } from "./support.ts";

const folder = temporaryFolder("targets");

/** Every string that names a backend, in several forms. */
const TARGETS = [
  "claude-code",
  "claude-code/opus",
  "offline",
  "offline/offline",
  "anthropic",
  "openai/gpt-5",
  "google",
  "vllm/x",
];

const create = async (server: TestServer, target?: string) => {
  const response = await server.ask("POST", "/api/threads", target === undefined ? {} : { target });
  return { status: response.status, body: (await response.json()) as { id?: string; error?: { message: string } } };
};

const listed = async (server: TestServer) =>
  (await (await server.ask("GET", "/api/backends")).json()) as {
    default: string;
    backends: { target: string; available: boolean; reason?: string }[];
  };

describe("F-A2: callers choose among the targets the operator named", () => {
  it.each(TARGETS)("by default there is one, and %s is another", async (target) => {
    const own = target === "offline" ? "anthropic" : "offline";
    const server = startServer({ world: testWorld(), target: own });
    const { status, body } = await create(server, target);
    expect(status).toBe(400);
    expect(body.error?.message).toBe(`This server does not offer "${target}". It offers: ${own}.`);
    expect((await create(server)).status).toBe(201);
    expect((await listed(server)).backends.map((one) => one.target)).toEqual([own]);
  });

  it.each(["targets", "backends"] as const)("`%s` names several, exactly as they are written", async (field) => {
    const server = startServer({ world: testWorld(), [field]: ["openai/gpt-5", "claude-code"] });
    expect((await listed(server)).default).toBe("openai/gpt-5");
    expect((await create(server, "claude-code")).status).toBe(201);
    expect((await create(server, "claude-code/opus")).status).toBe(400);
    expect((await create(server, "openai")).status).toBe(400);
  });

  it("agents are named by being there", async () => {
    const clerk = agent({ name: "clerk", backend: createScriptedBackend([{ text: "x" }]) });
    const server = startServer({ world: testWorld(), agents: [clerk], target: "clerk" });
    expect((await create(server, "clerk")).status).toBe(201);
    expect((await create(server, "offline")).status).toBe(400);
    expect((await listed(server)).backends).toEqual([{ target: "clerk", kind: "agent", available: true }]);
  });

  it("a thread whose target is no longer offered is not answered, and stays", async () => {
    const before = startServer({ world: testWorld(), targets: ["offline", "claude-code"] });
    const { body } = await create(before, "claude-code");
    const after = startServer({ world: testWorld(), store: before.store });
    const response = await after.ask("POST", `/api/threads/${body.id}/chat`, { input: "hi" });
    expect(response.status).toBe(400);
    expect(await response.text()).toContain("It offers: offline.");
    expect((await after.ask("GET", `/api/threads/${body.id}`)).status).toBe(200);
  });

  it.each([
    ["target", { target: "ofline" }],
    ["targets", { targets: ["offline", "clode-code"] }],
  ])("a name in `%s` that does not exist is refused at the start", (_, options) => {
    let thrown: unknown;
    try {
      startServer({ world: testWorld(), ...options });
    } catch (error) {
      thrown = error;
    }
    expect(isStartError(thrown) && thrown.code).toBe("unknown-backend");
  });
});

describe("F-C9: a target is available when doctor says so", () => {
  const claude = join(folder, "claude");
  writeFileSync(claude, "#!/bin/sh\necho '2.1.0 (Claude Code)'\n");
  chmodSync(claude, 0o755);
  const world = { ...systemWorld(), env: { PATH: "/nowhere", HOME: folder } };

  it("Claude Code is not where there is none, and the reason is the remedy", async () => {
    const { backends } = await listed(startServer({ world, targets: ["claude-code", "claude-code/opus"] }));
    expect(backends).toMatchObject([{ available: false }, { available: false }]);
    expect(backends[0]?.reason).toContain("npm install -g @anthropic-ai/claude-code");
  });

  it("Claude Code is where there is one, also for an agent that uses it", async () => {
    const worker = agent({ name: "worker", backend: "claude-code" });
    const run = { claudeCode: { executable: claude } };
    const { backends } = await listed(startServer({ world, agents: [worker], targets: ["claude-code"], run }));
    expect(backends).toEqual([
      { target: "worker", kind: "agent", available: true },
      { target: "claude-code", kind: "backend", available: true },
    ]);
  });

  it.each([
    ["is not where runs would need hooks that it is too old for", {}, false],
    ["is where runs ask it for none", { mode: "plain" }, true],
  ] as const)("Claude Code 1 %s", async (_, more, available) => {
    const old = join(folder, "claude-1");
    writeFileSync(old, "#!/bin/sh\necho '1.0.128 (Claude Code)'\n");
    chmodSync(old, 0o755);
    const run = { claudeCode: { executable: old, ...more } };
    const server = startServer({
      world,
      agents: [agent({ name: "worker", backend: "claude-code" })],
      targets: ["claude-code"],
      run,
    });
    const { backends } = await listed(server);
    expect(backends).toMatchObject([{ available }, { available }]);
    if (available) return;
    expect(backends[0]?.reason).toContain("npm update -g @anthropic-ai/claude-code");
    const { body } = await create(server, "claude-code");
    const answer = await server.ask("POST", `/api/threads/${body.id}/chat`, { input: "hi" });
    expect(await answer.text()).toContain("feature-unavailable");
  });

  it("a host that does not answer is not; one without a key says which variable", async () => {
    const run = { openai: { apiKey: "k", baseUrl: "http://127.0.0.1:1/v1" } };
    const { backends } = await listed(startServer({ world, targets: ["openai", "anthropic"], run }));
    expect(backends).toMatchObject([
      { available: false, reason: expect.stringContaining("cannot be reached") },
      { available: false, reason: expect.stringContaining("ANTHROPIC_API_KEY") },
    ]);
  });

  it("the machine is looked at once in a while, not with every request", async () => {
    let started = 0;
    const counting = {
      ...world,
      spawn: (...request: Parameters<typeof world.spawn>) => {
        started += 1;
        return world.spawn(...request);
      },
    };
    const server = startServer({
      world: counting,
      targets: ["claude-code"],
      run: { claudeCode: { executable: claude } },
    });
    await Promise.all([listed(server), listed(server)]);
    await listed(server);
    expect(started).toBe(1);
  });
});

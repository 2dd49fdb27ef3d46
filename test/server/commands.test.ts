import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { agent, command, type CommandOptions, systemWorld } from "#runtime";
import { createScriptedBackend } from "#testing";
import { childEnvironment } from "../../src/backends/claude-code/environment.ts";
import { commandIn } from "../../src/runtime/command.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { readEvents, startServer, type TestServer } from "./support.ts";

const folder = temporaryFolder("server-commands");
const world = { ...systemWorld(), env: { PATH: process.env["PATH"], HOME: folder } };

const node = (code: string, options: CommandOptions = {}) =>
  command([process.execPath, "-e", code], { cwd: folder, format: "text", ...options });

const ECHO = agent({ name: "echo", backend: node("process.stdin.pipe(process.stdout)") });
const MISSING = agent({ name: "lost", backend: command(["no-such-program-1"]) });

async function createThread(server: TestServer, target: string): Promise<string> {
  const response = await server.ask("POST", "/api/threads", { target });
  expect(response.status).toBe(201);
  return ((await response.json()) as { id: string }).id;
}

async function chat(server: TestServer, target: string, input = "hello") {
  const response = await server.ask("POST", `/api/threads/${await createThread(server, target)}/chat`, { input });
  expect(response.status).toBe(200);
  return response;
}

const doneOf = async (response: Response) => (await readEvents(response)).at(-1);

describe("F-C3 F-A2: a command as a target of the server", () => {
  it("is answered by the command, in a stream with one end", async () => {
    const server = startServer({ world, agents: [ECHO], target: "echo" });
    const events = await readEvents(await chat(server, "echo", "wörds"));
    expect(events.filter(({ type }) => type === "done")).toHaveLength(1);
    expect(events.at(-1)).toMatchObject({ result: { status: "success", text: "wörds" } });
  });

  it.each([
    ["an exit code", "console.error('sorry'); process.exit(3)", "process-exited"],
    ["an end by a signal", "process.kill(process.pid, 'SIGKILL')", "process-exited"],
  ])("%s fails the run", async (_, code, subtype) => {
    const server = startServer({ world, agents: [agent({ name: "bad", backend: node(code) })], target: "bad" });
    expect(await doneOf(await chat(server, "bad"))).toMatchObject({ result: { status: "error", subtype } });
  });

  it("an abort ends it", async () => {
    const forever = agent({ name: "forever", backend: node("console.log('first'); setInterval(() => 1, 1000)") });
    const server = startServer({ world, agents: [forever], target: "forever" });
    const response = await chat(server, "forever");
    const runId = response.headers.get("x-run-id") ?? "";
    expect(await (await server.ask("POST", `/api/runs/${runId}/abort`)).json()).toEqual({ accepted: true });
    expect(await doneOf(response)).toMatchObject({ result: { status: "aborted" } });
    await server.server.close();
  });

  it.each([
    ["beside an agent that asks before it acts", []],
    ["that such an agent hands over to", ["echo"]],
  ])("works %s", async (_, handoffs) => {
    const coder = agent({ name: "coder", backend: "claude-code", handoffs });
    const server = startServer({ world, agents: [coder, ECHO], target: "echo" });
    expect(await doneOf(await chat(server, "echo"))).toMatchObject({ result: { status: "success", text: "hello" } });
  });

  it("an agent that asks is asked all the same when a command is beside it", async () => {
    const model = agent({ name: "model", backend: createScriptedBackend([{ text: "x" }]) });
    const server = startServer({ world, agents: [model, ECHO], target: "model" });
    expect(await doneOf(await chat(server, "model"))).toMatchObject({ result: { status: "success", text: "x" } });
  });
});

describe("F-C9: whether a command is there", () => {
  const listed = async (server: TestServer) =>
    ((await (await server.ask("GET", "/api/backends")).json()) as { backends: { target: string; reason?: string }[] })
      .backends;

  const plain = join(folder, "plain-file");
  writeFileSync(plain, "x");
  chmodSync(plain, 0o644);

  it("a command that is there is available", async () => {
    const own = join(folder, "own-program");
    writeFileSync(own, "#!/bin/sh\ncat\n");
    chmodSync(own, 0o755);
    const agents = [
      agent({ name: "by-name", backend: command(["sh", "-c", "cat"]) }),
      agent({ name: "by-path", backend: command([process.execPath]) }),
      agent({ name: "relative", backend: command(["./own-program"], { cwd: folder }) }),
      agent({ name: "own-path", backend: command(["own-program"], { env: { PATH: folder } }) }),
    ];
    const states = await listed(startServer({ world, agents, target: "by-name" }));
    expect(states.map(({ target, ...state }) => [target, state])).toEqual(
      agents.map(({ name }) => [name, { kind: "agent", available: true }]),
    );
  });

  it.each([
    [["no-such-program-1"], /The program no-such-program-1 was not found in PATH \(/],
    [["./no-such-program-1"], /There is no program at .*server-commands.*no-such-program-1\./],
    [[plain], /plain-file may not be executed\. Make it executable \(chmod \+x\)/],
    [[folder], /is a folder, not a program/],
  ])("%j is not available, and the reason says so", async (argv, reason) => {
    const one = agent({ name: "one", backend: command(argv, { cwd: folder }) });
    const [state] = await listed(startServer({ world, agents: [one], target: "one" }));
    expect(state).toMatchObject({ available: false, reason: expect.stringMatching(reason) });
  });

  it("a folder that is not there is not available", async () => {
    const one = agent({ name: "one", backend: command(["sh"], { cwd: join(folder, "nowhere") }) });
    const [state] = await listed(startServer({ world, agents: [one], target: "one" }));
    expect(state).toMatchObject({ available: false, reason: expect.stringMatching(/nowhere.* is not a folder/) });
  });

  it("one that the rules of the server cannot hold for is not available", async () => {
    const server = startServer({ world, agents: [ECHO], target: "echo", run: { permissions: { deny: ["Bash"] } } });
    expect(await listed(server)).toMatchObject([
      { available: false, reason: expect.stringContaining("permissions is not available on command") },
    ]);
  });

  it("a run of one that is not there fails and says what is missing", async () => {
    const server = startServer({ world, agents: [MISSING], target: "lost" });
    expect(await doneOf(await chat(server, "lost"))).toMatchObject({
      result: { status: "error", error: { message: expect.stringContaining("no-such-program-1") } },
    });
  });
});

describe("F-A2: a command does not inherit the secrets of the server", () => {
  const variables = {
    MILLRACE_TOKEN: "token-of-the-server-1",
    MILLRACE_METRICS_TOKEN: "token-of-the-metrics-1",
    MILLRACE_API_KEY: "key-of-the-server-123",
    MILLRACE_LINK_KEY: "key-of-the-links-123",
    MILLRACE_STORE: "postgres://millrace:password-of-the-store@db.example/millrace",
    MILLRACE_QUEUE: "redis://:password-of-the-queue@queue.example",
    PGPASSWORD: "another-password-1",
    PGPASSFILE: "/etc/pgpass",
    COPY_OF_IT: "token-of-the-server-1",
    COPY_OF_STORE: "postgres://millrace:password-of-the-store@db.example/millrace",
    COPY_OF_PASSWORD: "password-of-the-queue",
    MILLRACE_BACKEND: "echo",
    OWN_KEY: "key-of-the-command-1",
  };
  const code = `process.stdout.write(${JSON.stringify(Object.keys(variables))}.filter((name) => name in process.env).join(" "))`;
  const printer = (env?: Record<string, string>) =>
    agent({
      name: "printer",
      backend: commandIn(
        [process.execPath, "-e", code],
        { format: "text", input: "none", ...(env !== undefined && { env }) },
        { ...world, env: { ...world.env, ...variables } },
      ),
    });

  it("under any name; other variables and those it is given are passed", async () => {
    const server = startServer({ world, agents: [printer()], target: "printer" });
    expect(await doneOf(await chat(server, "printer"))).toMatchObject({
      result: { status: "success", text: "MILLRACE_BACKEND OWN_KEY" },
    });
    const given = startServer({ world, agents: [printer({ MILLRACE_API_KEY: "x" })], target: "printer" });
    expect(await doneOf(await chat(given, "printer"))).toMatchObject({
      result: { text: "MILLRACE_API_KEY MILLRACE_BACKEND OWN_KEY" },
    });
  });

  it("nor does Claude Code, which passes its variables on to MCP servers", () => {
    const env = childEnvironment({ parent: { ...variables, PATH: "/bin" } });
    expect(Object.keys(variables).filter((name) => name in env)).toEqual([]);
  });
});

describe("/readyz", () => {
  it.each([
    ["a command", { agents: [MISSING, ECHO], target: "echo" }, "lost"],
    ["Claude Code", { targets: ["offline", "claude-code"] }, "claude-code"],
    [
      "an agent on Claude Code",
      { agents: [agent({ name: "coder", backend: "claude-code" })], target: "coder" },
      "coder",
    ],
  ])("names a target whose program is missing: %s", async (_, options, name) => {
    const server = startServer({ world: { ...world, env: { PATH: "/nowhere" } }, ...options });
    const response = await server.ask("GET", "/readyz");
    expect(response.status).toBe(503);
    expect(await response.text()).toBe(`the program of the target ${name} is missing\n`);
  });

  it("is ready with programs that are there, and whether or not hosts answer", async () => {
    const server = startServer({ world: { ...world, env: {} }, agents: [ECHO], targets: ["openai", "offline"] });
    expect((await server.ask("GET", "/readyz")).status).toBe(200);
  });
});

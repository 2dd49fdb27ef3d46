import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { AgentEvent } from "#domain";
import { command, explain, run, type RunOptions } from "#runtime";
import { assertRunLog } from "#testing";
import { tool } from "#tools";
import { temporaryFolder } from "../temporary-folder.ts";

const add = tool("add", "Add two numbers", { a: "number", b: "number" }, ({ a, b }) => a + b);

const cwd = temporaryFolder("command");

/** A command that is a line of JavaScript. */
const node = (code: string, options: Parameters<typeof command>[1] = {}) =>
  command([process.execPath, "-e", code], { cwd, ...options });

async function resultOf(target: Parameters<typeof run>[0], options: RunOptions = {}, prompt = "hello") {
  const log: AgentEvent[] = [];
  for await (const event of run(target, prompt, options)) log.push(event);
  assertRunLog(log);
  const last = log.at(-1);
  if (last?.type !== "done") throw new Error("no done");
  return last.result;
}

/** A process that nobody has collected yet is gone all the same. */
function isAlive(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}

const ECHO = "process.stdin.pipe(process.stdout)";

describe("S4-5 F-C3: a foreign command as a backend", () => {
  it("plain text on stdin and stdout is a prompt and an answer", async () => {
    const result = await resultOf(node(ECHO, { format: "text" }), {}, "hello, wörld");
    expect(result).toMatchObject({ status: "success", text: "hello, wörld" });
  });

  it("C22: the output is NDJSON unless a format is named; the prompt as an argument, the folder and the variables are the command's", async () => {
    const code =
      "console.log(JSON.stringify({ type: 'text', text: [process.argv[1], process.cwd(), process.env.A].join('|') }))";
    const target = node(code, { input: "argument", env: { A: "b" } });
    expect((await resultOf(target)).text).toContain(`hello|`);
    expect((await resultOf(target, { env: { A: "c" } })).text).toMatch(/\|c$/);
  });

  it.each([
    ["an exit code", "console.error('sorry'); process.exit(3)", "process-exited", /exit code 3: sorry/],
    ["text that is not JSON", "console.log('hello there')", "json-decode", /not in the format it was read as/],
  ])("%s fails the run", async (_, code, subtype, message) => {
    const result = await resultOf(node(code));
    expect(result).toMatchObject({ status: "error", subtype, error: { message: expect.stringMatching(message) } });
  });

  it("a missing program fails the run", async () => {
    expect(await resultOf(command(["no-such-program-1"]))).toMatchObject({ status: "error" });
  });

  it("guards on input and on output apply", async () => {
    const deny = (place: "input" | "output") => ({
      guards: [
        {
          name: "g",
          place,
          check: ({ text }: { text?: string }) => (text?.includes("secret") ? { deny: "no" } : undefined),
        },
      ] as never,
      outputMode: "buffer" as const,
    });
    expect(await resultOf(node(ECHO, { format: "text" }), deny("input"), "secret")).toMatchObject({
      error: { code: "guard-denied" },
    });
    const said = "process.stdin.resume().on('end', () => console.log('a secret'))";
    expect(await resultOf(node(said, { format: "text" }), deny("output"))).toMatchObject({
      text: "",
      error: { code: "guard-denied" },
    });
  });

  const FOREVER = "console.log('first'); setInterval(() => undefined, 1000)";

  it("limits.timeoutMs and limits.idleMs end it, and its output so far is kept", async () => {
    const result = await resultOf(node(FOREVER, { format: "text" }), { limits: { timeoutMs: 1500 } });
    expect(result).toMatchObject({ status: "error", subtype: "error_timeout" });
    const idle = await resultOf(node(FOREVER, { format: "text" }), { limits: { idleMs: 1000 } });
    expect(idle).toMatchObject({
      status: "error",
      error: { code: "stalled", message: expect.stringContaining("limits.idleMs: it has written nothing for 1000 ms") },
    });
  });

  it("an abort ends everything it has started", async () => {
    const child = `require('child_process').spawn(process.execPath, ['-e', 'setInterval(() => 1, 1000)'], { detached: true, stdio: 'ignore' })`;
    const started = run(node(`console.log(${child}.pid); setInterval(() => 1, 1000)`, { format: "text" }), "x");
    let pid = 0;
    for await (const text of started.text()) {
      pid = Number.parseInt(text, 10);
      break;
    }
    await started.abort();
    expect(pid).toBeGreaterThan(0);
    expect(isAlive(pid)).toBe(false);
  });

  it("output is checked against the schema", async () => {
    const target = node(`console.log('Here:\\n\`\`\`json\\n{"n": 4}\\n\`\`\`')`, { format: "text" });
    expect(await resultOf(target, { output: { n: "integer" } })).toMatchObject({ structured: { n: 4 } });
    expect(await resultOf(target, { output: { schema: { n: "string" }, repairs: 0 } })).toMatchObject({
      subtype: "error_max_structured_output_retries",
    });
  });
});

describe("F-C3: what is not possible with a command", () => {
  it.each([
    ["permissions", { permissions: { deny: ["Bash"] } }],
    ["permission", { permission: () => ({ allow: true }) }],
    ["hooks", { hooks: { "before-tool": [() => undefined] } as never }],
    ["guards", { guards: [{ name: "g", place: "tool-call", check: () => undefined }] as never }],
  ] as const)("%s is rejected before it starts", (option, options) => {
    expect(() => run(node(ECHO), "hi", options as RunOptions)).toThrow(`${option} is not available on command`);
  });

  it.each([
    ["tools", { tools: [add] }],
    ["instructions", { instructions: "x" }],
    ["limits.turns", { limits: { turns: 1 } }],
    ["maxTokens", { maxTokens: 5 }],
    ["session.continue", { session: { continue: true } }],
  ] as const)("%s causes a warning, and is rejected with strict", async (option, options) => {
    const target = node(ECHO, { format: "text" });
    const { warnings } = await resultOf(target, options as RunOptions);
    expect(warnings.map(({ context }) => context)).toEqual([{ option, backend: "command" }]);
    expect(explain(target, options as RunOptions).ignored).toEqual([option]);
    expect(() => run(target, "hi", { ...options, strict: true } as RunOptions)).toThrow(
      `${option} is not available on command`,
    );
  });

  it.each([
    [() => command([]), /argv is \[\]/],
    [() => command("ls -l" as never), /argv is "ls -l"/],
    [() => command(["ls"], { formt: "text" } as never), /Did you mean format\?/],
    [() => command(["ls"], { format: "txt" }), /text/],
    [() => command(["ls"], { input: "file" as never }), /input is "file"/],
  ])("%s", (make, message) => {
    expect(make).toThrow(message);
  });
});

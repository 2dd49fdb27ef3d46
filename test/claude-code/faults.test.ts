import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { isStartError } from "#domain";
import { tool } from "#tools";
import { createClaudeCodeBackend } from "../../src/backends/claude-code/backend.ts";
import type { ClaudeCodeOptions } from "../../src/backends/claude-code/options.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { ask, type Asked, ofType, processesWith, readLog, realWorld, runOn, sendAsRun, settingsFor } from "./place.ts";

const folder = temporaryFolder("faults");

let made = 0;

/** A `claude` that does what a few lines of shell say. Its own version is modern and quick to tell. */
function fakeCli(body: string, version = "2.1.325 (Claude Code)"): string {
  made += 1;
  const path = join(folder, `claude-${made}`);
  writeFileSync(
    path,
    `#!/bin/sh\nif [ "$1" = --version ]; then ${version.startsWith("!") ? version.slice(1) : `echo '${version}'; exit 0`}; fi\n${body}\n`,
  );
  chmodSync(path, 0o755);
  return path;
}

function backendFor(executable: string, mode: "plain" | "control", options: ClaudeCodeOptions = {}) {
  const mark = `fault-${process.pid}-${made}`;
  const world = realWorld({ PATH: process.env["PATH"] ?? "/usr/bin:/bin" }, folder);
  return {
    mark,
    backend: createClaudeCodeBackend({ executable, mode, cwd: folder, env: { FAULT_MARK: mark }, ...options }, world),
  };
}

const INIT = `{"type":"system","subtype":"init","session_id":"s1","model":"m","tools":[]}`;
const HI = `{"type":"assistant","message":{"id":"m1","role":"assistant","content":[{"type":"text","text":"hi"}]},"parent_tool_use_id":null}`;
const RESULT = `{"type":"result","subtype":"success","is_error":false,"result":"hi","session_id":"s1"}`;
const FAILED = RESULT.replace('"is_error":false', '"is_error":true');
const say = (...lines: string[]): string => lines.map((line) => `printf '%s\\n' '${line}'`).join("\n");
const good = say(INIT, HI, RESULT);
const drain = "cat >/dev/null";
/** A control conversation up to the user's message. */
const greeted = `read -r a; read -r b\n${say('{"type":"control_response","response":{"subtype":"success","request_id":"millrace-1","response":{}}}', INIT)}`;

interface Fault {
  readonly name: string;
  readonly mode?: "plain" | "control";
  readonly body: string;
  readonly status: "success" | "error";
  /** Of the terminal error. */
  readonly code?: string;
  /** Codes of warnings and of errors that end nothing, in order. */
  readonly also?: readonly string[];
  readonly text?: string;
  readonly asked?: Asked;
  readonly options?: ClaudeCodeOptions;
  readonly prompt?: string;
}

const FAULTS: readonly Fault[] = [
  // how it ends
  {
    name: "exit 3 with words on stderr",
    body: `${drain}; echo 'boom happened' >&2; exit 3`,
    status: "error",
    code: "process-exited",
  },
  { name: "exit 1, nothing said", body: `${drain}; exit 1`, status: "error", code: "process-exited" },
  { name: "exit 2", body: `${drain}; exit 2`, status: "error", code: "process-exited" },
  { name: "exit 126", body: `${drain}; exit 126`, status: "error", code: "process-exited" },
  { name: "exit 127", body: `${drain}; exit 127`, status: "error", code: "process-exited" },
  {
    name: "exit 0, nothing said",
    body: `${drain}; exit 0`,
    status: "error",
    code: "no-result",
    also: ["clean-exit-no-result"],
  },
  {
    name: "exit 0 in the middle of an answer",
    body: `${drain}; ${say(INIT, HI)}; exit 0`,
    status: "error",
    code: "no-result",
    also: ["clean-exit-no-result"],
  },
  {
    name: "exit 1 in the middle of an answer",
    body: `${drain}; ${say(INIT, HI)}; exit 1`,
    status: "error",
    code: "process-exited",
  },
  { name: "SIGSEGV", body: `${drain}; kill -SEGV $$`, status: "error", code: "process-exited" },
  { name: "SIGKILL", body: `${drain}; ${say(INIT)}; kill -KILL $$`, status: "error", code: "process-exited" },
  {
    name: "a good result, then exit 1",
    body: `${drain}; ${good}; exit 1`,
    status: "success",
    also: ["non-zero-exit-after-result"],
  },
  {
    name: "a good result, then exit 7",
    body: `${drain}; ${good}; exit 7`,
    status: "success",
    also: ["non-zero-exit-after-result"],
  },
  {
    name: "a good result, then SIGKILL",
    body: `${drain}; ${good}; kill -KILL $$`,
    status: "success",
    also: ["non-zero-exit-after-result"],
  },
  {
    name: "a failed result, then exit 1",
    body: `${drain}; ${say(INIT, HI, FAILED)}; exit 1`,
    status: "error",
    also: ["non-zero-exit-after-result"],
  },
  {
    name: "a good result, then exit 1, strictly",
    body: `${drain}; ${good}; exit 1`,
    status: "error",
    code: "process-exited",
    options: { strictExitStatus: true },
  },
  { name: "a result, and it never goes", body: `${drain}; ${good}; sleep 300`, status: "success" },
  {
    name: "a result, and it does not mind SIGTERM",
    body: `${drain}; trap '' TERM; ${good}; while :; do sleep 0.05; done`,
    status: "success",
  },
  {
    name: "a result, and a child in its group",
    body: `${drain}; sleep 300 & ${good}; wait`,
    status: "success",
  },
  {
    name: "a child that holds the output of a dead CLI",
    body: `${drain}; sleep 300 & ${good}; exit 0`,
    status: "success",
  },
  {
    name: "a child in a session of its own",
    body: `${drain}; setsid sleep 300 & ${good}; exit 0`,
    status: "success",
  },
  {
    name: "output closed, no result, and it stays",
    body: `${drain}; ${say(INIT)}; exec >&-; sleep 300`,
    status: "error",
    code: "no-result",
    also: ["clean-exit-no-result"],
  },
  {
    name: "output closed behind the result, and it stays",
    body: `${drain}; ${good}; exec >&-; sleep 300`,
    status: "success",
  },
  {
    name: "it never says anything",
    body: "sleep 300",
    status: "error",
    code: "stalled",
    asked: { settings: { idleMs: 300 } },
  },
  {
    name: "it stops in the middle",
    body: `${drain}; ${say(INIT, HI)}; sleep 300`,
    status: "error",
    code: "stalled",
    asked: { settings: { idleMs: 300 } },
  },
  // what it writes
  {
    name: "half a result line, then the end",
    body: `${drain}; ${say(INIT)}; printf '{"type":"result","subt'`,
    status: "error",
    code: "no-result",
    also: ["incomplete-last-line", "clean-exit-no-result"],
  },
  {
    name: "half a result line, then exit 1",
    body: `${drain}; ${say(INIT)}; printf '{"type":"result","subt'; exit 1`,
    status: "error",
    code: "process-exited",
  },
  {
    name: "a result without its line end",
    body: `${drain}; ${say(INIT, HI)}; printf '%s' '${RESULT}'`,
    status: "success",
  },
  {
    name: "a banner first",
    body: `${drain}; echo 'Welcome to bash'; ${good}`,
    status: "success",
    also: ["json-decode"],
  },
  {
    name: "four bad lines, then a good end",
    body: `${drain}; printf 'a\\nb\\nc\\nd\\n'; ${good}`,
    status: "success",
    also: ["json-decode", "json-decode", "json-decode", "json-decode"],
  },
  {
    name: "five bad lines",
    body: `${drain}; printf 'a\\nb\\nc\\nd\\ne\\n'; ${good}; sleep 300`,
    status: "error",
    code: "too-many-decode-errors",
    also: ["json-decode", "json-decode", "json-decode", "json-decode"],
  },
  {
    name: "a line that begins with NUL",
    body: `${drain}; printf '\\000{"type":"system"}\\n'; ${good}`,
    status: "success",
    also: ["json-decode"],
  },
  {
    name: "a line that begins with a byte order mark",
    body: `${drain}; printf '\\357\\273\\277%s\\n' '${INIT}'; ${say(HI, RESULT)}`,
    status: "success",
    also: [],
  },
  { name: "CRLF", body: `${drain}; printf '%s\\r\\n' '${INIT}' '${HI}' '${RESULT}'`, status: "success", text: "hi" },
  { name: "blank lines", body: `${drain}; printf '\\n\\n  \\n'; ${good}; printf '\\n'`, status: "success", text: "hi" },
  {
    name: "bytes that are not UTF-8",
    body: `${drain}; printf '"\\303\\050"\\n'; ${good}`,
    status: "success",
    also: ["utf8-decode"],
  },
  {
    name: "a character cut in two writes",
    body: `${drain}; ${say(INIT)}; printf '%s' '${HI.slice(0, HI.indexOf("hi"))}'; printf '\\303'; sleep 0.05; printf '\\244%s\\n' '${HI.slice(HI.indexOf('hi"') + 2)}'; ${say(RESULT)}`,
    status: "success",
    text: "ä",
  },
  {
    name: "a line separator inside a text",
    body: `${drain}; ${say(INIT)}; printf '%s\\342\\200\\250%s\\n' '${HI.slice(0, HI.indexOf("hi") + 2)}' '${HI.slice(HI.indexOf('hi"') + 2)}'; ${say(RESULT)}`,
    status: "success",
    text: "hi\u2028",
  },
  {
    name: "JSON a thousand levels deep",
    body: `${drain}; head -c 1000 /dev/zero | tr '\\0' '['; head -c 1000 /dev/zero | tr '\\0' ']'; echo; ${good}`,
    status: "success",
    also: ["json-decode"],
  },
  {
    name: "keys that reach for prototypes",
    body: `${drain}; ${say('{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"type":"system","subtype":"status"}')}; ${good}`,
    status: "success",
  },
  {
    name: "a line of 11 MB",
    body: `${drain}; head -c 11000000 /dev/zero | tr '\\0' x; sleep 300`,
    status: "error",
    code: "buffer-overflow",
  },
  {
    name: "400 MB without a line end",
    body: `${drain}; head -c 400000000 /dev/zero | tr '\\0' x; sleep 300`,
    status: "error",
    code: "buffer-overflow",
  },
  {
    name: "10 MB on stderr",
    body: `${drain}; head -c 10000000 /dev/zero | tr '\\0' e >&2; ${good}`,
    status: "success",
  },
  {
    name: "10 MB on stderr, then exit 9",
    body: `${drain}; head -c 10000000 /dev/zero | tr '\\0' e >&2; exit 9`,
    status: "error",
    code: "process-exited",
  },
  {
    name: "a message of an unknown type",
    body: `${drain}; ${say(INIT, '{"type":"brand_new","x":1}', HI, RESULT)}`,
    status: "success",
  },
  {
    name: "an assistant message without a message",
    body: `${drain}; ${say(INIT, '{"type":"assistant"}', '{"type":"user","message":7}', HI, RESULT)}`,
    status: "success",
  },
  {
    name: "a result that says nothing",
    body: `${drain}; ${say(INIT, HI, '{"type":"result"}')}`,
    status: "error",
    code: "no-result",
    also: ["clean-exit-no-result"],
  },
  {
    name: "success that is an error (429)",
    body: `${drain}; ${say(INIT, HI, FAILED.replace('"result":"hi"', '"result":"API Error: 429","api_error_status":429'))}; exit 1`,
    status: "error",
    also: ["non-zero-exit-after-result"],
  },
  {
    name: "F-B9: a good result, then a failed one that nobody announced",
    body: `${drain}; ${good}; ${say('{"type":"result","subtype":"error_during_execution","is_error":true}')}; exit 1`,
    status: "success",
    also: ["unexpected-message-after-result", "non-zero-exit-after-result"],
  },
  {
    name: "F-B9: a failed result, then a whole turn that nobody announced",
    body: `${drain}; ${say(INIT, FAILED, INIT, HI, RESULT)}`,
    status: "error",
    also: ["unexpected-message-after-result", "unexpected-message-after-result"],
  },
  {
    name: "a call that is never answered",
    body: `${drain}; ${say(INIT, HI.replace('{"type":"text","text":"hi"}', '{"type":"tool_use","id":"c1","name":"Bash","input":{}}'), RESULT)}`,
    status: "success",
  },
  {
    name: "an answer to no call",
    body: `${drain}; ${say(INIT, '{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"nobody","content":"x"}]}}', HI, RESULT)}`,
    status: "success",
  },
  {
    name: "three unknown lines behind the result",
    body: `${drain}; ${good}; ${say('{"type":"new1"}', '{"type":"new2"}', "junk")}`,
    status: "success",
    also: Array<string>(3).fill("unexpected-message-after-result"),
  },
  // what it reads
  {
    name: "it never reads a long prompt",
    body: good,
    status: "success",
    prompt: "x".repeat(2_000_000),
    also: ["input-cut"],
  },
  {
    name: "it closes its input at once",
    body: `exec <&-; ${good}`,
    status: "success",
    prompt: "x".repeat(2_000_000),
    also: ["input-cut"],
  },
  {
    name: "it writes 1 MB before it reads",
    body: `${say(INIT)}; i=0; while [ $i -lt 200 ]; do printf '{"type":"system","subtype":"status","pad":"%5000s"}\\n' x; i=$((i+1)); done; ${drain}; ${say(HI, RESULT)}`,
    status: "success",
    prompt: "x".repeat(1_000_000),
  },
  // the control channel
  {
    name: "it dies during initialize",
    mode: "control",
    body: `read -r a; echo 'Error: bad flag' >&2; exit 1`,
    status: "error",
    code: "process-exited",
  },
  {
    name: "it refuses initialize",
    mode: "control",
    body: `read -r a; ${say('{"type":"control_response","response":{"subtype":"error","request_id":"millrace-1","error":"no"}}')}; sleep 300`,
    status: "error",
    code: "control-failed",
  },
  {
    name: "control frames without sense",
    mode: "control",
    body: `${greeted}; ${say('{"type":"control_request"}', '{"type":"control_response"}', '{"type":"control_response","response":7}', '{"type":"control_cancel_request"}', '{"type":"control_response","response":{"subtype":"success","request_id":"ghost"}}', '{"type":"keep_alive"}', HI, RESULT)}; ${drain}`,
    status: "success",
  },
  {
    name: "a thousand requests nobody knows",
    mode: "control",
    body: `${greeted}; i=0; while [ $i -lt 1000 ]; do printf '{"type":"control_request","request_id":"r%d","request":{"subtype":"surprise"}}\\n' $i; i=$((i+1)); done; i=0; while [ $i -lt 1000 ]; do read -r l; i=$((i+1)); done; ${say(HI, RESULT)}; ${drain}`,
    status: "success",
  },
  {
    name: "it asks and dies",
    mode: "control",
    body: `${greeted}; ${say('{"type":"control_request","request_id":"r","request":{"subtype":"can_use_tool","tool_name":"Bash","input":7}}')}; exit 4`,
    status: "error",
    code: "process-exited",
    asked: { policy: { permission: () => new Promise(() => undefined) } },
  },
  {
    name: "a question without sense is denied, and it goes on",
    mode: "control",
    body: `${greeted}; ${say('{"type":"control_request","request_id":"r","request":{"subtype":"can_use_tool"}}')}; read -r l; case $l in *deny*) ${say(HI, RESULT)} ;; esac; ${drain}`,
    status: "success",
    asked: { policy: { permission: () => ({ allow: false }) } },
  },
  {
    name: "a tool server message without sense",
    mode: "control",
    body: `${greeted}; ${say('{"type":"control_request","request_id":"r","request":{"subtype":"mcp_message","server_name":"millrace","message":[1]}}')}; read -r l; case $l in *-32600*) ${say(HI, RESULT)} ;; esac; ${drain}`,
    status: "success",
    asked: { tools: [tool("add", "Add", { a: "number" }, () => 1)] },
  },
  {
    name: "it closes its input and answers",
    mode: "control",
    body: `${greeted}; exec <&-; ${say('{"type":"control_request","request_id":"r","request":{"subtype":"surprise"}}', HI, RESULT)}; sleep 0.2`,
    status: "success",
  },
  {
    name: "it closes its input, and answers after our refusal was lost",
    mode: "control",
    body: `${greeted}; exec <&-; ${say('{"type":"control_request","request_id":"r","request":{"subtype":"surprise"}}')}; sleep 0.3; ${say(HI, RESULT)}; sleep 0.2`,
    status: "success",
  },
  {
    name: "it dies behind its result",
    mode: "control",
    body: `${greeted}; ${say(HI, RESULT)}; exit 1`,
    status: "success",
    also: ["non-zero-exit-after-result"],
  },
  {
    name: "F-B5: it dies behind its result, strictly",
    mode: "control",
    body: `${greeted}; ${say(HI, RESULT)}; exit 1`,
    status: "error",
    code: "process-exited",
    options: { strictExitStatus: true },
  },
  {
    name: "F-B3: a child in a session of its own, behind the control channel",
    mode: "control",
    body: `${greeted}; setsid sleep 300 & ${say(HI, RESULT)}; cat >/dev/null; exit 0`,
    status: "success",
  },
  {
    name: "F-B3: output closed behind the result on the control channel, and it stays",
    mode: "control",
    body: `${greeted}; ${say(HI, RESULT)}; exec >&-; sleep 300`,
    status: "success",
  },
  {
    name: "output closed without a result on the control channel, and it stays",
    mode: "control",
    body: `${greeted}; exec >&-; sleep 300`,
    status: "error",
    code: "no-result",
  },
  {
    name: "it does not go when its input ends, nor on SIGTERM",
    mode: "control",
    body: `trap '' TERM; ${greeted}; ${say(HI, RESULT)}; while :; do sleep 0.05; done`,
    status: "success",
  },
];

describe("S3-44 S3-45 S1-118 R7: a CLI that misbehaves", () => {
  it("there are at least sixty faults", () => {
    expect(FAULTS.length).toBeGreaterThanOrEqual(60);
    expect(new Set(FAULTS.map(({ name }) => name)).size).toBe(FAULTS.length);
  });

  it.each(FAULTS)("$name", async ({ mode = "plain", body, status, code, also, text, asked, options, prompt }) => {
    const { backend, mark } = backendFor(fakeCli(body), mode, options);
    const before = process.memoryUsage().rss;
    const { log, result } = await ask(backend, prompt ?? "hello", asked);
    expect({ status: result.status, code: ofType(log, "error").find((error) => error.terminal)?.code }).toEqual({
      status,
      code,
    });
    const side = log.flatMap((event) =>
      event.type === "warning" || (event.type === "error" && !event.terminal) ? [event.code as string] : [],
    );
    expect(side).toEqual(also ?? []);
    if (text !== undefined) expect(result.text).toBe(text);
    expect(process.memoryUsage().rss - before).toBeLessThan(400_000_000);
    expect(processesWith(mark)).toEqual([]);
    expect(({} as Record<string, unknown>)["polluted"]).toBe(undefined);
  });
});

describe("AT-38: a CLI that cannot be started", () => {
  const start = async (executable: string, options: ClaudeCodeOptions = {}) => {
    const { backend } = backendFor(executable, "plain", options);
    try {
      const { log } = await ask(backend, "hello");
      return ofType(log, "error").map(({ code, message }) => [code, message])[0];
    } catch (error) {
      return isStartError(error) ? [error.code, error.message] : error;
    }
  };

  it("(a) does not exist", async () => {
    expect(await start(join(folder, "nowhere"))).toEqual(["cli-not-found", expect.stringContaining("nowhere")]);
    expect(await start("no-such-claude")).toEqual(["cli-not-found", expect.stringContaining("npm install -g")]);
  });

  it("(b) may not be executed", async () => {
    const path = join(folder, "plain-file");
    writeFileSync(path, "#!/bin/sh\n", { mode: 0o644 });
    expect(await start(path)).toEqual(["spawn", expect.stringContaining("is not executable")]);
  });

  it("(c) has no working folder", async () => {
    expect(await start(fakeCli(good), { cwd: join(folder, "missing") })).toEqual([
      "spawn",
      expect.stringContaining("missing"),
    ]);
  });

  it("gives an invalid version, is too old, or does not answer", async () => {
    expect(await start(fakeCli(good, "hello"))).toEqual(["unknown-version", expect.stringContaining("hello")]);
    expect(await start(fakeCli(good, "0.9.1"))).toEqual(["unsupported-cli-version", expect.stringContaining("0.9.1")]);
    expect(await start(fakeCli(good, "!exit 5"))).toEqual([
      "version-detection",
      expect.stringContaining("exit code 5"),
    ]);
    const { log } = await ask(
      backendFor(fakeCli(`${drain}; ${good}`, "hello"), "plain", { permissiveVersionCheck: true }).backend,
      "hi",
    );
    expect(ofType(log, "warning")).toMatchObject([{ code: "unparseable-cli-version" }]);
    expect(log[0]?.type).toBe("warning");
  });
});

describe("runs in parallel and in sequence", () => {
  it("S3-41 AT-44 S1-10: ten concurrent runs do not mix, nor one after a run that was left early", async () => {
    const echo = fakeCli(
      `p=$(cat); ${say(INIT)}; printf '{"type":"assistant","message":{"id":"m1","role":"assistant","content":[{"type":"text","text":"%s"}]}}\\n' "$p"; ${say(RESULT)}`,
    );
    const { backend, mark } = backendFor(echo, "plain");
    const { run: left } = await runOn(backend, "left");
    for await (const event of left) if (event.type === "start") break;
    const names = Array.from({ length: 10 }, (_, n) => `run-${n}`);
    const texts = await Promise.all(names.map(async (name) => (await ask(backend, name)).result.text));
    expect(texts).toEqual(names);
    await left.closed;
    expect(processesWith(mark)).toEqual([]);
  });

  it("AT-11: each delta is given before the next is written", async () => {
    const delta = (text: string) =>
      `{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"${text}"}}}`;
    const head = [
      `{"type":"stream_event","event":{"type":"message_start","message":{"id":"m1","content":[]}}}`,
      `{"type":"stream_event","event":{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}}`,
    ];
    const gate = join(folder, `gate-${process.pid}`);
    const wait = (n: number) => `while [ ! -e ${gate}-${n} ]; do sleep 0.01; done`;
    const body = `${drain}; ${say(INIT, ...head, delta("one "))}; ${wait(1)}; ${say(delta("two "))}; ${wait(2)}; ${say(delta("three"), HI.replace('"text":"hi"', '"text":"one two three"'), RESULT)}`;
    const { backend } = backendFor(fakeCli(body), "plain");
    const { run } = await runOn(backend, "go");
    const seen: string[] = [];
    for await (const event of run) {
      if (event.type !== "text-delta") continue;
      seen.push(event.text);
      // The CLI goes on only when this delta has been here.
      writeFileSync(`${gate}-${seen.length}`, "");
    }
    expect(seen.join("")).toBe("one two three");
    expect(seen.length).toBe(3);
  });

  it("AT-19 S0-98: a thousand deltas in one burst and a slow reader: all of them, in order", async () => {
    const body = `${drain}; ${say(INIT, `{"type":"stream_event","event":{"type":"message_start","message":{"id":"m1","content":[]}}}`, `{"type":"stream_event","event":{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}}`)}
i=0; while [ $i -lt 1000 ]; do printf '{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"%d "}}}\\n' $i; i=$((i+1)); done
${say(`{"type":"stream_event","event":{"type":"content_block_stop","index":0}}`, `{"type":"stream_event","event":{"type":"message_delta","delta":{"stop_reason":"end_turn"}}}`, `{"type":"stream_event","event":{"type":"message_stop"}}`, RESULT)}`;
    const { backend } = backendFor(fakeCli(body), "plain");
    const { run } = await runOn(backend, "go");
    let text = "";
    for await (const event of run) {
      if (event.type === "text-delta") text += event.text;
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(text).toBe(Array.from({ length: 1000 }, (_, n) => `${n} `).join(""));
    expect(await run.result()).toMatchObject({ status: "success" });
  });

  it("AT-14 AT-15: the second message reaches the CLI only after the first result, even if its reader left", async () => {
    const log = join(folder, "stdin-order");
    const body = `${greeted}; printf '%s\\n' "$b" >>${log}; sleep 0.2; ${say(HI, RESULT)}; echo RESULT >>${log}; read -r c; printf '%s\\n' "$c" >>${log}; ${say(INIT, HI.replace('"m1"', '"m2"'), RESULT)}; ${drain}`;
    const { backend, mark } = backendFor(fakeCli(body), "control");
    const conversation = await backend.open(settingsFor({}));
    const first = sendAsRun(conversation, "first").detach();
    for await (const event of first) if (event.type === "start") break;
    await first.done();
    const { result } = await readLog(sendAsRun(conversation, "second"));
    expect(result.status).toBe("success");
    await conversation.close();
    const { readFileSync } = await import("node:fs");
    const lines = readFileSync(log, "utf8").trim().split("\n");
    expect(
      lines.map((line) =>
        line === "RESULT" ? line : (JSON.parse(line) as { message: { content: string } }).message.content,
      ),
    ).toEqual(["first", "RESULT", "second"]);
    expect(processesWith(mark)).toEqual([]);
  });

  it("AT-40: an abort ends a CLI that ignores signals, with a child in another session", async () => {
    const body = `trap '' TERM INT; setsid sleep 300 & ${drain}; ${say(INIT)}; while :; do sleep 0.05; done`;
    const { backend, mark } = backendFor(fakeCli(body), "plain");
    const { run } = await runOn(backend, "go");
    for await (const event of run.detach()) if (event.type === "start") break;
    await run.abort();
    await run.abort();
    expect(processesWith(mark)).toEqual([]);
    expect(await run.result()).toMatchObject({ status: "aborted" });
  });
});

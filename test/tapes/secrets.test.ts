import { existsSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { startRun, systemWorld } from "#runtime";
import { createScriptedSpawn, createSeededRandom, createVirtualClock } from "#testing";
import { tool } from "#tools";
import { createRecorder, openTape } from "#transports";
import { replay } from "../../src/runtime/replay.ts";
import { eventsOf, newTapePath, record, scriptedWorld } from "./tape-world.ts";

/** Twelve secrets, each of another kind and on another way. */
const CANARIES = {
  variable: "Canary-01-variable-9f8e7d6c",
  option: "Canary-02-option-9f8e7d6c",
  header: "Canary-03-header-9f8e7d6c",
  cookie: "Canary-04-cookie-9f8e7d6c",
  anthropic: "sk-ant-api03-Canary05-9f8e7d6c5b4a",
  google: "AIzaCanary06x9f8e7d6c5b4a39281706f5e4d3",
  jwt: "eyJDYW5hcnkwNw.eyJDYW5hcnkwNw9f8e.Canary07-9f8e",
  bearer: "Canary08.9f8e7d6c",
  hex: "0cana809f8e7d6c5b4a392817060f5e4d3",
  password: "Canary10-9f8e",
  query: "Canary11-9f8e7d6c",
  argument: "Canary12-9f8e7d6c",
} as const;

const hits = (text: string): readonly string[] =>
  Object.entries(CANARIES)
    .filter(([, secret]) => text.includes(secret) || text.includes(secret.slice(0, -2)) || text.includes(btoa(secret)))
    .map(([name]) => name);

const everything = `Look: ${CANARIES.anthropic} and ${CANARIES.google}, ${CANARIES.jwt}, authorization: Bearer ${CANARIES.bearer}, "api_key": "${CANARIES.hex}", {"password": "${CANARIES.password}"}, https://u:${CANARIES.password}@h/?key=${CANARIES.query}, ${CANARIES.variable}, ${CANARIES.option}, ${CANARIES.header}`;

describe("SEC16 I11 AT-66: twelve canary secrets on every way into a tape", () => {
  it("prompt, instructions, tool results, bodies cut anywhere, headers, addresses, errors: 0 hits, and it still plays", async () => {
    const said = `data: {"choices":[{"index":0,"delta":{"content":${JSON.stringify(everything)}},"finish_reason":null}]}\n\n`;
    const call = `data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call-1","type":"function","function":{"name":"tell","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}\n\ndata: [DONE]\n\n`;
    const bytes = new TextEncoder().encode(said);
    const pieces = Array.from({ length: Math.ceil(bytes.length / 7) }, (_, at) => bytes.slice(at * 7, at * 7 + 7));
    const headers = { "set-cookie": `id=${CANARIES.cookie}`, "x-request-id": "r1" };
    const world = scriptedWorld(
      [
        { body: [call], headers },
        { status: 401, headers, body: [JSON.stringify({ error: { message: `bad key ${CANARIES.option}` } })] },
        { body: [...pieces, { break: new Error(`reset by ${CANARIES.header}`) }] },
      ],
      {
        env: {
          SOME_API_KEY: CANARIES.variable,
          OPENAI_BASE_URL: `https://me:${CANARIES.password}@models.test/v1`,
        },
      },
    );
    const tell = tool("tell", "Tell all", {}, () => ({ everything }));
    const options = {
      instructions: everything,
      tools: [tell],
      retry: false,
      fallback: "openai/other",
      openai: {
        apiKey: CANARIES.option,
        headers: { "x-auth-token": CANARIES.header, Cookie: CANARIES.cookie },
      },
    } as const;
    const recorded = await record("openai/x", options, world, { input: everything });
    expect(JSON.stringify(recorded.events)).toContain(CANARIES.anthropic);
    expect(hits(recorded.text)).toEqual([]);
    const again = await eventsOf(replay(recorded.path));
    expect(again.map(({ type }) => type)).toEqual(recorded.events.map(({ type }) => type));
    expect(hits(JSON.stringify(again))).toEqual([]);
  });

  it("what stands where secrets stand is hidden, however short: keys, secret headers, variables", async () => {
    const options = {
      openai: { apiKey: "pw", headers: { "x-auth-token": "abc", "x-team": "blue" } },
      env: { ANY: "thing" },
      retry: false,
    } as const;
    const { text } = await record("openai/x", options, scriptedWorld([{ status: 500, body: ["{}"] }]));
    for (const secret of ['"pw"', '"abc"', '"thing"']) expect(text).not.toContain(secret);
    expect(text).toContain('"x-team":"blue"');
  });

  it("arguments, variables, stdin, stdout, stderr and callbacks of a process: 0 hits", async () => {
    const lines: string[] = [];
    const recorder = createRecorder({
      clock: createVirtualClock(),
      random: createSeededRandom(1),
      write: (line) => lines.push(line),
      env: { MY_SECRET: CANARIES.variable },
      secrets: [CANARIES.option],
    });
    const letters = [...everything].map((letter) => ({ write: letter }));
    const spawn = recorder.spawn(
      createScriptedSpawn([{ waitForInput: "end" }, ...letters, { stderr: everything }, { exit: 1 }]),
    );
    const child = await spawn({
      executable: "agent",
      args: ["--api-key", CANARIES.argument, `--token=${CANARIES.query}`, everything],
      env: { CHILD_TOKEN: CANARIES.header, COOKIE: CANARIES.cookie, PLAIN: "x" },
    });
    for (const letter of everything) await child.write(new TextEncoder().encode(letter));
    child.endInput();
    for await (const _ of child.stdout);
    for await (const _ of child.stderr);
    await child.exit;
    recorder.callback("tool#1", () => ({ everything, cookie: CANARIES.cookie }));
    await expect(recorder.callback("tool#2", () => Promise.reject(new Error(everything)))).rejects.toThrow();
    recorder.progress("tool#2", everything);
    recorder.decision("call-1", { allow: false, reason: everything });
    recorder.finish();
    const text = lines.join("");
    expect(hits(text)).toEqual([]);
    const { entries } = openTape(new TextEncoder().encode(text));
    const written = entries.flatMap((entry) => (entry.type === "stdout" && "text" in entry ? [entry.text] : []));
    expect(written.join("")).toHaveLength(everything.length);
    expect(entries[0]).toMatchObject({ type: "spawn", env: ["CHILD_TOKEN", "COOKIE", "PLAIN"] });
  });
});

describe("SEC19: the file of a tape", () => {
  it("is the owner's alone", async () => {
    const { path } = await record("offline", {}, systemWorld(), { input: "Hello" });
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it("is never written over, nor through a link; nothing is started then", async () => {
    const there = newTapePath();
    writeFileSync(there, "mine");
    const link = newTapePath();
    symlinkSync(`${there}-elsewhere`, link);
    for (const [path, why] of [
      [there, "it already exists"],
      [link, "it already exists"],
      ["/nowhere/at/all.tape", "there is no such folder"],
    ] as const) {
      let asked = 0;
      const world = scriptedWorld(() => {
        asked += 1;
        return { body: [] };
      });
      expect(() => startRun("openai/x", "Hi", { record: path }, world)).toThrow(
        `record is "${path}", but ${why}. Give the path of a new file.`,
      );
      await new Promise((resolve) => setImmediate(resolve));
      expect(asked).toBe(0);
    }
    expect(readFileSync(there, "utf8")).toBe("mine");
    expect(existsSync(`${there}-elsewhere`)).toBe(false);
  });

  it("is not made when the run cannot start", () => {
    const path = newTapePath();
    expect(() => startRun("nowhere/x", "Hi", { record: path }, scriptedWorld([]))).toThrow(/no backend/);
    expect(existsSync(path)).toBe(false);
  });

  it("a recording that fails changes nothing for the run, and is reported", async () => {
    const heard: unknown[] = [];
    const world = { ...scriptedWorld([]), onListenerError: (error: unknown) => heard.push(error) };
    const lines: string[] = [];
    const recorder = createRecorder({
      clock: world.clock,
      random: world.random,
      maxBytes: 400,
      write: (line) => lines.push(line),
    });
    const fetch = recorder.fetch(world.fetch);
    await expect(fetch({ method: "GET", url: "http://x.test", headers: {} })).rejects.toThrow(/no reply/);
    for (let count = 0; count < 10; count += 1) recorder.callback(`tool#${count}`, () => "x".repeat(50));
    expect(recorder.finish()).toMatchObject({ message: "The recording has reached 400 bytes and stopped there." });
    expect(openTape(new TextEncoder().encode(lines.join("")), { allowTorn: true }).torn).toContain(
      "its end is missing",
    );
  });
});

import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { messageItem, textDelta } from "#domain";
import type { ModelBackend } from "#backends";
import { type Agent, agent, agentTool, command, openSession, run, type RunOptions, startRun } from "#runtime";
import { assertRunLog, createScriptedBackend } from "#testing";
import { tool } from "#tools";
import { replay } from "../../src/runtime/replay.ts";
import { eventsOf, record, scriptedWorld } from "../tapes/tape-world.ts";
import { HOSTS, joined, KEY, leaks, letters, runHost, WRITINGS } from "./hosts.ts";

const cases = Object.entries(HOSTS).flatMap(([name, host]) =>
  Object.entries(WRITINGS).map(([writing, text]) => ({ name, host, writing, text })),
);

describe("F-A3 SEC16: a host that repeats its key", () => {
  it.each(cases)("$name: one character at a time in its text, $writing", async ({ host, text }) => {
    const events = await runHost(host, [host.says(letters(`You sent ${text}, thank you`))]);
    assertRunLog([...events]);
    expect(leaks(events)).toEqual([]);
    expect(joined(events).flatMap((one) => leaks(one))).toEqual([]);
    const done = events.at(-1);
    expect(done).toMatchObject({ type: "done", result: { status: "success" } });
    expect(joined(events)[0]).toMatch(/^You sent .+, thank you$/s);
    expect(joined(events)[0]).toHaveLength(`You sent ${text}, thank you`.length);
  });

  it.each(cases)("$name: in several blocks of a message, $writing", async ({ host, text }) => {
    const parts = [`It is ${text.slice(0, 9)}`, text.slice(9, 21), `${text.slice(21)}.`];
    const world = scriptedWorld([host.saysInBlocks(parts)], { env: {} });
    const { events, text: tape } = await record(host.target, { retry: false, ...host.options }, world);
    assertRunLog([...events]);
    const shown = events.flatMap((event) => (event.type === "text-delta" ? [event.text] : [])).join("");
    const done = events.at(-1);
    const result = done?.type === "done" ? done.result : undefined;
    const blocks = events.flatMap((event) => (event.type === "message" ? event.blocks : []));
    const told = blocks.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("");
    for (const whole of [shown, told, result?.text ?? ""]) expect(leaks(whole)).toEqual([]);
    // In the order in which it was said: the deltas end with the last block.
    expect(shown).toMatch(/^It is .*\*\*.*\.$/s);
    expect(shown).toHaveLength(parts.join("").length);
    expect(leaks(recordedTexts(tape).join(""))).toEqual([]);
  });

  it.each(cases)("$name: in its refusal, $writing", async ({ host, text }) => {
    const body = JSON.stringify({ error: { type: "authentication_error", message: `bad key ${text}`, code: 401 } });
    const events = await runHost(host, [{ status: 401, body: [body] }]);
    expect(events.some(({ type }) => type === "error")).toBe(true);
    expect(leaks(events)).toEqual([]);
  });

  it.each(cases)(
    "$name: in a tool call's arguments, $writing: the tool gets them as they are, nobody else",
    async ({ host, text }) => {
      const got: unknown[] = [];
      const keep = tool("keep", "Keep a value", { value: "string" }, ({ value }) => {
        got.push(value);
        return { kept: value };
      });
      const sent: string[] = [];
      const replies = [host.calls(letters(JSON.stringify({ value: text }))), host.says(["Kept."])];
      const world = scriptedWorld(replies, { env: {} });
      const fetch: typeof world.fetch = (request) => {
        sent.push(String(request.body));
        return world.fetch(request);
      };
      const events = await runHost(host, [], { tools: [keep] }, { ...world, fetch });
      assertRunLog([...events]);
      expect(leaks(events)).toEqual([]);
      expect(joined(events).flatMap((one) => leaks(one))).toEqual([]);
      expect(got).toEqual([text]);
      // The model reads what it wrote, and what the tool answered.
      const once = (json: string): string => json.replaceAll(/\\+/g, "\\");
      expect(once(sent[1] ?? "").split(once(JSON.stringify(text).slice(1, -1))).length).toBeGreaterThanOrEqual(3);
    },
  );

  it.each(cases)("$name: on a tape and when it is replayed, $writing", async ({ host, text }) => {
    const world = scriptedWorld([host.says(letters(`You sent ${text}, thank you`))], { env: {} });
    const recorded = await record(host.target, { retry: false, ...host.options }, world);
    expect(leaks(recorded.text)).toEqual([]);
    const again = await eventsOf(replay(recorded.path));
    expect(again.at(-1)).toMatchObject({ type: "done", result: { status: "success" } });
    expect(joined(again).flatMap((one) => leaks(one))).toEqual([]);
    expect(leaks(again)).toEqual([]);
    // The pieces on the disk, joined without knowing what they are.
    const strings = recordedStrings(recorded.path).join("");
    expect(leaks(strings)).toEqual([]);
    expect(strings).toContain("You sent ");
  });
});

/** The texts of the frames on a tape, one after the other. */
function recordedStrings(path: string): readonly string[] {
  return recordedTexts(readFileSync(path, "utf8"));
}

function recordedTexts(tape: string): readonly string[] {
  const pieces: string[] = [];
  for (const line of tape.split("\n")) {
    const body = /"type":"body".*"text":"((?:[^"\\]|\\.)*)"/.exec(line)?.[1];
    if (body === undefined) continue;
    const frame = JSON.parse(`"${body}"`) as string;
    const text = /"(?:text|content|partial_json|arguments)":"((?:[^"\\]|\\.)*)"/.exec(frame)?.[1];
    if (text !== undefined) pieces.push(JSON.parse(`"${text}"`) as string);
  }
  return pieces;
}

describe("F-A3: a run in which no secret occurs", () => {
  it.each(Object.entries(HOSTS))("%s: gives the same deltas as one without secrets", async (_, host) => {
    const pieces = ["Hello ", "c", "n", "rx", ", no key ", "here: 63 6e", " cnr", "y"];
    const events = await runHost(host, [host.says(pieces)]);
    const shown = events.flatMap((event) => (event.type === "text-delta" ? [event.text] : []));
    expect(shown).toEqual(pieces);
  });
});

describe("F-A3 SEC16: a backend made by hand", () => {
  it.each(Object.entries(WRITINGS))(
    "on a tape and when it is replayed, one character at a time, %s",
    async (_, text) => {
      const said = `It is ${text}.`;
      const backend: ModelBackend = {
        kind: "model",
        name: "mine",
        model: "m",
        secrets: () => [KEY],
        async *stream() {
          for (const letter of said) yield [textDelta("m1", 0, letter)];
          yield [messageItem({ id: "m1", role: "assistant", blocks: [{ type: "text", text: said }] })];
        },
      };
      const recorded = await record(backend, { retry: false }, scriptedWorld([], { env: {} }));
      expect(recorded.events.at(-1)).toMatchObject({ type: "done", result: { status: "success" } });
      expect(leaks(recorded.text)).toEqual([]);
      const pieces = [...recorded.text.matchAll(/"text":"((?:[^"\\]|\\.)*)"/g)].map(([, piece]) => piece);
      expect(leaks(pieces.join(""))).toEqual([]);
      const again = await eventsOf(replay(recorded.path));
      expect(again.at(-1)).toMatchObject({ type: "done", result: { status: "success" } });
      expect(leaks(again)).toEqual([]);
      expect(joined(again).flatMap((one) => leaks(one))).toEqual([]);
      expect(joined(again)[0]).toHaveLength(said.length);
    },
  );

  it("a stream that ends within its text, and one that throws, are replayed as they were", async () => {
    for (const failure of [undefined, new Error(`broken ${KEY}`)]) {
      const backend: ModelBackend = {
        kind: "model",
        name: "mine",
        model: "m",
        secrets: () => [KEY],
        async *stream() {
          yield [textDelta("m1", 0, `It is ${KEY.slice(0, 14)}`)];
          if (failure !== undefined) throw failure;
        },
      };
      const recorded = await record(backend, { retry: false }, scriptedWorld([], { env: {} }));
      expect(leaks(recorded.text)).toEqual([]);
      const again = await eventsOf(replay(recorded.path));
      expect(again.map(({ type }) => type)).toEqual(recorded.events.map(({ type }) => type));
      expect(leaks(again)).toEqual([]);
    }
  });
});

describe("F-A3 SEC16: a foreign command", () => {
  it.each(["stdout", "stderr"])("that prints a secret variable and an argument on %s", async (stream) => {
    const heard: string[] = [];
    const code = `process.${stream}.write(process.env.MY_TOKEN + process.argv.at(-1)); process.exitCode = 3`;
    const backend = command([process.execPath, "-e", code, "--", "--token", `${KEY}-2nd`], {
      env: { MY_TOKEN: KEY },
      format: "text",
      onStderr: (text) => heard.push(text),
    });
    const events = await eventsOf(run(backend, "Hello"));
    expect(leaks(events)).toEqual([]);
    expect(leaks(heard.join(""))).toEqual([]);
    expect(joined(events).flatMap((one) => leaks(one))).toEqual([]);
  });
});

describe("F-A3 SEC16: an agent that is a tool of another", () => {
  const plain = (): ModelBackend =>
    createScriptedBackend([{ calls: [{ name: "worker", input: { prompt: "Say it." } }] }, { text: "Said." }]);
  const made: ModelBackend = {
    kind: "model",
    name: "mine",
    model: "m",
    secrets: () => [KEY],
    async *stream() {
      for (const letter of `It is ${KEY}.`) yield [textDelta("n1", 0, letter)];
      yield [messageItem({ id: "n1", role: "assistant", blocks: [{ type: "text", text: `It is ${KEY}.` }] })];
    },
  };
  const nested = (backend: Agent["backend"], depth: number): Agent => {
    const inner = agent({ name: "worker", backend });
    return depth === 0
      ? inner
      : agent({ name: "worker", backend: plain(), tools: [agentTool(nested(backend, depth - 1))] });
  };

  it.each([
    ["a host", 0, HOSTS.anthropic.target],
    ["a host", 1, HOSTS.anthropic.target],
    ["a backend made by hand", 0, made],
    ["a backend made by hand", 1, made],
  ] as const)("%s, %d agents between, that repeats its own key", async (_, depth, backend) => {
    const options = (): RunOptions => ({
      retry: false,
      tools: [agentTool(nested(backend, depth))],
      ...HOSTS.anthropic.options,
    });
    const world = () => scriptedWorld([HOSTS.anthropic.says(letters(`It is ${KEY}.`))], { env: {} });
    const recorded = await record(plain(), options(), world());
    for (const events of [await eventsOf(startRun(plain(), "Hello", options(), world())), recorded.events]) {
      assertRunLog([...events]);
      expect(JSON.stringify(events)).toContain("**");
      expect(leaks(events)).toEqual([]);
      expect(joined(events).flatMap((one) => leaks(one))).toEqual([]);
    }
    expect(leaks(recorded.text)).toEqual([]);
    expect(leaks(recordedTexts(recorded.text).join(""))).toEqual([]);
  });
});

describe("F-A3: sessions", () => {
  it("cover the secrets of a backend made by hand in every turn, and in the transcript", async () => {
    let turns = 0;
    await using session = openSession({
      kind: "model",
      name: "mine",
      model: "m",
      secrets: () => [KEY],
      async *stream() {
        const id = `m${(turns += 1)}`;
        const text = `It is ${KEY}.`;
        for (const letter of text) yield [textDelta(id, 0, letter)];
        yield [messageItem({ id, role: "assistant", blocks: [{ type: "text", text }] })];
      },
    });
    for (let turn = 0; turn < 2; turn += 1) {
      const events = await eventsOf(session.send(`My key is ${KEY}`));
      expect(events.at(-1)).toMatchObject({ type: "done", result: { status: "success" } });
      expect(joined(events).flatMap((one) => leaks(one))).toEqual([]);
      expect(leaks(events)).toEqual([]);
    }
    expect(leaks(session.messages())).toEqual([]);
  });
});

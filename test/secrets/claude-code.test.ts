import { describe, expect, it } from "vitest";
import type { AgentEvent } from "#domain";
import { startRun, type RunOptions } from "#runtime";
import { assertRunLog, createSeededRandom, createVirtualClock, createScriptedSpawn, type SpawnStep } from "#testing";
import { createClaudeCodeBackend } from "../../src/backends/claude-code/backend.ts";
import { openQuery, type QueryItem } from "../../src/backends/claude-code/query.ts";
import { calls, greet, INIT, line, openScripted, result, says, writes } from "../claude-code/scripted.ts";
import { openPlace } from "../claude-code/place.ts";
import { describeRealCli, realCliOptions } from "../real-cli.ts";
import { scriptedWorld } from "../tapes/tape-world.ts";
import { joined, KEY, leaks, letters, WRITINGS } from "./hosts.ts";

const delta = (text: string, index = 0) => ({
  type: "stream_event",
  event: { type: "content_block_delta", index, delta: { type: "text_delta", text } },
  parent_tool_use_id: null,
});
const streamed = (text: string) => [
  { type: "stream_event", event: { type: "message_start", message: { id: "m1", role: "assistant", model: "m" } } },
  { type: "stream_event", event: { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } } },
  ...letters(text).map((letter) => delta(letter)),
  says("m1", text),
];
const inBlocks = (texts: readonly string[]) => [
  { type: "stream_event", event: { type: "message_start", message: { id: "m1", role: "assistant", model: "m" } } },
  ...texts.flatMap((text, index) => [
    { type: "stream_event", event: { type: "content_block_start", index, content_block: { type: "text", text: "" } } },
    delta(text, index),
    { type: "stream_event", event: { type: "content_block_stop", index } },
  ]),
  {
    type: "assistant",
    message: {
      id: "m1",
      type: "message",
      role: "assistant",
      model: "m",
      content: texts.map((text) => ({ type: "text", text })),
    },
    parent_tool_use_id: null,
    session_id: "s1",
  },
];

const first: Record<"plain" | "control", SpawnStep[]> = {
  plain: [{ waitForInput: "end" }],
  control: [greet, { waitForInput: "line" }],
};

/** What a CLI may do with a secret it was given. */
const DEEDS: Readonly<Record<string, (secret: string) => readonly SpawnStep[]>> = {
  "writes it to stderr and exits": (secret) => [{ stderr: `Invalid API key ${secret}\n` }, { exit: 1 }],
  "writes it to stdout, as no JSON, and exits": (secret) => [{ write: `key=${secret}` }, { exit: 3 }],
  "says it in a message": (secret) => [writes(INIT, says("m1", `It is ${secret}.`), result(`It is ${secret}.`))],
  "says it one character at a time": (secret) => [writes(INIT, ...streamed(`It is ${secret}.`), result("Said."))],
  "says it in three blocks of a message": (secret) => [
    writes(INIT, ...inBlocks([`It is ${secret.slice(0, 9)}`, secret.slice(9, 21), `${secret.slice(21)}.`]), result()),
  ],
  "calls a tool with it": (secret) => [
    writes(INIT, calls("m1", "c1", "Bash", { command: `curl -H 'x-key: ${secret}'` }), result()),
  ],
  "says it in a frame nobody knows": (secret) => [writes(INIT, { type: "novel", data: [secret] }, result())],
  "fails with it": (secret) => [
    writes(INIT, result(`API Error: 401 ${secret}`, { is_error: true, subtype: "error_during_execution" })),
  ],
  "stops within it": (secret) => [{ write: `{"type":"assistant","text":"${secret}` }, { exit: 9 }],
};

/** On stdout each line is a frame, and becomes an event of its own: a secret in several frames is not found. */
const isSeveralFrames = (deed: string, text: string): boolean =>
  ["writes it to stdout, as no JSON, and exits", "stops within it"].includes(deed) && text.includes("\n");

const cases = Object.entries(DEEDS).flatMap(([deed, steps]) =>
  Object.entries(WRITINGS)
    .filter(([, text]) => !isSeveralFrames(deed, text))
    .map(([writing, text]) => ({ deed, steps, writing, text })),
);

/** Where the CLI gets its secret from. */
const SOURCES: Readonly<Record<string, { readonly parent?: Record<string, string>; readonly options?: RunOptions }>> = {
  ANTHROPIC_API_KEY: { parent: { ANTHROPIC_API_KEY: KEY } },
  ANTHROPIC_AUTH_TOKEN: { parent: { ANTHROPIC_AUTH_TOKEN: KEY } },
  CLAUDE_CODE_OAUTH_TOKEN: { parent: { CLAUDE_CODE_OAUTH_TOKEN: KEY } },
  ANTHROPIC_CUSTOM_HEADERS: { parent: { ANTHROPIC_CUSTOM_HEADERS: `x-team: blue\nx-api-key: ${KEY}` } },
  "a proxy's password": { parent: { HTTPS_PROXY: `http://me:${encodeURIComponent(KEY)}@proxy.test:8080` } },
  "the option env": { options: { env: { GITHUB_TOKEN: KEY } } },
  "the option claudeCode.env": { options: { claudeCode: { env: { AWS_SECRET_ACCESS_KEY: KEY } } } },
  "a tool server's variable": {
    options: { claudeCode: { mcpConfig: { files: { command: "files", env: { FILES_TOKEN: KEY } } } } },
  },
  "a tool server's header": {
    options: {
      claudeCode: {
        mcpConfig: { web: { type: "http", url: "http://web.test", headers: { Authorization: `Bearer ${KEY}` } } },
      },
    },
  },
};

interface Situation {
  readonly mode: "plain" | "control";
  readonly steps: readonly SpawnStep[];
  readonly parent?: Record<string, string>;
  readonly options?: RunOptions;
}

async function runCli({ mode, steps, parent = { ANTHROPIC_API_KEY: KEY }, options = {} }: Situation) {
  const place = openScripted([...first[mode], ...steps, { exit: 0 }]);
  const world = { ...place.world, env: { PATH: "/usr/bin", ...parent } };
  const { env = {}, claudeCode = {} } = options;
  const backend = createClaudeCodeBackend({ skipVersionCheck: true, mode, ...claudeCode }, world);
  const run = startRun(backend, "Hello", { env }, scriptedWorld([], { clock: place.clock, env: {} }));
  const events: AgentEvent[] = [];
  const reading = (async () => {
    for await (const event of run) events.push(event);
  })();
  for (let step = 0; step < 600 && !run.isComplete(); step += 1) await place.clock.advance(step < 100 ? 0 : 1000);
  await reading;
  return events;
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return {};
  }
}

/** Bytes are shown as what they say. */
const shown = (value: unknown): string =>
  JSON.stringify(value, (_, one: unknown) => (one instanceof Uint8Array ? new TextDecoder().decode(one) : one));

describe.each(["plain", "control"] as const)("F-A3 SEC16: Claude Code in %s mode", (mode) => {
  it.each(cases)("$deed, $writing: it stands in no event and in no result", async ({ steps, text }) => {
    const events = await runCli({ mode, steps: steps(text) });
    assertRunLog(events);
    expect(leaks(shown(events))).toEqual([]);
    expect(joined(events).flatMap((one) => leaks(one))).toEqual([]);
    expect(shown(events)).toContain("**");
    const frames = events.flatMap((event) => ("raw" in event && event.raw !== undefined ? [event.raw] : []));
    expect(leaks(frames.map(({ json }) => deltaOf(parsed(json))).join(""))).toEqual([]);
    expect(leaks(frames.map(({ bytes }) => deltaOf(parsed(Buffer.from(bytes).toString()))).join(""))).toEqual([]);
  });

  it.each(Object.entries(SOURCES))("knows a secret from %s", async (_, source) => {
    const steps = [{ stderr: `Refused: ${KEY}` }, { exit: 1 }];
    const events = await runCli({ mode, steps, parent: {}, ...source });
    expect(shown(events)).toContain("Refused: ");
    expect(leaks(shown(events))).toEqual([]);
  });
});

/** The text that one message adds to a streamed one. */
function deltaOf(message: unknown): string {
  const { event } = message as { readonly event?: { readonly delta?: { readonly text?: string } } };
  return event?.delta?.text ?? "";
}

describe("F-A3 SEC16: query()", () => {
  it.each(cases)("$deed, $writing: it stands in no item, nor in several of them joined", async ({ steps, text }) => {
    const place = openScripted([...first.plain, ...steps(text), { exit: 0 }]);
    const world = { ...place.world, env: { PATH: "/usr/bin", ANTHROPIC_API_KEY: KEY } };
    const query = await openQuery("Hello", { skipVersionCheck: true }, world);
    const items: QueryItem[] = [];
    const reading = (async () => {
      for await (const item of query) items.push(item);
    })();
    for (let step = 0; step < 200; step += 1) await place.clock.advance(step < 100 ? 0 : 50);
    await reading;
    expect(leaks(shown(items))).toEqual([]);
    expect(shown(items)).toContain("**");
    const messages = items.flatMap((item) => (item.kind === "message" ? [item] : []));
    expect(leaks(messages.map(({ message }) => deltaOf(message)).join(""))).toEqual([]);
    expect(leaks(messages.map(({ raw }) => deltaOf(JSON.parse(raw.json))).join(""))).toEqual([]);
    expect(leaks(messages.map(({ raw }) => deltaOf(JSON.parse(Buffer.from(raw.bytes).toString()))).join(""))).toEqual(
      [],
    );
  });

  it("items without a secret are the very bytes that came", async () => {
    const text = line(says("m1", "sk and cnry, but no key"));
    const place = openScripted([...first.plain, { write: text + line(result()) }, { exit: 0 }]);
    const world = { ...place.world, env: { PATH: "/usr/bin", ANTHROPIC_API_KEY: KEY } };
    const query = await openQuery("Hello", { skipVersionCheck: true }, world);
    expect(await query.next()).toMatchObject({ raw: { json: text.trimEnd() } });
    await query.close();
  });

  it("a CLI that cannot be had says no secret in its StartError", async () => {
    const spawn = createScriptedSpawn([{ stderr: `cannot start with ${KEY}` }, { exit: 1 }]);
    const place = openScripted([]);
    const world = {
      ...place.world,
      clock: createVirtualClock(),
      random: createSeededRandom(1),
      spawn,
      env: { PATH: "/usr/bin", ANTHROPIC_API_KEY: KEY },
    };
    const failure = await openQuery("Hello", {}, world).catch((error: unknown) => error as Error);
    expect(failure).toBeInstanceOf(Error);
    const { message, stack, cause } = failure as Error;
    expect(leaks([message, stack, String(cause), shown(failure)].join("\n"))).toEqual([]);
  });
});

describeRealCli("F-A3: the real CLI", () => {
  it.each(["plain", "control"] as const)("%s: a model that repeats the key it was asked with", async (mode) => {
    const key = "sk-ant-canary-4f9K2mQ7zX1Wd8Rt5";
    const place = await openPlace({ rules: [{ reply: { text: `Your key is ${key}, and ${btoa(key)} in base64.` } }] });
    try {
      const world = { ...place.world, env: { ...place.env, ANTHROPIC_API_KEY: key } };
      const backend = createClaudeCodeBackend({ ...realCliOptions(), cwd: place.home, mode }, world);
      const events: AgentEvent[] = [];
      for await (const event of startRun(
        backend,
        "What is my key?",
        {},
        scriptedWorld([], { ...place.world, env: {} }),
      ))
        events.push(event);
      assertRunLog(events);
      expect(shown(events)).toContain("Your key is sk-***");
      expect(leaks(shown(events), key)).toEqual([]);
      expect(joined(events).flatMap((one) => leaks(one, key))).toEqual([]);
    } finally {
      await place.close();
    }
  });
});

import { expect } from "vitest";
import type { AgentEvent, EventOf } from "#domain";
import { createEmulator, type EmulatorScript } from "#emulator";
import { type RunOptions, startRun, systemWorld, type Target, type World } from "#runtime";
import { assertRunLog } from "#testing";
import { makeFolder, removeFolder } from "../temporary-folder.ts";
import { eventsOf, withoutMode, withoutTimes } from "./tape-world.ts";

/** A world to record in, and one in which only a tape can answer: no key, no address, no network, no process. */
export interface AnswerPlace {
  readonly world: World;
  readonly emptyWorld: World;
  readonly home: string;
  /** Runs with `replay`; nobody but the tape is asked, and the log keeps every promise. */
  answered(target: Target, options: RunOptions, how?: Answering): Promise<readonly AgentEvent[]>;
  close(): Promise<void>;
}

export interface Answering {
  readonly input?: string | undefined;
  readonly world?: World | undefined;
}

export const PROMPT = "What is 25 + 17?";

export async function openAnswerPlace(script?: EmulatorScript): Promise<AnswerPlace> {
  const emulator = createEmulator(script === undefined ? {} : { script });
  const { url } = await emulator.listen();
  const home = makeFolder("answers");
  const env = {
    PATH: process.env["PATH"],
    HOME: home,
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_API_KEY: "sk-ant-canary-0123456789",
    OPENAI_BASE_URL: `${url}/v1`,
    OPENAI_API_KEY: "sk-canary-0123456789",
    GEMINI_API_KEY: "AIza-canary-0123456789",
    GOOGLE_GEMINI_BASE_URL: url,
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
  };
  const refuse = (what: string) => (): never => {
    throw new Error(`${what} is used, and only the tape may be.`);
  };
  const emptyWorld = { ...systemWorld(), env: {}, fetch: refuse("The network"), spawn: refuse("A process") };
  return {
    world: { ...systemWorld(), env },
    emptyWorld,
    home,
    async answered(target, options, { input = PROMPT, world = emptyWorld } = {}) {
      const asked = emulator.requests.length;
      const events = await eventsOf(startRun(target, input, options, world));
      assertRunLog([...events]);
      expect(emulator.requests).toHaveLength(asked);
      for (const event of events) if (event.type === "start") expect(event.mode).toBe("tape");
      return events;
    },
    async close() {
      await emulator.close();
      await removeFolder(home);
    },
  };
}

/** The events without what is another one in every run. */
export function settled(events: readonly AgentEvent[]): unknown {
  const text = JSON.stringify(withoutTimes(withoutMode(events)), (name, value: unknown) =>
    name === "waitedMs" ? undefined : value,
  );
  const own = text.split(events[0]?.runId ?? "").join("<run>");
  return JSON.parse(own.replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, "<id>"));
}

export const errorOf = (events: readonly AgentEvent[]): EventOf<"error"> | undefined =>
  events.find((event): event is EventOf<"error"> => event.type === "error");

export const warningsOf = (events: readonly AgentEvent[]): readonly EventOf<"warning">[] =>
  events.filter((event): event is EventOf<"warning"> => event.type === "warning" && event.code === "tape-difference");

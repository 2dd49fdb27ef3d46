import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { AgentEvent, Clock } from "#domain";
import { createServer, type Server, type ServerOptions } from "#server";
import { type Store, StoreError } from "#sessions";
import { closeInterruptedRuns } from "../../close-interrupted-runs.ts";
import { createMemoryFiles, createVirtualClock } from "#testing";
import { decodeEvent } from "#wire";
import { createMemoryStore } from "../../../src/sessions/stores/memory/memory-store.ts";
import { loadSqlDriver, type SqlDriver } from "../../../src/sessions/stores/sqlite/sql-driver.ts";
import { openSqliteStore } from "../../../src/sessions/stores/sqlite/sqlite-store.ts";
import { readFrames } from "../../server/support.ts";
import { findReaderFault } from "../../simulation/reader.ts";
import { makeFolder, removeFolderNow } from "../../temporary-folder.ts";
import { type Fault, ON_PURPOSE } from "../fault.ts";
import type { Scenario } from "../play.ts";
import type { Stage } from "../stage.ts";
import { lookTool } from "./models.ts";

/** A store any call of which may fail; an append may also fail after it was carried out. */
function breakStore(store: Store, fault: Fault): Store {
  const fail = (seam: string) => Promise.reject(new StoreError("store-failed", `${seam} ${ON_PURPOSE}`));
  const methods = Object.entries(store).map(([name, method]: [string, (...given: never[]) => Promise<unknown>]) => {
    const call = async (...given: never[]): Promise<unknown> => {
      if (name === "close") return method(...given);
      if (fault.reach(`store.${name}`)) return fail(`store.${name}`);
      const value = await method(...given);
      return name === "append" && fault.reach("store.append, carried out") ? fail("store.append") : value;
    };
    return [name, call] as const;
  });
  return Object.fromEntries(methods) as unknown as Store;
}

/** A driver any statement of which may fail. */
function breakDriver({ open, ...driver }: SqlDriver, fault: Fault, opened: Set<unknown>): SqlDriver {
  return {
    ...driver,
    open(path) {
      fault.strike("sql.open");
      const database = open(path);
      opened.add(database);
      return {
        exec(sql) {
          fault.strike("sql.exec");
          return database.exec(sql);
        },
        prepare(sql) {
          fault.strike("sql.prepare");
          const statement = database.prepare(sql);
          return {
            run: (...values) => (fault.strike("sql.run"), statement.run(...values)),
            get: (...values) => (fault.strike("sql.get"), statement.get(...values)),
            all: (...values) => (fault.strike("sql.all"), statement.all(...values)),
          };
        },
        close() {
          opened.delete(database);
          return database.close();
        },
      };
    },
  };
}

/** Asks as a client does that comes again after a refusal. */
async function insist(stage: Stage, ask: () => Promise<Response>): Promise<Response | undefined> {
  for (let attempt = 0; attempt < 4; attempt += 1) {
    const response = await ask();
    if (response.ok) return response;
    stage.notes.push(await response.text());
    await new Promise<void>((resolve) => void stage.clock.after(2000, resolve));
  }
  return undefined;
}

/** Reads events until `done`, the end of the connection, or so many of them. */
async function take(response: Response, seen: AgentEvent[], atMost: number): Promise<void> {
  const reader = response.body?.getReader();
  if (reader === undefined) return;
  let text = "";
  const decoder = new TextDecoder();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      text += decoder.decode(value, { stream: true });
      const whole = text.lastIndexOf("\n\n") + 2;
      if (whole === 1) continue;
      for (const { data } of readFrames(text.slice(0, whole))) {
        const decoded = decodeEvent(data);
        if (decoded.fault !== undefined) throw new Error(decoded.fault);
        seen.push(decoded.event);
        if (decoded.event.type === "done" || seen.length >= atMost) return;
      }
      text = text.slice(whole);
    }
  } catch {
    // The connection broke: the client comes back at its cursor.
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

interface Talk {
  readonly store: Store;
  /** What the server is given; the same without faults is looked at afterwards. */
  readonly faulty: Store;
  readonly asks?: boolean;
}

/** A thread, a chat in it, a reader that leaves and comes back, and a question that is answered over HTTP. */
async function talk(stage: Stage, { store, faulty, asks = false }: Talk): Promise<void> {
  const server = await createServerOrClose(store, {
    store: faulty,
    world: stage.world,
    page: false,
    target: "anthropic/test",
    run: { tools: [lookTool(stage.fault)], ...(asks && { permissions: { ask: ["look"] } }) },
    log: (record) => {
      stage.notes.push(JSON.stringify(record));
      stage.fault.strike("listener of the server's log");
    },
  });
  const ask = (method: string, path: string, body?: unknown, more: Record<string, string> = {}) =>
    insist(stage, () =>
      server.fetch(
        new Request(`http://localhost${path}`, {
          method,
          headers: { host: "localhost", ...(body !== undefined && { "content-type": "application/json" }), ...more },
          ...(body !== undefined && { body: JSON.stringify(body) }),
        }),
      ),
    );
  const seen: AgentEvent[] = [];
  let runId: string | undefined;
  try {
    const thread = (await (await ask("POST", "/api/threads", { title: "" }))?.json()) as { id: string } | undefined;
    if (thread === undefined) return;
    const answer = await ask("POST", `/api/threads/${thread.id}/chat`, { input: "Go." });
    runId = answer?.headers.get("x-run-id") ?? undefined;
    if (answer === undefined || runId === undefined) return;
    await take(answer, seen, 3);
    for (let visit = 0; visit < 12 && seen.at(-1)?.type !== "done"; visit += 1) {
      if (asks) await answerQuestions(ask, runId);
      const cursor = String(seen.at(-1)?.seq ?? -1);
      const response = await ask("GET", `/api/runs/${runId}/events`, undefined, { "last-event-id": cursor });
      if (response !== undefined && response.status !== 204) await take(response, seen, seen.length + 5);
    }
    await ask("GET", `/api/threads/${thread.id}`);
  } finally {
    await server.close();
    try {
      // What could not be stored until the end is closed by the next start.
      await closeInterruptedRuns(store, stage.clock);
      for (const run of await store.listRuns()) await look(stage, store, run.id, run.id === runId ? seen : []);
    } finally {
      await store.close();
    }
  }
}

/** A server that cannot be created leaves the store to whoever opened it. */
async function createServerOrClose(store: Store, options: ServerOptions): Promise<Server> {
  try {
    return createServer(options);
  } catch (error) {
    await store.close();
    throw error;
  }
}

async function answerQuestions(
  ask: (method: string, path: string, body?: unknown) => Promise<Response | undefined>,
  runId: string,
): Promise<void> {
  const response = await ask("GET", "/api/permissions");
  const { permissions = [] } = ((await response?.json()) ?? {}) as { permissions?: { callId: string }[] };
  for (const { callId } of permissions) {
    await ask("POST", `/api/runs/${runId}/permissions/${callId}`, { allow: true });
  }
}

/** What is kept of a run is a whole log, and what its reader saw is the beginning of it. */
async function look(stage: Stage, store: Store, runId: string, seen: readonly AgentEvent[]): Promise<void> {
  const log = [...(await store.read(runId))];
  stage.logs.push(log);
  const end = log.at(-1);
  if (end?.type === "done" && end.result.status === "interrupted") return;
  const fault = seen.at(-1)?.type === "done" ? findReaderFault(seen, log) : undefined;
  if (fault !== undefined) throw new Error(fault);
}

/** A database that was opened before the world was there. */
interface Kept {
  readonly folder: string;
  readonly clock: { current: Clock };
  /** Databases that are open. */
  readonly opened: ReadonlySet<unknown>;
  readonly store: Store;
}

const HOST: Scenario["host"] = {
  rules: [
    { match: { times: 1 }, reply: { text: "I look.", toolCalls: [{ name: "look", input: { n: 1 } }] } },
    { reply: { text: "All is well." } },
  ],
};

/** An append is tried again: it was not lost, and nobody has to know. */
const isWhole = ({ logs }: Stage): boolean =>
  logs.length > 0 && logs.every((log) => JSON.stringify(log.at(-1)).includes('"status":"success"'));
const TRIED_AGAIN = { "store.append": isWhole, "store.append, carried out": isWhole };

export const SERVER_SCENARIOS: readonly Scenario[] = [
  {
    name: "a chat over HTTP, and a reader that comes back",
    host: HOST,
    play: async (stage) => {
      const store = createMemoryStore();
      await talk(stage, { store, faulty: breakStore(store, stage.fault) });
    },
    tells: TRIED_AGAIN,
  },
  {
    name: "a permission that is asked and answered over HTTP",
    host: HOST,
    play: async (stage) => {
      const store = createMemoryStore();
      await talk(stage, { store, faulty: breakStore(store, stage.fault), asks: true });
    },
    tells: TRIED_AGAIN,
  },
  {
    name: "a chat over HTTP, kept in SQLite",
    host: HOST,
    async prepare(fault) {
      const folder = makeFolder("torture");
      const opened = new Set<unknown>();
      const driver = breakDriver(await loadSqlDriver(), fault, opened);
      const clock: { current: Clock } = { current: createVirtualClock() };
      const later: Clock = { now: () => clock.current.now(), after: (ms, fire) => clock.current.after(ms, fire) };
      try {
        const data = join(folder, "data");
        mkdirSync(data);
        // Real files would take real time, in which virtual time would run away. The driver is synchronous.
        const files = createMemoryFiles();
        const store = await openSqliteStore({ folder: data, clock: later, files, driver });
        return { folder, clock, opened, store } satisfies Kept;
      } catch (error) {
        if (opened.size > 0) throw new Error("A database was left open.", { cause: error });
        removeFolderNow(folder);
        throw error;
      }
    },
    async play(stage, prepared) {
      const { folder, clock, opened, store } = prepared as Kept;
      clock.current = stage.world.clock;
      try {
        await talk(stage, { store, faulty: store });
      } finally {
        if (opened.size > 0) stage.open("database");
        removeFolderNow(folder);
      }
    },
    tells: Object.fromEntries(["run", "get", "all", "exec", "prepare"].map((name) => [`sql.${name}`, isWhole])),
  },
];

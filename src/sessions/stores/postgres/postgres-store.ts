import { type AgentEvent, type Clock, isId } from "#domain";
import {
  requireAnswer,
  requireClaimant,
  requireCursor,
  requireFileName,
  requireRun,
  requireWanted,
  unknownRun,
} from "../sequence.ts";
import { readNote } from "../node-notes.ts";
import type { Store, StoredAnswer } from "../store.ts";
import { StoreError } from "../store-error.ts";
import { LOCAL_TENANT } from "../thread-rules.ts";
import { Appender, callKey, type RunPlace } from "./appender.ts";
import { Bodies } from "./bodies.ts";
import { ALL_TENANTS, Database, type DatabaseOptions } from "./database.ts";
import { Hints } from "./hints.ts";
import { loadDriver } from "./load-driver.ts";
import { migrate } from "./migrate.ts";
import { busy, refusal, unknownThread, type Verdict } from "./refusals.ts";
import { readRun, RUN_COLUMNS, type RunRow } from "./rows.ts";
import { readUsage, threadCalls } from "./threads.ts";
import { Upkeep } from "./upkeep.ts";
import { wholeStoreCalls } from "./whole-store.ts";

export interface PostgresStoreOptions extends DatabaseOptions {
  /** Runs that ended longer ago are removed. */
  readonly retentionMs?: number | undefined;
}

type VerdictRow = Verdict & Readonly<Record<string, unknown>>;

/** Reads that a run or its readers depend on. */
const PATIENT = { isSafe: true, patience: "run" } as const;
const SAFE = { isSafe: true } as const;
const WAITS = "(status IS NULL AND parked_seq IS NOT NULL AND parked_seq = last_seq)";

/** How many runs' places are remembered. */
const MOST_PLACES = 10_000;

/**
 * Opens the store in a Postgres database. When a call resolves, what it wrote is as durable as the server's
 * `synchronous_commit` says. Any number of processes may have it open.
 */
export async function openPostgresStore(options: PostgresStoreOptions): Promise<Store> {
  const pg = await loadDriver();
  const { clock, schema } = options;
  const database = new Database(pg, options);
  try {
    await migrate(database);
  } catch (error) {
    await database.close();
    throw error;
  }
  const hints = new Hints(pg, database, schema, clock);
  const upkeep = new Upkeep(database, clock, options.retentionMs);
  await upkeep.start();
  return createStore({ database, hints, upkeep, clock });
}

interface Parts {
  readonly database: Database;
  readonly hints: Hints;
  readonly upkeep: Upkeep;
  readonly clock: Clock;
}

function createStore({ database, hints, upkeep, clock }: Parts): Store {
  const bodies = new Bodies(clock);
  const places = new Map<string, RunPlace>();
  /** By name, the last call that changes the file: the next one waits for it, so that the last call counts. */
  const fileTurns = new Map<string, Promise<unknown>>();
  let closing: Promise<void> | undefined;

  const requireOpen = (): void => {
    if (closing !== undefined) throw new StoreError("store-closed", "The store is closed. Open another one.");
  };
  const one = async (text: string, values: readonly unknown[], repeating = {}): Promise<VerdictRow | undefined> =>
    (await database.call<VerdictRow>(text, values, repeating))[0];
  const remember = (runId: string, place: RunPlace): void => {
    if (places.size >= MOST_PLACES) places.clear();
    places.set(runId, place);
  };
  const placeOf = async (runId: string): Promise<RunPlace> => {
    const known = places.get(runId);
    if (known !== undefined) return known;
    const [row] = isId(runId)
      ? await database.callAs<RunRow>(
          ALL_TENANTS,
          "SELECT tenant, thread_id FROM @.runs WHERE id = $1",
          [runId],
          PATIENT,
        )
      : [];
    if (row === undefined) throw unknownRun(runId);
    const place = { tenant: row.tenant, ...(row.thread_id !== null && { threadId: row.thread_id }) };
    remember(runId, place);
    return place;
  };
  const threads = threadCalls({ database, bodies, requireOpen });
  const appender = new Appender({
    database,
    bodies,
    hints,
    clock,
    place: placeOf,
    usage: (threadId, tenant) => readUsage({ database, bodies }, tenant, threadId, PATIENT),
  });
  const inFileTurn = <Value>(name: string, change: () => Promise<Value>): Promise<Value> => {
    const changed = (fileTurns.get(name) ?? Promise.resolve()).then(change, change);
    fileTurns.set(name, changed);
    const forget = (): void => void (fileTurns.get(name) === changed && fileTurns.delete(name));
    changed.then(forget, forget);
    return changed;
  };

  // `async`, so that a refusal is a rejection.
  return {
    ...threads,
    ...wholeStoreCalls({ database, bodies, requireOpen }),
    async createRun(run, messages = []) {
      requireOpen();
      requireRun(run);
      const { id, threadId, tenant = LOCAL_TENANT, createdAt } = run;
      const wrong = { code: "invalid-run", what: `The input or a setting of run ${id}` } as const;
      const settings = run.settings === undefined ? null : await bodies.value(run.settings, wrong);
      const texts =
        threadId === undefined ? [] : await Promise.all(messages.map((message) => bodies.message(message, wrong)));
      const threadBytes = texts.reduce((sum, [body]) => sum + Buffer.byteLength(body), 0);
      if (threadId !== undefined && !isId(threadId)) throw unknownThread(threadId);
      const verdict = await one("SELECT * FROM @.create_run($1, $2, $3, $4, $5, $6, $7, $8, $9)", [
        id,
        threadId ?? null,
        tenant,
        run.tenant !== undefined,
        createdAt,
        settings,
        JSON.stringify(texts),
        settings === null ? 0 : Buffer.byteLength(settings),
        threadBytes,
      ]);
      if (verdict?.code === "run-exists") throw new StoreError("run-exists", `Run ${id} already exists.`);
      if (verdict?.code === "unknown-thread") throw unknownThread(threadId ?? "");
      if (verdict?.code === "thread-busy") throw busy(threadId ?? "", verdict.detail);
      remember(id, { tenant, ...(threadId !== undefined && { threadId }) });
    },
    append(runId, events, settlement, epoch) {
      try {
        requireOpen();
        if (!isId(runId)) throw unknownRun(runId);
        return appender.append(runId, events, settlement, epoch);
      } catch (error) {
        return Promise.reject(error);
      }
    },
    async read(runId, options) {
      requireOpen();
      const { after, limit, maxCharacters } = requireCursor(options);
      if (!isId(runId)) throw unknownRun(runId);
      const rows = await database.call<{ seq: string | null; body: string }>(
        "SELECT * FROM @.read_events($1, $2, $3, $4)",
        [runId, after, limit, Math.ceil(Math.min(maxCharacters, Number.MAX_SAFE_INTEGER))],
        PATIENT,
      );
      const events: AgentEvent[] = [];
      for (const { seq, body } of rows) {
        if (seq === null) throw unknownRun(runId);
        events.push(await bodies.readEvent(body));
      }
      return events;
    },
    async listRuns(wanted) {
      requireOpen();
      const { id, threadId, isOver, isWaiting } = requireWanted(wanted);
      if ([id, threadId].some((one) => one !== undefined && !isId(one))) return [];
      const values: string[] = [];
      // Each condition stands alone, so that the index of the runs that are not over can be used.
      const conditions: string[] = [];
      if (id !== undefined) conditions.push(`id = $${values.push(id)}`);
      if (threadId !== undefined) conditions.push(`thread_id = $${values.push(threadId)}`);
      if (isOver !== undefined) conditions.push(isOver ? "status IS NOT NULL" : "status IS NULL");
      if (isWaiting !== undefined) conditions.push(isWaiting ? WAITS : `NOT ${WAITS}`);
      const where = conditions.length === 0 ? "" : `WHERE ${conditions.join(" AND ")}`;
      const rows = await database.callAs<RunRow>(
        ALL_TENANTS,
        `SELECT ${RUN_COLUMNS} FROM @.runs ${where} ORDER BY created_at DESC, id`,
        values,
        SAFE,
      );
      return await Promise.all(rows.map((row) => readRun(row, bodies)));
    },
    async findRun(tenant, id) {
      requireOpen();
      if (!isId(tenant) || !isId(id)) return undefined;
      const [row] = await database.callAs<RunRow>(
        tenant,
        `SELECT ${RUN_COLUMNS} FROM @.runs WHERE id = $1 AND tenant = $2`,
        [id, tenant],
        SAFE,
      );
      return row === undefined ? undefined : await readRun(row, bodies);
    },
    async claim(runId, wanted) {
      requireOpen();
      if (!isId(runId)) throw unknownRun(runId);
      requireClaimant(wanted);
      const { worker, at, seen } = wanted;
      const verdict = await one("SELECT * FROM @.claim($1, $2, $3, $4)", [
        runId,
        JSON.stringify(worker),
        at,
        seen ?? null,
      ]);
      if (verdict?.code !== null) throw refusal(runId, seen, verdict);
      hints.tell(runId);
      return Number(verdict["epoch"]);
    },
    async extendClaim({ runId, epoch, at }) {
      requireOpen();
      if (!isId(runId)) throw unknownRun(runId);
      const verdict = await one("SELECT * FROM @.change_claim($1, $2, $3)", [runId, epoch, at], SAFE);
      if (verdict?.code !== null) throw refusal(runId, epoch, verdict);
    },
    async releaseClaim({ runId, epoch }) {
      requireOpen();
      if (!isId(runId)) throw unknownRun(runId);
      const verdict = await one("SELECT * FROM @.change_claim($1, $2, NULL)", [runId, epoch]);
      if (verdict?.code === "claim-lost") return false;
      if (verdict?.code !== null) throw refusal(runId, epoch, verdict);
      hints.tell(runId);
      return true;
    },
    async noteNode(node, note) {
      requireOpen();
      const body = readNote(node, note);
      const names = [JSON.stringify(node), body ?? null];
      const rows = await database.call<{ node: string; body: string }>(
        "SELECT * FROM @.note_node($1, $2)",
        names,
        SAFE,
      );
      return rows.map((row) => ({ node: JSON.parse(row.node) as string, note: JSON.parse(row.body) as unknown }));
    },
    watch(onChange) {
      requireOpen();
      return hints.watch(onChange);
    },
    async addAnswer(runId, answer) {
      requireOpen();
      requireAnswer(answer);
      const wrong = { code: "invalid-answer", what: `An answer of run ${runId}` } as const;
      const body = await bodies.value(answer, wrong);
      if (!isId(runId)) return false;
      const rows = await database.callAs(
        ALL_TENANTS,
        // The lock keeps the end of the run away, which would remove the answers.
        `WITH run AS (SELECT run_key, tenant FROM @.runs WHERE id = $1 AND status IS NULL FOR SHARE)
          INSERT INTO @.answers (run_key, call_id, tenant, at, body) SELECT run_key, $2, tenant, $3, $4 FROM run
          ON CONFLICT (run_key, call_id) DO NOTHING RETURNING 1`,
        [runId, callKey(answer.callId), answer.at, body],
      );
      if (rows.length === 0) return false;
      hints.tell(runId);
      return true;
    },
    async listAnswers(runId) {
      requireOpen();
      if (!isId(runId)) return [];
      const rows = await database.callAs<{ body: string }>(
        ALL_TENANTS,
        `SELECT body FROM @.answers WHERE run_key = (SELECT run_key FROM @.runs WHERE id = $1) ORDER BY at, answer_key`,
        [runId],
        PATIENT,
      );
      return await Promise.all(rows.map(({ body }) => bodies.read<StoredAnswer>(body)));
    },
    async keepFile(name, data, claim) {
      requireOpen();
      requireFileName(name);
      if (claim !== undefined && !isId(claim.runId)) throw unknownRun(claim.runId);
      const copy = Buffer.from(data);
      const verdict = await inFileTurn(name, () =>
        one(
          "SELECT * FROM @.keep_file($1, $2, $3, $4)",
          [name, copy, claim?.runId ?? null, claim?.epoch ?? null],
          PATIENT,
        ),
      );
      if (verdict?.code !== null) throw refusal(claim?.runId ?? "", claim?.epoch, verdict);
    },
    async findFile(name) {
      requireOpen();
      requireFileName(name);
      const text = "SELECT data FROM @.files WHERE name = $1";
      const [row] = await database.callAs<{ data: Uint8Array }>(ALL_TENANTS, text, [name], PATIENT);
      return row === undefined ? undefined : Uint8Array.from(row.data);
    },
    async removeFile(name) {
      requireOpen();
      requireFileName(name);
      const text = "DELETE FROM @.files WHERE name = $1 RETURNING 1";
      return (await inFileTurn(name, () => database.callAs(ALL_TENANTS, text, [name]))).length > 0;
    },
    async close() {
      closing ??= (async () => {
        await appender.drain();
        await Promise.allSettled(fileTurns.values());
        await upkeep.close();
        await hints.close();
        await database.close();
      })();
      await closing;
    },
  };
}

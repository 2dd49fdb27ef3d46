import type { Pool, PoolClient, PoolConfig, QueryResultRow } from "pg";
import type { Clock } from "#domain";
import { StoreError } from "../store-error.ts";
import { isConflict, isLost, type Place, readPlace, storeFailure } from "./failures.ts";
import type { PostgresDriver } from "./load-driver.ts";

/** How long calls wait for a database that cannot be reached. */
const PATIENCE = {
  /** A request is answered with "try again later" instead. */
  request: 2000,
  /** What a run writes and its readers read: a database that is started anew must not end them. */
  run: 60_000,
} as const;

const RETRY_MS = { first: 50, most: 2000 } as const;

/** How often a transaction is tried that others were in the way of. */
const CONFLICT_TRIES = 5;

/** The value of `millrace.tenant` for calls that name no tenant. */
export const ALL_TENANTS = "*";

export interface DatabaseOptions {
  readonly url: string;
  readonly schema: string;
  readonly connections: number;
  readonly statementMs: number;
  readonly connectMs: number;
  readonly clock: Clock;
}

/** How a call is repeated after the connection was lost. */
export interface Repeating {
  /** Repeated even if it may have been carried out. Otherwise only if it was certainly not sent. */
  readonly isSafe?: boolean;
  readonly patience?: keyof typeof PATIENCE;
}

/** Sends one statement. */
export type Call = <Row extends QueryResultRow>(text: string, values: readonly unknown[]) => Promise<readonly Row[]>;

/** A pool of connections, and how calls go through it. Rejects with `StoreError` only. */
export class Database {
  readonly place: Place;
  readonly config: PoolConfig;
  private readonly _pool: Pool;
  private readonly _clock: Clock;
  readonly schemaName: string;
  private readonly _schema: string;
  private _isClosed = false;

  constructor(pg: PostgresDriver, { url, schema, connections, statementMs, connectMs, clock }: DatabaseOptions) {
    this.place = readPlace(url);
    this._clock = clock;
    this.schemaName = schema;
    this._schema = pg.escapeIdentifier(schema);
    this.config = {
      connectionString: url,
      application_name: "millrace",
      connectionTimeoutMillis: connectMs,
      statement_timeout: statementMs,
      // If the network is cut, nothing else ends a query.
      query_timeout: statementMs + connectMs,
      idle_in_transaction_session_timeout: statementMs,
      keepAlive: true,
    };
    this._pool = new pg.Pool({ ...this.config, max: connections, allowExitOnIdle: true });
    // Without listeners, a connection that is lost would end the program: the first is for idle ones, the second for those
    // at work, whose query is rejected as well.
    this._pool.on("error", () => undefined);
    this._pool.on("connect", (client) => {
      client.on("error", () => undefined);
    });
  }

  /** One statement; `@.` stands for the schema. It sets its own tenant. */
  async call<Row extends QueryResultRow>(
    text: string,
    values: readonly unknown[],
    repeating: Repeating = {},
  ): Promise<readonly Row[]> {
    return await this._with(repeating, async (client) => (await client.query<Row>(this.sql(text), [...values])).rows);
  }

  /** A call that knows by itself what an earlier attempt of it may have done; it is repeated as long as a run waits. */
  async repeat<Value>(act: (call: Call) => Promise<Value>): Promise<Value> {
    return await this._with({ isSafe: true, patience: "run" }, async (client) =>
      act(async (text, values) => (await client.query(this.sql(text), [...values])).rows),
    );
  }

  /** One statement in which only the rows of a tenant exist. */
  async callAs<Row extends QueryResultRow>(
    tenant: string,
    text: string,
    values: readonly unknown[],
    repeating: Repeating = {},
  ): Promise<readonly Row[]> {
    return await this._with(repeating, async (client) => {
      await client.query(`BEGIN; SELECT set_config('millrace.tenant', '${requireTenant(tenant)}', true)`);
      try {
        const { rows } = await client.query<Row>(this.sql(text), [...values]);
        await client.query("COMMIT");
        return rows;
      } catch (error) {
        if (!isLost(error)) await client.query("ROLLBACK");
        throw error;
      }
    });
  }

  /** A transaction of several statements. */
  async transact<Value>(act: (client: PoolClient) => Promise<Value>, repeating: Repeating = {}): Promise<Value> {
    return await this._with(repeating, async (client) => {
      await client.query("BEGIN");
      try {
        const value = await act(client);
        await client.query("COMMIT");
        return value;
      } catch (error) {
        if (!isLost(error)) await client.query("ROLLBACK");
        throw error;
      }
    });
  }

  /** A transaction of several statements in which only the rows of a tenant exist. */
  async transactAs<Value>(tenant: string, act: (call: Call) => Promise<Value>, repeating: Repeating): Promise<Value> {
    return await this.transact(async (client) => {
      await client.query(`SELECT set_config('millrace.tenant', '${requireTenant(tenant)}', true)`);
      return await act(async (text, values) => (await client.query(this.sql(text), [...values])).rows);
    }, repeating);
  }

  sql(text: string): string {
    return text.replaceAll("@.", `${this._schema}.`);
  }

  get schema(): string {
    return this._schema;
  }

  async close(): Promise<void> {
    this._isClosed = true;
    await this._pool.end();
  }

  private async _with<Value>(
    { isSafe = false, patience = "request" }: Repeating,
    act: (client: PoolClient) => Promise<Value>,
  ): Promise<Value> {
    const begun = this._clock.now();
    let conflicts = 0;
    for (let waitMs: number = RETRY_MS.first; ; waitMs = Math.min(RETRY_MS.most, waitMs * 2)) {
      let client: PoolClient | undefined;
      try {
        client = await this._pool.connect();
        const value = await act(client);
        client.release();
        return value;
      } catch (error) {
        client?.release(isLost(error));
        if (error instanceof StoreError) throw error;
        if (isConflict(error)) {
          conflicts += 1;
          if (conflicts < CONFLICT_TRIES) continue;
        }
        const mayRepeat = isLost(error) && (isSafe || client === undefined);
        const isPatient = !this._isClosed && this._clock.now() - begun + waitMs <= PATIENCE[patience];
        if (!mayRepeat || !isPatient) throw storeFailure(error, this.place);
      }
      await new Promise<void>((resolve) => {
        this._clock.after(waitMs, resolve);
      });
    }
  }
}

/** It is written into a statement. Callers have checked it; a mistake there must not become an injection. */
function requireTenant(tenant: string): string {
  if (tenant === ALL_TENANTS || /^[\w-]{1,64}$/.test(tenant)) return tenant;
  throw new StoreError("store-failed", `The tenant ${JSON.stringify(tenant)} cannot be used.`);
}

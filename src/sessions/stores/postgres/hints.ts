import type { Client } from "pg";
import type { Clock } from "#domain";
import type { Database } from "./database.ts";
import type { PostgresDriver } from "./load-driver.ts";

/** Runs that change within this time are told together. */
const GATHER_MS = 20;

/** The payload of a notification has less than 8000 bytes. */
const PAYLOAD_CHARACTERS = 7000;

/** When this many payloads would be needed, one says that any run may have changed. */
const MOST_PAYLOADS = 20;

const RETRY_MS = { first: 250, most: 5000 } as const;

const ANY = "*";

type Listener = (runId: string | undefined) => void;

/**
 * Tells other processes which runs have changed, and hears it from them, on a connection of its own.
 *
 * Never inside of an append: Postgres lets transactions with a notification commit one after the other, which makes appends
 * several times slower. So a hint may be lost, and whoever waits also looks from time to time.
 */
export class Hints {
  private readonly _connect: () => Client;
  private readonly _clock: Clock;
  private readonly _channel: string;
  private readonly _quoted: string;
  private readonly _listeners = new Set<Listener>();
  private readonly _changed = new Set<string>();
  private _client: Client | undefined;
  private _own: number | undefined;
  private _takeBack: (() => void) | undefined;
  private _retryMs: number = RETRY_MS.first;
  private _isClosed = false;
  /** Resolves when the last statement was sent. */
  private _sent: Promise<unknown> = Promise.resolve();

  constructor(pg: PostgresDriver, database: Database, schema: string, clock: Clock) {
    this._connect = () => new pg.Client(database.config);
    this._clock = clock;
    this._channel = `millrace.${schema}`;
    this._quoted = pg.escapeIdentifier(this._channel);
  }

  /** Others are told soon that something of the run has changed. */
  tell(runId: string): void {
    if (this._isClosed) return;
    this._changed.add(runId);
    this._takeBack ??= this._clock.after(GATHER_MS, () => this._send());
  }

  watch(listener: Listener): () => void {
    this._listeners.add(listener);
    this._open();
    return () => void this._listeners.delete(listener);
  }

  async close(): Promise<void> {
    this._isClosed = true;
    this._takeBack?.();
    this._listeners.clear();
    await this._sent;
    const client = this._client;
    this._client = undefined;
    await client?.end().catch(() => undefined);
  }

  private _send(): void {
    this._takeBack = undefined;
    if (this._isClosed) return;
    const client = this._client;
    if (client === undefined || this._own === undefined) {
      // Once connected, everyone is told to look at everything.
      this._open();
      return;
    }
    const payloads = pack(this._changed);
    this._changed.clear();
    this._sent = client
      .query("SELECT pg_notify($1, payload) FROM unnest($2::text[]) AS payload", [this._channel, payloads])
      // The connection is opened anew when it has ended; then everyone is told to look.
      .catch(() => undefined);
  }

  private _open(): void {
    if (this._client !== undefined || this._isClosed) return;
    const client = this._connect();
    this._client = client;
    client.on("notification", ({ processId, payload = ANY }) => {
      if (processId !== this._own) this._hear(payload);
    });
    client.on("error", () => this._lose(client));
    client.on("end", () => this._lose(client));
    this._begin(client).catch(() => this._lose(client));
  }

  private async _begin(client: Client): Promise<void> {
    await client.connect();
    // Hints need not survive a crash of the server, and nobody has to wait for its disk because of them.
    await client.query("SET synchronous_commit = off");
    await client.query(`LISTEN ${this._quoted}`);
    const { rows } = await client.query<{ pid: number }>("SELECT pg_backend_pid() AS pid");
    this._own = rows[0]?.pid;
    this._retryMs = RETRY_MS.first;
    // Some may have been missed while there was no connection, here and by those who were not told.
    this._hear(ANY);
    if (this._changed.size > 0) this._send();
  }

  private _lose(client: Client): void {
    if (this._client !== client) return;
    this._client = undefined;
    this._own = undefined;
    client.end().catch(() => undefined);
    if (this._isClosed) return;
    this._clock.after(this._retryMs, () => this._open());
    this._retryMs = Math.min(RETRY_MS.most, this._retryMs * 2);
  }

  private _hear(payload: string): void {
    const runs = payload === ANY ? [undefined] : payload.split(",");
    for (const listener of this._listeners) for (const runId of runs) listener(runId);
  }
}

function pack(runs: ReadonlySet<string>): readonly string[] {
  const payloads: string[] = [];
  let payload = "";
  for (const runId of runs) {
    if (payload !== "" && payload.length + runId.length >= PAYLOAD_CHARACTERS) {
      payloads.push(payload);
      payload = "";
    }
    payload += payload === "" ? runId : `,${runId}`;
  }
  if (payload !== "") payloads.push(payload);
  return payloads.length > MOST_PAYLOADS ? [ANY] : payloads;
}

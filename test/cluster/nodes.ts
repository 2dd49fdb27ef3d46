import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { AgentEvent } from "#domain";
import { ROOT } from "../../scripts/set-up.mjs";
import { type Cli, startCli } from "../e2e/cli.ts";
import { followSse } from "../server/support.ts";
import { type CutWire, openWire } from "../support/cut-wire.ts";
import { freePort } from "../support/free-port.ts";

export const NODES = 3;

/** What the agent of config.mjs is asked to do. */
export type Order = { readonly steps: number; readonly ms: number } | { readonly words: number; readonly pace: number };

export type Engine = "pg-boss" | "redis";

/** A `millrace serve` in a process of its own, behind wires of its own to Postgres and to the queue. */
export class ServedNode {
  readonly name: string;
  readonly url: string;
  state: "up" | "frozen" | "down" = "down";
  private readonly _start: () => Cli;
  private readonly _wires: readonly CutWire[];
  private _cli: Cli | undefined;
  /** Fires when requests to this node get no answer any more. */
  private _visits = new AbortController();

  constructor(name: string, port: number, start: () => Cli, wires: readonly CutWire[]) {
    this.name = name;
    this.url = `http://127.0.0.1:${port}`;
    this._start = start;
    this._wires = wires;
  }

  /** What ends requests to it. */
  get visits(): AbortSignal {
    return this._visits.signal;
  }

  get pid(): number {
    return this._cli?.child.pid ?? 0;
  }

  async start(): Promise<void> {
    const cli = this._start();
    this._cli = cli;
    this._visits = new AbortController();
    await cli.seen(`${this.url}\n`);
    this.state = "up";
  }

  /** SIGKILL, then a new process in its place, also where Postgres is away at that moment. */
  async restart(): Promise<void> {
    this.state = "down";
    this._cli?.child.kill("SIGKILL");
    this._visits.abort();
    await this._cli?.left;
    for (let attempt = 0; ; attempt += 1) {
      try {
        await this.start();
        return;
      } catch (error) {
        if (attempt >= 60) throw error;
      }
    }
  }

  freeze(): void {
    this.state = "frozen";
    this._cli?.child.kill("SIGSTOP");
    this._visits.abort();
  }

  thaw(): void {
    this._cli?.child.kill("SIGCONT");
    this._visits = new AbortController();
    this.state = "up";
  }

  /** Neither Postgres nor the queue hears of it, and nobody is told. */
  cut(): void {
    for (const wire of this._wires) wire.cut();
  }

  mend(): void {
    for (const wire of this._wires) wire.mend();
  }

  async close(): Promise<number | null> {
    this._cli?.child.kill("SIGTERM");
    const code = (await this._cli?.left)?.code ?? null;
    for (const wire of this._wires) await wire.close();
    return code;
  }
}

export interface ClusterOptions {
  readonly folder: string;
  /** The URL of the database, and the folder of the socket in it. */
  readonly database: string;
  readonly socketFolder: string;
  readonly redisPort: number | undefined;
  /** Where tools leave their lines. */
  readonly effects: string;
}

/** Starts the nodes. Each of them keeps its name and its port over its restarts. */
export async function startNodes(options: ClusterOptions): Promise<readonly ServedNode[]> {
  const nodes: ServedNode[] = [];
  for (let at = 0; at < NODES; at += 1) nodes.push(await createNode(`node-${at}`, options));
  await Promise.all(nodes.map((node) => node.start()));
  return nodes;
}

async function createNode(name: string, options: ClusterOptions): Promise<ServedNode> {
  const { folder, database, socketFolder, redisPort, effects } = options;
  const near = join(folder, name);
  mkdirSync(near, { recursive: true });
  const wires = [await openWire(join(socketFolder, ".s.PGSQL.5432"), join(near, ".s.PGSQL.5432"))];
  let queue = "pg-boss";
  if (redisPort !== undefined) {
    const wire = await openWire(redisPort);
    wires.push(wire);
    queue = `redis://127.0.0.1:${wire.port}`;
  }
  const store = database.replace(encodeURIComponent(socketFolder), encodeURIComponent(near));
  const port = await freePort();
  const config = join(ROOT, "test/cluster/config.mjs");
  const args = ["serve", "--port", String(port), "--node", name, "--config", config];
  const start = (): Cli =>
    startCli([...args, "--store", store, "--queue", queue], { env: { MILLRACE_TEST_EFFECTS: effects }, cwd: near });
  return new ServedNode(name, port, start, wires);
}

const JSON_TYPE = { "content-type": "application/json" };

/** Gives an order to this node. `undefined`: it did not answer, or could not take it now. */
export async function order(node: ServedNode, what: Order): Promise<string | undefined> {
  const post = (path: string, body: unknown): Promise<Response> =>
    fetch(`${node.url}${path}`, {
      method: "POST",
      body: JSON.stringify(body),
      headers: JSON_TYPE,
      signal: node.visits,
    });
  try {
    const made = await post("/api/threads", {});
    const { id } = (await made.json()) as { id?: string };
    if (id === undefined) return undefined;
    const response = await post(`/api/threads/${id}/chat`, { input: JSON.stringify(what) });
    await response.body?.cancel();
    return response.status === 200 ? (response.headers.get("x-run-id") ?? undefined) : undefined;
  } catch {
    return undefined;
  }
}

/** Reads events of a run at this node until `done`, or until the connection breaks. */
export async function visit(node: ServedNode, runId: string, seen: AgentEvent[]): Promise<void> {
  try {
    const after = seen.at(-1)?.seq ?? -1;
    const response = await fetch(`${node.url}/api/runs/${runId}/events?after=${after}`, { signal: node.visits });
    if (response.status === 200)
      await followSse(response.body as unknown as AsyncIterable<Uint8Array>, (event) => seen.push(event));
    else await response.body?.cancel();
  } catch {
    // The node was killed or stopped; the reader goes to another one.
  }
}

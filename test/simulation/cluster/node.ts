import type { AgentEvent } from "#domain";
import { createServer, type Server } from "#server";
import { createMemoryFiles, createScriptedFetch, createScriptedSpawn, createSeededRandom } from "#testing";
import { createSseFramer, decodeEvent } from "#wire";
import type { Dice } from "../dice.ts";
import { reachQueue, reachStore } from "./calls.ts";
import { Life } from "./life.ts";
import type { Place } from "./place.ts";
import { createWorker, type Effect } from "./work.ts";

export interface VirtualNodeOptions {
  readonly name: string;
  readonly place: Place;
  readonly dice: Dice;
  readonly skewMs: number;
  readonly effects: Effect[];
}

/** How long a client waits for an answer. */
const PATIENCE_MS = 40_000;

/** A server with its own clock, store, queue and world, in which it can be stopped at any moment. */
export class VirtualNode {
  readonly name: string;
  readonly life: Life;
  private readonly _server: Server;
  private readonly _place: Place;
  /** A response that is collected as garbage would be cancelled at that moment, which no seed determines. */
  private readonly _responses: Response[] = [];

  constructor({ name, place, dice, skewMs, effects }: VirtualNodeOptions) {
    this.name = name;
    this._place = place;
    this.life = new Life(place.clock, skewMs);
    const clock = this.life.clock();
    const note = (effect: Omit<Effect, "isStored">): void => {
      effects.push({ ...effect, isStored: place.storedCalls.has(`${effect.runId} ${effect.callId}`) });
    };
    this._server = createServer({
      page: false,
      store: reachStore(place, this.life, dice.fork()),
      queue: reachQueue(place, this.life, dice.fork()),
      node: name,
      agents: [createWorker({ clock, dice: dice.fork(), note })],
      target: "worker",
      limits: { requestsPerMinute: 1e9, streams: 1e6, parkMs: 5000, runs: 1000 },
      world: {
        clock,
        random: createSeededRandom(dice.upTo(0x7fff_ffff)),
        fetch: createScriptedFetch([]),
        spawn: createScriptedSpawn([]),
        files: createMemoryFiles(),
        env: {},
        onListenerError: () => undefined,
      },
    });
    this._start();
  }

  /** Until the store answers. */
  private _start(): void {
    this._server.start().catch(() => {
      this._place.clock.after(500, () => this.life.run(() => this._start()));
    });
  }

  /** SIGTERM. */
  async leave(): Promise<void> {
    await this._server.close();
    this.life.kill();
  }

  /** `undefined`: no answer comes. */
  async ask(method: string, path: string, body?: unknown): Promise<Response | undefined> {
    if (!this.life.isUp) return undefined;
    const init = {
      method,
      headers: { host: "localhost", ...(body !== undefined && { "content-type": "application/json" }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    };
    const answer = this._server.fetch(new Request(`http://localhost${path}`, init)).then((response) => {
      this._responses.push(response);
      return response;
    });
    return this._unlessEnded(this.life.reach(answer), PATIENCE_MS);
  }

  /** Only what the head of the answer says. */
  async askHead(method: string, path: string, body?: unknown): Promise<Headers | undefined> {
    const response = await this.ask(method, path, body);
    await this._unlessEnded(response?.body?.cancel() ?? Promise.resolve(), PATIENCE_MS);
    return response?.headers;
  }

  /** The body of an answer; `undefined`: none came, or a refusal. */
  async askJson(method: string, path: string, body?: unknown): Promise<Record<string, unknown> | undefined> {
    const response = await this.ask(method, path, body);
    if (response === undefined) return undefined;
    if (!response.ok) return void (await this._unlessEnded(response.text(), PATIENCE_MS)) as undefined;
    return this._unlessEnded(response.json() as Promise<Record<string, unknown>>, PATIENCE_MS);
  }

  /** Reads a run's events from where somebody stands, until `done`, or until the node or the reader leaves. */
  async read(runId: string, seen: AgentEvent[], leaves: () => boolean): Promise<void> {
    const response = await this.ask("GET", `/api/runs/${runId}/events?after=${seen.at(-1)?.seq ?? -1}`);
    if (response === undefined || response.body === null) return;
    if (!response.ok) return void (await this._unlessEnded(response.text(), PATIENCE_MS));
    const framer = createSseFramer();
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    for (;;) {
      const piece = await this._unlessEnded(reader.read(), undefined);
      if (piece?.value === undefined) return;
      for (const frame of framer.push(piece.value)) {
        const { event } = decodeEvent((frame as { readonly text: string }).text);
        if (event === undefined) continue;
        seen.push(event);
        if (event.type !== "done" && !leaves()) continue;
        await this._unlessEnded(reader.cancel(), PATIENCE_MS);
        return;
      }
    }
  }

  private _unlessEnded<Value>(answer: Promise<Value>, ms: number | undefined): Promise<Value | undefined> {
    return new Promise((resolve) => {
      const forget = this.life.onEnd(() => end(undefined));
      const stop = ms === undefined ? () => undefined : this._place.clock.after(ms, () => end(undefined));
      const end = (value: Value | undefined): void => {
        forget();
        stop();
        resolve(value);
      };
      answer.then(end, () => end(undefined));
    });
  }
}

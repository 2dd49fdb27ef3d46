import type { AgentEvent } from "#domain";
import { systemWorld, type World } from "#runtime";
import { createServer, type Server, type ServerOptions } from "#server";
import type { Store } from "#sessions";
import {
  createScriptedFetch,
  createScriptedSpawn,
  createSeededRandom,
  createMemoryFiles,
  createVirtualClock,
  type VirtualClock,
} from "#testing";
import { createSseFramer, decodeEvent } from "#wire";
import { createMemoryStore } from "../../src/sessions/stores/memory/memory-store.ts";

/** A world in which no time passes by itself and nobody can be reached. */
export function testWorld(seed = 1): World & { readonly clock: VirtualClock } {
  return {
    ...systemWorld(),
    clock: createVirtualClock(1_700_000_000_000),
    random: createSeededRandom(seed),
    fetch: createScriptedFetch([]),
    spawn: createScriptedSpawn([]),
    files: createMemoryFiles(),
    env: {},
  };
}

export interface TestServer {
  readonly server: Server;
  readonly store: Store;
  /** Asks as the page would. */
  ask(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Response>;
}

/** A server without a socket. */
export function startServer(options: Partial<ServerOptions> = {}): TestServer {
  const store = options.store ?? createMemoryStore();
  const server = createServer({ page: false, ...options, store });
  return {
    server,
    store,
    ask: (method, path, body, headers = {}) =>
      server.fetch(
        new Request(`http://localhost${path}`, {
          method,
          headers: { host: "localhost", ...(body !== undefined && { "content-type": "application/json" }), ...headers },
          ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
        }),
      ),
  };
}

export interface Frame {
  readonly id: string | undefined;
  readonly event: string | undefined;
  readonly data: string;
}

/** Everything a stream sends, as text. */
export async function readText(response: Response): Promise<string> {
  let text = "";
  const decoder = new TextDecoder();
  for await (const bytes of response.body as unknown as AsyncIterable<Uint8Array>)
    text += decoder.decode(bytes, { stream: true });
  return text;
}

/** The frames of a stream's text, comments and all taken apart by hand: an independent reading of the format. */
export function readFrames(text: string): readonly Frame[] {
  return text
    .split("\n\n")
    .map((block) => {
      const fields = new Map<string, string[]>();
      for (const line of block.split("\n")) {
        const colon = line.indexOf(":");
        const name = colon === -1 ? line : line.slice(0, colon);
        const value = colon === -1 ? "" : line.slice(colon + 1).replace(/^ /, "");
        fields.set(name, [...(fields.get(name) ?? []), value]);
      }
      return fields;
    })
    .filter((fields) => fields.has("data"))
    .map((fields) => ({
      id: fields.get("id")?.[0],
      event: fields.get("event")?.[0],
      data: fields.get("data")?.join("\n") ?? "",
    }));
}

/** The events of a stream in our own words. */
export async function readEvents(response: Response): Promise<AgentEvent[]> {
  return readFrames(await readText(response)).map(({ data }) => {
    const decoded = decodeEvent(data);
    if (decoded.fault !== undefined) throw new Error(decoded.fault);
    return decoded.event;
  });
}

/** Reads events of a stream over a real connection as they come, until `done` or the connection breaks. */
export async function followSse(
  body: AsyncIterable<Uint8Array>,
  visit: (event: AgentEvent, id: string) => void,
): Promise<"done" | "broken"> {
  const framer = createSseFramer();
  try {
    for await (const bytes of body) {
      for (const frame of framer.push(bytes)) {
        const decoded = decodeEvent((frame as { text: string }).text);
        if (decoded.fault !== undefined) continue;
        visit(decoded.event, String(decoded.event.seq));
        if (decoded.event.type === "done") return "done";
      }
    }
  } catch {
    // A connection that breaks is what these tests are about.
  }
  return "broken";
}

import { checkOptionNames, type Clock, type Fetch, type Random } from "#domain";
import { createAnswer } from "./answer.ts";
import type { Exchanges } from "./exchanges.ts";
import { createInProcessFetch } from "./in-process.ts";
import { DEFAULT_MODELS } from "./models.ts";
import { createRequestLog, type ReceivedRequest } from "./request-log.ts";
import { parseScript } from "./script-check.ts";
import { createScriptPlayer, type EmulatorScript } from "./script.ts";
import { listen, type ListeningServer, type ListenOptions } from "./server.ts";

/** The options of `createEmulator`. */
export interface EmulatorOptions {
  /** What to answer. Default: the offline model answers everything. */
  readonly script?: EmulatorScript;
  /** Refuse what the vendors refuse. Default true. */
  readonly strict?: boolean;
  /** For the delays of scripts and faults. Default: this machine's. */
  readonly clock?: Clock;
  /** For ids. Default: made from the requests, so that the same requests get the same ids. */
  readonly random?: Random;
  /** The names that are listed; any other name is answered, too. Default: `offline`. */
  readonly models?: readonly string[];
}

const OPTION_NAMES = ["script", "strict", "clock", "random", "models"] satisfies (keyof EmulatorOptions)[];
const LISTEN_NAMES = ["port", "host"] satisfies (keyof ListenOptions)[];

/**
 * The offline model server: speaks the wire formats of Anthropic (Messages), OpenAI (Chat Completions, Responses) and
 * Google (Gemini), from a script or from a small deterministic model. It needs no key and no network.
 */
export interface Emulator {
  /** The server in process: the same answers without a socket, for any host in the URL. */
  readonly fetch: Fetch;
  /** Listens for HTTP on this machine; may be called several times. Rejects with `StartError` for another address. */
  listen(options?: ListenOptions): Promise<ListeningServer>;
  /** What was received, newest last: the last 1000 requests, with keys hidden. */
  readonly requests: readonly ReceivedRequest[];
  /** Ends every exchange and stops listening. Idempotent. */
  close(): Promise<void>;
}

/**
 * Creates an offline model server. Throws `StartError` when the script is not right.
 *
 * @example
 * const emulator = createEmulator();
 * const { url } = await emulator.listen();
 * // ANTHROPIC_BASE_URL=url, OPENAI_BASE_URL=`${url}/v1`, GOOGLE_GEMINI_BASE_URL=url; any text is a key
 * await emulator.close();
 */
export function createEmulator(options: EmulatorOptions = {}): Emulator {
  checkOptionNames(options, OPTION_NAMES, "createEmulator");
  const log = createRequestLog();
  const answer = createAnswer({
    script: createScriptPlayer(options.script === undefined ? { rules: [] } : parseScript(options.script)),
    strict: options.strict ?? true,
    models: options.models ?? DEFAULT_MODELS,
    clock: options.clock ?? systemClock,
    random: options.random,
  });
  const underWay = new Set<AbortController>();
  const servers = new Set<ListeningServer>();
  let isClosed = false;

  const exchanges: Exchanges = {
    log: (request) => log.add(request),
    track(controller) {
      if (isClosed) controller.abort(closedError());
      underWay.add(controller);
      return () => underWay.delete(controller);
    },
  };

  return {
    fetch: createInProcessFetch(answer, exchanges),
    async listen(listening = {}) {
      checkOptionNames(listening, LISTEN_NAMES, "listen");
      if (isClosed) throw closedError();
      const server = await listen(answer, listening, exchanges);
      servers.add(server);
      return server;
    },
    get requests() {
      return log.list();
    },
    async close() {
      isClosed = true;
      for (const controller of [...underWay]) controller.abort(closedError());
      await Promise.all([...servers].map((server) => server.close()));
    },
  };
}

function closedError(): Error {
  return new Error("The offline model server is closed. Create another one.");
}

/** The time of this machine. */
const systemClock: Clock = {
  now: () => Date.now(),
  after(ms, fire) {
    const timer = setTimeout(fire, ms);
    return () => clearTimeout(timer);
  },
};

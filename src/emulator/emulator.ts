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
  /** The answers. Default: the offline model answers everything. */
  readonly script?: EmulatorScript;
  /** Refuse what the vendors refuse. Default true. */
  readonly strict?: boolean;
  /** For the delays of scripts and faults. Default: the system clock. */
  readonly clock?: Clock;
  /** For ids. Default: derived from the requests, so that the same requests get the same ids. */
  readonly random?: Random;
  /** The models that are listed; requests for other names are answered, too. Default: `offline`. */
  readonly models?: readonly string[];
}

const OPTION_NAMES = ["script", "strict", "clock", "random", "models"] satisfies (keyof EmulatorOptions)[];
const LISTEN_NAMES = ["port", "host"] satisfies (keyof ListenOptions)[];

/**
 * The offline model server. It implements the APIs of Anthropic (Messages), OpenAI (Chat Completions, Responses) and
 * Google (Gemini) and answers from a script or with a small deterministic model. It needs no key and no network.
 */
export interface Emulator {
  /** The server in process: the same answers without a socket, for any host in the URL. */
  readonly fetch: Fetch;
  /**
   * Listens for HTTP on this machine. Can be called several times. Rejects with `StartError` if `host` is not a loopback
   * address.
   */
  listen(options?: ListenOptions): Promise<ListeningServer>;
  /** The last 1000 requests, newest last, with keys hidden. */
  readonly requests: readonly ReceivedRequest[];
  /** Ends every exchange and stops listening. Idempotent. */
  close(): Promise<void>;
}

/**
 * Creates an offline model server. Throws `StartError` if the script is invalid.
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

/** The system clock. */
const systemClock: Clock = {
  now: () => Date.now(),
  after(ms, fire) {
    const timer = setTimeout(fire, ms);
    return () => clearTimeout(timer);
  },
};

import { coverStartErrors, readVersion, systemWorld } from "#runtime";
import { createEventLog, createUnstoredEnds, LOCAL_TENANT } from "#sessions";
import { createAccess } from "./access.ts";
import { createApp, PROBES } from "./app.ts";
import { createFrameCache } from "./event-frames.ts";
import { checkListenOptions, type Listening, type ListenOptions, listenOn, requireSafeAddress } from "./listen.ts";
import { createLiveRuns } from "./live-runs.ts";
import { createMetrics } from "./metrics.ts";
import { targetsHere } from "./node-kinds.ts";
import { createNodeRuns } from "./node-runs.ts";
import { readSettings, type ServerOptions } from "./options.ts";
import { isLoopback } from "./origin-check.ts";
import { createOtherNodes, type OwnNote } from "./other-nodes.ts";
import { readPage } from "./page.ts";
import type { ServerParts } from "./parts.ts";
import { createRateLimit } from "./rate-limit.ts";
import { createReadiness } from "./readiness.ts";
import { createStoreProbe } from "./routes/about.ts";
import { isServed } from "./run-rules.ts";
import { createServerLog } from "./server-log.ts";
import { createStorageQuota } from "./storage-quota.ts";
import { createWarmThreads } from "./warm-threads.ts";

/** Threads, chat and events over HTTP. */
export interface Server {
  /** Responds to one request, with or without a socket. */
  fetch(request: Request, env?: unknown): Promise<Response>;
  /**
   * Continues unfinished runs, and starts to work on those of the queue. The first request and `listen` do it as well; a
   * server that only works needs neither.
   */
  start(): Promise<void>;
  /** Listens on this machine; on an address that other machines can reach only with a token. */
  listen(options?: ListenOptions): Promise<Listening>;
  /** Lets runs finish for a while, stops listening, and leaves the rest to the next start, which continues them. Idempotent. */
  close(): Promise<void>;
}

/**
 * Creates the server. It continues the runs that an earlier process left open before it answers the first request.
 * Invalid options throw `StartError` here.
 *
 * @example
 * const server = createServer({ store: createMemoryStore(), target: "offline" })
 * const { url } = await server.listen({ port: 4000 })
 */
export function createServer(options: ServerOptions): Server {
  const settings = coverStartErrors(options, options?.world ?? systemWorld(), () => readSettings(options));
  const { world, limits, tokens } = settings;
  const now = (): number => world.clock.now();
  const write = createServerLog(options.log, settings.secrets, now, world.onListenerError);
  const metrics = createMetrics();
  const ends = createUnstoredEnds({
    store: options.store,
    clock: world.clock,
    onStored: (runId) => write("info", "run-stored", { runId }),
  });
  const { store } = ends;
  const log = createEventLog({ store, clock: world.clock, nextTurn: world.nextTurn });
  const quota = createStorageQuota(store, limits.bytesPerTenant);
  const warm = createWarmThreads({ clock: world.clock, limits, write });
  const readiness = createReadiness(settings);
  const { queue, isWorker } = settings;
  const runs =
    queue === undefined
      ? createLiveRuns({ store, log, ends, settings, metrics, quota, warm, write })
      : createNodeRuns({ store, log, queue, isWorker, settings, metrics, quota, readiness, write });
  const others = createOtherNodes({ store, clock: world.clock, id: `${settings.node} ${world.random.id()}`, write });
  const openStreams = { bySource: new Map<string, number>(), byTenant: new Map<string, number>() };
  const listening = new Set<Listening>();
  let isOpen = false;
  let closing: Promise<void> | undefined;

  const parts: ServerParts = {
    store,
    log,
    runs,
    warm,
    settings,
    metrics,
    quota,
    readiness,
    write,
    streams: {
      log,
      clock: world.clock,
      limits,
      frame: createFrameCache(),
      nextTurn: world.nextTurn,
      reports: settings.reports,
    },
    others,
    openStreams,
    storeAnswers: createStoreProbe(async () => {
      await recover();
      await store.listThreads({ tenant: LOCAL_TENANT, limit: 1 });
    }, world.clock),
    isClosing: () => closing !== undefined,
  };
  metrics.gauge("millrace_runs_active", "Runs under way.", () => runs.size);
  metrics.gauge("millrace_warm_processes", "Agents' processes that wait for a message.", () => warm.size);
  metrics.gauge("millrace_streams_open", "Open event streams.", () =>
    [...openStreams.byTenant.values()].reduce((sum, open) => sum + open, 0),
  );
  if (queue !== undefined) {
    metrics.info("millrace_node_info", "The name and the version of this node.", {
      node: settings.node,
      version: readVersion(),
    });
    metrics.gauge("millrace_nodes", "Nodes of this queue that are heard of, this one included.", () => others.size + 1);
  }
  metrics.gauge("process_resident_memory_bytes", "Memory in use.", () => process.memoryUsage.rss());

  const access = createAccess(settings, now, (address) => others.count("failures", address));
  const requests = createRateLimit(limits.requestsPerMinute, now, (source) => others.count("requests", source));
  const app = createApp({
    parts,
    access,
    origins: { hosts: settings.hosts, origins: settings.origins, isOpen: () => isOpen },
    requests,
    page: settings.isWorkerOnly ? undefined : readPage(settings.page),
  });

  const describeSelf = async (): Promise<OwnNote> => ({
    name: settings.node,
    version: readVersion(),
    worksOn: await targetsHere(settings, readiness),
    counts: {
      requests: requests.counts(),
      failures: access.failures(),
      streams: openStreams.bySource,
      tenantStreams: openStreams.byTenant,
    },
  });

  /** Continues the unfinished runs of this server. */
  const resumeAll = async (): Promise<number> => {
    await ends.restore();
    const unfinished = await store.listRuns({ isOver: false });
    const own = unfinished.filter(isServed);
    for (const run of own) await runs.resume(run);
    return own.length;
  };

  // Started at once; the first request waits for it. If the store fails now, the next request tries again.
  let recovered: Promise<void> | undefined;
  const recover = (): Promise<void> => {
    recovered ??= resumeAll().then(
      (count) => {
        if (queue !== undefined) {
          // Also without a socket.
          runs.prepare();
          others.start(describeSelf);
        }
        if (count > 0) write("info", "runs-resumed", { count });
      },
      (error: unknown) => {
        recovered = undefined;
        write("error", "recovery-failed", { message: String(error) });
        throw error;
      },
    );
    return recovered;
  };

  const answer = async (request: Request, env?: unknown): Promise<Response> => {
    try {
      // A probe is answered in time, whether or not the store responds.
      if (!isProbe(request)) await recover();
    } catch {
      return new Response("The store does not answer.\n", { status: 503, headers: { "retry-after": "5" } });
    }
    return app.fetch(request, (env ?? {}) as never);
  };

  return {
    fetch: answer,
    start: recover,
    async listen(where = {}) {
      checkListenOptions(where);
      const { host = "127.0.0.1" } = where;
      requireSafeAddress(host, tokens.length > 0 || (settings.isWorkerOnly && settings.metricsToken !== undefined));
      await recover();
      isOpen ||= !isLoopback(host);
      const opened = await listenOn(answer, where, { limits, clock: world.clock });
      listening.add(opened);
      runs.prepare();
      write("info", "listening", { url: opened.url });
      return opened;
    },
    close() {
      closing ??= (async () => {
        write("info", "shutting-down", { runs: runs.size });
        await runs.close(limits.shutdownMs);
        await others.close();
        await ends.close();
        await Promise.all([...listening].map((one) => one.close()));
        write("info", "closed");
      })();
      return closing;
    },
  };
}

function isProbe({ url }: Request): boolean {
  return URL.canParse(url) && PROBES.has(new URL(url).pathname);
}

import { describeThrown } from "#domain";
import { type Agent, askFirst, explainIn, findMissingProgram, inspectTarget } from "#runtime";
import { backendsOf, type Settings, targetOf } from "./options.ts";

/** Whether a target can answer now. */
export interface TargetState {
  readonly available: boolean;
  /** Why not, with the remedy. */
  readonly reason?: string;
}

export interface Readiness {
  of(target: string): Promise<TargetState>;
  /** The offered targets whose program is not on this machine. Starts nothing. */
  withoutProgram(): Promise<readonly string[]>;
}

/** How long a result is cached: a check starts a program, or sends a request to a host. */
const HOLDS_MS = 30_000;

type BackendState = Awaited<ReturnType<typeof inspectTarget>>;

/** What a Claude Code that is too old for control mode cannot do. */
const NEEDS_CONTROL = "permissions";

/** Checks each target as `millrace doctor` does, and caches the result. */
export function createReadiness(settings: Settings): Readiness {
  const { agents, run, world, folder } = settings;
  const known = new Map<string, { readonly at: number; readonly state: Promise<BackendState> }>();

  const look = (backend: string): Promise<BackendState> => {
    const now = world.clock.now();
    const last = known.get(backend);
    // A result from the future was cached before the clock was set back.
    if (last !== undefined && now >= last.at && now - last.at < HOLDS_MS) return last.state;
    const state = inspectTarget(backend, { cwd: folder, run }, world);
    known.set(backend, { at: now, state });
    return state;
  };

  const explainRun = (name: string): ReturnType<typeof explainIn> => {
    const target = targetOf(name, settings);
    return explainIn(target, askFirst(target, run, { folder, files: world.files }), world);
  };

  /** An installed program may be too old for the runs of this server, which ask before its tools are used. */
  const canRun = (name: string, { can }: BackendState): boolean => {
    return can.includes(NEEDS_CONTROL) || explainRun(name).mode !== "control";
  };

  /** A backend made by hand brings everything it needs, except a program; and the rules of this server must hold. */
  const inspectMade = async (name: string, backend: Agent["backend"]): Promise<TargetState> => {
    const reason = await findMissingProgram(backend, run, world);
    if (reason !== undefined) return { available: false, reason };
    explainRun(name);
    return { available: true };
  };

  return {
    async withoutProgram() {
      const missing = await Promise.all(
        settings.targets.map(async (target) => {
          const backends = backendsOf(target, settings);
          const found = await Promise.all(backends.map((backend) => findMissingProgram(backend, run, world)));
          return found.some((reason) => reason !== undefined);
        }),
      );
      return settings.targets.filter((_, index) => missing[index]);
    },
    async of(target) {
      const backend = agents.get(target)?.backend ?? target;
      try {
        if (typeof backend !== "string") return await inspectMade(target, backend);
        const state = await look(backend);
        if (state.isReady && canRun(target, state)) return { available: true };
        return { available: false, reason: state.missing.join(" ") };
      } catch (error) {
        return { available: false, reason: describeThrown(error) };
      }
    },
  };
}

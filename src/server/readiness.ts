import { describeThrown } from "#domain";
import { askFirst, explainIn, inspectTarget } from "#runtime";
import { type Settings, targetOf } from "./options.ts";

/** Whether a target can answer now. */
export interface TargetState {
  readonly available: boolean;
  /** Why not, with the remedy. */
  readonly reason?: string;
}

export interface Readiness {
  of(target: string): Promise<TargetState>;
}

/** How long an answer holds: looking starts a program, or asks a host for a sign of life. */
const HOLDS_MS = 30_000;

type BackendState = Awaited<ReturnType<typeof inspectTarget>>;

/** What a Claude Code that is too old for control mode cannot do. */
const NEEDS_CONTROL = "permissions";

/** Says of each target what `millrace doctor` would, and looks again only now and then. */
export function createReadiness(settings: Settings): Readiness {
  const { agents, run, world, folder } = settings;
  const known = new Map<string, { readonly at: number; readonly state: Promise<BackendState> }>();

  const look = (backend: string): Promise<BackendState> => {
    const now = world.clock.now();
    const last = known.get(backend);
    // An answer from the future was given before the clock was set back.
    if (last !== undefined && now >= last.at && now - last.at < HOLDS_MS) return last.state;
    const state = inspectTarget(backend, { cwd: folder, run }, world);
    known.set(backend, { at: now, state });
    return state;
  };

  /** A program that is there may be too old for runs of this server, which ask before its tools are used. */
  const canRun = (name: string, { can }: BackendState): boolean => {
    if (can.includes(NEEDS_CONTROL)) return true;
    const target = targetOf(name, settings);
    return explainIn(target, askFirst(target, run, folder), world).mode !== "control";
  };

  return {
    async of(target) {
      const backend = agents.get(target)?.backend ?? target;
      // One that was made by hand brings what it needs.
      if (typeof backend !== "string") return { available: true };
      try {
        const state = await look(backend);
        if (state.isReady && canRun(target, state)) return { available: true };
        return { available: false, reason: state.missing.join(" ") };
      } catch (error) {
        return { available: false, reason: describeThrown(error) };
      }
    },
  };
}

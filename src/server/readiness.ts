import { describeThrown } from "#domain";
import { inspectTarget } from "#runtime";
import type { Settings } from "./options.ts";

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

/** Says of each target what `millrace doctor` would, and looks again only now and then. */
export function createReadiness(settings: Settings): Readiness {
  const { agents, run, world, folder } = settings;
  const known = new Map<string, { readonly at: number; readonly state: Promise<TargetState> }>();

  const look = async (backend: string): Promise<TargetState> => {
    try {
      const { isReady, missing } = await inspectTarget(backend, { cwd: folder, run }, world);
      return isReady ? { available: true } : { available: false, reason: missing.join(" ") };
    } catch (error) {
      return { available: false, reason: describeThrown(error) };
    }
  };

  return {
    async of(target) {
      const backend = agents.get(target)?.backend ?? target;
      // One that was made by hand brings what it needs.
      if (typeof backend !== "string") return { available: true };
      const now = world.clock.now();
      const last = known.get(backend);
      // An answer from the future was given before the clock was set back.
      if (last !== undefined && now >= last.at && now - last.at < HOLDS_MS) return last.state;
      const state = look(backend);
      known.set(backend, { at: now, state });
      return state;
    },
  };
}

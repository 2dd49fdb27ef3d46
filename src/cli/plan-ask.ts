import type { RunOptions, Target } from "#runtime";
import type { AskFlags } from "./flags/ask-flags.ts";
import { backendOf, runOptions } from "./flags/run-options.ts";
import type { CommandIo } from "./io.ts";

/** Who is asked, and how. */
export interface Ask {
  readonly target: Target;
  readonly options: RunOptions;
}

/** What flags, configuration and variables say together. Flags go first. */
export async function planAsk(flags: AskFlags, io: CommandIo): Promise<Ask> {
  return { target: backendOf(flags, undefined) ?? "offline", options: await runOptions(flags, io) };
}

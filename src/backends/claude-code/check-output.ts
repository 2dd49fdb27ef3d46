import { describeThrown } from "#domain";
import { createNdjsonFramer, type Frame, isRecord } from "#wire";
import { initializeRequest } from "./control/initialize.ts";
import { hasFeature } from "./features.ts";
import type { CliProcess } from "./cli-process.ts";
import type { FoundCli } from "./find-cli.ts";
import { launchCli } from "./launch.ts";
import type { ClaudeCodeWorld } from "./world.ts";
import type { ClaudeCodeOptions } from "./options.ts";

/** The outcome of checking a CLI's output. `impure`: the first line that is not JSON. */
export type OutputCheck =
  | { readonly kind: "pure"; readonly lines: number }
  | { readonly kind: "impure"; readonly line: string }
  | { readonly kind: "unknown"; readonly reason: string };

const TIMEOUT_MS = 5000;
const SHOWN_CHARACTERS = 200;
const REQUEST_ID = "check-output";

/**
 * Whether everything the CLI writes to stdout is JSON. It is started as for a run, initialised over the control channel
 * and given no prompt, so no model is asked. Never rejects, and leaves no process.
 */
export async function checkOutput(
  cli: FoundCli,
  options: ClaudeCodeOptions,
  world: ClaudeCodeWorld,
): Promise<OutputCheck> {
  if (cli.version === undefined || !hasFeature(cli.version, "control")) {
    return { kind: "unknown", reason: "it has no control channel, and without one only a model call would show it." };
  }
  let process: CliProcess;
  try {
    process = await launchCli({ cli, options, plan: { mode: "control", permissionPrompts: false } }, world);
  } catch (thrown) {
    return { kind: "unknown", reason: describeThrown(thrown) };
  }
  let isLate = false;
  const takeBack = world.clock.after(TIMEOUT_MS, () => {
    isLate = true;
    process.stop({ immediate: true }).catch(() => undefined);
  });
  const request = initializeRequest({ features: [], hasTools: false });
  process.write(`${JSON.stringify({ type: "control_request", request_id: REQUEST_ID, request })}\n`);
  process.endInput();
  const seen = await readLines(process);
  takeBack();
  await process.stop({ immediate: true }).catch(() => undefined);
  if (seen.impure !== undefined) return { kind: "impure", line: process.cover(seen.impure) };
  if (seen.isAnswered) return { kind: "pure", lines: seen.lines };
  return {
    kind: "unknown",
    reason: isLate ? `it did not answer within ${TIMEOUT_MS} ms.` : "it ended without an answer.",
  };
}

interface SeenLines {
  lines: number;
  /** The CLI has answered `initialize`. */
  isAnswered: boolean;
  impure: string | undefined;
}

/** Reads to the end of the output, or to the first line that is not JSON. */
async function readLines(process: CliProcess): Promise<SeenLines> {
  const seen: SeenLines = { lines: 0, isAnswered: false, impure: undefined };
  const framer = createNdjsonFramer();
  try {
    for await (const bytes of process.stdout) {
      note(framer.push(bytes), seen);
      if (seen.impure !== undefined) return seen;
    }
    note(framer.end(), seen);
  } catch {
    // A broken pipe is an end as well; what was read so far counts.
  }
  return seen;
}

function note(frames: readonly Frame[], seen: SeenLines): void {
  for (const frame of frames) {
    if (frame.kind === "fault") {
      seen.impure ??= frame.text.slice(0, SHOWN_CHARACTERS);
      return;
    }
    seen.lines += 1;
    if (frame.kind === "data" && isRecord(frame.value) && frame.value["type"] === "control_response") {
      seen.isAnswered = true;
    }
  }
}

import type { AgentEvent, RunResult } from "#domain";
import { createNdjsonSink, createTerminalSink, type Sink } from "#sinks";
import { type CommandIo, EXIT } from "./io.ts";

export interface ShowOptions {
  readonly json?: boolean;
  readonly color?: boolean;
  readonly showThinking?: boolean;
}

/** A run as the command line needs it. */
export interface Showable extends AsyncIterable<AgentEvent> {
  result(): Promise<RunResult>;
  abort(reason?: unknown): Promise<void>;
}

/**
 * Shows a run on its way, at the reader's pace, and gives the exit code. Ctrl-C aborts it, and a second one ends the
 * process. When the reader of stdout leaves, the run is aborted, too: nobody would see what it costs.
 */
export async function show(run: Showable, options: ShowOptions, io: CommandIo): Promise<number> {
  const sink = createSink(options, io);
  let left = false;
  const release = io.onInterrupt(() => {
    release();
    ignore(run.abort("interrupted"));
  });
  try {
    for await (const event of run) {
      sink.accept(event);
      const room = io.out.room();
      if (room !== undefined) await room;
      if (io.out.isGone && !left) {
        left = true;
        ignore(run.abort("The reader of the output has left."));
      }
    }
  } finally {
    release();
  }
  return left ? EXIT.success : exitCodeOf(await run.result());
}

function createSink(options: ShowOptions, io: CommandIo): Sink {
  if (options.json === true) return createNdjsonSink((text) => io.out.write(text));
  const color = options.color !== false && io.err.isTerminal && (io.world.env.NO_COLOR ?? "") === "";
  return createTerminalSink({
    out: (text) => io.out.write(text),
    aside: (text) => io.err.write(text),
    color,
    width: Math.max(20, io.err.columns),
    showThinking: options.showThinking === true,
  });
}

function exitCodeOf(result: RunResult): number {
  if (result.status === "success") return EXIT.success;
  return result.status === "aborted" ? EXIT.aborted : EXIT.failed;
}

/** An abort never rejects, and its end is the end of the loop. */
function ignore(aborting: Promise<void>): void {
  aborting.catch(() => undefined);
}

import { adviceFor, type Raw } from "#domain";
import { createFormattedSink, type FormattedEvent, type Sink, wantsColor } from "#sinks";
import { findFormat } from "./find-format.ts";
import type { CommandIo } from "./io.ts";
import type { ShowFlags } from "./show.ts";

/** A format with templates for its frames. */
interface TemplatedFormat {
  readonly config: { readonly events: readonly { readonly templates?: object }[] };
  parse(frame: object): readonly (FormattedEvent & { readonly visibility: "always" | "optional" | "hidden" })[];
}

/**
 * The formatted sink of a format with templates; `undefined` for a format without any, whose events are shown like
 * those of any other run.
 */
export async function formattedSink(name: string, flags: ShowFlags, io: CommandIo): Promise<Sink | undefined> {
  const format = await findFormat(name, io);
  if (!hasTemplates(format)) return undefined;
  const color = flags.color !== false && wantsColor(io.out.isTerminal, io.world.env);
  return createFormattedSink({
    out: (text) => io.out.write(text),
    aside: (text) => io.err.write(text),
    style: color ? "ansi" : "text",
    color: flags.color !== false && wantsColor(io.err.isTerminal, io.world.env),
    width: io.err.columns,
    folds: io.err.isTerminal,
    reword: (text) => adviceFor("shell", text),
    read: (raw) => format.parse(frameOf(raw)).filter((event) => isShown(event, flags)),
  });
}

function hasTemplates(format: object): format is TemplatedFormat {
  const { config } = format as Partial<TemplatedFormat>;
  return config?.events.some((event) => event.templates !== undefined) === true;
}

/** Messages and errors always, unless the format hides them; thinking on request; tools unless quiet. */
function isShown(event: { readonly kind: string; readonly visibility: string }, flags: ShowFlags): boolean {
  if (event.visibility !== "optional") return event.visibility === "always";
  if (flags.showAll === true || event.kind === "message" || event.kind === "error") return true;
  if (event.kind === "thinking") return flags.thinking === "show" || flags.showThinking === true;
  return (event.kind === "tool-use" || event.kind === "tool-result") && flags.quiet !== true;
}

function frameOf(raw: Raw): object {
  return { kind: "data", name: "", id: "", text: raw.json, value: parse(raw.json) };
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

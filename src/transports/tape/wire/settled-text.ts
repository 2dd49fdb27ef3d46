import type { WireContext } from "./wire-context.ts";

/** UUIDs are new in every run, including those of sessions and messages. */
const UUID = /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi;
/** The system chooses the port of a local server. */
const LOOPBACK = /(\/\/(?:127\.0\.0\.1|localhost|\[::1\])):\d{1,5}\b/g;
/** The names that `mkdtemp` creates: a prefix and six random characters. */
const TEMPORARY =
  /((?:\/private)?(?:\/var\/folders\/[^/\s"]+\/[^/\s"]+\/T|\/tmp)\/[^/\s"\\]*[-_.])[A-Za-z0-9]{6}(?![A-Za-z0-9])/g;

/**
 * A text without the parts that differ in every run: random ids, loopback ports, names of temporary folders. Two texts
 * that differ in nothing else become equal.
 *
 * `ids` are the ids that this run, or the recorded one, has drawn.
 */
export function settleText(text: string, ids: Iterable<string>): string {
  let settled = text;
  for (const id of ids) if (id.length >= 8 && settled.includes(id)) settled = settled.split(id).join("<id>");
  return settled.replace(UUID, "<id>").replace(LOOPBACK, "$1:<port>").replace(TEMPORARY, "$1<temporary>");
}

/** A recorded text in the form in which it is compared. */
export function recordedText({ recordedIds }: WireContext, text: string): string {
  return settleText(text, recordedIds);
}

/**
 * A text that is sent now, in the form in which it is compared: without secrets, and without the parts that differ in
 * every run.
 */
export function sentText({ redactor, drawnIds }: WireContext, text: string): string {
  return settleText(redactor.text(text), drawnIds);
}

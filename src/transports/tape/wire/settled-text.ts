import type { WireContext } from "./wire-context.ts";

/** Ids of the usual form are made anew in every run: those of sessions and messages among them. */
const UUID = /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi;
/** The port of a server on this machine is drawn by the system. */
const LOOPBACK = /(\/\/(?:127\.0\.0\.1|localhost|\[::1\])):\d{1,5}\b/g;
/** What `mkdtemp` makes: a name of one's own, and six characters by chance. */
const TEMPORARY =
  /((?:\/private)?(?:\/var\/folders\/[^/\s"]+\/[^/\s"]+\/T|\/tmp)\/[^/\s"\\]*[-_.])[A-Za-z0-9]{6}(?![A-Za-z0-9])/g;

/**
 * A text without what is another one in every run: ids made by chance, ports of loopback, names of temporary folders. Two
 * texts that differ in nothing else become equal.
 *
 * `ids` are those that this run, or the recorded one, has drawn.
 */
export function settleText(text: string, ids: Iterable<string>): string {
  let settled = text;
  for (const id of ids) if (id.length >= 8 && settled.includes(id)) settled = settled.split(id).join("<id>");
  return settled.replace(UUID, "<id>").replace(LOOPBACK, "$1:<port>").replace(TEMPORARY, "$1<temporary>");
}

/** A recorded text as it is compared. */
export function recordedText({ recordedIds }: WireContext, text: string): string {
  return settleText(text, recordedIds);
}

/** A text that is sent now as it is compared: without its secrets, and without what is another one in every run. */
export function sentText({ redactor, drawnIds }: WireContext, text: string): string {
  return settleText(redactor.text(text), drawnIds);
}

import { readReportEntry } from "../../../src/domain/report-entry.ts";
import type { Item } from "./items.ts";

type Fields = Readonly<Record<string, unknown>>;

/** More documents than this are counted, not listed. */
const MOST_LISTED = 20;

/** What a tool has made or used, as a row. `undefined` for a report without anything to show. */
export function reportItem(
  key: string,
  kind: "artifact" | "documents",
  { name, artifact, documents }: Fields,
): Item | undefined {
  const tool = typeof name === "string" ? name : "";
  const told = kind === "artifact" ? (artifact ? [artifact] : []) : Array.isArray(documents) ? documents : [];
  if (told.length === 0) return undefined;
  const entries = told.slice(0, MOST_LISTED).map(readReportEntry);
  const verb = kind === "artifact" ? "made" : "used";
  return { kind: "report", key, tool, verb, entries, others: told.length - entries.length };
}

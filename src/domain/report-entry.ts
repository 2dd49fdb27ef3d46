import { isRecord } from "./check.ts";

/** Something that a tool has made or used, in words. The address is as the tool wrote it: not checked. */
export interface ReportEntry {
  readonly label: string;
  readonly href: string | undefined;
  /** A media type, or any other word. */
  readonly about: string | undefined;
}

const LONGEST_LABEL = 200;

/** The fields are the tool's own choice: the usual ones are looked for, and otherwise its JSON is shown. */
export function readReportEntry(value: unknown): ReportEntry {
  if (typeof value === "string") return { label: shorten(value), href: addressIn(value), about: undefined };
  if (!isRecord(value)) return { label: shorten(JSON.stringify(value) ?? ""), href: undefined, about: undefined };
  const named = ["name", "title", "id", "path", "url"].map((field) => textOf(value[field])).find((text) => text);
  const about = textOf(value["type"]);
  return {
    label: shorten(named ?? JSON.stringify(value)),
    href: textOf(value["url"]),
    about: about === undefined ? undefined : shorten(about),
  };
}

function addressIn(text: string): string | undefined {
  return /^https?:\/\//.test(text) ? text : undefined;
}

function shorten(text: string): string {
  return text.length <= LONGEST_LABEL ? text : `${text.slice(0, LONGEST_LABEL)}…`;
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

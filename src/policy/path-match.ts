import { type Glob, matchesGlob } from "./matcher.ts";

/**
 * A normalised path: no `.`, no `..` except at the start, no doubled `/`. Works on the text alone; links on the disk
 * are not followed.
 */
export function straightPath(path: string): string {
  const kept: string[] = [];
  const isAbsolute = path.startsWith("/");
  for (const step of path.split("/")) {
    if (step === "" || step === ".") continue;
    if (step !== "..") kept.push(step);
    else if (kept.length > 0 && kept.at(-1) !== "..") kept.pop();
    else if (!isAbsolute) kept.push("..");
  }
  return (isAbsolute ? "/" : "") + kept.join("/");
}

/** The spellings that a path may have in a rule. */
export function pathForms(path: string): readonly string[] {
  const straight = straightPath(path);
  // Claude Code's rules write an absolute path as `//folder`.
  const other = straight.startsWith("/") ? `/${straight}` : `./${straight}`;
  return [path, straight, straightPath(path.replaceAll("\\", "/")), other];
}

/** For a rule that allows, only the place the path really leads to counts. */
export function isCoveredPath(patterns: readonly Glob[], path: string): boolean {
  const straight = straightPath(path);
  return patterns.some((glob) => matchesGlob(glob, straight) || matchesGlob(glob, `./${straight}`));
}

/** A URL normalised as in a browser, or the text itself if it is not a URL. */
export function straightUrl(url: string): string {
  return URL.canParse(url.trim()) ? new URL(url.trim()).href : url;
}

/** Whether a URL points to a host or one of its subdomains. `undefined`: it cannot be read. */
export function leadsTo(host: Glob, url: string): boolean | undefined {
  if (!URL.canParse(url.trim())) return undefined;
  const name = new URL(url.trim()).hostname.toLowerCase();
  const plain = name.endsWith(".") ? name.slice(0, -1) : name;
  const below = ["", `.${host[0] ?? ""}`, ...host.slice(1)];
  return matchesGlob(host, plain) || matchesGlob(below, plain);
}

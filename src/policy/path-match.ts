import { type Glob, matchesGlob } from "./matcher.ts";

/**
 * A path without detours: no `.`, no `..` but in front, no doubled `/`. Only the text is looked at; what links there
 * are on a disk is not known here.
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

/** The ways in which a path may be written. */
export function pathForms(path: string): readonly string[] {
  const straight = straightPath(path);
  // `//folder` is how Claude Code's rules write an absolute path.
  const other = straight.startsWith("/") ? `/${straight}` : `./${straight}`;
  return [path, straight, straightPath(path.replaceAll("\\", "/")), other];
}

/** For a rule that allows only where the path really leads counts. */
export function isCoveredPath(patterns: readonly Glob[], path: string): boolean {
  const straight = straightPath(path);
  return patterns.some((glob) => matchesGlob(glob, straight) || matchesGlob(glob, `./${straight}`));
}

/** A URL as a browser would go there, or the text itself when it is none. */
export function straightUrl(url: string): string {
  return URL.canParse(url.trim()) ? new URL(url.trim()).href : url;
}

/** Whether a URL leads to a host or below it. `undefined`: it cannot be read. */
export function leadsTo(host: Glob, url: string): boolean | undefined {
  if (!URL.canParse(url.trim())) return undefined;
  const name = new URL(url.trim()).hostname.toLowerCase();
  const plain = name.endsWith(".") ? name.slice(0, -1) : name;
  const below = ["", `.${host[0] ?? ""}`, ...host.slice(1)];
  return matchesGlob(host, plain) || matchesGlob(below, plain);
}

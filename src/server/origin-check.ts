import { isIP } from "node:net";
import { ApiError } from "./api-error.ts";

export interface OriginRules {
  readonly hosts: ReadonlySet<string>;
  readonly origins: ReadonlySet<string>;
  /** The server listens for other machines too. */
  readonly isOpen: () => boolean;
}

/**
 * Refuses requests a foreign page makes with somebody's browser. A page can make a name of its own point at this
 * machine (DNS rebinding), so the name asked for must be ours; and it can send requests across origins, so the origin
 * must be ours too.
 */
export function checkOrigin(
  { headers, url }: Pick<Request, "headers" | "url">,
  path: string,
  rules: OriginRules,
): void {
  const host = headers.get("host") ?? "";
  // A request target may name a host of its own, which goes before the header (RFC 9112, 3.2.2).
  if (!isOwnHost(host, rules) || !isOwnHost(hostOf(url), rules)) {
    throw new ApiError(
      "forbidden-host",
      "The server is not known under this host name. Add it to the server's hosts (--allow-host) if it is yours.",
    );
  }
  const origin = headers.get("origin");
  if (origin !== null && !isSameOrigin(origin, host) && !rules.origins.has(origin)) {
    throw new ApiError("forbidden-origin", "Pages of this origin may not ask. Add it to the server's origins.");
  }
  const site = headers.get("sec-fetch-site");
  // Without an origin a browser asks for pictures, scripts and links: nothing of the API is any of these.
  if (origin === null && (site === "cross-site" || site === "same-site") && !isLink(headers, path)) {
    throw new ApiError("forbidden-origin", "Other pages may not ask.");
  }
}

/** The host of an address, without who is to log in there. */
function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : "";
}

/** What stands before the port, in small letters; `undefined` when it is no host at all. */
export function hostName(host: string): string | undefined {
  const match = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::\d{1,5})?$/i.exec(host);
  return match?.[1]?.toLowerCase();
}

export function isLoopback(name: string): boolean {
  return name === "localhost" || name === "::1" || name === "[::1]" || (isIP(name) === 4 && name.startsWith("127."));
}

function isOwnHost(host: string, rules: OriginRules): boolean {
  const name = hostName(host);
  if (name === undefined) return false;
  if (isLoopback(name) || rules.hosts.has(name)) return true;
  // A number cannot be made to point elsewhere, and who listens for others cannot know all of his.
  return rules.isOpen() && isIP(name.replace(/^\[|\]$/g, "")) !== 0;
}

/** A person follows a link to the page: the one thing others may have a browser do. */
function isLink(headers: Headers, path: string): boolean {
  return path === "/" && headers.get("sec-fetch-mode") === "navigate" && headers.get("sec-fetch-dest") === "document";
}

function isSameOrigin(origin: string, host: string): boolean {
  return origin === `http://${host}` || origin === `https://${host}`;
}

import { isIP } from "node:net";
import { ApiError } from "./api-error.ts";

export interface OriginRules {
  readonly hosts: ReadonlySet<string>;
  readonly origins: ReadonlySet<string>;
  /** The server also listens for other machines. */
  readonly isOpen: () => boolean;
}

/**
 * Rejects requests that a foreign page makes with a user's browser. A page can make its own host name point to this
 * machine (DNS rebinding), so the requested host must be ours; and it can send requests across origins, so the origin
 * must be ours too.
 */
export function checkOrigin(
  { headers, url }: Pick<Request, "headers" | "url">,
  path: string,
  rules: OriginRules,
): void {
  // A request that was made in this process has no Host header; then its URL names the host.
  const host = headers.get("host") ?? hostOf(url);
  // A request target may contain its own host, which overrides the header (RFC 9112, 3.2.2).
  if (!isOwnHost(host, rules) || !isOwnHost(hostOf(url), rules)) {
    throw new ApiError(
      "forbidden-host",
      "The server is not known under this host name. Add it to the server's hosts (--allow-host) if it is yours.",
    );
  }
  const origin = headers.get("origin");
  if (origin !== null && !isSameOrigin(origin, host) && !rules.origins.has(origin)) {
    throw new ApiError(
      "forbidden-origin",
      "Pages of this origin may not send requests. Add it to the server's origins.",
    );
  }
  const site = headers.get("sec-fetch-site");
  // Without an origin, a browser requests images, scripts and links, and nothing of the API is any of these.
  if (origin === null && (site === "cross-site" || site === "same-site") && !isLink(headers, path)) {
    throw new ApiError("forbidden-origin", "Other pages may not send requests.");
  }
}

/** The host of a URL, without user and password. */
function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : "";
}

/** The part before the port, in lower case; `undefined` if it is not a host. */
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
  // IP addresses are safe from DNS rebinding, and a server that listens for other machines cannot list all of its own.
  return rules.isOpen() && isIP(name.replace(/^\[|\]$/g, "")) !== 0;
}

/** Following a link to the page is the only thing that other sites may make a browser do. */
function isLink(headers: Headers, path: string): boolean {
  return path === "/" && headers.get("sec-fetch-mode") === "navigate" && headers.get("sec-fetch-dest") === "document";
}

/** Which scheme a browser used is not known behind a proxy. The host may have the scheme's own port, an origin has not. */
function isSameOrigin(origin: string, host: string): boolean {
  return ["http", "https"].some((scheme) => origin === new URL(`${scheme}://${host}`).origin);
}

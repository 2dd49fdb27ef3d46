import { isIP, isIPv6 } from "node:net";

/** What is known about where a request comes from. */
interface RequestSource {
  /** The header `X-Forwarded-For`. */
  readonly forwarded: string | undefined;
  /** The address of the connection. */
  readonly remote: string | undefined;
  readonly trustProxy: boolean;
}

/**
 * The address that limits are counted by: an IPv4 address, or the network of an IPv6 address, because a client of IPv6
 * usually has all addresses of a /64. Behind a trusted proxy it is the last entry of `X-Forwarded-For`, which is the
 * one that the proxy has added; the entries before it are the client's own words.
 */
export function clientAddress({ forwarded, remote, trustProxy }: RequestSource): string {
  const given = trustProxy ? readEntry(forwarded?.split(",").at(-1)?.trim() ?? "") : undefined;
  return countedAddress(given ?? remote ?? "local");
}

/** An address, with or without brackets, port and quotation marks; `undefined` for everything else. */
function readEntry(entry: string): string | undefined {
  const text = /^"(.*)"$/.exec(entry)?.[1] ?? entry;
  const bracketed = /^\[([^\]]+)\](?::\d{1,5})?$/.exec(text)?.[1];
  if (bracketed !== undefined) return isIPv6(bracketed) ? bracketed : undefined;
  const address = text.replace(/^([\d.]+):\d{1,5}$/, "$1");
  return isIP(address) === 0 ? undefined : address;
}

function countedAddress(address: string): string {
  if (!isIPv6(address)) return address;
  const groups = groupsOf(address);
  if (groups.slice(0, 6).join(":") === "0:0:0:0:0:ffff") {
    return groups
      .slice(6)
      .map((group) => Number.parseInt(group, 16))
      .flatMap((number) => [number >> 8, number & 255])
      .join(".");
  }
  return `${groups.slice(0, 4).join(":")}::/64`;
}

/** The eight groups of an IPv6 address, without leading zeros. */
function groupsOf(address: string): readonly string[] {
  const written = new URL(`http://[${address.replace(/%.*$/, "")}]`).hostname.slice(1, -1);
  const [head = [], tail = []] = written.split("::").map((part) => part.split(":").filter((group) => group !== ""));
  return [...head, ...Array.from({ length: 8 - head.length - tail.length }, () => "0"), ...tail];
}

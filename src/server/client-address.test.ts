import { describe, expect, it } from "vitest";
import { clientAddress } from "./client-address.ts";

const PROXY = "10.0.0.1";
const behind = (forwarded: string | undefined, remote: string | undefined = PROXY): string =>
  clientAddress({ forwarded, remote, trustProxy: true });

describe("F-A6: the address that limits are counted by", () => {
  it.each([
    ["1.2.3.4", "1.2.3.4"],
    ["1.2.3.4:567", "1.2.3.4"],
    ["1.2.3.4:65535", "1.2.3.4"],
    [" 1.2.3.4 ", "1.2.3.4"],
    ['"1.2.3.4:567"', "1.2.3.4"],
    ["9.9.9.9, 1.2.3.4:567", "1.2.3.4"],
    ["1.2.3.4:1,9.9.9.9:2", "9.9.9.9"],
    ["::ffff:1.2.3.4", "1.2.3.4"],
    ["[::ffff:1.2.3.4]:80", "1.2.3.4"],
    ["::FFFF:0102:0304", "1.2.3.4"],
    ["[::1]:80", "0:0:0:0::/64"],
    ["::1", "0:0:0:0::/64"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
    ["[2001:0DB8:1:2::6]:443", "2001:db8:1:2::/64"],
    ["[2001:db8:1:2::7]", "2001:db8:1:2::/64"],
    ["2001:db8:1:2::", "2001:db8:1:2::/64"],
    ["2001:db8:1::2:3", "2001:db8:1:0::/64"],
    ["2001:db8::", "2001:db8:0:0::/64"],
    ["fe80::1%eth0", "fe80:0:0:0::/64"],
    ["[fe80::1%25eth0]:80", "fe80:0:0:0::/64"],
  ])("a proxy sends %j", (forwarded, expected) => {
    expect(behind(forwarded)).toBe(expected);
  });

  it.each([
    "",
    " ",
    "1.2.3.4,",
    "unknown",
    "_hidden",
    "unix:",
    "1.2.3.4.5",
    "1.2.3.4:",
    "1.2.3.4:port",
    "1.2.3.4:123456",
    "[1.2.3.4]:80",
    "[::1",
    "::1]:80",
    "[::1]80",
    "01.2.3.4",
    "1.2.3.4 5.6.7.8",
    "example.org",
    "2001:db8::1::2",
    "x".repeat(10_000),
  ])("%j is no address: the proxy's own counts", (forwarded) => {
    expect(behind(forwarded)).toBe(PROXY);
  });

  it("the address of the connection is read in the same way", () => {
    expect(behind(undefined, "::ffff:127.0.0.1")).toBe("127.0.0.1");
    expect(behind(undefined, "2001:db8::5")).toBe("2001:db8:0:0::/64");
    // A socket of a file system has none.
    expect(clientAddress({ forwarded: undefined, remote: undefined, trustProxy: true })).toBe("local");
    expect(clientAddress({ forwarded: "1.2.3.4", remote: PROXY, trustProxy: false })).toBe(PROXY);
  });
});

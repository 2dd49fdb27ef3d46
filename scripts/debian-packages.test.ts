import { describe, expect, it } from "vitest";
import { installDebianPackages } from "./debian-packages.mjs";

const NGINX = { package: "nginx-light", binary: "nginx", why: "the proxy tests" };

/** A machine with some binaries, where apt-get works from its `n`th call on. */
function createMachine(binaries: readonly string[], aptWorksFromCall = 1) {
  const present = new Set(binaries);
  const calls: string[] = [];
  return {
    calls,
    has: (binary: string) => present.has(binary),
    run: (command: string, args: string[]) => {
      calls.push([command, ...args].join(" "));
      if (calls.length < aptWorksFromCall) return false;
      if (args.includes("nginx-light")) present.add("nginx");
      return true;
    },
  };
}

const INSTALL = "apt-get install -y --no-install-recommends nginx-light";

describe("Debian packages", () => {
  it("nothing is done when nothing is missing", () => {
    const machine = createMachine(["apt-get", "nginx"]);
    expect(installDebianPackages([NGINX], { ...machine, isRoot: true })).toEqual([]);
    expect(machine.calls).toEqual([]);
  });

  it("root installs what is missing", () => {
    const machine = createMachine(["apt-get"]);
    expect(installDebianPackages([NGINX], { ...machine, isRoot: true })).toEqual([]);
    expect(machine.calls).toEqual([INSTALL]);
  });

  it("the package lists are refreshed only when installing failed", () => {
    const machine = createMachine(["apt-get"], 2);
    expect(installDebianPackages([NGINX], { ...machine, isRoot: true })).toEqual([]);
    expect(machine.calls).toEqual([INSTALL, "apt-get update", INSTALL]);
  });

  it("without a network, what is missing is reported", () => {
    const machine = createMachine(["apt-get"], 99);
    expect(installDebianPackages([NGINX], { ...machine, isRoot: true })).toEqual([NGINX]);
  });

  it.each([
    { name: "another user", binaries: ["apt-get"], isRoot: false },
    { name: "another system", binaries: [], isRoot: true },
  ])("$name runs nothing and reports what is missing", ({ binaries, isRoot }) => {
    const machine = createMachine(binaries);
    expect(installDebianPackages([NGINX], { ...machine, isRoot })).toEqual([NGINX]);
    expect(machine.calls).toEqual([]);
  });
});

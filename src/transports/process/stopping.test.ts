import { describe, expect, it } from "vitest";
import type { ControlGroup, ControlGroups } from "./control-group.ts";
import { inspectStopping, stoppingOn } from "./stopping.ts";
import { createProcessTable } from "./system-process-table.ts";

const none: ControlGroups = { create: () => undefined };

describe("F-A14: what is promised about stopping", () => {
  it.each([
    ["linux", "/proc", "proc"],
    ["darwin", "ps", "ps"],
    ["freebsd", "ps", "ps"],
    ["win32", "taskkill", "windows"],
    ["aix", "process group", undefined],
  ] as const)(
    "on %s names the means and what escapes, and the reader is the one that is named",
    (platform, means, source) => {
      const stopping = stoppingOn(platform);
      expect(stopping.means).toBe(means);
      expect(stopping.limits.length).toBeGreaterThan(0);
      expect(inspectStopping(platform, none)).toEqual(stopping);
      expect(createProcessTable({ platform })?.source).toBe(source);
    },
  );

  it("F-A5: names the control group where one can be made, and leaves none behind", () => {
    const left = new Set<string>();
    const groups: ControlGroups = {
      create(name) {
        left.add(name);
        const group: Partial<ControlGroup> = { remove: () => left.delete(name) };
        return group as ControlGroup;
      },
    };
    expect(inspectStopping("linux", groups).means).toBe("control group");
    expect(left.size).toBe(0);
  });
});

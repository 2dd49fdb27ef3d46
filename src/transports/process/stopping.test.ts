import { describe, expect, it } from "vitest";
import type { ControlGroup, ControlGroups } from "./control-group.ts";
import { inspectStopping, stoppingOn } from "./stopping.ts";
import { createProcessTable } from "./system-process-table.ts";

const none: Pick<ControlGroups, "create"> = { create: () => undefined };

describe("F-A14: what is guaranteed about stopping", () => {
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

  it.each([
    ["names the control group where a process can be moved into one", true, "control group"],
    ["does not promise a group that can be made, but not entered", false, "/proc"],
  ] as const)("F-A5: %s, and leaves none", (_title, mayMove, means) => {
    const left = new Set<string>();
    let inside: number[] = [];
    const groups: Pick<ControlGroups, "create"> = {
      create(name) {
        left.add(name);
        const group: Partial<ControlGroup> = {
          startInside(start) {
            if (mayMove) inside = [42];
            const child = start();
            inside = [];
            return child;
          },
          pids: () => inside,
          remove: () => left.delete(name),
        };
        return group as ControlGroup;
      },
    };
    expect(inspectStopping("linux", groups, 42).means).toBe(means);
    expect(left.size).toBe(0);
  });
});

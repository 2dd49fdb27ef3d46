import { describe, expect, it } from "vitest";
import { isStartError } from "#domain";
import { requireFormatName } from "./command.ts";
import { formatRegistry } from "./formats.ts";

function thrownBy(action: () => unknown): string {
  try {
    action();
  } catch (thrown) {
    if (isStartError(thrown)) return `${thrown.code}: ${thrown.message}`;
    throw thrown;
  }
  return "nothing";
}

describe("requireFormatName", () => {
  const registry = formatRegistry();

  it.each(registry.list())("S4-10: accepts %s as the registry does", (name) => {
    expect(requireFormatName(name)).toBe(registry.require(name).name);
  });

  it.each(["claude-cod", "", "constructor", "x".repeat(100)])("rejects %j as the registry does", (name) => {
    expect(thrownBy(() => requireFormatName(name))).toBe(thrownBy(() => registry.require(name)));
    expect(thrownBy(() => requireFormatName(name))).toMatch(/^unknown-format: /);
  });
});

import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";

const css = readFileSync(new URL("./base.css", import.meta.url), "utf8");
const colours = new Map<string, readonly [light: string, dark: string]>();
for (const [, name = "", light = "", dark = ""] of css.matchAll(
  /--([\w-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)/g,
)) {
  colours.set(name, [light, dark]);
}

/** Relative luminance and contrast as WCAG 2.2 defines them. */
function luminanceOf(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return part <= 0.040_45 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrastOf(one: string, other: string): number {
  const [high = 0, low = 0] = [luminanceOf(one), luminanceOf(other)].sort((a, b) => b - a);
  return (high + 0.05) / (low + 0.05);
}

const isGround = (name: string): boolean => name.startsWith("bg") || (name.endsWith("-soft") && name !== "ink-soft");
const INKS = ["ink", "ink-soft", "ink-faint", "accent", "warn", "bad"];
const pairs = [
  ...INKS.flatMap((ink) => [...colours.keys()].filter(isGround).map((ground) => [ink, ground] as const)),
  ["accent-ink", "accent"] as const,
];

describe("F-F page: contrast of text is at least 4.5", () => {
  it.each(pairs)("%s on %s", (ink, ground) => {
    const [light, dark] = [0, 1].map((at) => contrastOf(colours.get(ink)?.[at] ?? "", colours.get(ground)?.[at] ?? ""));
    expect(light).toBeGreaterThanOrEqual(4.5);
    expect(dark).toBeGreaterThanOrEqual(4.5);
  });

  it("white on the button that deletes", () => {
    for (const fill of colours.get("bad-fill") ?? []) expect(contrastOf("#ffffff", fill)).toBeGreaterThanOrEqual(4.5);
  });
});

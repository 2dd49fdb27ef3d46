import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser, BrowserContextOptions } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { compare, writeHtmlReport } from "#compare";
import { temporaryFolder } from "../temporary-folder.ts";
import { describeInBrowser, launch, shoot } from "./support.ts";

const VIEWS: readonly (readonly [string, BrowserContextOptions])[] = [
  ["light", { viewport: { width: 1100, height: 800 } }],
  ["dark", { viewport: { width: 1100, height: 800 }, colorScheme: "dark" }],
  ["phone", { viewport: { width: 390, height: 844 } }],
];

/** What the edge of a sheet of paper cuts off: nobody can scroll there. */
const CUT_OFF = `[...document.querySelectorAll(".wide")].filter((one) => one.getBoundingClientRect().left + one.scrollWidth > innerWidth).length`;

/** Words of one line each: a heading with more lines than words was broken within a word. */
const BROKEN_HEADINGS = `[...document.querySelectorAll("th")].filter((cell) => {
  const range = document.createRange();
  range.selectNodeContents(cell);
  const lines = new Set([...range.getClientRects()].map(({ top }) => Math.round(top))).size;
  return lines > cell.textContent.split(/[ -]/).length;
}).map((cell) => cell.textContent)`;

/** Percentages and their sign on two lines. */
const TORN_NUMBERS = `[...document.querySelectorAll("summary")].flatMap((one) => {
  const text = one.firstChild;
  return [...text.data.matchAll(/\\d\\s%/g)].filter(({ index }) => {
    const topOf = (at) => { const range = document.createRange(); range.setStart(text, at); range.setEnd(text, at + 1); return range.getBoundingClientRect().top; };
    return Math.abs(topOf(index) - topOf(index + 2)) > 4;
  }).map(({ index }) => text.data.slice(index - 20, index + 3));
})`;

/** The size in which the smallest text of a plot is drawn, in pixels. */
const SMALLEST = `Math.min(...[...document.querySelectorAll("svg")].map((svg) =>
  parseFloat(getComputedStyle(svg).fontSize) * svg.getBoundingClientRect().width / svg.viewBox.baseVal.width))`;

/** Texts of a plot that reach out of it or cover one another. */
const COLLISIONS = `[...document.querySelectorAll("svg")].flatMap((svg) => {
  const frame = svg.getBoundingClientRect();
  const boxes = [...svg.querySelectorAll("text")].map((text) => [text.textContent, text.getBoundingClientRect()]);
  const outside = boxes.filter(([, { left, right }]) => left < frame.left - 1 || right > frame.right + 1);
  const covered = boxes.filter(([, one], at) => boxes.slice(at + 1).some(([, other]) =>
    one.left < other.right - 1 && other.left < one.right - 1 && one.top < other.bottom - 3 && other.top < one.bottom - 3));
  return [...outside, ...covered].map(([text]) => svg.getAttribute("aria-label") + ": " + text);
})`;

describeInBrowser("S3-38: the report of a comparison, as people see it", () => {
  const folder = temporaryFolder("report");
  const path = join(folder, "report.html");
  let browser: Browser;
  beforeAll(async () => {
    browser = await launch();
    const report = await compare({
      prompts: ["Write a requirements document for a public library.", "Write one for a pharmacy."],
      targets: ["offline", { name: "anthropic/claude-sonnet-4-6", target: "offline" }],
    });
    writeFileSync(path, writeHtmlReport(report));
  });
  afterAll(() => browser?.close());

  it.each(VIEWS)("%s: nothing is broken within a word, covered, too small or too wide", async (name, view) => {
    const context = await browser.newContext(view);
    const page = await context.newPage();
    const problems: string[] = [];
    page.on("console", (message) => problems.push(message.text()));
    page.on("request", (request) => {
      if (request.url() !== `file://${path}`) problems.push(request.url());
    });
    await page.goto(`file://${path}`);
    await shoot(page, `comparison-${name}`);
    expect(await page.evaluate(BROKEN_HEADINGS)).toEqual([]);
    expect(await page.evaluate(TORN_NUMBERS)).toEqual([]);
    expect(await page.evaluate(COLLISIONS)).toEqual([]);
    expect(Number(await page.evaluate(SMALLEST))).toBeGreaterThanOrEqual(10);
    expect(await page.evaluate("document.documentElement.scrollWidth - innerWidth")).toBeLessThanOrEqual(0);
    expect(problems).toEqual([]);
    await context.close();
  });

  it("on paper: no column of a table is cut off", async () => {
    // A4 in portrait with the margins of Chromium.
    const page = await browser.newPage({ viewport: { width: 718, height: 1000 }, colorScheme: "dark" });
    await page.goto(`file://${path}`);
    await page.emulateMedia({ media: "print" });
    await shoot(page, "comparison-print");
    expect(await page.evaluate(CUT_OFF)).toBe(0);
    expect(await page.evaluate("getComputedStyle(document.body).color")).toBe("rgb(28, 31, 35)");
    await page.close();
  });
});

import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { RICH_TEXT } from "./scenario.ts";
import { ask, describeInBrowser, launch, openPage, openSite, pathOf, settled, shoot, type Site } from "./support.ts";

/** Every visible text whose contrast with what is behind it is below 4.5, measured as WCAG 2.2 says, animations included. */
const LOW_CONTRAST = `(() => {
  const read = (colour) => { const [r, g, b, a = 1] = colour.match(/[\\d.]+/g).map(Number); return colour.startsWith("color(srgb") ? [r * 255, g * 255, b * 255, a] : [r, g, b, a]; };
  const over = (top, under) => [...[0, 1, 2].map((at) => top[at] * top[3] + under[at] * (1 - top[3])), 1];
  const withParents = (one) => one === null ? [] : [...withParents(one.parentElement), one];
  const luminance = (colour) => { const [r, g, b] = colour.map((part) => part / 255 <= 0.04045 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const found = new Set();
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let text; (text = texts.nextNode()); ) {
    const one = text.parentElement;
    if (text.data.trim() === "" || !one.checkVisibility({ visibilityProperty: true }) || one.closest(".off-screen, .skip, option")) continue;
    const line = withParents(one).map((each) => getComputedStyle(each));
    const ground = line.reduce((under, style) => over(read(style.backgroundColor), under), [255, 255, 255, 1]);
    const [r, g, b, a] = read(getComputedStyle(one).color);
    const ink = over([r, g, b, line.reduce((share, style) => share * Number(style.opacity), a)], ground);
    const [high, low] = [luminance(ink), luminance(ground)].sort((left, right) => right - left);
    const contrast = (high + 0.05) / (low + 0.05);
    if (contrast < 4.5) found.add(contrast.toFixed(2) + ": " + text.data.slice(0, 40));
  }
  return [...found];
})()`;

/** What can be operated and is smaller than 24 by 24 (WCAG 2.2, target size). Links within a sentence are exempt. */
const SMALL_TARGETS = `[...document.querySelectorAll("button, input:not(:disabled), select, summary, a:not(.prose a)")]
  .filter((one) => one.checkVisibility()).map((one) => [one, one.getBoundingClientRect()])
  .filter(([one, { width, height }]) => width > 0 && (width < 24 || height < 24))
  .map(([one, { width, height }]) => (one.ariaLabel || one.innerText) + " " + width + " x " + height)`;

const WIDER = "[document.documentElement.scrollWidth - innerWidth, 0].sort((a, b) => b - a)[0]";

/** Until what appears has appeared; what goes on for ever is measured as it is. */
const AT_REST =
  "Promise.all(document.getAnimations().filter((one) => one.effect.getTiming().iterations !== Infinity).map((one) => one.finished)).then(() => true)";

const VIEWS: readonly (readonly [string, BrowserContextOptions])[] = [
  ["light", { colorScheme: "light" }],
  ["dark", { colorScheme: "dark" }],
  ["phone", { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, hasTouch: true, isMobile: true }],
  ["zoomed to 200 %", { viewport: { width: 640, height: 400 }, deviceScaleFactor: 2 }],
];

describeInBrowser("F-F page: what it looks like in each state", () => {
  let browser: Browser;
  let site: Site;
  beforeAll(async () => {
    browser = await launch();
  });
  afterAll(async () => {
    await browser?.close();
  });
  beforeEach(async () => {
    site = await openSite();
    site.scenario.texts.set("rich", RICH_TEXT);
  });
  afterEach(async () => {
    await site.close();
  });
  const inView = (page: Page, name: string): Promise<boolean> =>
    page.getByRole("button", { name, exact: true }).evaluate((one) => {
      const { top, bottom } = one.getBoundingClientRect();
      return top >= 0 && bottom <= one.ownerDocument.documentElement.clientHeight;
    });

  it.each(VIEWS)(
    "%s: every text can be read, every target be hit, nothing is wider than the page",
    async (name, view) => {
      const context = await browser.newContext(view);
      const { page } = await openPage(context, site.url);
      const faults: unknown[] = [];
      const look = async (state: string): Promise<void> => {
        await page.evaluate(AT_REST);
        await shoot(page, `${name.split(" ")[0]}-${state}`);
        for (const measure of [LOW_CONTRAST, SMALL_TARGETS]) {
          for (const fault of (await page.evaluate(measure)) as string[]) faults.push(`${state}: ${fault}`);
        }
        const wider = Number(await page.evaluate(WIDER));
        if (wider > 0) faults.push(`${state}: ${wider} pixels too wide`);
      };
      const start = async (): Promise<void> => {
        await page.goto(`${site.url}/#/`);
        await page.getByRole("heading", { name: "What shall we do?" }).waitFor();
      };
      await page.locator(".missing summary").click();
      await look("empty");
      await ask(page, "slow please");
      await page.getByText("The first half").waitFor();
      await look("streaming");
      site.scenario.release();
      await settled(page);
      for (const word of ["rich", "think", "add", "draw", "nothing", "break", "handoff", "retry", "fail", "retract"]) {
        await start();
        await ask(page, `${word} this`);
        await settled(page);
        await look(word);
      }
      await start();
      await ask(page, "review this");
      await page.locator(".run-footer.working", { hasText: "Waiting for the result of review" }).waitFor();
      await look("parked");
      await page.keyboard.press("Escape");
      await settled(page);
      await start();
      await ask(page, "delete the report");
      await page.getByRole("button", { name: "Allow" }).waitFor();
      await look("question");
      expect([await inView(page, "Allow"), await inView(page, "Deny"), await inView(page, "Stop")]).toEqual([
        true,
        true,
        true,
      ]);
      expect(await page.locator(".run-footer.working").innerText()).toContain("Waiting for your answer");
      await page.getByRole("button", { name: "Deny" }).click();
      await settled(page);
      await page.getByRole("button", { name: "Thread actions" }).click();
      await look("menu");
      await page.getByRole("menuitem", { name: "Delete" }).click();
      await look("dialog");
      expect(faults).toEqual([]);
      await context.close();
    },
  );

  it("phone: words in a table stay whole, and the table scrolls if it is too wide", async () => {
    const words = ["Identifier", "Quantity", "Responsibility", "Administration"];
    const row = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
    site.scenario.texts.set("table", [words, words.map(() => "---"), words].map(row).join("\n"));
    const context = await browser.newContext({ viewport: { width: 375, height: 700 } });
    const { page } = await openPage(context, site.url);
    await ask(page, "table please");
    await settled(page);
    await shoot(page, "phone-table");
    const lines = await page.locator(".table th, .table td").evaluateAll((cells) =>
      cells.map((cell) => {
        const range = cell.ownerDocument.createRange();
        range.selectNodeContents(cell);
        return range.getClientRects().length;
      }),
    );
    expect(lines).toEqual(Array.from({ length: 8 }, () => 1));
    expect(await page.evaluate(WIDER)).toBe(0);
    await context.close();
  });

  it("zoomed: the button of the drawer covers nothing, however far the page is scrolled", async () => {
    const context = await browser.newContext({ viewport: { width: 640, height: 300 } });
    const { page } = await openPage(context, site.url);
    await page.locator(".missing summary").click();
    await page.locator(".missing dd").last().scrollIntoViewIfNeeded();
    const [button, main] = [page.getByRole("button", { name: "Open threads" }), page.locator("main")];
    const [above, below] = [await button.boundingBox(), await main.boundingBox()];
    expect((above?.y ?? 0) + (above?.height ?? 0)).toBeLessThanOrEqual(below?.y ?? 0);
    await context.close();
  });

  it("forced colours: the open thread, the focus and one's own messages can be distinguished", async () => {
    const context = await browser.newContext({ forcedColors: "active", colorScheme: "dark" });
    const { page } = await openPage(context, site.url);
    await ask(page, "think this");
    await settled(page);
    await shoot(page, "forced-colours");
    const styleOf = (selector: string, property: string): Promise<unknown> =>
      page.evaluate(
        `getComputedStyle(document.querySelector(${JSON.stringify(selector)}))[${JSON.stringify(property)}]`,
      );
    expect(await styleOf(".thread[aria-current]", "outlineStyle")).toBe("solid");
    expect(await styleOf(".user", "borderTopStyle")).toBe("solid");
    await page.getByRole("textbox", { name: "Your message" }).focus();
    expect(await styleOf(".composer", "outlineStyle")).toBe("solid");
    await context.close();
  });

  it("a question that is quicker than the list of targets goes to the server's own, not to the offline model", async () => {
    const context = await browser.newContext();
    const page = await context.newPage();
    let list = (): void => undefined;
    const asked = new Promise<void>((resolve) => {
      list = resolve;
    });
    await page.route("**/api/backends", async (route) => {
      await asked;
      await route.continue();
    });
    await page.goto(site.url);
    expect(await page.getByLabel("Who answers").innerText()).toBe("Loading …");
    await ask(page, "plain question");
    list();
    await page.getByText("You said: plain question").waitFor();
    expect(await page.locator(".target").innerText()).toBe("clerk");
    await context.close();
  });

  it("what is not set up says so in words for a reader of the page", async () => {
    const context = await browser.newContext();
    const { page } = await openPage(context, site.url);
    await page.locator(".missing summary").click();
    const [said = ""] = await page.locator(".missing dd").allInnerTexts();
    expect(said).toContain("Ask the operator of this server to set it");
    expect(said).not.toContain("apiKey");
    await context.close();
  });

  it("structured output is shown as data, character by character what the model wrote", async () => {
    const value = { title: "a *b* _c_", rows: [{ name: "x", amount: 12.5 }] };
    site.scenario.texts.set("json", JSON.stringify(value));
    const context = await browser.newContext();
    const { page, problems } = await openPage(context, site.url);
    await ask(page, "json please");
    await settled(page);
    expect(await page.locator(".answer figure.code pre").innerText()).toBe(JSON.stringify(value, null, 2));
    await page.goto(`${site.url}${await pathOf(page)}`);
    await page.reload();
    await settled(page);
    expect(await page.locator(".answer figure.code pre").count()).toBe(1);
    expect(problems).toEqual([]);
    await context.close();
  });

  it("a tool that was running when the answer was stopped is not said not to have run", async () => {
    const context = await browser.newContext();
    const { page } = await openPage(context, site.url);
    await ask(page, "wait for it");
    await page.locator(".tool-state", { hasText: "Running" }).waitFor();
    await page.keyboard.press("Escape");
    await settled(page);
    expect(await page.locator(".tool-state").innerText()).toBe("Not finished");
    await context.close();
  });
});

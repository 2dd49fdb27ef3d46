import { createHash } from "node:crypto";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import {
  ask,
  describeInBrowser,
  launch,
  openPage,
  openSite,
  settled,
  shoot,
  type Site,
  type Watched,
} from "./support.ts";

describeInBrowser("the chat page: threads and the page itself", () => {
  let browser: Browser;
  let site: Site;
  let context: BrowserContext;
  let watched: Watched;
  let page: Page;
  const titles = ["apples and pears", "bread", "cheese from the mountains"];
  beforeAll(async () => {
    browser = await launch();
    site = await openSite();
    const first = await browser.newContext();
    const { page: filling } = await openPage(first, site.url);
    for (const title of titles) {
      await filling.getByRole("link", { name: "New thread" }).click();
      await filling.getByRole("heading", { name: "What shall we do?" }).waitFor();
      await ask(filling, title);
      await filling.getByText(`You said: ${title}`).waitFor();
      await settled(filling);
    }
    await first.close();
  });
  afterAll(async () => {
    await browser?.close();
    await site?.close();
  });
  beforeEach(async () => {
    context = await browser.newContext({ colorScheme: "light" });
    watched = await openPage(context, site.url);
    ({ page } = watched);
  });
  afterEach(async () => {
    await context.close();
    expect(watched.problems).toEqual([]);
  });
  const links = () => page.getByRole("navigation", { name: "Threads" }).getByRole("link");

  it("the list has the latest first, and search finds threads by what is in them", async () => {
    await links().nth(2).waitFor();
    const shown = await page.locator(".thread-title").allInnerTexts();
    expect(shown).toEqual(titles.toReversed());
    const search = page.getByRole("searchbox", { name: "Search threads" });
    await search.fill("pears");
    await page.getByText("cheese").waitFor({ state: "detached" });
    expect(await page.locator(".thread-title").allInnerTexts()).toEqual(["apples and pears"]);
    await search.fill("nothing like that");
    await page.getByText("Nothing found.").waitFor();
    await search.press("Escape");
    await links().nth(2).waitFor();
  });

  it("arrow keys go through the list, Enter opens, and the open one is marked", async () => {
    await links().nth(2).waitFor();
    await page.getByRole("searchbox").focus();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowUp");
    await page.keyboard.press("Enter");
    await page.getByText("You said: bread").waitFor();
    expect(await page.locator("a.thread[aria-current=page] .thread-title").innerText()).toBe("bread");
    // The browser's own way back works.
    await page.goBack();
    await page.getByRole("heading", { name: "What shall we do?" }).waitFor();
  });

  it("a new thread is answered by whom one picks; what is not set up says why", async () => {
    const picker = page.getByRole("combobox", { name: "Who answers" });
    expect(await picker.locator("option").first().innerText()).toBe("clerk");
    await page.getByText("backends are not set up").click();
    expect(await page.locator(".missing").innerText()).toContain("ANTHROPIC_API_KEY is not set");
    await picker.selectOption("offline");
    await ask(page, "What is 25 + 17?");
    await page.getByText("25 + 17 = 42.").waitFor();
    await settled(page);
    expect(await page.locator(".thread-head .target").innerText()).toBe("offline");
  });

  it("F-A2: only those that the server offers can be picked", async () => {
    const picker = page.getByRole("combobox", { name: "Who answers" });
    await picker.locator("option").nth(4).waitFor({ state: "attached" });
    const names = await picker.locator("option").allInnerTexts();
    expect(names).toEqual(["clerk", "billing", "offline", "anthropic (not set up)", "openai/gpt-5 (not set up)"]);
  });

  it("colours follow the system, can be chosen, and the choice is kept", async () => {
    const background = (): Promise<string> => page.evaluate("getComputedStyle(document.body).backgroundColor");
    const light = await background();
    await page.emulateMedia({ colorScheme: "dark" });
    const dark = await background();
    expect(dark).not.toBe(light);
    await page.getByRole("button", { name: "Colours: system" }).click();
    expect(await background()).toBe(light);
    await page.reload();
    expect(await background()).toBe(light);
    await page.getByRole("button", { name: "Colours: light" }).click();
    await page.emulateMedia({ colorScheme: "light" });
    expect(await background()).toBe(dark);
  });

  it("on a phone the threads are in a drawer, and nothing is wider than the screen", async () => {
    await page.setViewportSize({ width: 360, height: 720 });
    await links().first().waitFor({ state: "hidden" });
    await page.getByRole("button", { name: "Open threads" }).click();
    await links().filter({ hasText: "bread" }).click();
    await page.getByText("You said: bread").waitFor();
    await links().first().waitFor({ state: "hidden" });
    site.scenario.texts.set(
      "wide",
      `${"x".repeat(400)}\n\n\`\`\`\n${"y".repeat(400)}\n\`\`\`\n\n|${"a|".repeat(30)}\n|${"-|".repeat(30)}\n|${"b|".repeat(30)}`,
    );
    await ask(page, "wide text");
    await page.locator(".table").waitFor();
    await settled(page);
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(360);
    expect(await page.evaluate("document.querySelector('.transcript').scrollWidth")).toBeLessThanOrEqual(360);
    await shoot(page, "light-phone");
    await page.getByRole("button", { name: "Open threads" }).click();
    await page.keyboard.press("Escape");
    await links().first().waitFor({ state: "hidden" });
  });

  it("everything that can be operated has a name, and focus is visible", async () => {
    await links().filter({ hasText: "bread" }).click();
    await settled(page);
    const nameless = await page.evaluate(`[...document.querySelectorAll("button, a, input, select, textarea, summary")]
      .filter((one) => !(one.ariaLabel || one.innerText || one.labels?.length)).map((one) => one.outerHTML)`);
    expect(nameless).toEqual([]);
    const seen: string[] = [];
    for (let stop = 0; stop < 12; stop += 1) {
      await page.keyboard.press("Tab");
      const look = await page.evaluate(`(() => {
        const one = document.activeElement;
        const box = one.closest(".composer") ?? one;
        const { outlineStyle, boxShadow } = getComputedStyle(box);
        return one === document.body ? "body" : outlineStyle !== "none" || boxShadow !== "none" ? "seen" : one.outerHTML;
      })()`);
      if (look !== "body") seen.push(String(look));
    }
    expect(new Set(seen)).toEqual(new Set(["seen"]));
    expect(await page.locator("main").count()).toBe(1);
    expect(await page.locator("h1").count()).toBe(1);
  });

  it("a thread that is not there says so", async () => {
    await page.goto(`${site.url}/#/t/nosuchthread`);
    await page.getByRole("heading", { name: "There is no such thread" }).waitFor();
    watched.problems.splice(0);
  });

  it("SEC14: a server with a token asks for it once, and keeps it for the tab", async () => {
    const token = "a-token-of-sixteen-characters";
    const guarded = await openSite({ tokens: [{ token }] });
    const { page: inside } = await openPage(context, guarded.url);
    const field = inside.getByLabel("Token");
    await field.fill("wrong-token-wrong-token");
    await field.press("Enter");
    await inside.getByText("did not accept").waitFor();
    await inside.getByLabel("Token").fill(token);
    await inside.keyboard.press("Enter");
    await ask(inside, "hello");
    await inside.getByText("You said: hello").waitFor();
    await settled(inside);
    await inside.reload();
    await inside.getByText("You said: hello").waitFor();
    expect(
      await inside.evaluate("Object.keys(localStorage).some((key) => localStorage[key].includes('sixteen'))"),
    ).toBe(false);
    await inside.close();
    await guarded.close();
  });

  it("SEC10: the page is served under a strict policy that it keeps to, and asks nobody else for anything", async () => {
    const response = await page.goto(site.url);
    const policy = response?.headers()["content-security-policy"] ?? "";
    for (const rule of [
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "frame-ancestors 'none'",
      "base-uri 'none'",
    ]) {
      expect(policy).toContain(rule);
    }
    expect(policy).not.toMatch(/unsafe|\*|https?:/);
    const html = (await response?.text()) ?? "";
    // One script is inline, the one that adds a missing slash to the address, and the policy names its digest.
    const [inline = "", ...others] = [...html.matchAll(/<script>([^<]*)<\/script>/g)].map(([, script = ""]) => script);
    expect(others).toEqual([]);
    expect(policy.match(/'sha256-[^']*'/g)).toEqual([
      `'sha256-${createHash("sha256").update(inline).digest("base64")}'`,
    ]);
    const rest = html.replace(`<script>${inline}</script>`, "");
    expect(rest).not.toMatch(/<style|<script(?![^>]*\ssrc=)|\son\w+=|\sstyle=/);
    expect(html).toMatch(/\/assets\/index-[\w-]{8}\.js/);
  });
});

import { readFileSync } from "node:fs";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { RICH_TEXT } from "./scenario.ts";
import {
  answers,
  ask,
  describeInBrowser,
  launch,
  openPage,
  openSite,
  pathOf,
  settled,
  shoot,
  type Site,
  type Watched,
} from "./support.ts";

describeInBrowser("the chat page: a conversation", () => {
  let browser: Browser;
  let site: Site;
  let context: BrowserContext;
  let watched: Watched;
  let page: Page;
  beforeAll(async () => {
    browser = await launch();
    site = await openSite();
    site.scenario.texts.set("rich", RICH_TEXT);
  });
  afterAll(async () => {
    await browser?.close();
    await site?.close();
  });
  beforeEach(async () => {
    site.scenario.hold();
    context = await browser.newContext({ permissions: ["clipboard-read", "clipboard-write"], acceptDownloads: true });
    watched = await openPage(context, site.url);
    ({ page } = watched);
  });
  afterEach(async () => {
    site.scenario.release();
    await context.close();
    expect(watched.problems).toEqual([]);
  });

  it("Enter sends, Shift+Enter begins a new line, and the answer appears with its markdown", async () => {
    const area = page.getByRole("textbox", { name: "Your message" });
    await area.pressSequentially("rich one");
    await area.press("Shift+Enter");
    await area.pressSequentially("two");
    expect(await area.inputValue()).toBe("rich one\ntwo");
    await area.press("Enter");
    await settled(page);
    expect(await page.locator(".user").innerText()).toBe("rich one\ntwo");
    const answer = answers(page);
    expect(await answer.locator("strong").innerText()).toBe("short plan");
    expect(await answer.locator("ol > li").count()).toBe(3);
    expect(await answer.locator("table td.align-right").allInnerTexts()).toEqual(["120", "4 096"]);
    expect(await answer.locator("pre code").innerText()).toContain("return left + right;");
    const link = answer.getByRole("link", { name: "link" });
    expect(await link.getAttribute("href")).toBe("https://example.org/docs");
    expect(await link.getAttribute("rel")).toContain("noopener noreferrer");
    // A picture would tell its host that it was looked at.
    expect(await answer.locator("img").count()).toBe(0);
    expect(await answer.getByRole("link", { name: "Image: chart" }).count()).toBe(1);
    await shoot(page, "light-rich");
  });

  it("text appears while it is written, and a screen reader is informed when it is finished", async () => {
    await ask(page, "slow please");
    await page.getByText("The first half").waitFor();
    expect(await page.getByRole("log").getAttribute("aria-busy")).toBe("true");
    expect(await page.getByRole("status").innerText()).toBe("Working on an answer.");
    site.scenario.release();
    await settled(page);
    expect(await answers(page).innerText()).toBe("The first half and the second half.");
    expect(await page.getByRole("log").getAttribute("aria-busy")).toBe("false");
    expect(await page.getByRole("status").innerText()).toBe("The answer is finished.");
  });

  it("thinking is there and folded", async () => {
    await ask(page, "think hard");
    await settled(page);
    const thought = page.getByText("First I look at the question.");
    expect(await thought.isVisible()).toBe(false);
    await page.getByText("Thought", { exact: true }).click();
    await thought.waitFor();
  });

  it("a tool card has input, result and time; a failed one is open and marked", async () => {
    await ask(page, "add 25 and 17");
    await settled(page);
    const card = page.locator(".tool");
    expect(await card.locator("summary").innerText()).toMatch(/add[\s\S]*a: 25, b: 17[\s\S]*Done[\s\S]*\d+ ms/);
    expect(await card.getAttribute("open")).toBeNull();
    await card.locator("summary").click();
    expect(await card.locator("pre").allInnerTexts()).toEqual(['{\n  "a": 25,\n  "b": 17\n}', "42"]);

    await ask(page, "break it");
    await page.locator(".tool.bad").waitFor();
    await settled(page);
    const broken = page.locator(".tool.bad");
    expect(await broken.locator("summary").innerText()).toContain("Failed");
    expect(await broken.locator("pre").last().innerText()).toBe("There is no file /tmp/x.");
    await shoot(page, "light-tools");
  });

  it("what a tool has made and used stands below its card; only web addresses are links", async () => {
    await ask(page, "draw it");
    await settled(page);
    expect(await page.locator(".report").allInnerTexts()).toEqual([
      "draw used\nSales 2026\nnotes.txt",
      "draw made\nSales image/svg+xml",
      "draw made\nA trap",
    ]);
    const links = page.locator(".report a");
    expect(await links.evaluateAll((all) => all.map((one) => one.getAttribute("href")))).toEqual([
      "https://charts.example/1.svg",
    ]);
    expect(await links.getAttribute("rel")).toContain("noopener");
  });

  it.each([
    ["review", "Waiting for a result", /^Waiting for the result of review/],
    ["rest", "Waiting until", /^Waiting until .*, \d\d:\d\d/],
  ])("a call that waits outside of the run (%s) is not said to run, also after a reload", async (word, card, foot) => {
    await ask(page, `${word} it`);
    for (const _ of ["live", "reloaded"]) {
      await page.locator(".tool-state", { hasText: card }).waitFor();
      expect(await page.locator(".run-footer.working .facts").innerText()).toMatch(foot);
      expect(await page.locator(".spinner").count()).toBe(0);
      await page.reload();
    }
    await page.locator(".tool-state", { hasText: card }).waitFor();
    await page.keyboard.press("Escape");
    await settled(page);
    expect(await page.locator(".tool-state").innerText()).toBe("Not finished");
  });

  it("an empty answer says that it is empty", async () => {
    await ask(page, "nothing please");
    await settled(page);
    expect(await page.locator(".remark").innerText()).toBe("The answer is empty.");
  });

  it("a handoff says who hands over to whom, and the other's answer follows", async () => {
    await ask(page, "handoff this");
    await settled(page);
    expect(await page.locator(".handoff").innerText()).toContain("clerk handed over to billing");
    expect(await page.locator(".handoff").innerText()).toContain("The customer was charged twice.");
    expect(await answers(page).last().innerText()).toBe("Billing here. I have refunded it.");
    expect(await page.locator(".user").count()).toBe(1);
    await page.reload();
    await page.locator(".handoff").waitFor();
    await ask(page, "and now");
    await page.getByText("You said: and now").waitFor();
    // An earlier answer now: the same row, and nothing the person did not write.
    expect(await page.locator(".handoff").innerText()).toContain("clerk handed over to billing");
    expect(await page.locator(".user").allInnerTexts()).toEqual(["handoff this", "and now"]);
  });

  it("notices worth showing are shown", async () => {
    await ask(page, "retry now");
    await settled(page);
    expect(await page.locator(".remark").allInnerTexts()).toEqual([
      "The provider limits how often it can be asked.",
      "Nothing has come for 12 seconds. Still waiting.",
    ]);
  });

  it("an error says what it is and what to do, keeps what was written, and is there after a reload", async () => {
    await ask(page, "fail now");
    await settled(page);
    const check = async (): Promise<void> => {
      const note = page.getByRole("alert");
      await note.waitFor();
      const words = await note.innerText();
      expect(words).toContain("The provider refused the key (401).");
      expect(words).toContain("The key is missing, wrong or has been revoked.");
      expect(await note.getByRole("listitem").allInnerTexts()).toEqual([
        "Check ANTHROPIC_API_KEY.",
        "Make a new key in the provider's console.",
      ]);
      expect(await answers(page).innerText()).toContain("I begin, and");
    };
    await check();
    await shoot(page, "light-error");
    await page.reload();
    await check();
  });

  it("model, tokens and time stand under the answer, and the tokens in the head", async () => {
    await ask(page, "hello");
    await settled(page);
    expect(await page.locator(".run-footer").innerText()).toMatch(/test-model-1\s*1\.3k in\s*88 out\s*\d+ ms/);
    await page.locator(".thread-head .facts", { hasText: "1.3k in" }).waitFor();
  });

  it.each(["button", "Escape"])("a run is stopped with the %s, and can be followed by another", async (how) => {
    await ask(page, "slow please");
    await page.getByText("The first half").waitFor();
    if (how === "button") await page.getByRole("button", { name: "Stop" }).click();
    else await page.keyboard.press("Escape");
    await page.getByText("This answer was stopped").waitFor();
    await page.getByRole("button", { name: "Send" }).waitFor();
    await ask(page, "hello");
    await page.getByText("You said: hello").waitFor();
  });

  it("answer and code can be copied", async () => {
    await ask(page, "rich text");
    await settled(page);
    await page.getByRole("button", { name: "Copy code" }).click();
    expect(await page.evaluate("navigator.clipboard.readText()")).toMatch(/^export function add/);
    await page.getByRole("button", { name: "Copy answer" }).click();
    await page.locator(".run-footer").getByText("Copied").waitFor();
    expect(await page.evaluate("navigator.clipboard.readText()")).toBe(RICH_TEXT);
  });

  it("a thread is exported, renamed and deleted", async () => {
    await ask(page, "hello");
    await settled(page);
    const choose = async (name: string): Promise<void> => {
      await page.getByRole("button", { name: "Thread actions" }).click();
      await page.getByRole("menuitem", { name }).click();
    };
    for (const [name, file, holds] of [
      ["Export as Markdown", "hello.md", "## Assistant\n\nYou said: hello"],
      ["Export as JSONL", "hello.jsonl", '"kind":"event"'],
    ] as const) {
      const [download] = await Promise.all([page.waitForEvent("download"), choose(name)]);
      expect(download.suggestedFilename()).toBe(file);
      expect(readFileSync(await download.path(), "utf8")).toContain(holds);
    }
    await choose("Rename");
    await page.getByRole("textbox", { name: "Title" }).fill("Another name");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Another name" }).waitFor();
    await page.getByRole("navigation", { name: "Threads" }).getByText("Another name").waitFor();
    await choose("Delete");
    await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
    await choose("Delete");
    // The list is answered late: the thread is gone from the page all the same, and an older answer does not bring it back.
    let answerList = (): void => undefined;
    const isHeld = new Promise<void>((resolve) => {
      answerList = resolve;
    });
    await page.route("**/api/threads?*", async (route) => {
      await isHeld;
      await route.continue();
    });
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await page.getByRole("heading", { name: "What shall we do?" }).waitFor();
    await page.getByText("Another name").waitFor({ state: "detached" });
    answerList();
    await page.unrouteAll({ behavior: "wait" });
  });

  it("a rejected message is reported, and its text is restored", async () => {
    await ask(page, "slow please");
    await page.getByText("The first half").waitFor();
    const { page: other } = await openPage(context, site.url, await pathOf(page));
    await other.getByText("The first half").waitFor();
    await page.getByRole("button", { name: "Stop" }).click();
    await page.getByText("This answer was stopped").waitFor();
    await context.route("**/chat", (route) =>
      route.fulfill({
        status: 409,
        contentType: "application/json",
        body: '{"error":{"code":"run-active","message":"A run is not over."}}',
      }),
    );
    await ask(page, "my question");
    await page.getByRole("alert").getByText("A run is not over.").waitFor();
    expect(await page.getByRole("textbox", { name: "Your message" }).inputValue()).toBe("my question");
    await page.getByRole("button", { name: "Dismiss" }).click();
    await page.getByRole("alert").waitFor({ state: "detached" });
    // The browser itself tells of the refusal in its console.
    watched.problems.splice(0, watched.problems.length, ...watched.problems.filter((line) => !line.includes("409")));
  });
});

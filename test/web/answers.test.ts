import { createServer as createHttpServer, type Server as HttpServer } from "node:http";
import type { AddressInfo } from "node:net";
import { getRequestListener } from "@hono/node-server";
import { Hono } from "hono";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { createInProcessQueue } from "../../src/runtime/queues/in-process.ts";
import { answers, ask, describeInBrowser, launch, openPage, openSite, settled, shoot, type Site } from "./support.ts";

describeInBrowser("F-F page: what stays on the page", () => {
  let browser: Browser;
  let site: Site;
  let context: BrowserContext;
  let page: Page;
  beforeAll(async () => {
    browser = await launch();
    site = await openSite();
    site.scenario.release();
  });
  afterAll(async () => {
    await browser?.close();
    await site?.close();
  });
  beforeEach(async () => {
    context = await browser.newContext({ permissions: ["clipboard-read", "clipboard-write"] });
    ({ page } = await openPage(context, site.url));
  });
  afterEach(() => context.close());

  it("F-F page: names the node that works on a run while it works, if several share the work", async () => {
    const shared = await openSite({ queue: createInProcessQueue(), node: "back-1" });
    try {
      const other = await openPage(context, shared.url);
      await ask(other.page, "slow one");
      await other.page.getByText("on back-1").waitFor();
      await shoot(other.page, "node-at-work");
      shared.scenario.release();
      await settled(other.page);
      expect(await other.page.getByText("on back-1").count()).toBe(0);
    } finally {
      await shared.close();
    }
    // Without others there is nothing to tell.
    await ask(page, "plain one");
    await settled(page);
    expect(await page.locator(".node").count()).toBe(0);
  });

  it("every answer keeps its model, tokens, time, copy button and error, after the next message and a reload", async () => {
    await ask(page, "plain one");
    await settled(page);
    await ask(page, "fail two");
    await page.getByRole("alert").waitFor();
    await settled(page);
    await ask(page, "plain three");
    await page.locator(".user", { hasText: "plain three" }).waitFor();
    await settled(page);
    const look = async (): Promise<void> => {
      await expect.poll(() => page.locator(".run-footer").count(), { timeout: 60_000 }).toBe(3);
      expect(await page.getByRole("alert").locator("h4").allInnerTexts()).toEqual([expect.stringMatching(/^The /)]);
      for (const footer of await page.locator(".run-footer").all()) {
        expect(await footer.innerText()).toContain("test-model-1");
        expect(await footer.locator("time").count()).toBe(1);
      }
      const order = await page
        .locator(".user, .answer, .note.error, .run-footer")
        .evaluateAll((rows) => rows.map((row) => row.className.split(" ")[0]));
      expect(order).toEqual([
        ...["user", "answer", "run-footer"],
        ...["user", "answer", "note", "run-footer"],
        ...["user", "answer", "run-footer"],
      ]);
    };
    await look();
    await shoot(page, "light-answers-kept");
    await page.reload();
    await look();
    await page.locator(".run-footer.earlier").first().getByRole("button", { name: "Copy answer" }).click();
    expect(await page.evaluate("navigator.clipboard.readText()")).toBe(await answers(page).first().innerText());
  });

  it("the model is in the header, and threads stand under their day", async () => {
    await ask(page, "plain");
    await settled(page);
    expect(await page.locator(".thread-head .facts").innerText()).toContain("test-model-1");
    await page.getByRole("heading", { name: "Today" }).waitFor();
    expect(await page.locator(".thread time").first().getAttribute("title")).toMatch(/\d{4}/);
    const heights = await page
      .locator(".thread-facts")
      .first()
      .evaluate((facts) => {
        const before = facts.clientHeight;
        (facts.firstElementChild as { textContent: string }).textContent = "provider/a-model-with-a-rather-long-name";
        return [before, facts.clientHeight];
      });
    expect(heights[1], "the time stays on its line beside a long name").toBe(heights[0]);
  });

  it("a draft is there after a reload and gone once it is sent, in a new thread and in an old one", async () => {
    const area = page.getByRole("textbox", { name: "Your message" });
    await area.fill("plain half a thought");
    await page.reload();
    await expect.poll(() => area.inputValue(), { timeout: 60_000 }).toBe("plain half a thought");
    await area.press("Enter");
    await settled(page);
    await area.fill("another");
    await page.reload();
    await expect.poll(() => area.inputValue(), { timeout: 60_000 }).toBe("another");
    await page.getByRole("link", { name: "New thread" }).click();
    await page.getByRole("heading", { level: 1, name: "What shall we do?" }).waitFor();
    expect(await area.inputValue()).toBe("");
  });

  it("the empty page has examples, and one of them is written into the field", async () => {
    await page.getByRole("list", { name: "Examples" }).getByRole("button").first().click();
    expect(await page.getByRole("textbox", { name: "Your message" }).inputValue()).toBe("What is 25 + 17?");
    await shoot(page, "light-examples");
  });
});

describeInBrowser("F-F page: below a prefix", () => {
  let browser: Browser;
  let site: Site;
  let host: HttpServer;
  let url: string;
  beforeAll(async () => {
    browser = await launch();
    site = await openSite();
    site.scenario.release();
    const app = new Hono();
    app.mount("/tools/agent", (request: Request) => site.server.fetch(request));
    app.get("/", (context) => context.text("another program"));
    host = createHttpServer(getRequestListener(app.fetch));
    await new Promise<void>((resolve) => host.listen(0, "127.0.0.1", resolve));
    url = `http://127.0.0.1:${(host.address() as AddressInfo).port}/tools/agent`;
  });
  afterAll(async () => {
    await browser?.close();
    host?.closeAllConnections();
    await new Promise((resolve) => host?.close(resolve));
    await site?.close();
  });

  it.each(["", "/", "/index.html"])("works at /tools/agent%s", async (path) => {
    const context = await browser.newContext();
    const { page, problems } = await openPage(context, url, path);
    await ask(page, "plain");
    await settled(page);
    await page.reload();
    await settled(page);
    expect(await answers(page).count()).toBe(1);
    expect(await page.evaluate("document.querySelector('.brand img').naturalWidth > 0")).toBe(true);
    // Without the slash the browser looks for the files beside the prefix, until the page has put it right.
    const expected = path === "" ? /\/tools\/assets\/|status of 404/ : /^$/;
    expect(problems.filter((problem) => !expected.test(problem))).toEqual([]);
    expect(await page.evaluate("location.pathname")).toMatch(/^\/tools\/agent\/(?:index\.html)?$/);
    await context.close();
  });
});

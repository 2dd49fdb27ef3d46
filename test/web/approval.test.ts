import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
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
} from "./support.ts";

describeInBrowser("the chat page: questions of permission", () => {
  let browser: Browser;
  let site: Site;
  let context: BrowserContext;
  let page: Page;
  beforeAll(async () => {
    browser = await launch();
    site = await openSite({ sqlite: true });
  });
  afterAll(async () => {
    await browser?.close();
    await site?.close();
  });
  beforeEach(async () => {
    context = await browser.newContext();
    ({ page } = await openPage(context, site.url));
  });
  afterEach(() => context.close());

  it("allowing lets the tool run", async () => {
    await ask(page, "delete the report");
    const dialog = page.getByRole("alertdialog", { name: "Allow delete_file?" });
    await dialog.waitFor();
    expect(await dialog.locator("pre").innerText()).toContain("/srv/reports/2024.csv");
    expect(await page.locator(".tool.asked summary").innerText()).toContain("Waiting for you");
    await expect.poll(() => page.title()).toMatch(/^● /);
    await shoot(page, "light-approval");
    await dialog.getByRole("button", { name: "Allow" }).click();
    await settled(page);
    await page.getByRole("alertdialog").waitFor({ state: "detached" });
    expect(await answers(page).last().innerText()).toBe('The tool said: "deleted /srv/reports/2024.csv".');
    await expect.poll(() => page.title()).not.toMatch(/^● /);
    // The button that had the focus is gone; the keyboard goes on at the message.
    await expect.poll(() => page.evaluate("document.activeElement.ariaLabel")).toBe("Your message");
  });

  it("denying with a reason tells the model why, and the card too", async () => {
    await ask(page, "delete the report");
    await page.getByRole("alertdialog").waitFor();
    await page.getByRole("textbox", { name: /Reason/ }).fill("It is still needed");
    await page.getByRole("button", { name: "Deny" }).click();
    await settled(page);
    expect(await answers(page).last().innerText()).toContain("It is still needed");
    const card = page.locator(".tool.bad");
    expect(await card.locator("summary").innerText()).toContain("Denied");
    expect(await card.innerText()).toContain("It is still needed");
  });

  it("a question is still there after a reload, and with the keyboard alone it can be answered", async () => {
    await ask(page, "delete the report");
    await page.getByRole("alertdialog").waitFor();
    await page.reload();
    const dialog = page.getByRole("alertdialog", { name: "Allow delete_file?" });
    await dialog.waitFor();
    await dialog.focus();
    for (const name of ["delete", "Reason", "Deny", "Allow"]) {
      await page.keyboard.press("Tab");
      const focused = await page.evaluate("document.activeElement.ariaLabel ?? document.activeElement.innerText");
      expect(focused).toContain(name === "delete" ? "reports" : name);
    }
    await page.keyboard.press("Enter");
    await settled(page);
    expect(await answers(page).last().innerText()).toContain("deleted");
  });

  it("several questions come one after the other", async () => {
    await ask(page, "both of them");
    for (const file of ["a.txt", "b.txt"]) {
      await page.getByRole("alertdialog").getByText(file).waitFor();
      await page.getByRole("button", { name: "Allow" }).click();
    }
    await settled(page);
    expect(await answers(page).last().innerText()).toBe('The tool said: "deleted a.txt", "deleted b.txt".');
  });

  it("an answer given in one tab closes the question in the other", async () => {
    await ask(page, "delete the report");
    await page.getByRole("alertdialog").waitFor();
    const { page: other } = await openPage(context, site.url, await pathOf(page));
    await other.getByRole("button", { name: "Allow" }).click();
    await settled(page);
    await page.getByRole("alertdialog").waitFor({ state: "detached" });
    expect(await answers(page).last().innerText()).toContain("deleted");
  });
});

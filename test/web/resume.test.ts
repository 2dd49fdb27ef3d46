import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type Socket, type AddressInfo, connect } from "node:net";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { ROOT } from "../../scripts/set-up.mjs";
import { createMemoryStore } from "../../src/runtime/stores/memory.ts";
import { startCli } from "../e2e/cli.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { DRIPPED } from "./scenario.ts";
import { answers, ask, describeInBrowser, launch, openPage, openSite, pathOf, settled, type Site } from "./support.ts";

/** Passes bytes on until it is told to cut every connection, or to let nobody in. */
async function openProxy(target: string) {
  const sockets = new Set<Socket>();
  let isShut = false;
  const port = Number(new URL(target).port);
  const proxy = createServer((near) => {
    if (isShut) {
      near.destroy();
      return;
    }
    const far = connect(port, "127.0.0.1");
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on("error", () => undefined);
      socket.on("close", () => {
        sockets.delete(socket);
        near.destroy();
        far.destroy();
      });
    }
    near.pipe(far);
    far.pipe(near);
  });
  await new Promise<void>((resolve) => {
    proxy.listen(0, "127.0.0.1", resolve);
  });
  return {
    url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    cut: () => {
      for (const socket of sockets) socket.destroy();
    },
    shut: (shut: boolean) => {
      isShut = shut;
    },
    close: () => {
      for (const socket of sockets) socket.destroy();
      proxy.close();
    },
  };
}

/** Lets the slow answer go on, whenever its model is asked again. */
async function finishSlow(page: Page, site: Pick<Site, "scenario">): Promise<void> {
  const whole = page.getByText("The first half and the second half.");
  for (let tries = 0; tries < 400 && !(await whole.isVisible()); tries += 1) {
    site.scenario.release();
    await page.waitForTimeout(50);
  }
  await whole.waitFor();
}

describeInBrowser("the chat page: nothing is lost", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launch();
  });
  afterAll(() => browser?.close());

  it("a reload in the middle of an answer continues with it, from memory and from sqlite", async () => {
    for (const sqlite of [false, true]) {
      const site = await openSite({ sqlite });
      const context = await browser.newContext();
      const { page } = await openPage(context, site.url);
      await ask(page, "slow please");
      await page.getByText("The first half").waitFor();
      await page.reload();
      await page.getByText("The first half").waitFor();
      await page.getByRole("button", { name: "Stop" }).waitFor();
      expect(await page.locator(".user").allInnerTexts()).toEqual(["slow please"]);
      site.scenario.release();
      await settled(page);
      expect(await answers(page).allInnerTexts()).toEqual(["The first half and the second half."]);
      await context.close();
      await site.close();
    }
  });

  it("two tabs show the same: what one asks the other shows, while it is written and afterwards", async () => {
    const site = await openSite();
    const context = await browser.newContext();
    const { page: one } = await openPage(context, site.url);
    await ask(one, "hello");
    await settled(one);
    const { page: two } = await openPage(context, site.url, await pathOf(one));
    await two.getByText("You said: hello").waitFor();
    await ask(one, "slow please");
    await two.getByText("The first half").waitFor();
    expect(await two.locator(".user").allInnerTexts()).toEqual(["hello", "slow please"]);
    site.scenario.release();
    await settled(one);
    await settled(two);
    const inner = async (page: typeof one): Promise<string> => (await page.getByRole("log").innerText()).trim();
    await two.getByText("and the second half").waitFor();
    expect(await inner(two)).toBe(await inner(one));
    await context.close();
    await site.close();
  });

  it("another browser's question comes without a reload too", async () => {
    const site = await openSite();
    const here = await browser.newContext();
    const elsewhere = await browser.newContext();
    const { page: one } = await openPage(here, site.url);
    await ask(one, "hello");
    await settled(one);
    const { page: two } = await openPage(elsewhere, site.url, await pathOf(one));
    await two.getByText("You said: hello").waitFor();
    await ask(two, "again");
    await one.getByText("You said: again").waitFor();
    await here.close();
    await elsewhere.close();
    await site.close();
  });

  it("a broken stream is taken up at its cursor, however often it breaks: no gap, nothing twice", async () => {
    const site = await openSite();
    const proxy = await openProxy(site.url);
    const context = await browser.newContext();
    const { page } = await openPage(context, proxy.url);
    await ask(page, "slow please");
    await page.getByText("The first half").waitFor();
    for (let round = 0; round < 2; round += 1) {
      proxy.cut();
      await page.getByText("The connection is lost").waitFor();
      await page.getByText("The connection is lost").waitFor({ state: "detached" });
    }
    proxy.shut(true);
    proxy.cut();
    await page.getByText("The connection is lost").waitFor();
    site.scenario.release();
    proxy.shut(false);
    await settled(page);
    expect(await answers(page).allInnerTexts()).toEqual(["The first half and the second half."]);
    await ask(page, "drip please");
    await page.getByText("w3 ").waitFor();
    for (let round = 0; round < 5; round += 1) {
      proxy.cut();
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    await settled(page);
    expect(await answers(page).last().innerText()).toBe(DRIPPED.trim());
    await context.close();
    proxy.close();
    await site.close();
  });

  it("a run whose server died continues after the restart, and so does the thread", async () => {
    const store = createMemoryStore();
    const before = await openSite({ store });
    const context = await browser.newContext();
    const { page } = await openPage(context, before.url);
    await ask(page, "slow please");
    await page.getByText("The first half").waitFor();
    const path = await pathOf(page);
    await page.close();
    // A second server on the same store continues what the first one, as good as dead, has left open.
    const after = await openSite({ store });
    const { page: later } = await openPage(context, after.url, path);
    await finishSlow(later, after);
    expect(await answers(later).allInnerTexts()).toEqual(["The first half and the second half."]);
    await ask(later, "hello");
    await later.getByText("You said: hello").waitFor();
    await context.close();
    await after.close();
    await before.close();
    await store.close();
  });

  it("a server that goes away and comes back is found again", async () => {
    const store = createMemoryStore();
    const before = await openSite({ store });
    const context = await browser.newContext();
    const { page } = await openPage(context, before.url);
    await ask(page, "slow please");
    await page.getByText("The first half").waitFor();
    await before.close();
    const after = await openSite({ store, port: Number(new URL(before.url).port) });
    await finishSlow(page, after);
    await ask(page, "hello");
    await page.getByText("You said: hello").waitFor();
    await context.close();
    await after.close();
    await store.close();
  });

  it("a question is still there after a restart, and its answer continues the run", async () => {
    const store = createMemoryStore();
    const before = await openSite({ store });
    const context = await browser.newContext();
    const { page } = await openPage(context, before.url);
    await ask(page, "delete the report");
    const dialog = page.getByRole("alertdialog", { name: "Allow delete_file?" });
    await dialog.waitFor();
    await before.close();
    const after = await openSite({ store, port: Number(new URL(before.url).port) });
    await page.reload();
    await dialog.waitFor();
    await dialog.getByRole("button", { name: "Allow" }).click();
    await settled(page);
    await dialog.waitFor({ state: "detached" });
    const [run] = await store.listRuns();
    expect(run).toMatchObject({ isOver: true, status: "success" });
    await context.close();
    await after.close();
    await store.close();
  });

  it("a question is still there after kill -9 of the server and a restart, and its answer ends the run: the tool runs once", async () => {
    const folder = temporaryFolder("web-kill");
    const effects = join(folder, "effects");
    const config = join(folder, "millrace.config.mjs");
    writeFileSync(
      config,
      `import { appendFileSync } from "node:fs";
       import { tool } from ${JSON.stringify(pathToFileURL(join(ROOT, "dist", "index.js")).href)};
       const refund = tool("refund", "Refund an order", { order: "string" }, ({ order }) => {
         appendFileSync(${JSON.stringify(effects)}, order + "\\n");
         return "refunded " + order;
       });
       export default { backend: "offline", tools: [refund], permissions: { ask: ["refund"] } };`,
    );
    const serve = (port: string) =>
      startCli(["serve", "--data", join(folder, "data"), "-c", config, "-p", port], { holdInput: true });
    const first = serve("0");
    const [printed] = (await once(first.child.stdout, "data")) as [string];
    const url = printed.trim();
    const context = await browser.newContext();
    const { page } = await openPage(context, url);
    await ask(page, 'Refund order "17".');
    const dialog = page.getByRole("alertdialog", { name: "Allow refund?" });
    await dialog.waitFor();
    first.child.kill("SIGKILL");
    await first.left;
    const second = serve(new URL(url).port);
    await once(second.child.stdout, "data");
    await page.reload();
    await dialog.waitFor();
    expect(existsSync(effects)).toBe(false);
    await dialog.getByRole("button", { name: "Allow" }).click();
    await settled(page);
    await page.getByText("refund answered: refunded 17").waitFor();
    expect(readFileSync(effects, "utf8")).toBe("17\n");
    await context.close();
    second.child.kill("SIGTERM");
    expect((await second.left).code).toBe(0);
  });
});

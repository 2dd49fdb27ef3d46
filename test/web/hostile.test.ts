import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { build } from "vite";
import { ROOT } from "../../scripts/set-up.mjs";
import { temporaryFolder } from "../temporary-folder.ts";
import { PAYLOADS } from "./payloads.ts";
import { RICH_TEXT } from "./scenario.ts";
import { ask, describeInBrowser, launch, openPage, openSite, settled, type Site } from "./support.ts";

/** Finds everything in a drawing that could run or load something; run in the page. */
const INSPECT = `(() => {
  const TAGS = new Set(["A","BLOCKQUOTE","BR","BUTTON","CODE","DEL","DIV","EM","FIGCAPTION","FIGURE","H2","H3","H4","H5","HR",
    "INPUT","LI","OL","P","PATH","PRE","SPAN","STRONG","SVG","TABLE","TBODY","TD","TH","THEAD","TR","UL"]);
  const found = [];
  for (const one of document.querySelectorAll("#app *")) {
    if (!TAGS.has(one.tagName.toUpperCase())) found.push("element " + one.tagName);
    for (const { name, value } of one.attributes) {
      if (name.startsWith("on") || ["src", "srcset", "style", "ping", "action", "formaction", "background", "poster"].includes(name)) found.push(name);
      if (name === "href" && !/^(https?:\\/\\/|mailto:)/.test(value)) found.push("href " + value);
      if (name === "href" && one.rel !== "noopener noreferrer nofollow") found.push("rel " + one.rel);
    }
  }
  return found;
})`;

describeInBrowser("the chat page: hostile model output", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launch();
  });
  afterAll(() => browser?.close());

  /** The page's own markdown on a page of the real server, under its real policy. */
  async function withMarkdown(use: (page: Page, problems: string[]) => Promise<void>): Promise<void> {
    const folder = temporaryFolder("markdown");
    const web = join(ROOT, "web");
    await build({
      configFile: join(web, "vite.config.ts"),
      configLoader: "runner",
      root: join(web, "test-page"),
      publicDir: join(web, "public"),
      build: { outDir: folder, emptyOutDir: true },
    });
    const site = await openSite({ page: folder });
    const context = await browser.newContext();
    const { page, problems } = await openPage(context, site.url);
    await page.waitForFunction("typeof draw === 'function'");
    await page.evaluate(
      `window.violations = []; addEventListener("securitypolicyviolation", (event) => violations.push(event.violatedDirective + " " + event.blockedURI))`,
    );
    await use(page, problems);
    await context.close();
    await site.close();
  }

  it("SEC10: 200 payloads, each at every streamed prefix: no script, no foreign request", async () => {
    expect(new Set(PAYLOADS).size).toBeGreaterThanOrEqual(200);
    await withMarkdown(async (page, problems) => {
      const { drawn, found } = (await page.evaluate(`(async () => {
        const inspect = ${INSPECT};
        const found = [];
        let drawn = 0;
        for (const [at, payload] of ${JSON.stringify(PAYLOADS)}.entries()) {
          for (let end = 1; end <= payload.length; end += 1) {
            draw(at, payload.slice(0, end), true);
            drawn += 1;
            for (const problem of inspect()) found.push(problem + " in " + payload.slice(0, end));
          }
          draw(at, payload, false);
          for (const problem of inspect()) found.push(problem + " in " + payload);
          // Handlers and loads of what was drawn would come now.
          await new Promise((resolve) => setTimeout(resolve, 0));
        }
        return { drawn, found };
      })()`)) as { drawn: number; found: string[] };
      expect(drawn).toBeGreaterThan(10_000);
      expect(found).toEqual([]);
      expect(await page.evaluate("window.__ran")).toBeUndefined();
      expect(await page.evaluate("violations")).toEqual([]);
      expect(problems).toEqual([]);
    });
  });

  it("SEC10: an independent judge finds nothing to take out of what is drawn", async () => {
    const judge = readFileSync(createRequire(import.meta.url).resolve("dompurify/dist/purify.min.js"), "utf8");
    await withMarkdown(async (page) => {
      await page.evaluate(`${judge}; undefined`);
      const removed = await page.evaluate(`(() => {
        const removed = [];
        for (const [at, payload] of ${JSON.stringify([...PAYLOADS, RICH_TEXT])}.entries()) {
          draw(at, payload, false);
          DOMPurify.sanitize(document.querySelector("#app").innerHTML, { ADD_ATTR: ["target", "aria-live"] });
          removed.push(...DOMPurify.removed.map((one) => (one.element ?? one.attribute)?.nodeName));
        }
        return removed;
      })()`);
      expect(removed).toEqual([]);
    });
  });

  it("while text is written only its last blocks are drawn anew", async () => {
    await withMarkdown(async (page) => {
      const text = Array.from({ length: 60 }, (_, at) => `Paragraph ${at} with **strong** words.`).join("\n\n");
      const changed = await page.evaluate(`(async () => {
        const text = ${JSON.stringify(text)};
        let early = 0;
        const observer = new MutationObserver((records) => {
          const blocks = [...document.querySelectorAll(".prose > *")];
          for (const { target } of records) {
            const at = blocks.findIndex((block) => block === target || block.contains(target));
            if (at !== -1 && at < blocks.length - 2) early += 1;
          }
        });
        observer.observe(document.querySelector("#app"), { subtree: true, childList: true, characterData: true, attributes: true });
        for (let end = 1; end <= text.length; end += 3) {
          draw(1, text.slice(0, end), true);
          await Promise.resolve();
        }
        return { early, blocks: document.querySelectorAll(".prose > p").length };
      })()`);
      expect(changed).toEqual({ early: 0, blocks: 60 });
    });
  });

  it("SEC10: the same texts as answer, question, tool input and result, title and reason do nothing in the whole page", async () => {
    const site: Site = await openSite();
    const all = PAYLOADS.join("\n\n");
    site.scenario.texts.set("hostile", all);
    const context = await browser.newContext();
    const { page, problems } = await openPage(context, site.url);
    await ask(page, "hostile now");
    await settled(page);
    await ask(page, all.slice(0, 20_000));
    await page.locator(".user").nth(1).waitFor();
    await settled(page);
    const id = String(await page.evaluate("location.hash")).slice(4);
    for (const title of PAYLOADS.slice(0, 20)) {
      await page.evaluate(
        `fetch("/api/threads/${id}", { method: "PATCH", headers: { "content-type": "application/json" }, body: ${JSON.stringify(JSON.stringify({ title: title.slice(0, 200) }))} })`,
      );
    }
    await ask(page, `remove ${all.slice(0, 8000)}`);
    await page.getByRole("button", { name: "Allow" }).click();
    await settled(page);
    await ask(page, "delete it");
    await page.getByRole("textbox", { name: /Reason/ }).fill(PAYLOADS[3] ?? "");
    await page.getByRole("button", { name: "Deny" }).click();
    await settled(page);
    await page.reload();
    await page.locator(".answer").first().waitFor();
    expect(
      await page.evaluate(
        `document.querySelectorAll("body script, script:not([src^='./assets/'], head > title + script), iframe, object, embed, style, base, form, video, audio, img:not([src='./icon.svg'])").length`,
      ),
    ).toBe(0);
    expect(await page.evaluate("window.__ran")).toBeUndefined();
    expect(problems).toEqual([]);
    await context.close();
    await site.close();
  });
});

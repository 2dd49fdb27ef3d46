import { existsSync } from "node:fs";
import { join } from "node:path";
import { type Browser, type BrowserContext, chromium, type Locator, type Page } from "playwright-core";
import { describe } from "vitest";
import { ToolFailure } from "#domain";
import { agent } from "#runtime";
import { createServer, type Server, type ServerOptions } from "#server";
import type { Store } from "#sessions";
import { park, sleepUntil, tool } from "#tools";
import { createMemoryStore } from "../../src/runtime/stores/memory.ts";
import { openStore } from "../../src/runtime/stores/sqlite.ts";
import { makeFolder, removeFolder } from "../temporary-folder.ts";
import { createScenario, type Scenario } from "./scenario.ts";

const CHROMIUM = "/usr/bin/chromium";

/** Tests that need a browser. Without one they are skipped where people see it, and fail in CI. */
export const describeInBrowser = existsSync(CHROMIUM) || process.env["CI"] !== undefined ? describe : describe.skip;

export function launch(): Promise<Browser> {
  return chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox", "--disable-dev-shm-usage"] });
}

export interface Site {
  readonly url: string;
  readonly scenario: Scenario;
  readonly server: Server;
  readonly store: Store;
  close(): Promise<void>;
}

const add = tool("add", "Adds two numbers", { a: "number", b: "number" }, ({ a, b }) => a + b);
const broken = tool("broken", "Always fails", { path: "string" }, ({ path }) => {
  throw new ToolFailure(`There is no file ${path}.`);
});
/** Runs until it is stopped. */
const readReport = tool(
  "read_report",
  "Reads a report",
  { path: "string" },
  (_, { signal }) => new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("stopped")))),
);
const deleteFile = tool(
  "delete_file",
  "Deletes a file",
  { path: "string", "force?": "boolean" },
  ({ path }) => `deleted ${path}`,
);

const draw = tool("draw", "Draws a chart", { title: "string" }, ({ title }, { artifact, documents }) => {
  documents([{ id: "sales-2026", title: "Sales 2026" }, "notes.txt"]);
  artifact({ name: title, type: "image/svg+xml", url: "https://charts.example/1.svg" });
  artifact({ name: "A trap", url: "file:///etc/passwd" });
  return "drawn";
});
/** Their results come from elsewhere, and in a year. */
const review = tool("review", "Has a person review a change", {}, () => park());
const rest = tool("rest", "Waits", {}, () => sleepUntil(Date.now() + 365 * 86_400_000));

/** A real server with agents whose model does what it is told. */
export async function openSite(
  options: Partial<ServerOptions> & { readonly sqlite?: boolean; readonly port?: number } = {},
): Promise<Site> {
  const { sqlite = false, port = 0, ...more } = options;
  const folder = sqlite ? makeFolder("web") : undefined;
  const store = more.store ?? (folder === undefined ? createMemoryStore() : await openStore(folder));
  const scenario = createScenario();
  const tools = [add, broken, readReport, deleteFile, draw, review, rest];
  const clerk = agent({
    name: "clerk",
    backend: scenario.backend,
    tools,
    handoffs: ["billing"],
    permissions: { ask: ["delete_file"] },
  });
  const billing = agent({ name: "billing", backend: scenario.backend });
  const targets = ["offline", "anthropic", "openai/gpt-5"];
  const server = createServer({
    agents: [clerk, billing],
    target: "clerk",
    targets,
    limits: { shutdownMs: 0 },
    ...more,
    store,
  });
  const { url } = await server.listen({ port, ...(more.tokens !== undefined && { host: "0.0.0.0" }) });
  return {
    url: url.replace("0.0.0.0", "127.0.0.1"),
    scenario,
    server,
    store,
    async close() {
      await server.close();
      if (more.store === undefined) await store.close();
      if (folder !== undefined) await removeFolder(folder);
    },
  };
}

/** What a page did that it must not do. */
export interface Watched {
  readonly page: Page;
  readonly problems: string[];
}

/** A page of the site, watched: errors in the console and requests to anybody else are problems. */
export async function openPage(context: BrowserContext, url: string, path = "/"): Promise<Watched> {
  const page = await context.newPage();
  const problems: string[] = [];
  page.on("console", (message) => {
    if (message.type() === "error") problems.push(`console: ${message.text()}`);
  });
  page.on("pageerror", (error) => problems.push(`thrown: ${error.message}`));
  page.on("request", (request) => {
    const target = request.url();
    if (!target.startsWith(url) && !target.startsWith("data:") && !target.startsWith("blob:"))
      problems.push(`request: ${target}`);
  });
  page.on("dialog", (dialog) => {
    problems.push(`dialog: ${dialog.message()}`);
    dialog.dismiss().catch(() => undefined);
  });
  await page.goto(`${url.replace(/\/$/, "")}${path}`);
  return { page, problems };
}

/** Where a page is, for another one to go there. */
export async function pathOf(page: Page): Promise<string> {
  return `/${String(await page.evaluate("location.hash"))}`;
}

/** Writes into the composer and presses Enter. */
export async function ask(page: Page, text: string): Promise<void> {
  const area = page.getByRole("textbox", { name: "Your message" });
  await area.fill(text);
  await area.press("Enter");
}

/** Waits until the run is over. */
export async function settled(page: Page): Promise<void> {
  await page.locator(".run-footer:not(.working, .earlier)").waitFor();
}

export function answers(page: Page): Locator {
  return page.locator(".answer");
}

/** A picture for people to look at, when a folder for them is named. */
export async function shoot(page: Page, name: string): Promise<void> {
  const folder = process.env["MILLRACE_SHOTS"];
  if (folder !== undefined) await page.screenshot({ path: join(folder, `${name}.png`) });
}

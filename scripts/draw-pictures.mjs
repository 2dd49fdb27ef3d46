// `npm run docs:pictures`: draws the pictures of the README from the built package: the chat page in Chromium, and the
// command line as an SVG of its real output. Needs Chromium (Debian: chromium) and `script` of util-linux.

import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { chromium } from "playwright-core";
import { build, ROOT } from "./set-up.mjs";

const OUT = join(ROOT, "docs", "pictures");
const CLI = join(ROOT, "bin", "millrace.js");
const COMMANDS = [`"What is 25 + 17?"`, `explain -b claude-code --deny "Bash(rm *)"`];

build(ROOT);
mkdirSync(OUT, { recursive: true });
writeFileSync(join(OUT, "terminal.svg"), drawTerminal(COMMANDS.flatMap(showCommand)));
await drawPage(join(OUT, "page.png"));

/**
 * The output of a command in a terminal, line by line, with its escape sequences.
 *
 * @param {string} words
 */
function showCommand(words) {
  const command = `stty cols 88; exec ${process.execPath} ${CLI} ${words}`;
  const env = { PATH: process.env["PATH"], HOME: "/nonexistent", TERM: "xterm-256color" };
  const { stdout } = spawnSync("script", ["-qec", command, "/dev/null"], { encoding: "utf8", env, cwd: "/tmp" });
  // The progress line is written and removed again.
  const printed = stdout.replaceAll(/\r\u001b\[\d*K|[^\n]*\r(?=[^\n])/g, "").replaceAll("\r", "");
  return [`\u001b[1m$ npx millrace ${words}\u001b[22m`, ...printed.trimEnd().split("\n"), ""];
}

/** @param {string[]} lines */
function drawTerminal(lines) {
  const height = lines.length * 20 + 36;
  const rows = lines.map(
    (line, index) => `<text x="20" y="${index * 20 + 36}" xml:space="preserve">${drawLine(line)}</text>`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" width="820" height="${height}" role="img" aria-label="Millrace in a terminal">
<rect width="820" height="${height}" rx="8" fill="#16181d"/>
<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="14" fill="#e6e6e6">
${rows.join("\n")}
</g>
</svg>
`;
}

/** @param {string} line */
function drawLine(line) {
  const style = { bold: false, dim: false, color: "" };
  return line
    .split(/(\u001b\[[\d;]*m)/)
    .map((part) => {
      if (!part.startsWith("\u001b[")) return part === "" ? "" : `<tspan${attributesOf(style)}>${escape(part)}</tspan>`;
      for (const code of part.slice(2, -1).split(";").map(Number)) applyCode(style, code);
      return "";
    })
    .join("");
}

/**
 * @param {{ bold: boolean, dim: boolean, color: string }} style
 * @param {number} code
 */
function applyCode(style, code) {
  if (code === 0) Object.assign(style, { bold: false, dim: false, color: "" });
  else if (code === 1) style.bold = true;
  else if (code === 2) style.dim = true;
  else if (code === 22) Object.assign(style, { bold: false, dim: false });
  else if (code === 39) style.color = "";
  else if (code >= 30 && code <= 37)
    style.color = ["#777", "#f07178", "#9ece6a", "#e0af68", "#7aa2f7", "#bb9af7", "#7dcfff", "#fff"][code - 30] ?? "";
}

/** @param {{ bold: boolean, dim: boolean, color: string }} style */
function attributesOf({ bold, dim, color }) {
  return `${bold ? ' font-weight="bold"' : ""}${dim ? ' fill="#9aa0aa"' : ""}${color ? ` fill="${color}"` : ""}`;
}

/** @param {string} text */
function escape(text) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}

/**
 * A real server with the built-in model, and a tool that needs a permission.
 *
 * @param {string} path
 */
async function drawPage(path) {
  const { agent, tool } = await import(join(ROOT, "dist", "index.js"));
  const { createServer } = await import(join(ROOT, "dist", "server", "index.js"));
  const { createMemoryStore } = await import(join(ROOT, "dist", "runtime", "stores", "memory.js"));
  const add = tool("add", "Add two numbers", { a: "number", b: "number" }, (/** @type {any} */ { a, b }) => a + b);
  const clerk = agent({ name: "clerk", backend: "offline", tools: [add], permissions: { ask: ["add"] } });
  const store = createMemoryStore();
  const server = createServer({ store, agents: [clerk], target: "clerk", targets: ["offline"] });
  const { url } = await server.listen();
  const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
  try {
    const page = await browser.newPage({
      viewport: { width: 1000, height: 760 },
      colorScheme: "light",
      reducedMotion: "reduce",
    });
    await page.goto(url);
    for (const [index, prompt] of ["What is 25 + 17?", "And what is 3 + 4?"].entries()) {
      await page.getByRole("textbox").last().fill(prompt);
      await page.keyboard.press("Enter");
      const question = page.getByRole("alertdialog");
      await question.waitFor();
      if (index > 0) break; // the second one stays open
      await question
        .getByRole("button", { name: /^allow/i })
        .first()
        .click();
      await page.getByText("25 + 17 = 42.").first().waitFor();
    }
    await page.screenshot({ path });
  } finally {
    await browser.close();
    await server.close();
    await store.close();
  }
}

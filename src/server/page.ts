import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { extname, join, sep } from "node:path";
import { fileURLToPath } from "node:url";

/** A file of the chat page. */
export interface PageFile {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly type: string;
  readonly tag: string;
  /** Its content security policy. */
  readonly policy: string;
}

/** The page's files by path. Only files that existed at the start are served: a request cannot name any other file. */
export type Page = ReadonlyMap<string, PageFile>;

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".ico": "image/x-icon",
  ".woff2": "font/woff2",
  ".json": "application/json",
  ".webmanifest": "application/manifest+json",
  ".txt": "text/plain; charset=utf-8",
};

/**
 * Only our own scripts and styles, nothing from elsewhere, in no frame. The only inline scripts allowed are those in
 * the file on disk, identified by their digests.
 */
const policyOf = (inline: readonly string[]): string =>
  [
    "default-src 'none'",
    ["script-src 'self'", ...inline.map((script) => `'sha256-${digestOf(script, "base64")}'`)].join(" "),
    "style-src 'self'",
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "manifest-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");

/** Reads the chat page; `undefined` if there is none. */
export function readPage(folder: string | false | undefined): Page | undefined {
  if (folder === false) return undefined;
  const root = folder ?? ownPage();
  if (root === undefined || !existsSync(join(root, "index.html"))) return undefined;
  const files = new Map<string, PageFile>();
  for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
    const type = TYPES[extname(entry.name)];
    if (!entry.isFile() || type === undefined) continue;
    const file = join(entry.parentPath ?? entry.path, entry.name);
    const bytes = new Uint8Array(readFileSync(file));
    const tag = `"${digestOf(bytes, "base64url").slice(0, 22)}"`;
    const policy = policyOf(type.startsWith("text/html") ? inlineScripts(new TextDecoder().decode(bytes)) : []);
    const path = file.slice(root.length).split(sep).join("/");
    files.set(path.startsWith("/") ? path : `/${path}`, { bytes, type, tag, policy });
  }
  const index = files.get("/index.html");
  if (index !== undefined) files.set("/", index);
  return files;
}

function digestOf(content: string | Uint8Array, encoding: "base64" | "base64url"): string {
  return createHash("sha256").update(content).digest(encoding);
}

function inlineScripts(html: string): readonly string[] {
  return [...html.matchAll(/<script>([^<]*)<\/script>/g)].map(([, script = ""]) => script);
}

/** The folder of the page in the built package, or in the sources. */
function ownPage(): string | undefined {
  const places = ["../web/", "../../dist/web/", "../../../dist/web/"];
  return places
    .map((place) => fileURLToPath(new URL(place, import.meta.url)))
    .find((place) => existsSync(join(place, "index.html")));
}

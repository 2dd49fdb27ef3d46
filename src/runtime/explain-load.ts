import { basename } from "node:path";
import { describeThrown } from "#domain";

/**
 * Why a user's module could not be loaded, and the remedy. Node strips types itself from 22.18 on; earlier versions
 * cannot read a `.ts` file, so the message names the file to write instead.
 */
export function explainLoad(error: unknown, file: string): string {
  const { code } = error as { readonly code?: unknown };
  if (code === "ERR_UNKNOWN_FILE_EXTENSION" || code === "ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX") {
    const isConfig = /^(?:millrace\.)?config\./.test(basename(file));
    return (
      `Node ${process.versions.node} cannot read TypeScript${code === "ERR_UNKNOWN_FILE_EXTENSION" ? "" : " that is more than types"}. ` +
      `Use Node 22.18 or later, or write it as ${basename(file).replace(/\.m?ts$/, ".mjs")}${isConfig ? " or .json" : ""}.`
    );
  }
  const hint = error instanceof SyntaxError ? ` (node --check ${file} shows where)` : "";
  return `${describeThrown(error)}${hint}`;
}

/**
 * Ignores the second report of a module that could not be loaded. Before Node 22, a CommonJS module that throws while
 * an ES module imports it rejects twice: the import, and a promise that no program can reach, which would end the
 * process. Any other unhandled rejection still ends it.
 */
export function ignoreSecondReport(error: unknown): void {
  if (Number.parseInt(process.versions.node, 10) >= 22) return;
  process.once("unhandledRejection", (reason) => {
    if (reason !== error) throw reason;
  });
}

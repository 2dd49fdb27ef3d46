import { createProcTable } from "./proc-table.ts";
import type { ProcessTable } from "./process-table.ts";
import { createPsTable } from "./ps-table.ts";
import { createWindowsTable } from "./windows-table.ts";

export interface TableOptions {
  /** Default: the current platform. */
  readonly platform?: NodeJS.Platform | undefined;
  /** Uses `ps` even if there is `/proc`. */
  readonly source?: "ps" | undefined;
}

const WITH_PS: readonly string[] = ["darwin", "freebsd", "netbsd", "openbsd"];

/** The processes of this machine; `undefined` on a platform without a reader. */
export function createProcessTable(options: TableOptions = {}): ProcessTable | undefined {
  const { platform = process.platform, source } = options;
  if (platform === "win32") return createWindowsTable();
  if (source === "ps" || WITH_PS.includes(platform)) return createPsTable({ platform });
  return platform === "linux" ? createProcTable() : undefined;
}

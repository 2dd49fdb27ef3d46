import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";

/** Whether a path can be executed. Never rejects; a path that cannot be inspected is `missing`. */
export async function probeExecutable(path: string): Promise<"executable" | "not-executable" | "folder" | "missing"> {
  try {
    const found = await stat(path);
    if (found.isDirectory()) return "folder";
  } catch {
    return "missing";
  }
  try {
    await access(path, constants.X_OK);
    return "executable";
  } catch {
    return "not-executable";
  }
}

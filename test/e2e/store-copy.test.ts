import { spawn } from "node:child_process";
import { join } from "node:path";
import { expect, it } from "vitest";
import { noticeItem } from "#domain";
import { closeRunLog } from "#testing";
import { openStore } from "../../src/runtime/stores/sqlite.ts";
import { ROOT } from "../../scripts/set-up.mjs";
import { temporaryFolder } from "../temporary-folder.ts";

const home = temporaryFolder("built-copy");

it("millrace store copy of the built package copies a folder, and says what it copied", async () => {
  const store = await openStore(join(home, "from"));
  const events = closeRunLog([noticeItem("status", { number: 1 })], "r");
  await store.createRun({ id: "r", createdAt: 1 });
  await store.append("r", events);
  await store.close();
  const child = spawn(process.execPath, ["bin/millrace.js", "store", "copy", join(home, "from"), join(home, "to")], {
    cwd: ROOT,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let said = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (bytes) => {
      said += String(bytes);
    });
  }
  const code = await new Promise((resolve) => {
    child.on("close", resolve);
  });
  expect(said).toContain("threads 0\nruns    1\nfiles   0\nCopied 2 events; ");
  expect(code).toBe(0);
  const copy = await openStore(join(home, "to"));
  expect(await copy.read("r")).toEqual(events);
  await copy.close();
});

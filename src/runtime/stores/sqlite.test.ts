import { relative } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../../../test/temporary-folder.ts";
import { runStored } from "../stored-run.ts";
import { openStore } from "./sqlite.ts";

describe("openStore", () => {
  it("F-F: takes a path relative to the working folder, as the documents do", async () => {
    const folder = temporaryFolder("store");
    const store = await openStore(relative(process.cwd(), folder));
    await runStored(store, "offline", "Hello").result();
    await store.close();
    const again = await openStore(folder);
    expect(await again.listRuns()).toHaveLength(1);
    await again.close();
  });

  it.each([[undefined], [""], [5]])("%j is refused with the remedy", async (folder) => {
    await expect(openStore(folder as string)).rejects.toThrow(/^folder is .*\. Give the path of a folder\.$/);
  });
});

// W8 on the server with the SQLite store, in a folder next to the benchmark's other data: a real disk.
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { openStore } from "millrace/stores/sqlite";
import { openServer } from "./sse-server.mjs";

export async function open() {
  const data = fileURLToPath(new URL("../data/", import.meta.url));
  mkdirSync(data, { recursive: true });
  const folder = mkdtempSync(`${data}store-`);
  const store = await openStore(folder);
  const server = await openServer(store);
  return {
    ...server,
    async close() {
      await server.close();
      await store.close();
      rmSync(folder, { recursive: true });
    },
  };
}

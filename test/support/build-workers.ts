import { rolldown } from "rolldown";

/** Files that workers run, as package.json's imports name them. */
const WORKERS = ["sessions/stores/sqlite/worker", "transports/worker-thread"];

/**
 * Tests run the sources. Vitest reads TypeScript for them, but not for the workers they start, and Node does so from 22.18
 * on only: `.workers` has what they load, and the condition "millrace-workers" lets Node find it.
 */
export async function setup(): Promise<void> {
  const input = Object.fromEntries(WORKERS.map((name) => [name, `src/${name}/index.ts`]));
  const bundle = await rolldown({ input, platform: "node", logLevel: "warn" });
  await bundle.write({ dir: ".workers", entryFileNames: "[name].js", chunkFileNames: "[name]-[hash].js" });
  await bundle.close();
}

export { compareFile } from "./wire-file.ts";
export { createWireFetch } from "./wire-fetch.ts";
export { createWireSpawn } from "./wire-spawn.ts";

export { compareTexts } from "./compare.ts";
export { describeChange } from "./difference.ts";
export { createWireFetch } from "./wire-fetch.ts";
export { createWireSpawn } from "./wire-spawn.ts";

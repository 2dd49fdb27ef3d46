// Third part of the build: the chat page, from web/ into dist/web. Run by set-up.mjs if something in web/ changed.

import { join } from "node:path";
import { build } from "vite";

const [root = process.cwd()] = process.argv.slice(2);
await build({ configFile: join(root, "web", "vite.config.ts"), configLoader: "runner" });

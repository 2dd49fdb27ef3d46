#!/usr/bin/env node
import { mainAndExit } from "../dist/cli/main.js";

await mainAndExit(process.argv.slice(2));

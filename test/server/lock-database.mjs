// Another program that locks a database: says "locked", and lets go when it is told anything.
import { createRequire } from "node:module";

const path = process.argv[2];
/** @type {any} */
const sqlite = process.getBuiltinModule?.("node:sqlite");
const Database = sqlite?.DatabaseSync ?? createRequire(import.meta.url)("libsql");
const database = new Database(path);
database.exec("BEGIN EXCLUSIVE");
process.stdout.write("locked\n");
process.stdin.once("data", () => {
  database.exec("COMMIT");
  database.close();
  process.stdout.write("released\n");
  process.stdin.destroy();
});

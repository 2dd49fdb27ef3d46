// The store contract, on the Node that runs this.
// node check-store.mjs <dist> <folder for data>

import { join } from "node:path";

const [dist, parent] = process.argv.slice(2);
const { openStore } = await import(`${dist}/runtime/stores/sqlite.js`);
const { checkStore } = await import(`${dist}/testing/index.js`);

/** @typedef {{ close(): Promise<void> }} Store */

/** @type {Map<Store, string>} */
const places = new Map();
const open = async (/** @type {string} */ folder) => {
  const store = await openStore(folder);
  places.set(store, folder);
  return store;
};
const failures = await checkStore(() => open(join(String(parent), `contract-${places.size}`)), {
  async reopen(/** @type {Store} */ store) {
    await store.close();
    return open(places.get(store) ?? "");
  },
});
const ownSqlite = "moduleLoadList" in process && String(process.moduleLoadList).includes("NativeModule sqlite");
process.stdout.write(JSON.stringify({ stores: places.size, ownSqlite, failures }));

import { expect, it } from "vitest";
import type { Store } from "#sessions";
import { checkStore } from "#testing";
import { openStore } from "../../src/runtime/stores/postgres.ts";
import { describePostgres } from "../support/postgres.ts";

describePostgres("the Postgres store", (postgres) => {
  it("fulfils the store contract, also across restarts", async () => {
    const places = new Map<Store, string>();
    const begin = async (url: string): Promise<Store> => {
      const store = await openStore(url);
      places.set(store, url);
      return store;
    };
    const failures = await checkStore(async () => begin(await postgres.createDatabase()), {
      async reopen(store) {
        await store.close();
        return begin(places.get(store) ?? "");
      },
    });
    expect(failures).toEqual([]);
  });
});

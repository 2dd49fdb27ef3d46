import { describe, expect, it } from "vitest";
import { checkTransport } from "#testing";
import { createLinkedTransports } from "./memory.ts";

describe("createLinkedTransports", () => {
  it("keeps every promise of the transport contract", async () => {
    const createPair = () => {
      const [near, far] = createLinkedTransports();
      return { near, far };
    };
    expect(await checkTransport(createPair)).toEqual([]);
  });

  it("holds the writer back at the capacity it was given", async () => {
    const [near, far] = createLinkedTransports({ capacityBytes: 1 });
    await Promise.all([near.open(), far.open()]);
    let written = false;
    const writing = near.write(new Uint8Array(2)).then(() => (written = true));
    await new Promise((resolve) => setImmediate(resolve));
    expect(written).toBe(false);
    await far.read()[Symbol.asyncIterator]().next();
    await writing;
    await Promise.all([near.close(), far.close()]);
  });
});

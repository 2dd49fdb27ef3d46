import { describe, expect, it } from "vitest";
import { createDeferred } from "#streams";
import { guardTransport } from "./guarded.ts";
import type { Transport } from "./transport.ts";

/** A transport that forgets everything a guard is there for, and counts what reaches it. */
function careless(pieces: readonly Promise<Uint8Array>[] = []) {
  const counts = { open: 0, write: 0, close: 0 };
  const transport: Transport = {
    async open() {
      counts.open += 1;
    },
    async *read() {
      for (const piece of pieces) yield await piece;
      await new Promise(() => undefined);
    },
    async write() {
      counts.write += 1;
    },
    async close() {
      counts.close += 1;
    },
  };
  return { counts, transport };
}

const bytes = new Uint8Array([1]);

describe("guardTransport", () => {
  it("opens and closes once, however often it is asked", async () => {
    const { counts, transport } = careless();
    const guarded = guardTransport(transport);
    await Promise.all([guarded.open(), guarded.open()]);
    await Promise.all([guarded.close(), guarded.close()]);
    await guarded.close();
    expect(counts).toEqual({ open: 1, write: 0, close: 1 });
  });

  it("lets nothing through before open and after close", async () => {
    const { counts, transport } = careless();
    const guarded = guardTransport(transport);
    await expect(guarded.write(bytes)).rejects.toThrow("not open");
    expect(() => guarded.read()).toThrow("not open");
    await guarded.open();
    await guarded.write(bytes);
    await guarded.close();
    await expect(guarded.write(bytes)).rejects.toThrow("Nothing was written");
    await expect(guarded.open()).rejects.toThrow("closed");
    expect(counts).toEqual({ open: 1, write: 1, close: 1 });
  });

  it("lets a waiting reader go on close, also when the transport itself never ends", async () => {
    const guarded = guardTransport(careless([Promise.resolve(bytes)]).transport);
    await guarded.open();
    const reader = guarded.read()[Symbol.asyncIterator]();
    expect(await reader.next()).toEqual({ done: false, value: bytes });
    const waiting = reader.next();
    await guarded.close();
    expect(await waiting).toEqual({ done: true, value: undefined });
    expect(await reader.next()).toEqual({ done: true, value: undefined });
  });

  it("gives no bytes that arrive after close", async () => {
    const late = createDeferred<Uint8Array>();
    const guarded = guardTransport(careless([late.promise]).transport);
    await guarded.open();
    const waiting = guarded.read()[Symbol.asyncIterator]().next();
    await guarded.close();
    late.resolve(bytes);
    expect(await waiting).toEqual({ done: true, value: undefined });
  });

  it("tells a failure to open to everybody who asked, and can still be closed", async () => {
    const { counts, transport } = careless();
    const guarded = guardTransport({ ...transport, open: () => Promise.reject(new Error("no socket")) });
    await expect(guarded.open()).rejects.toThrow("no socket");
    await expect(guarded.open()).rejects.toThrow("no socket");
    await expect(guarded.write(bytes)).rejects.toThrow("no socket");
    await guarded.close();
    expect(counts).toEqual({ open: 0, write: 0, close: 1 });
  });

  it("makes a throw of the transport a rejection", async () => {
    const throws = (): never => {
      throw new Error("at once");
    };
    const guarded = guardTransport({ open: throws, read: throws, write: throws, close: throws });
    await expect(guarded.open()).rejects.toThrow("at once");
    await expect(guarded.close()).rejects.toThrow("at once");
  });

  it("passes on what breaks the reading", async () => {
    const guarded = guardTransport(careless([Promise.reject(new Error("reset"))]).transport);
    await guarded.open();
    await expect(guarded.read()[Symbol.asyncIterator]().next()).rejects.toThrow("reset");
  });
});

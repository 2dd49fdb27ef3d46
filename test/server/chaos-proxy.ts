import { createServer, connect, type Socket } from "node:net";
import type { Random } from "#domain";

/** What may happen to a connection on its way, after so many bytes. */
export type Toxic =
  | { readonly kind: "none" }
  | { readonly kind: "latency"; readonly ms: number }
  | { readonly kind: "bandwidth"; readonly bytesPerMs: number }
  | { readonly kind: "slicer"; readonly bytes: number }
  | { readonly kind: "limit"; readonly bytes: number }
  | { readonly kind: "reset"; readonly bytes: number }
  | { readonly kind: "slow-close"; readonly bytes: number; readonly ms: number }
  | { readonly kind: "timeout"; readonly ms: number }
  | { readonly kind: "blackhole"; readonly bytes: number }
  | { readonly kind: "half-open"; readonly bytes: number };

const KINDS: readonly Toxic["kind"][] = [
  "none",
  "latency",
  "bandwidth",
  "slicer",
  "limit",
  "reset",
  "slow-close",
  "timeout",
  "blackhole",
  "half-open",
];

/** A toxic by chance. */
export function drawToxic(random: Random): Toxic {
  const below = (count: number): number => Math.floor(random.next() * count);
  const kind = KINDS[below(KINDS.length)] ?? "none";
  const bytes = 200 + below(12_000);
  const ms = 1 + below(40);
  const bytesPerMs = 50 + below(2000);
  return kind === "slicer" ? { kind, bytes: 1 + below(40) } : ({ kind, bytes, ms, bytesPerMs } as Toxic);
}

export interface ChaosProxy {
  readonly port: number;
  close(): Promise<void>;
}

/** A TCP proxy that does to each connection what `draw` says. The way to the server is left alone. */
export function startChaosProxy(target: number, draw: () => Toxic): Promise<ChaosProxy> {
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(target, "127.0.0.1");
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on("error", () => undefined);
      socket.on("close", () => sockets.delete(socket));
    }
    near.pipe(far);
    near.on("close", () => far.destroy());
    carry(far, near, draw());
  });
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => {
      resolve({
        port: (server.address() as { port: number }).port,
        close: () =>
          new Promise((closed) => {
            for (const socket of sockets) socket.destroy();
            server.close(() => closed());
          }),
      });
    });
  });
}

function carry(far: Socket, near: Socket, toxic: Toxic): void {
  let passed = 0;
  let isDead = false;
  const pause = (ms: number): void => {
    far.pause();
    setTimeout(() => far.resume(), ms);
  };
  if (toxic.kind === "timeout") setTimeout(() => near.destroy(), toxic.ms);
  far.on("data", (bytes: Buffer) => {
    if (isDead || near.destroyed) return;
    const room = "bytes" in toxic && toxic.kind !== "slicer" ? Math.max(0, toxic.bytes - passed) : bytes.length;
    const part = bytes.subarray(0, room);
    passed += bytes.length;
    if (toxic.kind === "slicer") {
      for (let at = 0; at < bytes.length; at += toxic.bytes) near.write(bytes.subarray(at, at + toxic.bytes));
      return;
    }
    if (part.length > 0) near.write(part);
    if (toxic.kind === "latency") pause(toxic.ms);
    if (toxic.kind === "bandwidth") pause(bytes.length / toxic.bytesPerMs);
    if (!("bytes" in toxic) || part.length === bytes.length) return;
    isDead = true;
    end(far, near, toxic);
  });
  far.on("end", () => {
    if (!isDead) near.end();
  });
}

function end(far: Socket, near: Socket, toxic: Toxic): void {
  switch (toxic.kind) {
    case "reset":
      near.resetAndDestroy();
      far.destroy();
      return;
    case "slow-close":
      setTimeout(() => near.destroy(), toxic.ms);
      return;
    case "half-open":
      // Our side towards the server dies; the reader's side stays open and silent.
      far.destroy();
      return;
    case "blackhole":
      far.pause();
      return;
    default:
      near.end();
      far.destroy();
  }
}

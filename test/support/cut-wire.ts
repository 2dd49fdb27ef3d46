import { connect, createServer, type Server, type Socket } from "node:net";

/** A connection between a node and its engine that can be cut without either of them being told. */
export interface CutWire {
  /** The loopback port, or the path, that leads to the engine. */
  readonly port: number;
  cut(): void;
  mend(): void;
  close(): Promise<void>;
}

/** Forwards a loopback port (or, with `path`, a socket file) to a port or a socket file. */
export async function openWire(to: number | string, path?: string): Promise<CutWire> {
  const sockets = new Set<Socket>();
  let isCut = false;
  const server = createServer({ pauseOnConnect: true }, (near) => {
    const far = typeof to === "number" ? connect(to, "127.0.0.1") : connect(to);
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(one);
      one.on("data", (bytes) => other.write(bytes));
      one.on("error", () => other.destroy());
      one.on("close", () => {
        sockets.delete(one);
        other.destroy();
      });
      if (isCut) one.pause();
      else one.resume();
    }
  });
  await new Promise<void>((resolve) => {
    if (path === undefined) server.listen(0, "127.0.0.1", resolve);
    else server.listen(path, resolve);
  });
  return {
    port: portOf(server),
    cut() {
      isCut = true;
      for (const socket of sockets) socket.pause();
    },
    mend() {
      isCut = false;
      for (const socket of sockets) socket.resume();
    },
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => resolve());
      }),
  };
}

function portOf(server: Server): number {
  const address = server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}

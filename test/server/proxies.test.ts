import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { createServer as createNetServer } from "node:net";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { messageItem, textDelta } from "#domain";
import { agent } from "#runtime";
import { createServer } from "#server";
import { createScriptedBackend, type ScriptedReply } from "#testing";
import { SERVER_LIMITS } from "../../src/server/limits.ts";
import { createMemoryStore } from "../../src/sessions/stores/memory/memory-store.ts";
import { temporaryFolder } from "../temporary-folder.ts";

/**
 * nginx waits 60 s for a silent server by default, haproxy 50 s in its own examples. Time is ten times faster here, for the proxies and for the
 * server's heartbeats alike: what would be cut by default is cut here.
 */
const FASTER = 10;
const NGINX_MS = 60_000 / FASTER;
const HAPROXY_MS = 50_000 / FASTER;
const SILENT_MS = 120_000 / FASTER;
const HEARTBEATS = {
  firstHeartbeatMs: SERVER_LIMITS.firstHeartbeatMs / FASTER,
  heartbeatMs: SERVER_LIMITS.heartbeatMs / FASTER,
};

const folder = temporaryFolder("proxy");
const children: ChildProcess[] = [];
afterAll(() => {
  for (const child of children) child.kill("SIGTERM");
});

interface Proxy {
  readonly name: string;
  readonly binary: string;
  readonly args: (config: string) => readonly string[];
  readonly config: (port: number, target: number) => string;
}

const PROXIES: readonly Proxy[] = [
  {
    name: "nginx",
    binary: "/usr/sbin/nginx",
    args: (config) => ["-e", "stderr", "-p", folder, "-c", config, "-g", "daemon off;"],
    config: (port, target) => `
      worker_processes 1;
      pid ${folder}/nginx.pid;
      events { worker_connections 64; }
      http {
        access_log off;
        error_log stderr;
        client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/proxy; fastcgi_temp_path ${folder}/f;
        uwsgi_temp_path ${folder}/u; scgi_temp_path ${folder}/s;
        gzip on; gzip_types text/event-stream;
        proxy_read_timeout ${NGINX_MS}ms; send_timeout ${NGINX_MS}ms;
        server { listen 127.0.0.1:${port}; location / { proxy_pass http://127.0.0.1:${target}; proxy_set_header Host localhost; } }
      }`,
  },
  {
    name: "haproxy",
    binary: "/usr/sbin/haproxy",
    args: (config) => ["-db", "-f", config],
    config: (port, target) => `
defaults
  mode http
  timeout connect 5000
  timeout client  ${HAPROXY_MS}
  timeout server  ${HAPROXY_MS}
frontend in
  bind 127.0.0.1:${port}
  default_backend out
backend out
  http-request set-header Host localhost
  server one 127.0.0.1:${target}
`,
  },
];

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createNetServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}

async function waitFor(url: string): Promise<void> {
  for (let tries = 0; tries < 100; tries += 1) {
    const isUp = await fetch(url).then(
      ({ status }) => status === 200,
      () => false,
    );
    if (isUp) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`${url} does not answer`);
}

describe("R17: behind a proxy with its default configuration, ten times faster", () => {
  for (const proxy of PROXIES) {
    const isThere = existsSync(proxy.binary) && spawnSync(proxy.binary, ["-v"]).status === 0;
    if (!isThere && process.env["CI"] !== undefined) {
      it(`${proxy.name} is installed`, () => expect(`${proxy.binary} is missing`).toBe(""));
    }
    it.skipIf(!isThere).concurrent(
      `${proxy.name}: a stream is not held back, and ${SILENT_MS / 1000} s of silence do not cut it${isThere ? "" : " (not installed)"}`,
      async () => {
        let isSilent = true;
        const reply: ScriptedReply = async function* () {
          yield [textDelta("m", 0, "first ")];
          await new Promise((resolve) => setTimeout(resolve, SILENT_MS));
          isSilent = false;
          yield [
            textDelta("m", 0, "second"),
            messageItem({
              id: "m",
              role: "assistant",
              blocks: [{ type: "text", text: "first second" }],
              stopReason: "end-turn",
            }),
          ];
        };
        const server = createServer({
          store: createMemoryStore(),
          agents: [agent({ name: "clerk", backend: createScriptedBackend([reply]) })],
          target: "clerk",
          page: false,
          limits: HEARTBEATS,
        });
        const { port: target } = await server.listen();
        const port = await freePort();
        const config = join(folder, `${proxy.name}.conf`);
        for (const name of ["body", "proxy"]) mkdirSync(join(folder, name), { recursive: true });
        writeFileSync(config, proxy.config(port, target));
        children.push(spawn(proxy.binary, [...proxy.args(config)], { stdio: "ignore" }));
        await waitFor(`http://127.0.0.1:${port}/healthz`);

        const json = { "content-type": "application/json" };
        const created = await fetch(`http://127.0.0.1:${port}/api/threads`, {
          method: "POST",
          body: "{}",
          headers: json,
        });
        const { id } = (await created.json()) as { id: string };
        const response = await fetch(`http://127.0.0.1:${port}/api/threads/${id}/chat`, {
          method: "POST",
          body: '{"input":"x"}',
          headers: json,
        });
        let cameAtOnce = false;
        let beats = 0;
        let text = "";
        for await (const bytes of response.body as unknown as AsyncIterable<Uint8Array>) {
          const part = new TextDecoder().decode(bytes);
          text += part;
          beats += part.split(": ping").length - 1;
          cameAtOnce ||= isSilent && text.includes("first ");
        }
        expect(cameAtOnce, "the first words came before the silence was over").toBe(true);
        expect(text).toContain("second");
        expect(text).toContain("event: done");
        expect(beats).toBeGreaterThanOrEqual(SILENT_MS / HAPROXY_MS);
        await server.close();
      },
      SILENT_MS + 60_000,
    );
  }
});

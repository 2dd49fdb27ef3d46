import { spawn, spawnSync } from "node:child_process";
import { accessSync, chownSync, constants, readdirSync, readFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, describe, it } from "vitest";
import { freePort } from "./free-port.ts";
import { makeFolder, removeFolder } from "../temporary-folder.ts";

/** Where Debian keeps the programs of each version, outside of the path. */
const DEBIAN = "/usr/lib/postgresql";

/** A real Postgres of one test file: in a temporary folder, on a socket in it, with an ordinary user that owns nothing else. */
export interface TestPostgres {
  /** The folder of its socket. */
  readonly folder: string;
  /** Its folder of programs, such as pg_dump. */
  readonly programs: string;
  /** The URL of a new, empty database. */
  createDatabase(): Promise<string>;
  /** The same URL over TCP on the loopback address; only with `listens`. */
  overTcp(url: string): string;
  /** Statements of the administrator, who sees everything. */
  admin(text: string, url?: string): Promise<readonly Record<string, unknown>[]>;
  start(): Promise<void>;
  /** As `pg_ctl stop` does: at once, or without a shutdown. */
  stop(how?: "fast" | "immediate"): Promise<void>;
}

/** Postgres refuses to run as root, as which CI runs. */
const OWNER = process.getuid?.() === 0 ? readUser("nobody") : undefined;

function readUser(name: string): { readonly uid: number; readonly gid: number } {
  const line = readFileSync("/etc/passwd", "utf8")
    .split("\n")
    .find((entry) => entry.startsWith(`${name}:`));
  const [, , uid = "65534", gid = "65534"] = (line ?? "").split(":");
  return { uid: Number(uid), gid: Number(gid) };
}

/** The folder of the programs, if Postgres is installed. */
export function findPostgres(): string | undefined {
  const versions = (() => {
    try {
      return readdirSync(DEBIAN).sort((left, right) => Number(right) - Number(left));
    } catch {
      return [];
    }
  })();
  const places = [
    ...versions.map((version) => join(DEBIAN, version, "bin")),
    ...(process.env["PATH"] ?? "").split(delimiter),
  ];
  return places.find((place) => ["initdb", "postgres", "pg_ctl"].every((program) => isProgram(join(place, program))));
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/**
 * Tests with a real Postgres. Where it is not installed, one skipped test says so; with CI=true, that is a failure.
 */
export function describePostgres(
  name: string,
  body: (postgres: TestPostgres) => void,
  { listens = false }: { readonly listens?: boolean } = {},
): void {
  const programs = findPostgres();
  describe(name, () => {
    if (programs === undefined) {
      const missing = "needs PostgreSQL (Debian package postgresql), which is not installed here";
      if (process.env["CI"] === "true") it(missing, () => Promise.reject(new Error(missing)));
      else it.skip(missing, () => undefined);
      return;
    }
    const postgres = createPostgres(programs, listens);
    beforeAll(() => postgres.begin());
    afterAll(() => postgres.end());
    body(postgres);
  });
}

function createPostgres(
  programs: string,
  listens: boolean,
): TestPostgres & { begin(): Promise<void>; end(): Promise<void> } {
  let folder = "";
  let port = 5432;
  let databases = 0;
  const urlOf = (user: string, database: string): string =>
    `postgres://${user}@localhost/${database}?host=${encodeURIComponent(folder)}${listens ? `&port=${port}` : ""}`;
  const admin = async (text: string, url = urlOf("admin", "postgres")): Promise<readonly Record<string, unknown>[]> => {
    const client = new pg.Client(url.replace("//owner@", "//admin@"));
    await client.connect();
    try {
      const result = await client.query(text);
      return result.rows as readonly Record<string, unknown>[];
    } finally {
      await client.end();
    }
  };
  const call = async (program: string, args: readonly string[]): Promise<void> => {
    const child = spawn(join(programs, program), args, { ...OWNER, cwd: folder, stdio: ["ignore", "ignore", "pipe"] });
    let said = "";
    child.stderr.on("data", (text) => {
      said += String(text);
    });
    const code = await new Promise((resolve, reject) => {
      child.on("error", reject);
      child.on("exit", resolve);
    });
    if (code !== 0) throw new Error(`${program} ended with ${String(code)}: ${said}\n${readLog(folder)}`);
  };
  const start = (): Promise<void> => {
    const settings = [
      `-c unix_socket_directories=${folder}`,
      `-c listen_addresses=${listens ? "127.0.0.1" : ""}`,
      `-c port=${port}`,
      "-c max_connections=200",
      // What is proven here does not need a disk that survives a loss of power, and the machine is shared.
      "-c fsync=off",
    ];
    return call("pg_ctl", [
      "start",
      "-w",
      "-D",
      join(folder, "data"),
      "-l",
      join(folder, "log"),
      "-o",
      settings.join(" "),
    ]);
  };
  const stop = (how: "fast" | "immediate" = "fast"): Promise<void> =>
    call("pg_ctl", ["stop", "-w", "-m", how, "-D", join(folder, "data")]);
  return {
    get folder() {
      return folder;
    },
    programs,
    admin,
    overTcp: (url) => `${url.slice(0, url.indexOf("?")).replace("localhost", `127.0.0.1:${port}`)}`,
    start,
    stop,
    async createDatabase() {
      databases += 1;
      const name = `test_${databases}`;
      await admin(`CREATE DATABASE ${name} OWNER owner`);
      return urlOf("owner", name);
    },
    async begin() {
      folder = makeFolder("postgres");
      if (listens) port = await freePort();
      if (OWNER !== undefined) chownSync(folder, OWNER.uid, OWNER.gid);
      const how = ["--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync", "--username=admin"];
      await call("initdb", ["-D", join(folder, "data"), ...how]);
      await start();
      await admin("CREATE ROLE owner LOGIN");
    },
    async end() {
      // Whatever state a test left it in.
      spawnSync(join(programs, "pg_ctl"), ["stop", "-w", "-m", "immediate", "-D", join(folder, "data")], {
        ...OWNER,
        stdio: "ignore",
      });
      await removeFolder(folder);
    },
  };
}

function readLog(folder: string): string {
  try {
    return readFileSync(join(folder, "log"), "utf8").slice(-2000);
  } catch {
    return "";
  }
}

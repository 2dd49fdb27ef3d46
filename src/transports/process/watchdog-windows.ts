/**
 * The companion process of a watchdog on Windows, as a program for Node; it receives the same lines as the shell one.
 * Tags cannot be read there, so it uses the ids and start times it was given, and their children.
 */
export const WINDOWS_COMPANION = `
"use strict";
const { execFile } = require("node:child_process");
const { join } = require("node:path");
const system = (...path) => join(process.env.SystemRoot, "System32", ...path);
const QUERY = process.argv[1];
const guarded = new Map();
let rest = "";

for (const signal of ["SIGINT", "SIGHUP", "SIGBREAK", "SIGTERM"]) {
  try { process.on(signal, () => {}); } catch {}
}

function take(line) {
  const tag = line.slice(1).split("\\t")[0];
  if (line[0] === "+") guarded.set(tag, []);
  else if (line[0] === "-") guarded.delete(tag);
  else if (line[0] === "=" && guarded.has(tag)) guarded.set(tag, line.slice(line.indexOf("\\t") + 1).split(" "));
}

const run = (path, args) =>
  new Promise((resolve) => {
    execFile(path, args, { windowsHide: true, timeout: 20000, maxBuffer: 67108864 }, (error, stdout) => resolve(String(stdout)));
  });

async function list() {
  const powershell = system("WindowsPowerShell", "v1.0", "powershell.exe");
  const text = await run(powershell, ["-NoLogo", "-NoProfile", "-NonInteractive", "-Command", QUERY]);
  return text.split(/\\r?\\n/).flatMap((line) => {
    const match = /^(\\d+) (\\d+) (\\d+)\\s*$/.exec(line);
    return match ? [{ pid: match[1], parent: match[2], start: Number(match[3]) }] : [];
  });
}

async function finish() {
  const members = new Map();
  for (const one of [...guarded.values()].flat()) {
    const [pid, start] = one.split(":");
    if (pid) members.set(pid, Number(start));
  }
  for (let round = 0; round < 10 && members.size > 0; round += 1) {
    const listed = await list();
    const own = new Set([String(process.pid), "0", "4"]);
    const living = new Map(listed.filter((one) => members.get(one.pid) === one.start).map((one) => [one.pid, one]));
    const isHeld = new Set(listed.map((one) => one.pid));
    for (let grown = true; grown; ) {
      grown = false;
      for (const one of listed) {
        const isTaken = isHeld.has(one.parent) && !living.has(one.parent);
        if (own.has(one.pid) || living.has(one.pid) || isTaken || !(members.get(one.parent) <= one.start)) continue;
        living.set(one.pid, one);
        members.set(one.pid, one.start);
        grown = true;
      }
    }
    if (living.size === 0) break;
    await run(system("taskkill.exe"), ["/F", "/T", ...[...living.keys()].flatMap((pid) => ["/PID", pid])]);
  }
  process.exit(0);
}

process.stdin.setEncoding("utf8");
process.stdin.on("data", (text) => {
  const lines = (rest + text).split("\\n");
  rest = lines.pop();
  lines.forEach(take);
});
process.stdin.on("end", finish);
process.stdin.on("error", finish);
`;

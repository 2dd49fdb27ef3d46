/**
 * The layers of src/, lowest first. A folder may import only the folders in its own row; type-only imports count.
 *
 * This table is the only definition of the direction: the rules of .dependency-cruiser.cjs, the drawing in
 * docs/layers.md and the pin in test/pins/layers.test.ts come from it. Change it only with a decision record.
 */
const MAY_IMPORT = {
  domain: [],
  streams: [],
  secrets: [],
  wire: ["domain", "streams"],
  tools: ["domain"],
  dialects: ["domain", "wire", "tools"],
  formats: ["domain", "wire", "dialects"],
  transports: ["domain", "streams", "secrets", "wire"],
  policy: ["domain", "tools"],
  backends: ["domain", "streams", "secrets", "wire", "tools", "dialects", "transports", "policy"],
  views: ["domain", "streams", "wire"],
  run: ["domain", "streams", "secrets", "policy", "views"],
  agents: ["domain", "streams", "tools", "policy", "backends", "run"],
  sessions: ["domain", "streams", "secrets", "wire", "run", "agents"],
  sinks: ["domain", "streams", "secrets", "wire"],
  emulator: ["domain", "streams", "wire"],
  runtime: [
    "domain",
    "secrets",
    "tools",
    "dialects",
    "transports",
    "policy",
    "backends",
    "run",
    "agents",
    "sessions",
    "sinks",
    "emulator",
  ],
  compare: ["domain", "runtime"],
  testing: ["domain", "streams", "wire", "dialects", "backends", "sessions"],
  server: ["domain", "streams", "secrets", "wire", "sinks", "views", "sessions", "runtime"],
  cli: ["domain", "secrets", "tools", "sinks", "views", "runtime", "server", "compare", "emulator"],
};

module.exports = { MAY_IMPORT };

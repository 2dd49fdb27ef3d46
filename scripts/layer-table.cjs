/**
 * The layers of src/, lowest first. A folder may import only the folders in its own row; type-only imports count.
 *
 * This table is the only statement of direction: the rules of .dependency-cruiser.cjs, the drawing in docs/layers.md and the pin in
 * test/pins/layers.test.ts come from it. Change it only with a decision record.
 */
const MAY_IMPORT = {
  domain: [],
  streams: [],
  wire: ["domain", "streams"],
  formats: ["domain", "wire"],
  transports: ["domain", "streams", "wire"],
  tools: ["domain"],
  policy: ["domain", "tools"],
  backends: ["domain", "streams", "wire", "formats", "transports", "tools", "policy"],
  agents: ["domain", "streams", "tools", "policy", "backends"],
  sessions: ["domain", "streams", "wire", "agents"],
  sinks: ["domain", "streams", "wire"],
  views: ["domain", "streams"],
  emulator: ["domain", "streams", "wire", "formats"],
  runtime: [
    "domain",
    "formats",
    "transports",
    "tools",
    "policy",
    "backends",
    "agents",
    "sessions",
    "sinks",
    "emulator",
  ],
  compare: ["domain", "runtime"],
  testing: ["domain", "streams", "wire", "formats", "transports", "backends", "sessions"],
  server: ["domain", "streams", "wire", "sinks", "views", "sessions", "runtime"],
  cli: ["domain", "tools", "sinks", "views", "runtime", "server", "compare", "emulator"],
};

module.exports = { MAY_IMPORT };

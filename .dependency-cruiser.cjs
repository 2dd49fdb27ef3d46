// The direction of imports, as rules. The table they are made from is scripts/layer-table.cjs.

const { MAY_IMPORT } = require("./scripts/layer-table.cjs");

const TEST = "\\.test\\.ts$";

const rows = Object.entries(MAY_IMPORT).map(([folder, allowed]) => ({
  name: `${folder}-imports-only-its-row`,
  comment: `src/${folder} may import: ${allowed.join(", ") || "no other folder"}. Change the table only with a decision record.`,
  severity: "error",
  from: { path: `^src/${folder}/`, pathNot: TEST },
  to: { path: "^src/[^/]+/", pathNot: [folder, ...allowed].map((name) => `^src/${name}/`) },
}));

/** @type {import("dependency-cruiser").IConfiguration} */
module.exports = {
  forbidden: [
    ...rows,
    {
      name: "every-folder-is-a-row",
      comment: "This folder of src/ has no row in the table of layers, so nothing would hold its imports.",
      severity: "error",
      from: { path: "^src/[^/]+/", pathNot: Object.keys(MAY_IMPORT).map((folder) => `^src/${folder}/`) },
      to: {},
    },
    {
      name: "through-the-door",
      comment: "Another folder is entered through its index.ts.",
      severity: "error",
      from: { path: "^src/([^/]+)/", pathNot: "^src/runtime/" },
      to: { path: "^src/[^/]+/", pathNot: ["^src/$1/", "^src/[^/]+/index\\.ts$"] },
    },
    {
      name: "root-names-only-concretes",
      comment:
        "The composition root may reach past a door for concrete backends, dialects, stores and queues, and for nothing else; the public root only enters doors.",
      severity: "error",
      from: { path: "^src/runtime/" },
      to: {
        path: "^src/[^/]+/",
        pathNot: [
          "^src/runtime/",
          "^src/[^/]+/index\\.ts$",
          "^src/backends/[^/]+/",
          "^src/dialects/[^/]+/",
          "^src/sessions/(stores|queues)/[^/]+/",
        ],
      },
    },
    {
      name: "public-root-enters-doors",
      comment: "src/index.ts re-exports what doors export.",
      severity: "error",
      from: { path: "^src/index\\.ts$" },
      to: { path: "^src/", pathNot: "^src/[^/]+/index\\.ts$" },
    },
    {
      name: "public-root-is-for-users",
      comment: "src/index.ts is the outside of the package; inside, import the door that has it.",
      severity: "error",
      from: { path: "^src/" },
      to: { path: "^src/index\\.ts$" },
    },
    {
      name: "siblings-do-not-meet",
      comment:
        "One backend, dialect, transport, store or queue never imports another; what they share sits beside the contract, or in dialects/shared.",
      severity: "error",
      from: { path: "^src/(backends|dialects|transports|sessions/stores|sessions/queues)/([^/]+)/", pathNot: TEST },
      // Routing is pure and belongs to the contract; it stands in a folder only because it is three files.
      to: { path: "^src/$1/[^/]+/", pathNot: ["^src/$1/$2/", "^src/backends/routing/", "^src/dialects/shared/"] },
    },
    { name: "no-cycles", comment: "Type imports included.", severity: "error", from: {}, to: { circular: true } },
    {
      name: "only-transports-spawn-or-dial",
      comment: "Processes and sockets are opened in transports/; server/ and emulator/ listen.",
      severity: "error",
      from: { path: "^src/", pathNot: `^src/(transports|server|emulator)/|${TEST}` },
      to: { path: "^(node:)?(child_process|net|http|https|http2|tls|dgram)$" },
    },
    {
      name: "pure-floor",
      comment: "No Node built-ins here: pure code. One file reads bytes as text with node:buffer, which is pure too.",
      severity: "error",
      from: { path: "^src/(domain|wire|dialects|formats|views)/", pathNot: [TEST, "^src/wire/utf8\\.ts$"] },
      to: { dependencyTypes: ["core"] },
    },
    {
      name: "no-orphans",
      comment: "Nothing imports this file, and it imports nothing.",
      severity: "error",
      from: { orphan: true, path: "^src/", pathNot: [TEST, "/index\\.ts$"] },
      to: {},
    },
    {
      name: "no-dev-dependency-in-src",
      comment: "Users do not get dev dependencies.",
      severity: "error",
      from: { path: "^src/", pathNot: TEST },
      to: { dependencyTypes: ["npm-dev"], dependencyTypesNot: ["type-only", "npm-peer"] },
    },
    {
      name: "resolvable",
      comment: "There is no such module.",
      severity: "error",
      from: {},
      to: { couldNotResolve: true },
    },
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["millrace-source", "import", "node", "default"],
      extensions: [".ts", ".js"],
    },
  },
};

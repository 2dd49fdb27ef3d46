import { defineConfig } from "vitest/config";
import { ALONE, BUILT, FULL, isIn, patternsOf, SHARED, STRONGER } from "./scripts/test-sets.mjs";

// Tests read the sources: "#wire" resolves to src/wire/index.ts through this condition of package.json's imports.
const fromSources = {
  resolve: { conditions: ["millrace-source"] },
  ssr: { resolve: { conditions: ["millrace-source"] } },
};
const onlyFull = [...patternsOf(FULL), ...patternsOf(ALONE)];
// Set by `npm run test:full`.
const isStrong = ["full", "nightly"].includes(process.env["MILLRACE_EFFORT"] ?? "");
// What the quick set runs with less effort runs again; by default it is in the quick set alone.
const stronger = isStrong ? STRONGER : [];
const isProperty = (file: string) => isIn(file, ["src/"]);
// Bounds for what hangs, generous on a busy machine; a hook may start a real CLI or wait for one to be gone.
const patience = { testTimeout: 120_000, hookTimeout: 120_000 };
const starts = {
  execArgv: ["--conditions=millrace-workers"],
  globalSetup: ["./test/support/build-workers.ts"],
  ...patience,
};
const buildsFirst = { ...starts, globalSetup: [...starts.globalSetup, "./test/pins/built/build-once.ts"] };

// The quick set is "unit", "parts" and "built", the full set "full", "properties" and "alone"; scripts/test-sets.mjs says which file is where.
export default defineConfig({
  test: {
    // By default vitest leaves one core free, which is half of a machine with two.
    maxWorkers: "100%",
    // Transformed files are kept in node_modules, by their content: every project and every later run would transform them anew.
    experimental: { fsModuleCache: true },
    // Measured by `npm run coverage`, and in CI.
    coverage: {
      provider: "v8",
      include: ["src/**/*.ts"],
      exclude: ["src/**/*.test.ts"],
      reporter: ["text-summary"],
      reportOnFailure: true,
      // S0-101: the router and the stream helpers whole, the views 95 %, everything else 90 %. What speaks to Claude Code has no
      // floor of its own: much of it is proven in the full set, with the real CLI, which is not measured.
      thresholds: {
        lines: 90,
        "src/backends/routing/**": { lines: 100 },
        "src/views/event-map-streams.ts": { lines: 100 },
        "src/views/**": { lines: 95 },
      },
    },
    projects: [
      {
        ...fromSources,
        test: {
          name: "unit",
          include: patternsOf(SHARED),
          exclude: onlyFull,
          isolate: false,
          ...starts,
        },
      },
      {
        ...fromSources,
        test: {
          name: "parts",
          include: ["test/**/*.test.ts", "scripts/**/*.test.ts"],
          exclude: [...onlyFull, ...patternsOf(BUILT), ...patternsOf(SHARED)],
          ...starts,
        },
      },
      {
        ...fromSources,
        test: { name: "built", include: patternsOf(BUILT), exclude: onlyFull, ...buildsFirst },
      },
      {
        ...fromSources,
        test: { name: "properties", include: stronger.filter(isProperty), isolate: false, ...starts },
      },
      {
        ...fromSources,
        test: {
          name: "full",
          include: [...patternsOf(FULL), ...stronger.filter((file) => !isProperty(file))],
          ...buildsFirst,
        },
      },
      {
        ...fromSources,
        test: {
          name: "alone",
          include: patternsOf(ALONE),
          ...buildsFirst,
          testTimeout: 240_000,
          fileParallelism: false,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});

import { defineConfig } from "vitest/config";
import { ALONE, BUILT, FULL, patternsOf, SHARED, STRONGER } from "./scripts/test-sets.mjs";

// Tests read the sources: "#wire" resolves to src/wire/index.ts through this condition of package.json's imports.
const fromSources = {
  resolve: { conditions: ["millrace-source"] },
  ssr: { resolve: { conditions: ["millrace-source"] } },
};
const onlyFull = [...patternsOf(FULL), ...patternsOf(ALONE)];
// Set by `npm run test:full`.
const isStrong = ["full", "nightly"].includes(process.env["MILLRACE_EFFORT"] ?? "");
// Bounds for what hangs, generous on a busy machine; a hook may start a real CLI or wait for one to be gone.
const patience = { testTimeout: 120_000, hookTimeout: 120_000 };
const buildsFirst = { globalSetup: ["./test/pins/built/build-once.ts"] };

// The quick set is "unit", "parts" and "built", the full set "full" and "alone"; scripts/test-sets.mjs says which file is where.
export default defineConfig({
  test: {
    // Measured by `npm run coverage`, and in CI.
    coverage: {
      provider: "v8",
      include: ["src/**/*.ts"],
      exclude: ["src/**/*.test.ts"],
      reporter: ["text-summary"],
      reportOnFailure: true,
      thresholds: { lines: 90 },
    },
    projects: [
      {
        ...fromSources,
        test: {
          name: "unit",
          include: patternsOf(SHARED),
          exclude: onlyFull,
          isolate: false,
          ...patience,
        },
      },
      {
        ...fromSources,
        test: {
          name: "parts",
          include: ["test/**/*.test.ts", "scripts/**/*.test.ts"],
          exclude: [...onlyFull, ...patternsOf(BUILT), ...patternsOf(SHARED)],
          ...patience,
        },
      },
      {
        ...fromSources,
        test: { name: "built", include: patternsOf(BUILT), exclude: onlyFull, ...buildsFirst, ...patience },
      },
      {
        ...fromSources,
        test: {
          name: "full",
          // What the quick set runs with less effort runs again; by default it is in the quick set alone.
          include: [...patternsOf(FULL), ...(isStrong ? STRONGER : [])],
          ...buildsFirst,
          ...patience,
        },
      },
      {
        ...fromSources,
        test: {
          name: "alone",
          include: patternsOf(ALONE),
          ...buildsFirst,
          ...patience,
          testTimeout: 240_000,
          fileParallelism: false,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});

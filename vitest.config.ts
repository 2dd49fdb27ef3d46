import { defineConfig } from "vitest/config";

// Tests read the sources: "#wire" resolves to src/wire/index.ts through this condition of package.json's imports.
const fromSources = {
  resolve: { conditions: ["millrace-source"] },
  ssr: { resolve: { conditions: ["millrace-source"] } },
};

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
          include: ["src/**/*.test.ts", "test/**/*.test.ts", "scripts/**/*.test.ts", "web/src/**/*.test.ts"],
          exclude: ["test/pins/built/**", "test/e2e/**", "test/nodes/**", "test/web/**", "test/alone/**"],
          testTimeout: 120_000,
        },
      },
      {
        ...fromSources,
        test: {
          // What looks at dist and at the package made of it; built first, so these run in a project of their own.
          name: "built",
          include: [
            "test/pins/built/**/*.test.ts",
            "test/e2e/**/*.test.ts",
            "test/nodes/**/*.test.ts",
            "test/web/**/*.test.ts",
          ],
          globalSetup: ["./test/pins/built/build-once.ts"],
          testTimeout: 120_000,
        },
      },
      {
        ...fromSources,
        test: {
          // What measures the machine, or takes all of it: after everything else, one at a time.
          name: "alone",
          include: ["test/alone/**/*.test.ts"],
          globalSetup: ["./test/pins/built/build-once.ts"],
          testTimeout: 240_000,
          fileParallelism: false,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});

import { defineConfig } from "vitest/config";

// Tests read the sources: "#wire" resolves to src/wire/index.ts through the "source" condition of package.json's imports.
export default defineConfig({
  resolve: { conditions: ["source"] },
  ssr: { resolve: { conditions: ["source"] } },
  test: { include: ["src/**/*.test.ts", "test/**/*.test.ts"], testTimeout: 120_000 },
});

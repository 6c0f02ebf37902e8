import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    root: new URL("..", import.meta.url).pathname,
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // The suites start real servers and hash with argon2; more workers than cores only add noise.
    maxWorkers: 2,
    projects: [
      {
        extends: true,
        test: { name: "inside", include: ["test/**/*.test.ts"], exclude: ["test/executable/**"] },
      },
      {
        extends: true,
        test: {
          name: "executable",
          include: ["test/executable/**/*.test.ts"],
          globalSetup: "test/executable/build-if-stale.ts",
        },
      },
    ],
  },
});

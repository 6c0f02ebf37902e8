import { defineConfig } from "vitest/config";

/** Tests of the program as its users have it. */
const OF_EXECUTABLE = ["executable", "browser", "recipes"].map((folder) => `test/${folder}/**/*.test.ts`);

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
        test: { name: "inside", include: ["test/**/*.test.ts"], exclude: OF_EXECUTABLE },
      },
      {
        extends: true,
        test: {
          name: "executable",
          include: OF_EXECUTABLE,
          env: { FORMSVC_EXECUTABLE: new URL("../dist/formsvc", import.meta.url).pathname },
          globalSetup: "test/executable/build-if-stale.ts",
        },
      },
    ],
  },
});

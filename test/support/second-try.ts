import type { Reporter, TestCase, TestModule, Vitest } from "vitest/node";

const HEADING = "Unsteady: these tests failed at first and passed when tried again. They must be mended:";
const MAX_FAILURE_LENGTH = 4000;

/** Options for Vitest: a failed test is tried once more if `TESTS_RETRY` is 1, and tests that passed only then are listed at the end. */
export function secondTry(environment: NodeJS.ProcessEnv = process.env) {
  return {
    retry: environment["TESTS_RETRY"] === "1" ? 1 : 0,
    // The reporter is named, so that the list appears below the summary both in a terminal and in a log.
    reporters: ["default", new UnsteadyReporter()] satisfies (string | Reporter)[],
  };
}

class UnsteadyReporter implements Reporter {
  #print: (text: string) => void = () => {};

  onInit({ logger }: Vitest): void {
    this.#print = (text) => logger.log(text);
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    const unsteady = modules.flatMap(({ children }) => [...children.allTests()].filter(neededSecondTry));
    if (unsteady.length === 0) return;
    this.#print([HEADING, ...unsteady.map(describeFailure), ""].join("\n"));
  }
}

function neededSecondTry(test: TestCase): boolean {
  return test.diagnostic()?.flaky === true;
}

function describeFailure(test: TestCase): string {
  // The message of a random test contains its seed, so it is printed; but a counterexample can be as large as any input, so it is
  // shortened.
  const failure = test.result().errors?.[0]?.message.slice(0, MAX_FAILURE_LENGTH) ?? "";
  return `  ${test.module.relativeModuleId} > ${test.fullName}\n${failure.replaceAll(/^/gm, "    ")}`;
}

import type { Reporter, TestCase, TestModule, Vitest } from "vitest/node";

const HEADING = "Unsteady: these tests failed at first and passed when tried again. They must be mended:";
const MAX_FAILURE_LENGTH = 4000;

/** Options for Vitest: a test that fails is tried once more if `TESTS_RETRY` is 1, and what passed only then is listed at the end. */
export function secondTry(environment: NodeJS.ProcessEnv = process.env) {
  return {
    retry: environment["TESTS_RETRY"] === "1" ? 1 : 0,
    // Given by name, so that the list is under the summary of a terminal as well as of a log.
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
  // Whole, because that of a random case names its seed; but a counterexample can be as large as any input.
  const failure = test.result().errors?.[0]?.message.slice(0, MAX_FAILURE_LENGTH) ?? "";
  return `  ${test.module.relativeModuleId} > ${test.fullName}\n${failure.replaceAll(/^/gm, "    ")}`;
}

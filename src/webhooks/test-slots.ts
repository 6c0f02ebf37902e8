import { FormsvcError } from "../foundation/errors.ts";

/**
 * The largest number of tests at once, of everybody and of one account. Each may take as long as an attempt, and holds a slot of the
 * server's requests.
 */
const MAX_TESTS = 8;
const MAX_TESTS_AN_ACCOUNT = 2;

/** The slots for tests. */
export class TestSlots {
  readonly #taken: string[] = [];

  /**
   * Runs a test when there is a slot. @param account whose test it is; null for a person on the machine. @throws unavailable if there is no
   * slot.
   */
  async run<Result>(account: string | null, test: () => Promise<Result>): Promise<Result> {
    const line = account ?? "";
    const own = this.#taken.filter((each) => each === line).length;
    if (this.#taken.length >= MAX_TESTS || own >= MAX_TESTS_AN_ACCOUNT)
      throw new FormsvcError("unavailable", "other tests are under way; try it again in a moment");
    this.#taken.push(line);
    try {
      return await test();
    } finally {
      this.#taken.splice(this.#taken.indexOf(line), 1);
    }
  }
}

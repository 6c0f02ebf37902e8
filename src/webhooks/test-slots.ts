import { FormsvcError } from "../foundation/errors.ts";

/** Tests at once, of everybody and of one account. Each may take as long as an attempt does, and holds a slot of requests. */
const MAX_TESTS = 8;
const MAX_TESTS_AN_ACCOUNT = 2;

/** The slots for tests of a server. */
export class TestSlots {
  readonly #taken: string[] = [];

  /** @param account whose test it is; null is who works on the machine. @throws unavailable when there is no slot */
  async run<Result>(account: string | null, test: () => Promise<Result>): Promise<Result> {
    const line = account ?? "";
    const own = this.#taken.filter((each) => each === line).length;
    if (this.#taken.length >= MAX_TESTS || own >= MAX_TESTS_AN_ACCOUNT)
      throw new FormsvcError("unavailable", "Other tests are under way. Try it again in a moment.");
    this.#taken.push(line);
    try {
      return await test();
    } finally {
      this.#taken.splice(this.#taken.indexOf(line), 1);
    }
  }
}

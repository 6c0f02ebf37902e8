import { expect, test } from "vitest";
import { type Answer, page, redirect } from "../../src/dashboard/answer.ts";
import { createOnce } from "../../src/dashboard/kit/once.ts";
import { html } from "../../src/foundation/html.ts";

const viewer = {
  accountId: "acct_1",
  email: "a@example.com",
  isOperator: false,
  sessionId: "ses_1",
  seenAt: 0,
};
const visitOf = (mark: string, sessionId = "ses_1") => ({
  viewer: { ...viewer, sessionId },
  form: new URLSearchParams({ form_mark: mark }),
});
const DONE: Answer = page("Done", html`<p>key</p>`, 201);
const REPEATED: Answer = redirect("/dashboard");

function setUp() {
  const once = createOnce((answer) => answer.kind === "page" && answer.status === 201);
  let runs = 0;
  const send = (visit: ReturnType<typeof visitOf>, work: () => Promise<Answer> = async () => DONE) =>
    once.run(
      visit,
      () => {
        runs += 1;
        return work();
      },
      () => REPEATED,
    );
  return { send, runs: () => runs };
}

test("a second form with the same mark that comes while the first is worked on gets the same answer, a later one does not", async () => {
  const { send, runs } = setUp();
  let finish: (answer: Answer) => void = () => {};
  const first = send(visitOf("a"), () => new Promise((resolve) => (finish = resolve)));
  const second = send(visitOf("a"));
  finish(DONE);
  expect(await Promise.all([first, second])).toEqual([DONE, DONE]);
  expect(await send(visitOf("a"))).toBe(REPEATED);
  expect(runs()).toBe(1);
});

test("another mark and another session are other forms", async () => {
  const { send, runs } = setUp();
  await send(visitOf("a"));
  expect(await send(visitOf("b"))).toBe(DONE);
  expect(await send(visitOf("a", "ses_2"))).toBe(DONE);
  expect(runs()).toBe(3);
});

test("a form that was refused or failed may be sent again", async () => {
  const { send } = setUp();
  const refused = page("Again", html`<p>wrong</p>`, 422);
  expect(await send(visitOf("a"), async () => refused)).toBe(refused);
  await expect(send(visitOf("a"), () => Promise.reject(new Error("busy")))).rejects.toThrow("busy");
  expect(await send(visitOf("a"))).toBe(DONE);
});

import { expect, test } from "vitest";
import { addFormOwner } from "../support/form-owner.ts";
import type { Answer } from "../support/http-client.ts";
import { goodPost, startServer, type TestServer, USUAL_PACE } from "../support/test-server.ts";
import { until } from "../support/until.ts";

/** Requests of one account that are answered at once, and that wait. */
const UNDER_WAY = 32;
const WAITING = 32;

/** Holds back what changes settings, and no post and no page that is only read. */
function holdChanges({ serverDatabase }: TestServer) {
  const change = serverDatabase.transaction.bind(serverDatabase);
  const gate = Promise.withResolvers<void>();
  let held = 0;
  serverDatabase.transaction = async (work) => {
    held += 1;
    await gate.promise;
    return change(work);
  };
  return { held: () => held, goOn: () => gate.resolve() };
}

/** Answers as they come. */
function collect(asked: readonly Promise<Answer>[]): Answer[] {
  const answers: Answer[] = [];
  for (const each of asked) void each.then((answer) => answers.push(answer));
  return answers;
}

test("of many requests of one account at most 32 are answered at once, 32 wait, and the others are told; a page of another account and a post are answered meanwhile", async () => {
  const server = await startServer({}, USUAL_PACE);
  const ben = await addFormOwner(server, "ben@example.org");
  const cleo = await addFormOwner(server, "cleo@example.org");
  expect((await ben.get("/dashboard/endpoints")).status).toBe(200);
  const { held, goOn } = holdChanges(server);
  // The last ones have waited for their turn.
  const pressed = Array.from({ length: UNDER_WAY }, () =>
    ben.post(`/dashboard/workspaces/${ben.endpoint.workspaceId}`, { name: "Bakery" }),
  );
  await until(() => held() === UNDER_WAY);
  const asked = Array.from({ length: WAITING + 6 }, () => ben.get("/dashboard/usage"));
  const answers = collect(asked);
  await until(() => answers.length >= 6);
  for (const { status, headers, text } of answers) {
    expect([status, headers["retry-after"]]).toEqual([429, "5"]);
    expect(text).toContain("Too many pages were asked for at once with your account");
    expect(text).toContain("<h1>Too many requests</h1>");
  }
  const refused = await ben.get("/dashboard/usage");
  expect([refused.status, refused.text.includes("reload this page")]).toEqual([429, false]);
  // A browser sends a form again when its answer is reloaded; it still has what was typed.
  const form = await ben.post(`/dashboard/workspaces/${ben.endpoint.workspaceId}`, { name: "Mill" });
  expect([form.status, form.text.includes("reload this page")]).toEqual([429, true]);
  expect((await cleo.get("/dashboard/endpoints")).text).toContain("Contact");
  expect((await server.post(cleo.endpoint.secret, goodPost)).status).toBe(200);
  // Somebody at the same address who is not signed in is not of that account.
  expect((await server.request({ method: "GET", path: "/dashboard/sign-in" })).status).toBe(200);
  goOn();
  expect((await Promise.all(pressed)).every(({ status }) => status === 303)).toBe(true);
  await Promise.all(asked);
  expect((await ben.get("/dashboard/endpoints")).status).toBe(200);
});

test("of many requests of an address at which nobody is signed in some are told to wait, and an account at the same address is answered meanwhile", async () => {
  const server = await startServer({}, USUAL_PACE);
  const ben = await addFormOwner(server, "ben@example.org");
  expect((await ben.get("/dashboard/endpoints")).status).toBe(200);
  const asked = Array.from({ length: 2 * (UNDER_WAY + WAITING) }, () =>
    server.request({ method: "GET", path: "/dashboard/sign-in" }),
  );
  const answers = collect(asked);
  await until(() => answers.some(({ status }) => status === 429));
  expect((await ben.get("/dashboard/endpoints")).status).toBe(200);
  await Promise.all(asked);
  const told = answers.filter(({ status }) => status === 429);
  expect(told[0]?.text).toContain("Too many pages were asked for at once");
  expect(told.every(({ headers }) => headers["retry-after"] === "5")).toBe(true);
  // All others are answered, those that waited too.
  expect(answers.filter(({ status }) => status === 200).length).toBe(asked.length - told.length);
});

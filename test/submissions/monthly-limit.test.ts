import { expect, test } from "vitest";
import { setPlan } from "../../src/workspaces/workspace-store.ts";
import { goodPost, startServer } from "../support/test-server.ts";
import { until } from "../support/until.ts";

const plans = {
  few: { monthlySubmissions: 25, endpoints: null, customSpam: false },
  more: { monthlySubmissions: 30, endpoints: null, customSpam: false },
};

test("of many posts at the limit's edge exactly the limit is stored, over all endpoints and keys, and the rest get 429", async () => {
  const server = await startServer({ plans });
  const [one, two] = await Promise.all([
    server.addEndpoint({ plan: "few" }),
    server.addEndpoint({ plan: "more" }),
  ]);
  server.owner.execute(`UPDATE endpoint SET workspace_id = '${one.workspaceId}'`);
  const keys = [one.secret, one.publishable, two.secret, two.publishable];
  const answers = await Promise.all(
    Array.from({ length: 80 }, (_, post) => server.post(keys[post % 4]!, goodPost)),
  );
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(25);
  for (const answer of answers.filter(({ status }) => status !== 200)) {
    expect(answer.status).toBe(429);
    expect(answer.json).toMatchObject({
      error: "Submission limit exceeded",
      limit: 25,
      remainingSubmissions: 0,
    });
  }
  expect(server.stored()).toHaveLength(25);
  expect(server.owner.prepare("SELECT used FROM usage").pluck().all()).toEqual([25]);
});

test("refused posts do not count", async () => {
  const server = await startServer({ plans });
  const { secret } = await server.addEndpoint({ plan: "few" });
  for (const body of ["{", {}, { ...goodPost, _gotcha: "x" }]) await server.post(secret, body);
  await server.post(secret, goodPost);
  expect(server.owner.prepare("SELECT used FROM usage").pluck().all()).toEqual([1]);
});

test("a plan that another process raises is in force within a second, and the month's count goes on", async () => {
  const server = await startServer({ plans });
  const { secret, workspaceId } = await server.addEndpoint({ plan: "few" });
  await Promise.all(Array.from({ length: 25 }, () => server.post(secret, goodPost)));
  expect((await server.post(secret, goodPost)).status).toBe(429);
  server.owner.now(() => setPlan(workspaceId, "more", server.config.plans));
  await until(async () => (await server.post(secret, goodPost)).status === 200);
  const answers = await Promise.all(Array.from({ length: 10 }, () => server.post(secret, goodPost)));
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(4);
  expect(answers.find(({ status }) => status === 429)?.json["limit"]).toBe(30);
});

test("the next month begins at its first millisecond UTC with nothing used", async () => {
  const server = await startServer({
    plans: { one: { monthlySubmissions: 1, endpoints: null, customSpam: false } },
  });
  const { secret } = await server.addEndpoint({ plan: "one" });
  server.clock.set(Date.UTC(2026, 11, 31, 23, 59, 59, 999));
  expect((await server.post(secret, goodPost)).status).toBe(200);
  const over = await server.post(secret, goodPost);
  expect([over.status, over.headers["retry-after"]]).toEqual([429, "1"]);
  server.clock.advance(1);
  expect((await server.post(secret, goodPost)).status).toBe(200);
  const months = server.owner.prepare("SELECT month, used FROM usage ORDER BY month").all();
  expect(months).toEqual([
    { month: "2026-12", used: 1 },
    { month: "2027-01", used: 1 },
  ]);
});

test("a restart forgets no count", async () => {
  const server = await startServer({ plans });
  const { secret } = await server.addEndpoint({ plan: "few" });
  await Promise.all(Array.from({ length: 25 }, () => server.post(secret, goodPost)));
  await server.restart();
  expect((await server.post(secret, goodPost)).status).toBe(429);
});

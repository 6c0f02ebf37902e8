import { expect, test } from "vitest";
import { updatePlanRow } from "../../src/workspaces/workspace-store.ts";
import { goodPost, startServer, type TestServer } from "../support/test-server.ts";
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
  server.owner.now(() => updatePlanRow(workspaceId, "more", server.config.plans));
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

/** What the log said about reached limits, in the order of the lines. */
function reached(server: TestServer): Record<string, unknown>[] {
  return server.log
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .filter(({ event }) => event === "limit.reached");
}

test("a month at 80 % and at 100 % of its limit is told once each, whatever is restarted, and anew in the next month", async () => {
  const server = await startServer({ plans });
  const { secret, workspaceId } = await server.addEndpoint({ plan: "few" });
  const send = async (posts: number) => {
    for (let post = 0; post < posts; post += 1) await server.post(secret, goodPost);
  };
  await send(19);
  expect(reached(server)).toEqual([]);
  await send(1);
  const facts = { level: "warn", workspaceId, month: "2026-06", limit: 25 };
  expect(reached(server)).toMatchObject([{ ...facts, percent: 80, used: 20 }]);
  await send(2);
  await server.restart();
  await send(2);
  expect(reached(server)).toHaveLength(1);
  await send(1);
  expect(reached(server)[1]).toMatchObject({ ...facts, percent: 100, used: 25 });
  await send(2);
  await server.restart();
  await send(2);
  expect(reached(server)).toHaveLength(2);
  server.clock.set(Date.UTC(2026, 6, 1));
  await send(20);
  expect(reached(server)[2]).toMatchObject({ month: "2026-07", percent: 80, used: 20 });
});

test("one transaction that passes both marks tells both, and a workspace without a limit tells none", async () => {
  const server = await startServer({ plans });
  const [few, unlimited] = await Promise.all([
    server.addEndpoint({ plan: "few" }),
    server.addEndpoint({ plan: "hobby" }),
  ]);
  await Promise.all(
    [few, unlimited].flatMap(({ secret }) => Array.from({ length: 30 }, () => server.post(secret, goodPost))),
  );
  expect(reached(server).map(({ workspaceId, percent }) => [workspaceId, percent])).toEqual([
    [few.workspaceId, 80],
    [few.workspaceId, 100],
  ]);
});

test("a larger plan has marks of its own", async () => {
  const server = await startServer({ plans });
  const { secret, workspaceId } = await server.addEndpoint({ plan: "few" });
  await Promise.all(Array.from({ length: 25 }, () => server.post(secret, goodPost)));
  server.owner.now(() => updatePlanRow(workspaceId, "more", server.config.plans));
  await until(async () => (await server.post(secret, goodPost)).status === 200);
  await Promise.all(Array.from({ length: 10 }, () => server.post(secret, goodPost)));
  expect(reached(server).map(({ percent, limit }) => [percent, limit])).toEqual([
    [80, 25],
    [100, 25],
    [100, 30],
  ]);
});

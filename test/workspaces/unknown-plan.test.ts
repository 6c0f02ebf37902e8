import { expect, test } from "vitest";
import { operatorMachine } from "../support/operator-machine.ts";
import { post, tryPost } from "../support/posts.ts";
import { until } from "../support/until.ts";

const UNLIMITED = { monthlySubmissions: null, endpoints: null, customSpam: true };

test("a plan that the running server does not know costs no other workspace anything, and posts are told to come back", async () => {
  const machine = operatorMachine();
  const metrics = { metrics: { enabled: true, listen: "127.0.0.1:0" } };
  machine.configure({ ...metrics, plans: { hobby: UNLIMITED } });
  const endpoint = await machine.createEndpoint();
  const server = await machine.serveHere();
  await post(server.url, endpoint.secret);
  const { data } = (await machine.mustRun(["workspace", "list", "--json"])).json() as {
    data: { id: string }[];
  };
  const id = data[0]?.id ?? "";
  machine.configure({ ...metrics, plans: { hobby: UNLIMITED, gold: UNLIMITED } });
  await machine.mustRun(["workspace", "set-plan", id, "gold"]);
  // Until the server hears of the plan, this post is refused for its missing fields.
  const answer = await until(async () => {
    const answered = await tryPost(server.url, endpoint.secret, {});
    return answered.status !== 400 && answered;
  });
  expect([answer.status, answer.headers.get("retry-after")]).toEqual([503, "60"]);
  expect(await answer.text()).not.toContain("gold");
  await until(() =>
    server.lines.some(
      ({ event, reason }) => event === "request.failed" && /the plan gold.*restart/.test(String(reason)),
    ),
  );
  const { url: metricsUrl } = server.lines.find(({ event }) => event === "metrics.listening") ?? {};
  const measured = await fetch(String(metricsUrl));
  expect(measured.status).toBe(200);
  expect(await measured.text()).toContain(`formsvc_workspace_used_submissions{workspace="${id}"} 1`);

  await server.stop();
  const restarted = await machine.serveHere();
  await post(restarted.url, endpoint.secret);

  machine.configure({ ...metrics, plans: { hobby: UNLIMITED } });
  const examined = (await machine.run(["doctor", "--json"])).json() as {
    checks: { name: string; ok: boolean; message: string }[];
  };
  expect(examined.checks.filter(({ name, ok }) => !ok && name === "limits.monthly")).toMatchObject([
    { name: "limits.monthly", message: `${id} is on the plan gold, which is not configured` },
  ]);
});

import { expect, test } from "vitest";
import { operatorMachine } from "../support/operator-machine.ts";
import { until } from "../support/until.ts";

const OWN = "https://bakery.example";
const NEW_SITE = "https://new.bakery.example";

test("endpoint show, doctor and held list tell of a refused site, and endpoint set ignores it and takes that back", async () => {
  const machine = operatorMachine();
  const form = await machine.createEndpoint();
  await machine.mustRun(["endpoint", "set", form.id, "--allow-origin", OWN]);
  const server = await machine.serveHere();
  const send = async () => {
    const headers = {
      authorization: `Bearer ${form.publishable}`,
      "content-type": "application/json",
      origin: NEW_SITE,
    };
    const body = JSON.stringify({ name: "Ada", email: "ada@example.org", message: "Hello" });
    return (await fetch(`${server.url}/submit`, { method: "POST", headers, body })).status;
  };
  const shown = async () => {
    const { endpoint } = (await machine.mustRun(["endpoint", "show", form.id, "--json"])).json() as {
      endpoint: { refused_origins: { posts: number }[] };
    };
    return endpoint.refused_origins;
  };
  expect(await shown()).toEqual([]);
  expect([await send(), await send()]).toEqual([403, 403]);
  await until(async () => (await shown())[0]?.posts === 2);
  const [origin] = await shown();
  expect(origin).toEqual({
    origin: NEW_SITE,
    posts: 2,
    last_at: expect.stringMatching(/^\d{4}-.*Z$/) as string,
    ignored: false,
  });
  expect((await machine.mustRun(["endpoint", "show", form.id])).stdout).toContain(`${NEW_SITE}: 2 posts`);

  const held = (await machine.mustRun(["held", "list", "--why", "origin", "--json"])).json() as {
    data: { id: string; why: string; origin: string }[];
  };
  expect(held.data.map(({ why, origin: from }) => [why, from])).toEqual([
    ["origin", NEW_SITE],
    ["origin", NEW_SITE],
  ]);
  expect((await machine.mustRun(["held", "list", "--why", "spam", "--json"])).json()).toMatchObject({
    data: [],
  });
  const one = held.data[0]?.id ?? "";
  expect((await machine.mustRun(["held", "show", one])).stdout).toContain(`HELD FOR ITS ORIGIN, ${NEW_SITE}`);
  await machine.mustRun(["held", "release", one]);
  expect(await machine.stored(form)).toHaveLength(1);

  const { checks } = JSON.parse((await machine.run(["doctor", "--json"])).stdout) as {
    checks: { name: string; ok: boolean; message: string; advice: string }[];
  };
  const finding = checks.find(({ name }) => name === "endpoints.origins");
  expect(finding?.ok).toBe(false);
  expect(finding?.message).toContain(`2 posts from ${NEW_SITE} were refused`);
  expect(finding?.advice).toContain(`formsvc endpoint set ${form.id} --allow-origin ORIGIN`);

  await machine.mustRun(["endpoint", "set", form.id, "--ignore-origin", NEW_SITE]);
  expect(await shown()).toMatchObject([{ ignored: true }]);
  const after = JSON.parse((await machine.run(["doctor", "--json"])).stdout) as typeof checks & {
    checks: typeof checks;
  };
  expect(after.checks.find(({ name }) => name === "endpoints.origins")?.ok).toBe(true);
  await machine.mustRun(["endpoint", "set", form.id, "--heed-origin", NEW_SITE]);
  expect(await shown()).toMatchObject([{ ignored: false }]);
  const unknown = await machine.run(["endpoint", "set", form.id, "--ignore-origin", "https://x.example"]);
  expect([unknown.code, unknown.stderr]).toEqual([
    3,
    expect.stringContaining("was refused by this endpoint"),
  ]);
  expect(await shown()).toHaveLength(1);

  const allowed = ["endpoint", "set", form.id, "--allow-origin", OWN, "--allow-origin", NEW_SITE];
  expect((await machine.mustRun(allowed)).stderr).toContain(
    `1 post from ${NEW_SITE} is held; see: formsvc held list --endpoint ${form.id} --why origin; then: formsvc held release HELD`,
  );
  const [left] = held.data.slice(1);
  await machine.mustRun(["held", "release", left?.id ?? ""]);
  expect((await machine.mustRun(allowed)).stderr).not.toContain("held");
});

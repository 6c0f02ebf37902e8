import { expect, test } from "vitest";
import { askWith, makeToken } from "../support/api-client.ts";
import { addFormOwner } from "../support/form-owner.ts";
import { goodPost, startServer } from "../support/test-server.ts";
import { until } from "../support/until.ts";

test("an owner sets a challenge on the dashboard, which holds for the next post, and switches it off", async () => {
  const server = await startServer();
  const ben = await addFormOwner(server, "ben@example.org");
  const address = `/dashboard/endpoints/${ben.endpoint.id}/challenge`;
  const asked = () => server.request({ method: "GET", path: `/challenge?key=${ben.endpoint.publishable}` });
  expect((await ben.get(address)).text).toContain("What a visitor’s browser must solve");
  expect((await asked()).status).toBe(204);
  expect((await ben.post(address, { challenge: "pow", challenge_required: "on" })).status).toBe(303);
  await until(async () => (await asked()).status === 200);
  expect((await server.post(ben.endpoint.publishable, goodPost)).status).toBe(403);
  const shown = (await ben.get(address)).text;
  expect(shown).toMatch(/<option value="pow"\s+selected/);
  expect(shown).toMatch(/name="challenge_required"[^>]* checked/);
  // What another page saves does not touch it.
  await ben.post(`/dashboard/endpoints/${ben.endpoint.id}`, { name: "Renamed", unknown_fields: "drop" });
  expect((await ben.get(address)).text).toMatch(/<option value="pow"\s+selected/);
  expect((await ben.post(address, { challenge: "off" })).status).toBe(303);
  await until(async () => (await asked()).status === 204);
});

test("the secret of a service is never shown again, and the page says whether posts are checked", async () => {
  const server = await startServer();
  const ben = await addFormOwner(server, "ben@example.org");
  const address = `/dashboard/endpoints/${ben.endpoint.id}/challenge`;
  const settings = { challenge: "turnstile", challenge_site_key: "0x4AAA" };
  await ben.post(address, settings);
  expect((await ben.get(address)).text).toContain("without a verdict of the service: no secret is set");
  await ben.post(address, { ...settings, challenge_secret: "0x-very-secret" });
  const { text } = await ben.get(address);
  expect([
    text.includes("without a verdict"),
    text.includes("0x-very-secret"),
    text.includes('value="0x4AAA"'),
  ]).toEqual([false, false, true]);
  // Left empty, the secret stays.
  await ben.post(address, settings);
  expect((await ben.get(address)).text).not.toContain("without a verdict");
});

test("what would leave the form's own page without its task is refused by either page and the API, and changes nothing", async () => {
  const server = await startServer();
  const ben = await addFormOwner(server, "ben@example.org");
  const path = `/dashboard/endpoints/${ben.endpoint.id}`;
  const ask = askWith(server, await makeToken(server, undefined, { account: "ben@example.org" }));
  const patch = (body: object) => ask("PATCH", `/endpoints/${ben.endpoint.id}`, { body });
  const unseen = /own page cannot show the task of hcaptcha without its site key/;
  const required = { challenge: "hcaptcha", challenge_required: "on" };
  expect((await patch({ page: "on" })).status).toBe(200);
  const refused = [await ben.post(`${path}/challenge`, required), await patch(required)];
  expect((await patch({ page: "off", ...required })).status).toBe(200);
  refused.push(
    await ben.post(`${path}/page`, { page: "on", page_title: "Cakes" }),
    await patch({ page: "on" }),
  );
  expect(refused.map(({ status }) => status)).toEqual([422, 400, 422, 400]);
  for (const { text } of refused) expect(text.replaceAll("’", "'")).toMatch(unseen);
  expect(refused[2]?.text).toContain('value="Cakes"');
  const { json } = await ask("GET", `/endpoints/${ben.endpoint.id}`);
  expect(json["endpoint"]).toMatchObject({ page: "off", ...required, challenge_site_key: null });
  expect((await patch({ page: "on", challenge_site_key: "10000000-ffff" })).status).toBe(200);
});

test("a wrong site key or secret is told with what was typed, but for the secret, and nothing is half done", async () => {
  const server = await startServer();
  const ben = await addFormOwner(server, "ben@example.org");
  const address = `/dashboard/endpoints/${ben.endpoint.id}/challenge`;
  const wrong = [
    { challenge: "hcaptcha", challenge_site_key: "a b", challenge_secret: "ES_typed" },
    { challenge: "hcaptcha", challenge_site_key: "<b>key</b>", challenge_secret: "ES_typed" },
    { challenge: "hcaptcha", challenge_site_key: "good", challenge_secret: "ES typed" },
    { challenge: "hcaptcha", challenge_site_key: "good", challenge_secret: "ES_typed".repeat(100) },
  ];
  for (const form of wrong) {
    const { status, text } = await ben.post(address, form);
    expect([status, text.includes("ES_typed"), text.includes("<b>key")]).toEqual([422, false, false]);
    expect(text).toMatch(/<option value="hcaptcha"\s+selected/);
  }
  const { text } = await ben.get(address);
  expect(text).toMatch(/<option value="off"\s+selected/);
  await ben.post(address, { challenge: "hcaptcha" });
  expect((await ben.get(address)).text).toContain("no secret is set");
});

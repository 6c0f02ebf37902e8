import { expect, test } from "vitest";
import { addEndpointOf, addFormOwner } from "../support/form-owner.ts";
import { startServer } from "../support/test-server.ts";
import { until } from "../support/until.ts";
import { visit } from "../support/visitor.ts";

test("an owner gives a form a page on the dashboard, and is told what is wrong with it", async () => {
  const server = await startServer();
  const ben = await addFormOwner(server, "ben@example.org");
  const address = `/dashboard/endpoints/${ben.endpoint.id}/page`;
  expect((await ben.get(address)).text).toContain("The form has a page of its own");
  const wrong = await ben.post(address, { page: "on", page_title: "Cakes", page_colour: "red" });
  expect([wrong.status, wrong.text.includes("colour"), wrong.text.includes('value="Cakes"')]).toEqual([
    422,
    true,
    true,
  ]);
  expect(wrong.text).toMatch(/name="page_colour"[^>]*aria-invalid="true"[^>]*f-page_colour-problem/);
  const logo = await ben.post(address, {
    page: "on",
    page_logo: "https://x.example/a.png",
    page_title: "x".repeat(101),
  });
  expect([logo.status, ...(logo.text.match(/id="f-[\w-]+-problem"/g) ?? [])]).toEqual([
    422,
    'id="f-page_title-problem"',
    'id="f-page_logo-problem"',
  ]);
  const saved = await ben.post(address, { page: "on", page_title: "Cakes", page_colour: "#0B6E5F" });
  expect(saved.status).toBe(303);
  const path = /href="http[^"]*(\/p\/[^"]+)"/.exec((await ben.get(address)).text)?.[1] ?? "";
  await until(async () => (await server.request({ method: "GET", path })).status === 200);
  expect((await server.request({ method: "GET", path })).text).toContain('<h1 dir="auto">Cakes</h1>');
  await ben.post(`/dashboard/endpoints/${ben.endpoint.id}`, { name: "Renamed", unknown_fields: "drop" });
  const kept = await ben.get(address);
  expect(kept.text).toContain('value="Cakes"');
  expect((await ben.post(address, {})).status).toBe(303);
  await until(
    async () => (await server.request({ method: "GET", path: `/p/${ben.endpoint.id}` })).status === 404,
  );
});

test("the addresses that its owner is given stay, whoever else gives a form the same name, and nobody is given another's", async () => {
  const server = await startServer();
  const ben = await addFormOwner(server, "ben@example.org");
  const cakes = await addEndpointOf(server, ben, "Ben’s cakes");
  const addressOf = ({ id }: { readonly id: string }) => `/dashboard/endpoints/${id}/page`;
  const links = async (owner: Pick<typeof ben, "get">, form: { readonly id: string }) =>
    [...(await owner.get(addressOf(form))).text.matchAll(/href="http[^"]*(\/p\/[^"]+)"/g)].map(
      ([, path]) => path ?? "",
    );
  const statuses = async (paths: readonly string[]) =>
    Promise.all(paths.map(async (path) => (await server.request({ method: "GET", path })).status));
  await ben.post(addressOf(cakes), { page: "on" });
  const offered = await links(ben, cakes);
  expect(offered).toEqual([`/p/${cakes.id}`, "/p/Ben%E2%80%99s%20cakes"]);
  await until(async () => String(await statuses(offered)) === "200,200");
  const eve = await visit(server, "eve@example.org");
  const copy = await addEndpointOf(server, eve, "Ben’s cakes");
  await eve.post(addressOf(copy), { page: "on", page_title: "Eve’s cakes" });
  const own = `/p/${copy.id}`;
  await until(async () => String(await statuses([own])) === "200");
  expect(await links(eve, copy)).toEqual([own]);
  expect(await links(ben, cakes)).toEqual(offered);
  expect(String(await statuses(offered))).toBe("200,200");
  const named = await server.request({ method: "GET", path: offered[1] ?? "" });
  expect(named.text).not.toContain("Eve");
});

test("its owner reads in which language the page is: that of whoever opens it, or the one that was chosen for visitors", async () => {
  const server = await startServer();
  const ben = await addFormOwner(server, "ben@example.org");
  const words = async () =>
    (await ben.get(`/dashboard/endpoints/${ben.endpoint.id}/page`)).text.replaceAll(/\s+/g, " ");
  expect(await words()).toContain("without script, in the language of whoever opens it.");
  server.owner.execute("UPDATE endpoint SET language = 'de'");
  expect(await words()).toContain("without script, in German, the language for visitors under Settings.");
});

test("the owner of a paused form reads at its page's address that nobody can open it or send the form", async () => {
  const server = await startServer();
  const ben = await addFormOwner(server, "ben@example.org");
  const path = `/dashboard/endpoints/${ben.endpoint.id}`;
  const words = async () => (await ben.get(`${path}/page`)).text.replaceAll(/\s+/g, " ");
  const said = "whoever opens the address below reads that it cannot be opened, and nobody can send the form";
  await ben.post(`${path}/state`, { state: "paused" });
  // Without a page there is no address.
  expect(await words()).not.toContain(said);
  await ben.post(`${path}/page`, { page: "on" });
  expect(await words()).toMatch(new RegExp(`${said}.*It is at`));
  await ben.post(`${path}/state`, { state: "active" });
  expect(await words()).not.toContain(said);
});

import { expect, test } from "vitest";
import { addEndpointOf, addFormOwner } from "../support/form-owner.ts";
import { goodPost, startServer, type TestServer } from "../support/test-server.ts";
import { until } from "../support/until.ts";
import { visit, type Visitor } from "../support/visitor.ts";

const OWN = "https://bakery.example";
const NEW_SITE = "https://new.bakery.example";
const HOSTILE = 'https://a"><b>x</b>';

/** Ada is the operator; Ben and Cleo own a form each, which takes posts from one site only. */
async function world() {
  const server = await startServer();
  await visit(server);
  const ben = await addFormOwner(server, "ben@example.org");
  const cleo = await addFormOwner(server, "cleo@example.org");
  server.owner.execute(`UPDATE endpoint SET allowed_origins = '["${OWN}"]'`);
  await server.restart();
  const send = async (origin: string, name = "Ana"): Promise<void> => {
    const answer = await server.post(ben.endpoint.publishable, { ...goodPost, name }, { origin });
    expect(answer.status).toBe(403);
  };
  return { server, ben, cleo, send };
}

async function counted({ owner }: TestServer, posts: number): Promise<void> {
  const sum = owner.prepare("SELECT coalesce(sum(posts), 0) FROM refused_origin").pluck();
  await until(() => sum.get() === posts);
}

/** The lines of the inbox, without tags. */
async function lines(visitor: Visitor): Promise<string[]> {
  const { text } = await visitor.get("/dashboard");
  return [...text.matchAll(/<li>(.*?)<\/li>/gs)].map(([, line = ""]) =>
    line
      .replaceAll(/<[^>]*>/g, "")
      .replaceAll(/\s+/g, " ")
      .trim(),
  );
}

const refused = (posts: string, origin: string, actions: string): string =>
  `${posts} from ${origin} to the form Contact ${posts === "One post" ? "was" : "were"} refused, because that site is not among the form’s. ${actions}`;

test("the inbox tells its owner, and nobody else, of a refused site: allowed, it sends and what it sent can be released", async () => {
  const { server, ben, cleo, send } = await world();
  await send(NEW_SITE);
  await send(NEW_SITE, "Ben");
  await counted(server, 2);
  expect(await lines(ben)).toContain(refused("2 posts", NEW_SITE, "Allow this site They are not ours"));
  expect((await lines(cleo)).join()).not.toContain(NEW_SITE);

  const path = `/dashboard/endpoints/${ben.endpoint.id}/origins`;
  const strange = new URLSearchParams({ do: "allow", origin: NEW_SITE });
  expect((await cleo.post(path, strange)).status).toBe(404);
  const allowed = await ben.post(path, new URLSearchParams({ do: "allow", origin: NEW_SITE }));
  expect(allowed.headers["location"]).toContain("notice=origin-allowed");
  const [settings] = server.owner
    .prepare("SELECT allowed_origins FROM endpoint WHERE id = ?")
    .pluck()
    .all(ben.endpoint.id) as string[];
  expect(JSON.parse(settings ?? "")).toEqual([OWN, NEW_SITE]);
  await until(
    async () =>
      (await server.post(ben.endpoint.publishable, { ...goodPost, name: "Cleo" }, { origin: NEW_SITE }))
        .status === 200,
  );
  const held = `2 posts that ${NEW_SITE} sent to the form Contact before it was allowed are held. Release them`;
  expect(await lines(ben)).toContain(held);
  await ben.post(path, new URLSearchParams({ do: "release", origin: NEW_SITE }));
  const names = server.stored(ben.endpoint.id).map(({ name }) => name);
  expect(names).toContain("Ana");
  expect(names).toContain("Ben");
  expect((await lines(ben)).join()).not.toContain(NEW_SITE);
});

test("a site that is none of theirs is told no more, and its posts are not kept any more", async () => {
  const { server, ben, send } = await world();
  await send(NEW_SITE);
  await counted(server, 1);
  const path = `/dashboard/endpoints/${ben.endpoint.id}/origins`;
  const done = await ben.post(path, new URLSearchParams({ do: "ignore", origin: NEW_SITE }));
  expect(done.headers["location"]).toContain("notice=origin-ignored");
  expect((await lines(ben)).join()).not.toContain(NEW_SITE);
  await server.restart();
  await send(NEW_SITE, "later");
  expect(server.owner.prepare("SELECT count(*) FROM held").pluck().get()).toBe(1);
  const [change] = server.owner
    .prepare("SELECT action, subject, detail FROM audit_event ORDER BY id DESC LIMIT 1")
    .all();
  expect(change).toEqual({ action: "endpoint.ignore-origin", subject: ben.endpoint.id, detail: NEW_SITE });
});

test("the form's settings list what was refused, and take back that a site is none of theirs", async () => {
  const { server, ben, cleo, send } = await world();
  await send(NEW_SITE);
  await send(HOSTILE);
  await counted(server, 2);
  const settings = `/dashboard/endpoints/${ben.endpoint.id}`;
  const path = `${settings}/origins`;
  const said = async (): Promise<string> => {
    const [, list = ""] =
      /<ul class="rows-list"[^>]*>(.*?)<\/ul>/s.exec((await ben.get(settings)).text) ?? [];
    return list.replaceAll(/<[^>]*>/g, "").replaceAll(/\s+/g, " ");
  };
  expect(await said()).toContain("One post was refused");
  expect(await said()).toContain(`Allow this site ${NEW_SITE}`);
  expect(await said()).toContain("https://a&quot;&gt;&lt;b&gt;x&lt;/b&gt;");

  const press = (verb: string) =>
    ben.post(path, new URLSearchParams({ do: verb, origin: NEW_SITE, from: "settings" }));
  expect((await press("ignore")).headers["location"]).toBe(`${settings}?notice=origin-ignored`);
  expect(await said()).toContain("You said that it is not yours");
  expect(await said()).not.toContain("Allow this site");
  expect((await cleo.post(path, new URLSearchParams({ do: "heed", origin: NEW_SITE }))).status).toBe(404);
  expect((await press("heed")).headers["location"]).toBe(`${settings}?notice=origin-heeded`);
  expect(await said()).toContain(`Allow this site ${NEW_SITE}`);
  const shown = refused("One post", NEW_SITE, "Allow this site They are not ours");
  expect(await lines(ben)).toContain(shown);
  const kept = server.owner.prepare("SELECT count(*) FROM held").pluck();
  expect(kept.get()).toBe(2);
  await server.restart();
  await send(NEW_SITE, "later");
  await until(() => kept.get() === 3);
});

test("a sandboxed page's origin null is not offered to be allowed, and a hostile one is text", async () => {
  const { server, ben, send } = await world();
  await send("null");
  await send(HOSTILE);
  await counted(server, 2);
  const shown = await lines(ben);
  expect(shown).toContain(
    "One post to the form Contact from a page that names no site (a sandboxed frame, or a file on somebody’s disk) was refused. They are not ours",
  );
  expect((await ben.get("/dashboard/held")).text).toContain("Sent from a page that names no site.");
  expect((await ben.get("/dashboard")).text).toContain("https://a&quot;&gt;&lt;b&gt;x&lt;/b&gt;");
  const path = `/dashboard/endpoints/${ben.endpoint.id}/origins`;
  for (const body of [
    { do: "allow", origin: HOSTILE },
    { do: "ignore", origin: "https://never.example" },
    { do: "x" },
  ])
    expect(
      (await ben.post(path, new URLSearchParams(body as Record<string, string>))).status,
    ).toBeGreaterThanOrEqual(400);
});

test("without a list of sites nothing is refused, and allowing one does not shut the others out", async () => {
  const { server, ben } = await world();
  const open = await addEndpointOf(server, ben, "Open");
  const path = `/dashboard/endpoints/${open.id}/origins`;
  await ben.post(path, new URLSearchParams({ do: "allow", origin: NEW_SITE }));
  const allowed = server.owner
    .prepare("SELECT allowed_origins FROM endpoint WHERE id = ?")
    .pluck()
    .get(open.id);
  expect(allowed).toBe("[]");
});

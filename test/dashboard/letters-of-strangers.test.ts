import { expect, test } from "vitest";
import { insertAccountRows } from "../../src/workspaces/workspace-store.ts";
import { type FormOwner, addEndpointOf, addFormOwner } from "../support/form-owner.ts";
import { pathIn, startMailedSite, textOf } from "../support/mailed-site.ts";
import { ADA, cookieOf, PASSWORD } from "../support/sign-in-form.ts";
import { until } from "../support/until.ts";

const NEW = "/dashboard/recipients/new";
const EVIL = "Call +44 20 7946 0000 or win at evil.example";

type Site = Awaited<ReturnType<typeof startMailedSite>>;

/** Accounts that are no operators, each with a form that has their text as its name. */
async function strangers(site: Site, count: number): Promise<FormOwner[]> {
  const { server } = site;
  const made: FormOwner[] = [];
  for (let number = 0; number < count; number += 1) {
    const owner = await addFormOwner(server, `stranger${number}@evil.example`);
    made.push({ ...owner, endpoint: await addEndpointOf(server, owner, `${EVIL} ${number}`) });
  }
  return made;
}

/** Adds a recipient with the form of the dashboard. Returns the notice. */
async function add(owner: FormOwner, address: string): Promise<string> {
  const form = { endpoint: owner.endpoint.id, address, digest: "each", max_spam_score: "50" };
  const { status, headers, text } = await owner.post(NEW, form);
  expect(status, text).toBe(303);
  return String(headers["location"]).split("notice=")[1] ?? "";
}

test("120 recipients that six accounts add keep nobody from hearing that the password was changed, nor from a new one", async () => {
  const site = await startMailedSite({ mail: { limits: { perMinute: 60 } } });
  const { server, mail } = site;
  // Somebody who signed in.
  const signedIn = await site.useLink();
  const cookie = cookieOf(signedIn);
  const attackers = await strangers(site, 6);
  const notices: string[] = [];
  for (let number = 0; number < 120; number += 1) {
    const attacker = attackers[number % attackers.length];
    if (attacker !== undefined) notices.push(await add(attacker, `victim${number}@example.org`));
  }
  expect(notices.filter((notice) => notice === "recipient-asked")).toHaveLength(60);
  const changed = await site.post(
    "/account/password",
    { password: PASSWORD, new_password: "another good password" },
    { cookie },
  );
  expect(changed.status).toBe(303);
  const asked = await site.post("/lost-password", { email: ADA });
  expect(asked.status).toBe(303);
  const told = await until(() => {
    const letters = mail.received.filter(({ to }) => to.includes(ADA)).map((letter) => textOf(letter));
    return letters.length === 2 && letters.join("\n");
  });
  expect(told).toContain("password was changed just now");
  expect(told).toContain("/dashboard/lost-password/new?token=");
  const lost = server.owner.prepare("SELECT count(*) FROM letter WHERE state = 'failed'").pluck().get();
  expect(lost).toBe(0);
});

test("the limit of all strangers is counted over restarts, and an operator is not counted", async () => {
  const site = await startMailedSite({ mail: { limits: { confirmationsPerHour: 2 } } });
  const { server } = site;
  const operator = await addFormOwner(server, ADA);
  const [one, two] = await strangers(site, 2);
  if (one === undefined || two === undefined) throw new Error("none");
  expect(await add(one, "a@example.org")).toBe("recipient-asked");
  await server.restart();
  expect(await add(two, "b@example.org")).toBe("recipient-asked");
  expect(await add(two, "c@example.org")).toBe("recipient-not-asked");
  expect(await add(operator, "d@example.org")).toBe("recipient-asked");
  server.clock.advance(3_600_000);
  expect(await add(two, "e@example.org")).toBe("recipient-asked");
});

test("a letter to an address that did not agree has no text and no address of a stranger in any part", async () => {
  const site = await startMailedSite();
  const { server, mail, get } = site;
  await addFormOwner(server, ADA);
  const [stranger] = await strangers(site, 1);
  if (stranger === undefined) throw new Error("none");
  server.owner.execute(`UPDATE workspace SET name = 'Workspace of evil.example'`);
  await add(stranger, "victim@example.org");
  const letter = await site.letterTo("victim@example.org");
  const whole = textOf(letter);
  for (const word of ["evil", "7946", "stranger", "Call", "win"]) expect(whole).not.toContain(word);
  expect(whole).toMatch(/^From: "formsvc"\s+<forms@example\.com>/m);
  expect(whole).toContain("Get the submissions of a form at forms.example.com?");
  expect(whole).not.toMatch(/^Reply-To/m);
  // The page behind its link stands under the operator's domain too.
  expect((await get(pathIn(letter))).text).not.toContain(EVIL);
  expect(mail.received).toHaveLength(1);
});

test("an operator's letter names the form, so that its reader knows what it is about", async () => {
  const site = await startMailedSite();
  const operator = await addFormOwner(site.server, ADA);
  await add(operator, "colleague@example.org");
  expect(textOf(await site.letterTo("colleague@example.org"))).toContain("Get the submissions of Contact?");
});

test("a letter about a changed password that waits survives the end of the server, and holds no token in the database", async () => {
  const site = await startMailedSite({ mail: { port: 1 } });
  const { server } = site;
  const cookie = cookieOf(await site.useLink());
  await site.post(
    "/account/password",
    { password: PASSWORD, new_password: "another good password" },
    { cookie },
  );
  server.owner.now(() => insertAccountRows("b@example.com", server.clock.now()));
  const owner = await addFormOwner(server, "b@example.com");
  await add(owner, "victim@example.org");
  await site.post("/lost-password", { email: ADA });
  await server.restart();
  const rows = server.owner.prepare("SELECT kind, state, content FROM letter ORDER BY id").all();
  expect(rows).toMatchObject([
    { kind: "security", state: "pending" },
    { kind: "confirmation", state: "pending" },
  ]);
  expect(JSON.stringify(rows)).not.toMatch(/token|[\w-]{32}/);
});

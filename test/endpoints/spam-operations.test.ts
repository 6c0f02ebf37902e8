import { expect, test } from "vitest";
import { setSpam, showSpam } from "../../src/endpoints/spam-operations.ts";
import type { Scope } from "../../src/operations/access.ts";
import type { Actor } from "../../src/operations/actor.ts";
import { defaultSpamSettings } from "../../src/spam/spam-settings.ts";
import { explainScore, previewSpam, scorePost } from "../../src/submissions/manage/spam-operations.ts";
import { storeSubmissions } from "../support/add-submission.ts";
import { NOON } from "../support/fake-clock.ts";
import { temporaryDatabase } from "../support/temporary-database.ts";
import { performOn } from "../support/terminal.ts";
import { twoOwners } from "../support/two-owners.ts";

const plans = { hobby: { monthlySubmissions: null, endpoints: null, customSpam: true } };
const parts = { spamDefaults: defaultSpamSettings(10), searches: null };
const missing = { code: "not_found" };

test("what is not named stays, unless all is replaced, and a keyword takes the place of the same word", async () => {
  const db = temporaryDatabase();
  const { shop, actor } = await twoOwners(db);
  const set = (choices: object, replace = false) =>
    performOn(db, setSpam, { endpoint: shop.endpoint, choices, replace }, { actor, plans });
  const casino = { word: "casino", effect: 40 };
  await set({ maxLinks: 3, keywords: [{ word: "casino", effect: 10 }] });
  expect(await set({ keywords: [casino] })).toEqual({ chosen: { maxLinks: 3, keywords: [casino] } });
  const many = Array.from({ length: 500 }, (_, index) => ({ word: `word ${index}`, effect: 1 }));
  await expect(set({ keywords: many })).rejects.toThrow("expected at most 500 of them");
  expect(await set({ technical: true }, true)).toEqual({ chosen: { technical: true } });
  const shown = await performOn(db, showSpam, { endpoint: shop.endpoint }, { actor, plans, parts });
  expect(shown).toMatchObject({ plan: "hobby", custom_spam: true, chosen: { technical: true } });
});

test("spam settings and scores of somebody else's forms are like none, and so are others of a bound token", async () => {
  const db = temporaryDatabase();
  const { ben, cleo, shop, jobs, hers, actor, bound } = await twoOwners(db);
  const scopes: readonly Scope[] = ["endpoints:write", "workspace:write", "submissions:read"];
  const token = bound(ben.identity, scopes);
  const ask = (who: Actor, form: typeof hers, workspace: string) => {
    const door = { actor: who, plans, parts };
    const choices = { maxLinks: 1 };
    const { endpoint } = form;
    return [
      () => performOn(db, showSpam, { endpoint }, door),
      () => performOn(db, setSpam, { endpoint, choices }, door),
      () => performOn(db, previewSpam, { endpoint, choices }, door),
      () => performOn(db, scorePost, { endpoint, post: {} }, door),
      () => performOn(db, explainScore, { post: form.submission }, door),
      () => performOn(db, explainScore, { post: form.held }, door),
      () => performOn(db, showSpam, { workspace }, door),
      () => performOn(db, setSpam, { workspace, choices }, door),
      () => performOn(db, previewSpam, { workspace, choices }, door),
    ];
  };
  for (const asked of ask(actor, hers, cleo.workspace.id))
    await expect(asked()).rejects.toMatchObject(missing);
  const [ofForm, ofWorkspace] = [0, 6].map((from) =>
    ask(token, jobs, ben.workspace.id).slice(from, from + 6),
  );
  for (const asked of ofForm ?? []) await expect(asked()).rejects.toMatchObject(missing);
  // Its workspace is known to it, but not for what concerns all forms.
  const refused = { code: expect.stringMatching(/^(?:not_found|forbidden)$/) as string };
  for (const asked of ofWorkspace ?? []) await expect(asked()).rejects.toMatchObject(refused);
  for (const asked of ask(token, shop, ben.workspace.id).slice(0, 6)) await asked();
});

test("the settings of a whole workspace need the scope for workspaces too", async () => {
  const db = temporaryDatabase();
  const { ben } = await twoOwners(db);
  const token = (scopes: readonly Scope[]): Actor => ({
    kind: "token",
    tokenId: "tok_1",
    name: "CI",
    account: ben.identity,
    scopes,
    reach: null,
  });
  const input = { workspace: ben.workspace.id, choices: { maxLinks: 1 } };
  const narrow = performOn(db, setSpam, input, { actor: token(["endpoints:write"]), plans });
  await expect(narrow).rejects.toMatchObject({ code: "forbidden" });
  const wide = token(["endpoints:write", "workspace:write"]);
  expect(await performOn(db, setSpam, input, { actor: wide, plans })).toEqual({ chosen: { maxLinks: 1 } });
});

test("a preview for a workspace counts what its endpoints have chosen themselves", async () => {
  const db = temporaryDatabase();
  const { ben, shop, jobs, actor } = await twoOwners(db);
  const door = { actor, plans, parts };
  const message = "Look here: https://one.example.org https://two.example.org https://three.example.org";
  const createdAt = NOON;
  const [, atJobs] = await storeSubmissions(db, [
    { endpointId: shop.endpoint, data: { message }, createdAt },
    { endpointId: jobs.endpoint, data: { message }, createdAt },
  ]);
  await performOn(db, setSpam, { endpoint: shop.endpoint, choices: { maxLinks: 10 } }, door);
  const input = { workspace: ben.workspace.id, choices: { maxLinks: 1 } };
  const { changes } = await performOn(db, previewSpam, input, door);
  expect(changes.map(({ id }) => id)).toEqual([atJobs]);
});

import { expect, test } from "vitest";
import { listChanges } from "../../src/audit/audit-store.ts";
import { readChoices, writeChoicesRow } from "../../src/endpoints/spam-choices-store.ts";
import { spamClassOf } from "../../src/spam/spam-verdict.ts";
import { markSubmissions } from "../../src/submissions/stored/mark-submission.ts";
import { insertWorkspaceRow, listWorkspaces } from "../../src/workspaces/workspace-store.ts";
import { submissionAdder } from "../support/add-submission.ts";
import { formOf, unescaped } from "../support/page.ts";
import { type ConfigOverrides, startServer } from "../support/test-server.ts";
import { visit, type Visitor } from "../support/visitor.ts";

const HOSTILE = `"><script>alert(1)</script>\u202e`;
const OWN_SETTINGS = { plans: { hobby: { customSpam: true } } };

async function opened(overrides: ConfigOverrides = OWN_SETTINGS) {
  const server = await startServer(overrides);
  const ada = await visit(server);
  const endpoint = await server.addEndpoint();
  const { workspaceId } = endpoint;
  return {
    server,
    ada,
    endpoint,
    ofWorkspace: `/dashboard/spam/workspaces/${workspaceId}`,
    ofEndpoint: `/dashboard/spam/endpoints/${endpoint.id}`,
    chosen: () => server.owner.now(() => readChoices({ kind: "workspace", workspaceId })),
    chosenThere: () =>
      server.owner.now(() => readChoices({ kind: "endpoint", workspaceId, endpointId: endpoint.id })),
  };
}

async function form(
  visitor: Visitor,
  path: string,
  values: Record<string, string>,
): Promise<URLSearchParams> {
  return filled((await visitor.get(path)).text, path, values);
}

function filled(text: string, path: string, values: Record<string, string>): URLSearchParams {
  const sent = formOf(text, path).values;
  for (const [name, value] of Object.entries(values)) sent.set(name, value);
  return sent;
}

test("settings are saved only after the page has shown what they would have done to the last posts", async () => {
  const { server, ada, endpoint, ofWorkspace, chosen } = await opened();
  const post = { name: "Ana Ruiz", email: "ana@example.org" };
  await server.post(endpoint.secret, { ...post, message: "Is the blue bicycle still for sale?" });
  await server.post(endpoint.secret, { ...post, message: "Are you open on Sunday?" });
  const first = await ada.get(ofWorkspace);
  expect(first.text).not.toContain('value="save"');
  const preview = await ada.post(
    ofWorkspace,
    filled(first.text, ofWorkspace, { action: "preview", keywords: "bicycle = block" }),
  );
  expect(preview.status).toBe(200);
  expect(preview.text).toContain(
    "1 of the last 2 posts would have scored otherwise; 1 would have been treated otherwise.",
  );
  expect([...preview.text.matchAll(/\/dashboard\/submissions\/(sub_\w+)/g)]).toHaveLength(1);
  expect(preview.text).toContain(">Ana Ruiz</bdi>");
  expect(chosen()).toEqual({});
  const saved = await ada.post(ofWorkspace, filled(preview.text, ofWorkspace, { action: "save" }));
  expect([saved.status, saved.headers["location"]]).toEqual([303, `${ofWorkspace}?notice=spam-saved`]);
  expect(chosen()).toEqual({ keywords: [{ word: "bicycle", effect: "block" }] });
  // The running server scores by them at once.
  expect((await server.post(endpoint.secret, { ...post, message: "Another bicycle please" })).status).toBe(
    429,
  );
  expect(server.owner.now(() => listChanges(9)).map(({ action }) => action)).toEqual(["spam.set"]);
  // A held post is scored too.
  const again = await ada.post(
    ofWorkspace,
    await form(ada, ofWorkspace, { action: "preview", keywords: "" }),
  );
  expect(again.text).toMatch(/\/dashboard\/held\/held_\w+/);
});

test("an endpoint has settings of its own, which the page of its workspace tells", async () => {
  const { ada, ofWorkspace, ofEndpoint, chosen, chosenThere } = await opened();
  const values = { action: "save", technical: "on", maxLinks: "7", allow: "ada@example.com" };
  expect((await ada.post(ofEndpoint, await form(ada, ofEndpoint, values))).status).toBe(303);
  expect(chosenThere()).toMatchObject({ technical: true, maxLinks: 7 });
  expect(chosen()).toEqual({});
  expect((await ada.get(ofWorkspace)).text).toContain(
    "Links that cost nothing, Kind of form, Senders who are never spam",
  );
  expect(formOf((await ada.get(ofEndpoint)).text, ofEndpoint).values.get("technical")).toBe("on");
});

test("the page tells how the posts that were marked had scored, on each plan, of the form or of all forms", async () => {
  const { server, ada, endpoint, ofWorkspace, ofEndpoint } = await opened({});
  expect((await ada.get(ofEndpoint)).text).toContain("Nothing was marked yet.");
  const other = await server.addEndpoint();
  const add = submissionAdder(server.owner);
  const at = server.clock.now();
  const mark = (endpointId: string, spamScore: number, given: "spam" | "ham", posts: number): void => {
    const ids = Array.from({ length: posts }, () =>
      add({ endpointId, spamScore, spamClass: spamClassOf(spamScore), createdAt: at }),
    );
    server.owner.now(() => markSubmissions(ids, { mark: given }, at));
  };
  mark(endpoint.id, 60, "spam", 7);
  mark(endpoint.id, 12, "spam", 4);
  mark(other.id, 60, "ham", 3);
  const numbersOn = async (path: string) => {
    const { text } = await ada.get(path);
    return [...text.matchAll(/data-label="Number" class="right num">(\d+)</g)].map(([, number]) =>
      Number(number),
    );
  };
  expect(await numbersOn(ofEndpoint)).toEqual([7, 4, 0, 0, 0]);
  expect((await ada.get(ofEndpoint)).text).toContain("Much spam was missed.");
  const isSameWorkspace = other.workspaceId === endpoint.workspaceId;
  expect(await numbersOn(ofWorkspace)).toEqual([7, 4, 0, isSameWorkspace ? 3 : 0, 0]);
});

test("refused settings keep what was typed, and each problem is told at its field", async () => {
  const { ada, ofWorkspace, chosen } = await opened();
  const values = { maxLinks: HOSTILE, keywords: `${HOSTILE} = much`, allow: HOSTILE, deny: "@", rules: "{" };
  for (const action of ["preview", "save"]) {
    const refused = await ada.post(ofWorkspace, await form(ada, ofWorkspace, { ...values, action }));
    expect(refused.status).toBe(422);
    expect(refused.text).not.toContain("<script>alert");
    for (const name of Object.keys(values)) expect(refused.text).toContain(`id="f-${name}-problem"`);
    const again = formOf(refused.text, ofWorkspace).values;
    for (const [name, value] of Object.entries(values)) expect(again.get(name)).toBe(value);
  }
  expect(chosen()).toEqual({});
});

test("a plan without own settings refuses them in the words of the command, and keeps what was typed", async () => {
  const plans = {
    hobby: { customSpam: true },
    free: { monthlySubmissions: null, endpoints: null, customSpam: false },
  };
  const { server, ada, ofWorkspace, ofEndpoint, chosen, chosenThere } = await opened({ plans });
  const sent: [string, URLSearchParams][] = [];
  for (const path of [ofWorkspace, ofEndpoint]) sent.push([path, await form(ada, path, { maxLinks: "3" })]);
  // The plan changes while the forms are open.
  server.owner.execute("UPDATE workspace SET plan = 'free'");
  for (const [path, values] of sent) {
    for (const action of ["preview", "save"]) {
      values.set("action", action);
      const { status, text } = await ada.post(path, values);
      expect([status, text]).toEqual([
        403,
        expect.stringContaining("The plan free does not include own spam settings"),
      ]);
    }
    const { status, text } = await ada.get(path);
    expect([status, text]).toEqual([
      200,
      expect.stringContaining("the plan free does not include own spam settings"),
    ]);
  }
  expect([chosen(), chosenThere()]).toEqual([{}, {}]);
});

test("the second of two who edit the settings is told what changed, and loses nothing", async () => {
  const { server, ada, endpoint, ofWorkspace, chosen } = await opened();
  const sent = await form(ada, ofWorkspace, { action: "save", maxLinks: "3" });
  const theirs = { keywords: [{ word: HOSTILE, effect: 30 }] };
  server.owner.now(() => writeChoicesRow({ kind: "workspace", workspaceId: endpoint.workspaceId }, theirs));
  const refused = await ada.post(ofWorkspace, sent);
  expect(refused.status).toBe(409);
  expect(refused.text).not.toContain("<script>alert");
  expect(unescaped(refused.text)).toContain(`Now Words that speak for spam: ${JSON.stringify(HOSTILE)} = 30`);
  expect(chosen()).toEqual(theirs);
  const again = filled(refused.text, ofWorkspace, { action: "save" });
  expect(again.get("maxLinks")).toBe("3");
  expect((await ada.post(ofWorkspace, again)).status).toBe(303);
  expect(chosen()).toEqual({ maxLinks: 3 });
});

test("what belongs to another workspace is like what does not exist, on every route", async () => {
  const { server, ofWorkspace, ofEndpoint, chosen } = await opened();
  const bob = await visit(server, "bob@example.com");
  const unknown = ["workspaces/ws_", "endpoints/ep_"].map(
    (kind) => `/dashboard/spam/${kind}00000000000000000000000000`,
  );
  for (const path of [ofWorkspace, ofEndpoint, ...unknown]) {
    const answers = [await bob.get(path)];
    for (const action of ["preview", "save"])
      answers.push(await bob.post(path, { action, maxLinks: "3", shown: "{}" }));
    answers.push(await bob.post(path, { action: "save", maxLinks: "x" }));
    expect(answers.map(({ status }) => status)).toEqual([404, 404, 404, 404]);
  }
  expect(chosen()).toEqual({});
});

test("who has one workspace comes to it at once, and who has several chooses", async () => {
  const { server, ofWorkspace } = await opened();
  const ada = await visit(server);
  expect((await ada.get("/dashboard/spam")).headers["location"]).toBe(ofWorkspace);
  const further = server.owner.now(() =>
    insertWorkspaceRow("<script>alert(1)</script>", "ada@example.com", server.clock.now()),
  );
  const { status, text } = await ada.get("/dashboard/spam");
  expect(status).toBe(200);
  expect(text).not.toContain("<script>alert");
  expect(text).toContain(further.id);
  expect(server.owner.now(() => listWorkspaces())).toHaveLength(2);
});

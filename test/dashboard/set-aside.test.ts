import { expect, test } from "vitest";
import { getEndpoint, readSchema } from "../../src/endpoints/endpoint-store.ts";
import { addSubmission } from "../support/add-submission.ts";
import { addFormOwner } from "../support/form-owner.ts";
import { startServer } from "../support/test-server.ts";
import { visit } from "../support/visitor.ts";

const HEADING = "Not among the fields of the form";

async function world() {
  const server = await startServer();
  await visit(server);
  const ben = await addFormOwner(server, "ben@example.org");
  const cleo = await addFormOwner(server, "cleo@example.org");
  const add = (fields: Record<string, unknown>, dropped = 0): string =>
    addSubmission(server.owner, {
      endpointId: ben.endpoint.id,
      data: { name: "Ana", email: "ana@example.org" },
      setAside: { fields, dropped },
      createdAt: server.clock.now(),
    });
  const schema = () =>
    server.owner.now(function* () {
      return yield* readSchema(yield* getEndpoint(ben.endpoint.id));
    });
  return { server, ben, cleo, add, schema };
}

test("the page of a submission and the inbox show what is not among the fields, and that some had no room", async () => {
  const { ben, add } = await world();
  const id = add({ allergies: "peanuts", "person.age": 3 }, 2);
  const { text } = await ben.get(`/dashboard/submissions/${id}`);
  const shown = text.slice(text.indexOf(HEADING));
  expect(shown).toMatch(/<dt><bdi>allergies<\/bdi><\/dt>\s*<dd dir="auto">peanuts/);
  expect(shown).toMatch(/<dt><bdi>person\.age<\/bdi><\/dt>\s*<dd dir="auto">3/);
  expect(shown).toContain("2 more values had no room and are lost.");
  expect((await ben.get("/dashboard")).text).toContain("+ 2 not among the fields");
});

test("a submission of which nothing was set aside has no such part", async () => {
  const { server, ben } = await world();
  const id = addSubmission(server.owner, { endpointId: ben.endpoint.id, data: { name: "Ana" } });
  expect((await ben.get(`/dashboard/submissions/${id}`)).text).not.toContain(HEADING);
  expect((await ben.get("/dashboard")).text).not.toContain("not among the fields");
});

test("one click adds the field: the next post has it in its data, and a second click changes nothing", async () => {
  const { server, ben, add, schema } = await world();
  const id = add({ allergies: "peanuts" });
  const page = await ben.get(`/dashboard/submissions/${id}`);
  expect(page.text).toContain('aria-label="Add this field: allergies"');
  const press = () => ben.post(`/dashboard/submissions/${id}/add-field`, { name: "allergies" });
  const pressed = await press();
  expect([pressed.status, pressed.headers["location"]]).toEqual([
    303,
    `/dashboard/submissions/${id}?notice=field-added`,
  ]);
  expect(schema()["allergies"]).toEqual({ type: "string" });
  expect((await ben.get(pressed.headers["location"] ?? "")).text).toContain("is a field by now");
  const version = server.owner.now(() => getEndpoint(ben.endpoint.id)).schemaVersion;
  expect((await press()).headers["location"]).toContain("notice=field-there");
  expect(server.owner.now(() => getEndpoint(ben.endpoint.id)).schemaVersion).toBe(version);
  const body = { name: "Ana", email: "ana@example.org", allergies: "nuts" };
  expect((await server.post(ben.endpoint.secret, body)).status).toBe(200);
  expect(server.stored(ben.endpoint.id).at(-1)).toMatchObject({ allergies: "nuts" });
});

test("a field that cannot be added says why, and changes nothing", async () => {
  const { ben, add, schema } = await world();
  const before = schema();
  const id = add({ ["n".repeat(101)]: "x", "deep.x": "y", gone: null });
  for (const name of ["n".repeat(101), "deep.x", "gone"]) {
    const pressed = await ben.post(`/dashboard/submissions/${id}/add-field`, { name });
    expect(pressed.headers["location"]).toContain("notice=field-not-added");
  }
  expect((await ben.post(`/dashboard/submissions/${id}/add-field`, { name: "other" })).status).toBe(404);
  expect(schema()).toEqual(before);
});

test("nobody else adds a field", async () => {
  const { cleo, add, schema } = await world();
  const before = schema();
  const id = add({ allergies: "peanuts" });
  const pressed = await cleo.post(`/dashboard/submissions/${id}/add-field`, { name: "allergies" });
  expect(pressed.status).toBe(404);
  expect(schema()).toEqual(before);
});

test("names and values of strangers become no markup", async () => {
  const { ben, add } = await world();
  const hostile = `"><script>alert(1)</script>\u202e`;
  const id = add({ [hostile]: hostile });
  for (const path of [`/dashboard/submissions/${id}`, "/dashboard"]) {
    const { text } = await ben.get(path);
    expect(text).not.toContain("<script>alert");
    expect(text).not.toContain("\u202e");
  }
});

test("if all of a post was set aside, lists name it by that", async () => {
  const { server, ben } = await world();
  const id = addSubmission(server.owner, {
    endpointId: ben.endpoint.id,
    data: {},
    setAside: { fields: { name: "Grace Hopper" }, dropped: 0 },
    createdAt: server.clock.now(),
  });
  expect((await ben.get("/dashboard")).text).toContain("Grace Hopper");
  expect((await ben.get(`/dashboard/submissions/${id}`)).text).toContain(
    '<h1 class="stranger"><bdi>Grace Hopper',
  );
});

test("whoever removes a field reads what becomes of an input that a page still sends for it", async () => {
  const { server, ben } = await world();
  const set = server.owner.prepare("UPDATE endpoint SET unknown_fields = ? WHERE id = ?");
  const told: Readonly<Record<string, string>> = {
    "set-aside": "is set aside, and shown below the post",
    drop: "is left out",
    keep: "is kept, and not checked any more",
    reject: "is refused. Posts that came before",
  };
  for (const [setting, words] of Object.entries(told)) {
    set.run(setting, ben.endpoint.id);
    const { text } = await ben.get(`/dashboard/endpoints/${ben.endpoint.id}/fields`);
    expect(text.replaceAll(/\s+/g, " "), setting).toContain(words);
  }
});

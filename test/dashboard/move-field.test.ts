import { expect, test } from "vitest";
import { getEndpoint, readSchema } from "../../src/endpoints/endpoint-store.ts";
import { exampleSchema } from "../support/example-schema.ts";
import { formOf } from "../support/page.ts";
import { startServer } from "../support/test-server.ts";
import { visit } from "../support/visitor.ts";

test("a field that was moved stays where it was moved to, and saving again changes nothing", async () => {
  const server = await startServer();
  const ada = await visit(server);
  const { id } = await server.addEndpoint();
  const fields = `/dashboard/endpoints/${id}/fields`;
  const names = () =>
    server.owner.now(function* () {
      return Object.keys(yield* readSchema(yield* getEndpoint(id)));
    });
  const asShown = async (): Promise<URLSearchParams> =>
    new URLSearchParams([...formOf((await ada.get(fields)).text, fields).values]);
  const press = (form: URLSearchParams, action: string) =>
    ada.post(fields, { ...Object.fromEntries(form), action });
  const [first, second, ...others] = Object.keys(exampleSchema);

  const opened = await asShown();
  const moved = formOf((await press(opened, "down-0")).text, fields).values;
  const saved = await press(new URLSearchParams([...moved]), "save");
  expect(saved.headers["location"]).toBe(`${fields}?notice=fields-saved`);
  expect(names()).toEqual([second, first, ...others]);
  expect((await press(await asShown(), "save")).headers["location"]).toBe(`${fields}?notice=nothing-changed`);

  const late = await press(opened, "save");
  expect([late.status, late.text.includes("the fields stand in another order")]).toEqual([409, true]);
  expect(names()).toEqual([second, first, ...others]);
});

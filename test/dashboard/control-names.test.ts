import { expect, test } from "vitest";
import { endpointJson } from "../../src/endpoints/endpoint-json.ts";
import { getEndpoint } from "../../src/endpoints/endpoint-store.ts";
import { formOf } from "../support/page.ts";
import { startServer } from "../support/test-server.ts";
import { visit } from "../support/visitor.ts";

test("each control of a form's settings has the name of the member of the endpoint's JSON that it sets", async () => {
  const server = await startServer();
  const ada = await visit(server);
  const { id } = await server.addEndpoint();
  const path = `/dashboard/endpoints/${id}`;
  const sent = formOf((await ada.get(path)).text, path).values;
  const names = [...sent.keys()].filter((name) => name !== "shown");
  const members = Object.keys(endpointJson(server.owner.now(() => getEndpoint(id))));
  expect(names).toContain("allowed_origins");
  expect(names.filter((name) => !members.includes(name))).toEqual([]);
});

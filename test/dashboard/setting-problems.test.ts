import { expect, test } from "vitest";
import { furnish } from "../support/owner-home.ts";
import { formOf, unescaped } from "../support/page.ts";
import { startServer } from "../support/test-server.ts";

const PLAN = { plans: { hobby: { customSpam: true } } };

/** The problems of a page as its readers meet them: in the list at the top, and beside the fields by the ids of these. */
function problemsIn(text: string) {
  const top = /<div class="notice bad"[^>]* role="alert">(.*?)<\/div>/s.exec(text)?.[1] ?? "";
  return {
    top: [...top.matchAll(/<li><a href="#([\w-]+)">(.*?)<\/a>/gs)].map(([, id, said = ""]) => [
      id,
      unescaped(said),
    ]),
    beside: [...text.matchAll(/<p class="problem" id="([\w-]+)-problem">(.*?)<\/p>/gs)].map(
      ([, id, said = ""]) => [id, unescaped(said)],
    ),
  };
}

test("what is wrong with a setting stands beside it without its name, and with it at the top of the page", async () => {
  const server = await startServer(PLAN);
  const { visitor, endpointId, workspaceId } = await furnish(server, "ada@example.com");
  const send = async (path: string, action: string, typed: Record<string, string>) => {
    const form = formOf((await visitor.get(path)).text, action);
    return visitor.post(form.action, { ...Object.fromEntries(form.values), ...typed });
  };

  const path = `/dashboard/endpoints/${endpointId}`;
  const settings = await send(path, path, { name: " ", keep_days: "-3", action: "save" });
  expect(settings.status).toBe(422);
  expect(problemsIn(settings.text)).toEqual({
    top: [
      ["f-name", "Give the form a name."],
      ["f-keep_days", "Days that posts are kept: Expected 1 to 36500 days."],
    ],
    beside: [
      ["f-name", "Give the form a name."],
      ["f-keep_days", "Expected 1 to 36500 days."],
    ],
  });

  const filter = `/dashboard/spam/workspaces/${workspaceId}`;
  const spam = await send(filter, filter, { maxLinks: "many", action: "save" });
  expect(spam.status).toBe(422);
  expect(problemsIn(spam.text)).toEqual({
    top: [["f-maxLinks", "Links that cost nothing: Expected a whole number from 0 to 1000."]],
    beside: [["f-maxLinks", "Expected a whole number from 0 to 1000."]],
  });
});

import { expect, test } from "vitest";
import { addMember, EDITOR, READER } from "../support/members.ts";
import { startServer } from "../support/test-server.ts";
import { applicationSchema, pdf, postFiles, storedFiles } from "../support/uploads.ts";
import { visit } from "../support/visitor.ts";

async function world(membership: typeof READER) {
  const server = await startServer();
  await visit(server);
  const { secret, workspaceId } = await server.addEndpoint({ schema: applicationSchema });
  const { id, files } = await postFiles(server, secret, [
    ["name", "Ana"],
    ["cv", { name: "cv.pdf", bytes: pdf() }],
    ["cv", { name: "letter.pdf", bytes: pdf(3000, "b") }],
  ]);
  await addMember(server.owner, workspaceId, "bo@example.com", membership);
  const bo = await visit(server, "bo@example.com");
  const page = `/dashboard/submissions/${id}`;
  return { server, bo, page, first: files[0]?.id ?? "", second: files[1]?.id ?? "" };
}

test("an editor deletes a file on the submission's page; its name and size stay, and the other file too", async () => {
  const { server, bo, page, first, second } = await world(EDITOR);
  const action = `${page}/files/${first}/delete`;
  expect((await bo.get(page)).text).toContain(`action="${action}"`);
  const answer = await bo.post(action);
  expect([answer.status, answer.headers["location"]]).toEqual([303, `${page}?notice=file-deleted`]);
  const { text } = await bo.get(`${page}?notice=file-deleted`);
  expect(text).toContain("The file is deleted for good.");
  expect(text).toContain("not kept any more");
  expect(text).not.toContain(`href="${page}/files/${first}"`);
  expect((await bo.get(`${page}/files/${first}`)).status).toBe(410);
  expect((await bo.get(`${page}/files/${second}`)).status).toBe(200);
  expect((await bo.post(action)).status).toBe(410);
  expect(storedFiles(server.owner).files.map(({ id }) => id)).toEqual([second]);
});

test("a reader saves files and deletes none", async () => {
  const { server, bo, page, first } = await world(READER);
  const { text } = await bo.get(page);
  expect(text).toContain(`href="${page}/files/${first}"`);
  expect(text).not.toContain(`action="${page}/files/`);
  expect((await bo.get(`${page}/files/${first}`)).status).toBe(200);
  expect((await bo.post(`${page}/files/${first}/delete`)).status).toBe(403);
  expect(storedFiles(server.owner).files).toHaveLength(2);
});

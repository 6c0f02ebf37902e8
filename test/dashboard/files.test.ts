import { inflateRawSync } from "node:zlib";
import { expect, test } from "vitest";
import { listChanges } from "../../src/audit/audit-store.ts";
import { readZipMembers } from "../../src/files/zip-members.ts";
import { MISSING_NAME } from "../../src/submissions/export/archive-files.ts";
import { addMember, EDITOR, READER } from "../support/members.ts";
import { EICAR, scriptedClamd } from "../support/scripted-clamd.ts";
import { startServer, type TestServer } from "../support/test-server.ts";
import { until } from "../support/until.ts";
import { applicationSchema, pdf, PNG, postFiles, storedFiles } from "../support/uploads.ts";
import { visit, type Visitor } from "../support/visitor.ts";

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
  // A value keeps its spaces, so one behind the list would be an empty line.
  expect(text).toContain("</ul></dd>");
  expect(text).not.toContain(`href="${page}/files/${first}"`);
  expect((await bo.get(`${page}/files/${first}`)).status).toBe(410);
  expect((await bo.get(`${page}/files/${second}`)).status).toBe(200);
  expect((await bo.post(action)).status).toBe(410);
  expect(storedFiles(server.owner).files.map(({ id }) => id)).toEqual([second]);
  const changes = server.owner.now(() => listChanges(10)).filter(({ action }) => action === "file.delete");
  expect(changes).toEqual([
    expect.objectContaining({
      subject: first,
      actor: expect.objectContaining({ email: "bo@example.com" }) as object,
    }),
  ]);
});

test("a file comes with headers under which it can run nowhere, and only what every browser shows is a picture", async () => {
  const server = await startServer({ files: { maxFiles: 6 } });
  const ada = await visit(server);
  const schema = { papers: { type: "file", maxFiles: 6, accept: [".pdf", "image/*"] } } as const;
  const { secret } = await server.addEndpoint({ schema });
  const tiff = Buffer.concat([Buffer.from("49492a00080000000000", "hex"), Buffer.alloc(64)]);
  const gif = Buffer.concat([Buffer.from("GIF89a"), Buffer.alloc(64)]);
  const jpeg = Buffer.concat([Buffer.from("ffd8ffe000104a46494600", "hex"), Buffer.alloc(64)]);
  const webp = Buffer.concat([Buffer.from("RIFF\x40\0\0\0WEBPVP8 "), Buffer.alloc(64)]);
  const { id, files } = await postFiles(server, secret, [
    ["papers", { name: "a.png", bytes: PNG }],
    ["papers", { name: "b.pdf", bytes: pdf() }],
    ["papers", { name: "c.tiff", bytes: tiff }],
    ["papers", { name: "d.gif", bytes: gif }],
    ["papers", { name: "e.jpg", bytes: jpeg }],
    ["papers", { name: "f.webp", bytes: webp }],
  ]);
  expect(files.map(({ type }) => type)).toEqual([
    "image/png",
    "application/pdf",
    "image/tiff",
    "image/gif",
    "image/jpeg",
    "image/webp",
  ]);
  const addresses = files.map((file) => `/dashboard/submissions/${id}/files/${file.id}`);
  for (const [index, address] of addresses.entries())
    expect((await ada.get(address)).headers).toMatchObject({
      "content-type": files[index]?.type,
      "content-disposition": expect.stringMatching(/^attachment; filename="/),
      "x-content-type-options": "nosniff",
      "content-security-policy": "default-src 'none'; sandbox",
      "cache-control": "no-store",
      "cross-origin-resource-policy": "same-origin",
    });
  const { text } = await ada.get(`/dashboard/submissions/${id}`);
  expect(addresses.map((address) => text.includes(`<img src="${address}"`))).toEqual([
    true,
    false,
    false,
    true,
    true,
    true,
  ]);
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

/** The members of an archive that the dashboard gives, with their bytes. */
async function archiveAt(
  server: TestServer,
  { cookie }: Visitor,
  path: string,
): Promise<Record<string, Buffer>> {
  const answer = await fetch(`${server.url}${path}`, { headers: { cookie } });
  expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "application/zip"]);
  const bytes = Buffer.from(await answer.arrayBuffer());
  const read = (from: number, length: number) => Promise.resolve(bytes.subarray(from, from + length));
  const found = (await readZipMembers({ size: bytes.length, read })) ?? [];
  return Object.fromEntries(
    found.map(({ name, offset, packedBytes }) => {
      const begun = offset + 30 + bytes.readUInt16LE(offset + 26) + bytes.readUInt16LE(offset + 28);
      return [name, inflateRawSync(bytes.subarray(begun, begun + packedBytes))];
    }),
  );
}

test("all files of a submission, and those of all that fit the inbox's filter, are saved as one archive", async () => {
  const server = await startServer();
  const ada = await visit(server);
  const { secret } = await server.addEndpoint({ schema: applicationSchema });
  const post = (name: string, files: readonly (readonly [string, Buffer])[]) =>
    postFiles(server, secret, [
      ["name", name],
      ...files.map(([file, bytes]) => ["cv", { name: file, bytes }] as const),
    ]);
  const [cv, other] = [pdf(600_000), pdf(3000, "b")];
  const ana = await post("Ana", [
    ["cv.pdf", cv],
    ["CV.pdf", other],
  ]);
  const bo = await post("Bo", [["photo.png", PNG]]);
  const page = `/dashboard/submissions/${ana.id}`;
  expect((await ada.get(page)).text).toContain(`href="${page}/files.zip"`);
  const ofAna = { [`${ana.id}/cv.pdf`]: cv, [`${ana.id}/CV (2).pdf`]: other };
  expect(await archiveAt(server, ada, `${page}/files.zip`)).toEqual(ofAna);
  expect((await ada.get("/dashboard")).text).toContain('href="/dashboard/export.zip"');
  const all = { ...ofAna, [`${bo.id}/photo.png`]: PNG };
  expect(await archiveAt(server, ada, "/dashboard/export.zip")).toEqual(all);
  expect(await archiveAt(server, ada, "/dashboard/export.zip?q=Bo")).toEqual({ [`${bo.id}/photo.png`]: PNG });
  expect(await archiveAt(server, ada, "/dashboard/export.zip?q=nobody")).toEqual({});
});

test("the page of a submission in the bin still gives its files, and no archive of the inbox has them", async () => {
  const { server, bo, page, first } = await world(EDITOR);
  expect(Object.keys(await archiveAt(server, bo, "/dashboard/export.zip"))).toHaveLength(2);
  const ticked = new URLSearchParams({ do: "delete", id: page.split("/").at(-1) ?? "" });
  expect((await bo.post("/dashboard/bulk", ticked)).status).toBe(303);
  expect(server.owner.prepare("SELECT count(*) FROM submission_bin").pluck().get()).toBe(1);
  expect((await bo.get(page)).text).toContain(`href="${page}/files/${first}"`);
  expect((await bo.get(`${page}/files/${first}`)).status).toBe(200);
  expect(Object.keys(await archiveAt(server, bo, `${page}/files.zip`))).toHaveLength(2);
  expect(await archiveAt(server, bo, "/dashboard/export.zip")).toEqual({});
});

test("an archive of files is for who sees the submission, and all files at once for who may export", async () => {
  const { server, bo, page, first, second } = await world({ ...READER, mayExport: false });
  expect(Object.keys(await archiveAt(server, bo, `${page}/files.zip`))).toHaveLength(2);
  // A workspace of one's own is left.
  expect(await archiveAt(server, bo, "/dashboard/export.zip")).toEqual({});
  const eve = await visit(server, "eve@example.com");
  expect((await eve.get(`${page}/files.zip`)).status).toBe(404);
  server.owner.prepare("UPDATE file SET submission_id = NULL WHERE id IN (?, ?)").run(first, second);
  expect((await bo.get(`${page}/files.zip`)).status).toBe(410);
});

test("an archive names the files that it lacks with what became of them, and there is none of a submission without a file", async () => {
  const clamd = await scriptedClamd();
  const gate = Promise.withResolvers<void>();
  clamd.before = () => gate.promise;
  const server = await startServer({ files: { clamd: clamd.url } });
  const ada = await visit(server);
  const { secret } = await server.addEndpoint({ schema: applicationSchema });
  const infected = Buffer.concat([pdf(3000, "b"), Buffer.from(EICAR)]);
  const post = (name: string, ...files: (readonly [string, Buffer])[]) =>
    postFiles(server, secret, [
      ["name", name],
      ...files.map(([file, bytes]) => ["cv", { name: file, bytes }] as const),
    ]);
  const ana = await post("Ana", ["cv.pdf", pdf()], ["letter.pdf", infected]);
  const bo = await post("Bo", ["bad.pdf", infected]);
  const zipOf = (id: string): string => `/dashboard/submissions/${id}/files.zip`;
  expect((await ada.get(zipOf(ana.id))).status).toBe(409);
  const waiting = await archiveAt(server, ada, "/dashboard/export.zip");
  expect(Object.keys(waiting)).toEqual([MISSING_NAME]);
  expect(waiting[MISSING_NAME]?.toString()).toContain(`${bo.id}: bad.pdf (3 KB, being scanned for viruses)`);

  gate.resolve();
  const pageOf = async (id: string): Promise<string> => (await ada.get(`/dashboard/submissions/${id}`)).text;
  await until(async () => ![await pageOf(ana.id), await pageOf(bo.id)].join("").includes("being scanned"));
  const verdict = "deleted: it had the virus Eicar-Test-Signature";
  expect(await pageOf(bo.id)).toContain(verdict);
  const lines = [`${ana.id}: letter.pdf (3 KB, ${verdict})\n`, `${bo.id}: bad.pdf (3 KB, ${verdict})\n`];
  expect(await archiveAt(server, ada, zipOf(ana.id))).toEqual({
    [`${ana.id}/cv.pdf`]: pdf(),
    [MISSING_NAME]: Buffer.from(lines[0] ?? ""),
  });
  expect((await ada.get(zipOf(bo.id))).status).toBe(410);
  const all = await archiveAt(server, ada, "/dashboard/export.zip");
  expect(all[MISSING_NAME]?.toString()).toBe(lines.join(""));
});

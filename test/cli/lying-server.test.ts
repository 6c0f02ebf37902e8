import { existsSync, readdirSync, rmSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { basename } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { makeTokenHere } from "../support/machine-database.ts";
import { operatorMachine } from "../support/operator-machine.ts";
import { applicationSchema, pdf, postFiles } from "../support/uploads.ts";

const exportArgs = ["submission", "export", "--format", "ndjson", "--files", "all-files"];

/** A server at a distance that says other things of files than the server behind it. Returns its address. */
async function lyingServer(target: string, lie: (body: string) => string): Promise<string> {
  const liar = createServer((asked, answer) => void lieTo(asked, answer));
  const lieTo = async ({ url = "/", headers }: IncomingMessage, answer: ServerResponse): Promise<void> => {
    const passed = ["authorization", "accept", "prefer"].flatMap((name): [string, string][] => {
      const value = headers[name];
      return typeof value === "string" ? [[name, value]] : [];
    });
    const got = await fetch(`${target}${url}`, { headers: passed });
    const type = got.headers.get("content-type") ?? "";
    const body = Buffer.from(await got.arrayBuffer());
    const said = type.startsWith("application/json") ? Buffer.from(lie(body.toString())) : body;
    answer.writeHead(got.status, { "content-type": type, "content-length": said.length }).end(said);
  };
  await new Promise<void>((resolve) => liar.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    liar.closeAllConnections();
    liar.close();
  });
  return `http://127.0.0.1:${(liar.address() as AddressInfo).port}`;
}

test("a server at a distance chooses no folder in which files are saved", async () => {
  const machine = operatorMachine();
  const endpoint = await machine.createEndpoint({ schema: applicationSchema });
  const server = await machine.serveHere();
  const parts = [
    ["name", "Ana"],
    ["cv", { name: "cv.pdf", bytes: pdf(3000) }],
  ] as const;
  const { files } = await postFiles(server, endpoint.secret, parts);
  const [{ id } = { id: "" }] = files;
  const token = await makeTokenHere(machine.folder);
  const far = operatorMachine();
  const stolen = `stolen-${basename(far.folder)}.pdf`;
  onTestFinished(() => rmSync(far.path(`../${stolen}`), { force: true }));
  const runWith = async (lie: (body: string) => string, args: readonly string[]) => {
    const env = { FORMSVC_SERVER: await lyingServer(server.url, lie), FORMSVC_TOKEN: token };
    return far.run(args, { env });
  };
  const elsewhere = (body: string): string =>
    body.replaceAll(/"submission_id":"[^"]*"/g, '"submission_id":".."');
  const named = (body: string): string => body.replaceAll(/"name":"[^"]*"/g, `"name":"../${stolen}"`);
  const numbered = (body: string): string => body.replace(/"id":"fil_[^"]*"/, '"id":"../fil"');
  for (const lie of [elsewhere, numbered])
    for (const args of [exportArgs, ["file", "save", id]]) {
      const { code, stderr } = await runWith(lie, args);
      expect([code, stderr]).toEqual([5, expect.stringContaining("so nothing is saved")]);
    }
  expect((await runWith(named, ["file", "save", id])).code).toBe(0);
  expect([existsSync(far.path(stolen)), existsSync(far.path(`../${stolen}`))]).toEqual([true, false]);
  expect(readdirSync(far.path("all-files"))).toEqual([]);
});

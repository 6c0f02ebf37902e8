import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { ROUTES } from "../../src/api/routes.ts";
import { terminalAtDistance } from "../../src/cli/remote/distant-terminal.ts";
import { FormsvcError } from "../../src/foundation/errors.ts";
import { listAllWorkspaces } from "../../src/workspaces/workspace-operations.ts";

/** A terminal whose server gives these answers. */
async function terminalTo(answer: RequestListener) {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return terminalAtDistance({ origin, token: "fat_1" }, { progress: () => undefined });
}

const none = (): never => undefined as never;

/** What the terminal says to each operation that has an address, by the operation's name; "taken" if it takes the answer. */
async function saidToEach(answer: RequestListener): Promise<Record<string, string>> {
  const terminal = await terminalTo(answer);
  const said: Record<string, string> = {};
  for (const { operation, path, takesFile } of ROUTES) {
    const named = [...path.matchAll(/:(\w+)/g)].map(([, name]) => [name, "x"] as const);
    const input = Object.fromEntries(named) as never;
    try {
      if (operation.kind === "stream") for await (const _ of await terminal.stream(operation, input, none));
      else if (takesFile)
        await terminal.bring(operation, input, { name: "x", bytes: async function* () {} } as never);
      else await terminal.perform(operation, input, none);
      said[operation.name] = "taken";
    } catch (error) {
      said[operation.name] = error instanceof FormsvcError ? error.code : String(error);
    }
  }
  return said;
}

/** A schema is any object, and a call that was noted tells nothing. */
const ANY_OBJECT = new Set(["schema.show", "mcp.called"]);

test.each([
  ["an object without members", "application/json", "{}"],
  ["a list of something else", "application/json", '{"data":[{}],"next_cursor":null}'],
  ["lines of something else", "application/x-ndjson", '{"a":1}\n'],
  ["a page", "text/html", "<html>Sign in</html>"],
  ["nothing", "text/html", ""],
])("no operation takes %s for its answer", async (_what, type, body) => {
  const said = await saidToEach((_asked, reply) => {
    if (body === "") reply.writeHead(204).end();
    else reply.writeHead(200, { "content-type": type }).end(body);
  });
  const taken = Object.keys(said).filter((name) => said[name] !== "unavailable");
  const isObject = type === "application/json";
  expect(taken.toSorted()).toEqual(isObject ? [...ANY_OBJECT].toSorted() : []);
});

test.each([
  [502, "unavailable", "a proxy answers in its place; is the server running?"],
  [504, "unavailable", "a proxy answers in its place; is the server running?"],
  [404, "not_found", "is it the address of a server of formsvc?"],
])("a page with the status %i says what to look at", async (status, code, advice) => {
  const terminal = await terminalTo((_asked, reply) => reply.writeHead(status).end("<h1>nginx</h1>"));
  await expect(terminal.perform(listAllWorkspaces, {})).rejects.toMatchObject({
    code,
    message: expect.stringContaining(`(status ${status}): ${advice}`) as string,
  });
});

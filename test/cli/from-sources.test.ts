import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import { operatorMachine } from "../support/operator-machine.ts";
import { post } from "../support/posts.ts";

/** The other tests of commands run the sources as one script. */
const fromSources = { fromSources: true };

test("npm start runs a command from the sources", () => {
  const root = fileURLToPath(new URL("../..", import.meta.url));
  const { status, stdout } = spawnSync("npm", ["start", "--silent", "--", "version", "--json"], {
    cwd: root,
    encoding: "utf8",
  });
  expect({ status, version: JSON.parse(stdout) }).toMatchObject({
    status: 0,
    version: { version: manifest.version },
  });
});

test("from the sources, a server stores a post that the bundled commands list", async () => {
  const machine = operatorMachine();
  await machine.mustRun(["init"], fromSources);
  const endpoint = await machine.createEndpoint();
  const server = await machine.serve(fromSources);
  await post(server.url, endpoint.secret);
  expect(await server.stop()).toBe(0);
  const { data } = await machine.json<{ data: unknown[] }>(["submission", "list", "--endpoint", endpoint.id]);
  expect(data).toHaveLength(1);
});

test("from the sources, bad usage ends with 2 and a sentence", async () => {
  const { code, stdout, stderr } = await operatorMachine().run(["endpoint", "look"], fromSources);
  expect([code, stdout, stderr]).toEqual([
    2,
    "",
    expect.stringMatching(/^formsvc: unknown command 'look'\n/),
  ]);
});

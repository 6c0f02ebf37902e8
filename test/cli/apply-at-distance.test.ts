import { expect, test } from "vitest";
import { makeTokenHere } from "../support/machine-database.ts";
import { emptyMachine, operatorMachine } from "../support/operator-machine.ts";

const FORMS = {
  version: 1,
  workspaces: [
    { name: "W", endpoints: ["A", "B", "C", "D"].map((name) => ({ name, schema: {}, keep_days: 30 })) },
  ],
};

/** A machine that keeps its forms on a server with this limit of requests, and the environment of its commands. */
async function limitedTo(token: { max: number; windowSeconds: number }) {
  const server = operatorMachine({ rateLimit: { token } });
  const { url } = await server.serveHere();
  const env = { FORMSVC_SERVER: url, FORMSVC_TOKEN: await makeTokenHere(server.folder) };
  const away = emptyMachine();
  away.write("forms.json", FORMS);
  return { away, env };
}

test("a file whose forms need more requests than the server takes at once is applied, and exported", async () => {
  const { away, env } = await limitedTo({ max: 10, windowSeconds: 1 });
  const run = (...args: string[]) => away.run(args, { env });
  expect(await run("apply", "forms.json", "--env")).toMatchObject({ code: 0 });
  const again = await run("apply", "forms.json");
  expect([again.code, again.stderr]).toEqual([
    0,
    expect.stringMatching(/going on in 1 s\n.*nothing to change/s),
  ]);
  const exported = await run("export-config", "--json");
  expect(exported.code).toBe(0);
  const { workspaces } = JSON.parse(exported.stdout) as typeof FORMS;
  expect(workspaces[0]?.endpoints.map(({ name }) => name)).toEqual(["A", "B", "C", "D"]);
});

test("a limit that ends in more than two minutes is told at once", async () => {
  const { away, env } = await limitedTo({ max: 3, windowSeconds: 3600 });
  const ran = await away.run(["apply", "forms.json", "--env"], { env });
  expect([ran.code, ran.stderr]).toEqual([
    1,
    expect.stringMatching(/too many requests; try again in 3\d{3} s/),
  ]);
});

import { createServer } from "node:net";
import { once } from "node:events";
import { beforeAll, describe, expect, test } from "vitest";
import { loseFirstServer } from "../support/lose-server.ts";
import { operatorMachine, type OperatorMachine } from "../support/operator-machine.ts";
import { patiently } from "../support/posts.ts";
import { startMailServer } from "../support/smtp-servers.ts";
import {
  addressInCluster,
  hasPostgresql,
  openForTest,
  temporaryAddress,
} from "../support/temporary-postgresql.ts";
import { until } from "../support/until.ts";

const ADA = "ada@example.com";
const PASSWORD = "correct horse battery";

const ENGINES = [
  { name: "a file", database: async () => ({}), loseServer: async () => undefined },
  ...(hasPostgresql
    ? [
        {
          name: "PostgreSQL",
          database: async () => ({ url: await temporaryAddress() }),
          loseServer: async ({ url }: { url?: string }) => loseFirstServer(await openForTest(url ?? "")),
        },
      ]
    : []),
];

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  return typeof address === "object" && address !== null ? address.port : 0;
}

function post(url: string, path: string, form: Record<string, string>, cookie = ""): Promise<Response> {
  return patiently(() =>
    fetch(`${url}/dashboard${path}`, {
      method: "POST",
      headers: { "sec-fetch-site": "same-origin", cookie },
      body: new URLSearchParams(form),
      redirect: "manual",
    }),
  );
}

/** Signs in with a link of the command line; the cookie. */
async function signIn(machine: OperatorMachine, url: string): Promise<string> {
  const link = await machine.json<{ url: string }>(["account", "sign-in-link", ADA]);
  const token = new URL(link.url).hash.slice(1);
  const answer = await post(url, "/sign-in/link", { token, new_password: PASSWORD });
  expect(answer.status).toBe(303);
  return answer.headers.get("set-cookie")?.split(";")[0] ?? "";
}

describe.each(ENGINES)("on $name", ({ database, loseServer }) => {
  beforeAll(async () => {
    // The shared cluster may have to be started first.
    if (hasPostgresql) await addressInCluster("postgres");
  }, 120_000);

  test("a server that is killed after a password was changed tells the owner when it is back, once", async () => {
    const port = await freePort();
    const machine = operatorMachine();
    const place = await database();
    machine.configure({
      database: place,
      server: { baseUrl: "http://127.0.0.1:8787" },
      mail: { host: "127.0.0.1", port, from: "forms@example.com" },
    });
    const first = await machine.serve();
    await machine.mustRun(["account", "create", ADA]);
    const cookie = await signIn(machine, first.url);
    const form = { password: PASSWORD, new_password: "another good password" };
    expect((await post(first.url, "/account/password", form, cookie)).status).toBe(303);
    await until(() => first.lines.some(({ event }) => event === "letter.delayed"));
    await first.stop("SIGKILL");
    await loseServer(place);
    const mail = await startMailServer({}, port);
    const second = await machine.serveHere();
    await until(() => mail.received.length > 0);
    await until(() => second.lines.some(({ event }) => event === "letter.sent"));
    expect(mail.received.map(({ to }) => to)).toEqual([[ADA]]);
    expect(String(mail.received[0]?.raw)).toContain("password was changed just now");
    await second.stop();
  });
});

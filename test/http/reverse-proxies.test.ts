import { spawn, spawnSync } from "node:child_process";
import { randomInt } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { createServer } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { type OperatorMachine, operatorMachine } from "../support/operator-machine.ts";
import { until } from "../support/until.ts";

const docs = readFileSync(new URL("../../docs/reverse-proxies.md", import.meta.url), "utf8");

function snippet(language: string): string {
  const text = new RegExp(`\`\`\`${language}\\n([^]*?)\`\`\``).exec(docs)?.[1];
  if (text === undefined) throw new Error(`docs/reverse-proxies.md has no ${language}`);
  return text;
}

/** Whether Debian's package is installed; a test that cannot run says so. */
function has(tool: string, flag: string): boolean {
  const found = spawnSync(tool, [flag]).error === undefined;
  if (!found) process.stderr.write(`NOT TESTED: ${tool} is not installed (apt-get install ${tool})\n`);
  return found;
}

/** Below the ports that a system gives to those who ask for any, so no other test is given it before the proxy listens. */
async function freePort(): Promise<number> {
  const port = randomInt(20_000, 30_000);
  const server = createServer();
  const isFree = await new Promise<boolean>((resolve) => {
    server.once("error", () => resolve(false)).listen(port, "127.0.0.1", () => resolve(true));
  });
  if (!isFree) return freePort();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

interface Answer {
  readonly status: number;
  readonly body: string;
}

/** A request from an address of its own, so that it can be told from the proxy's. */
function send(
  port: number,
  path: string,
  headers: Record<string, string> = {},
  body?: string,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request({
      host: "127.0.0.1",
      port,
      path,
      method: body === undefined ? "GET" : "POST",
      localAddress: "127.0.0.2",
      headers: { host: "forms.example.com", "content-type": "application/json", ...headers },
      agent: false,
    });
    sent.on("error", reject).on("response", (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (part: string) => (text += part));
      response.on("end", () => resolve({ status: response.statusCode ?? 0, body: text }));
    });
    sent.end(body);
  });
}

/** A server as the page configures it, and the proxy that `command` starts in front of it. */
async function behind(
  configure: (machine: OperatorMachine, proxyPort: number, port: string) => readonly [string, ...string[]],
) {
  const machine = operatorMachine();
  const { server } = JSON.parse(snippet("json")) as { server: Record<string, unknown> };
  machine.configure({ server: { ...server, port: 0 }, metrics: { enabled: true, listen: "127.0.0.1:0" } });
  const endpoint = await machine.createEndpoint();
  const running = await machine.serveHere();
  const proxyPort = await freePort();
  const [tool, ...args] = configure(machine, proxyPort, new URL(running.url).port);
  const proxy = spawn(tool, args, {
    cwd: machine.folder,
    stdio: "ignore",
    env: { ...process.env, HOME: machine.folder },
  });
  const ended = new Promise((resolve) => proxy.once("close", resolve));
  onTestFinished(async () => {
    proxy.kill();
    await ended;
  });
  await until(() =>
    send(proxyPort, "/healthz").then(
      ({ status }) => status === 200,
      () => false,
    ),
  );
  return { machine, endpoint, proxyPort };
}

async function observe({ machine, endpoint, proxyPort }: Awaited<ReturnType<typeof behind>>) {
  const authorization = `Bearer ${endpoint.publishable}`;
  const addressOf = async (headers: Record<string, string>): Promise<unknown> => {
    const body = JSON.stringify({ name: "Ada", email: "ada@example.org" });
    const answer = await send(proxyPort, "/submit", { authorization, ...headers }, body);
    const { submission_id: id = "" } = JSON.parse(answer.body) as { submission_id?: string };
    const shown = await machine.mustRun(["submission", "show", id, "--json"]);
    return (shown.json() as { ip_address: string }).ip_address;
  };
  const large = await send(proxyPort, "/submit", { authorization }, "x".repeat(100_000));
  return {
    plain: await addressOf({}),
    spoofed: await addressOf({ "x-forwarded-for": "203.0.113.9, 127.0.0.1" }),
    metrics: (await send(proxyPort, "/metrics")).status,
    large: [large.status, (JSON.parse(large.body) as { error: string }).error],
  };
}

/** The client's own address, nothing of the operator's, and the service's own words for what it refuses. */
const RIGHT = { plain: "127.0.0.2", spoofed: "127.0.0.2", metrics: 404, large: [413, "Payload too large"] };

test.skipIf(!has("caddy", "version"))(
  "behind the page's Caddy the client's own address is stored, whatever it claims",
  async () => {
    const setup = await behind((machine, proxyPort, port) => {
      const site = snippet("caddy").replace("forms.example.com", `http://forms.example.com:${proxyPort}`);
      const file = machine.path("Caddyfile");
      writeFileSync(file, `{\n\tadmin off\n}\n${site.replace("127.0.0.1:8787", `127.0.0.1:${port}`)}`);
      return ["caddy", "run", "--adapter", "caddyfile", "--config", file];
    });
    expect(await observe(setup)).toEqual(RIGHT);
  },
);

test.skipIf(!has("nginx", "-v"))(
  "behind the page's nginx the client's own address is stored, whatever it claims, and people can sign in",
  async () => {
    const setup = await behind((machine, proxyPort, port) => {
      const site = snippet("nginx")
        .replace("listen 443 ssl;", `listen 127.0.0.1:${proxyPort};`)
        .replaceAll(/^ *ssl_.*\n/gm, "")
        // The test's proxy has no certificate.
        .replace("$scheme", "https")
        .replace("127.0.0.1:8787", `127.0.0.1:${port}`);
      const folders = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
      const paths = folders.map((name) => `${name}_temp_path ${machine.path(name)};`).join(" ");
      const file = machine.path("nginx.conf");
      writeFileSync(
        file,
        `daemon off; master_process off; pid ${machine.path("pid")}; error_log stderr; events {}
       http { access_log off; ${paths} ${site} }`,
      );
      return ["nginx", "-p", machine.folder, "-c", file];
    });
    expect(await observe(setup)).toEqual(RIGHT);
    // People sign in over https only.
    expect((await send(setup.proxyPort, "/dashboard/sign-in")).status).toBe(200);
  },
);

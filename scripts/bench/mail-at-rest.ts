import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { type Figure, renderFigures } from "./figures.ts";
import { LOAD_CORE, median, processorMs, residentMb, type RunningServer, startServer } from "./processes.ts";
import { ENDPOINT, makeWorkplace, type Workplace } from "./workplace.ts";

/**
 * Measures what a server costs that has nothing to send, but has a mail server, an operator's address, a recipient and a digest: its memory
 * against a server without them, in interleaved starts, and its processor time after the first e-mail.
 * Usage: node scripts/bench/mail-at-rest.ts [STARTS] [SECONDS], after npm run build.
 */
const [starts = 7, seconds = 20] = process.argv.slice(2).map(Number);
/** The time until the garbage of the start is collected and its data are written. */
const REST_MS = 2500;

process.stdout.write(renderFigures(await measureAtRest()));

async function measureAtRest(): Promise<Figure[]> {
  const place = makeWorkplace();
  let receiver: RunningServer | null = null;
  try {
    receiver = await startReceiver(place);
    addRecipients(place);
    const grown: number[] = [];
    for (let round = 0; round < starts; round += 1) {
      const without = await restingMb(place, null);
      grown.push((await restingMb(place, receiver.port)) - without);
    }
    return [
      { figure: "memory at rest is larger by", value: median(grown), unit: "MB", bound: { atMost: 4 } },
      {
        figure: "processor share of an idle server",
        value: await measureIdle(place, receiver.port),
        unit: "%",
        bound: { atMost: 1 },
      },
      {
        figure: "the same without a mail server",
        value: await measureIdle(place, null),
        unit: "%",
        bound: null,
      },
    ];
  } finally {
    await receiver?.stop();
    place.remove();
  }
}

function startReceiver({ folder }: Workplace): Promise<RunningServer> {
  const script = fileURLToPath(new URL("mail-receiver.ts", import.meta.url));
  return startServer([process.execPath, script], join(folder, "receiver.log"), {}, LOAD_CORE);
}

/** Adds recipients to both kinds of server. Without a mail server they have no effect. */
function addRecipients({ run }: Workplace): void {
  for (const [address, digest] of [
    ["ada@example.org", "each"],
    ["team@example.org", "daily"],
  ] as const)
    run(
      "recipient",
      "add",
      address,
      "--quiet",
      "--endpoint",
      ENDPOINT,
      "--digest",
      digest,
      "--max-spam-score",
      "100",
    );
}

/** Starts a server. @param port the port of the mail server; null sends no e-mail */
async function serveWith(place: Workplace, port: number | null): Promise<RunningServer> {
  const settings = {
    FORMSVC_MAIL_HOST: "127.0.0.1",
    FORMSVC_MAIL_PORT: String(port),
    FORMSVC_MAIL_FROM: "forms@example.com",
    FORMSVC_MAIL_OPERATOR: "ops@example.com",
  };
  for (const name of Object.keys(settings)) delete process.env[name];
  if (port !== null) Object.assign(process.env, settings);
  return place.serve();
}

async function restingMb(place: Workplace, port: number | null): Promise<number> {
  const server = await serveWith(place, port);
  await sleep(REST_MS);
  const resident = residentMb(server.pid);
  await server.stop();
  return resident;
}

/** Measures the idle server after a post: everything is loaded, one connection stays open for a while, and a digest waits. */
async function measureIdle(place: Workplace, port: number | null): Promise<number> {
  const server = await serveWith(place, port);
  await runPost(server, place.request);
  await sleep(2 * REST_MS);
  const before = processorMs(server.pid);
  await sleep(seconds * 1000);
  const share = (processorMs(server.pid) - before) / (seconds * 10);
  await server.stop();
  return share;
}

async function runPost({ port }: RunningServer, request: string): Promise<void> {
  const [head = "", body = ""] = request.split("\r\n\r\n");
  const key = /Authorization: Bearer (\S+)/.exec(head)?.[1] ?? "";
  const headers = { "content-type": "application/json", authorization: `Bearer ${key}` };
  const { status } = await fetch(`http://127.0.0.1:${port}/submit`, { method: "POST", headers, body });
  if (status !== 200) throw new Error(`the post was answered ${status}`);
}

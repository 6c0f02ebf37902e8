import { fileURLToPath } from "node:url";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { SMTPServer } from "smtp-server";
import { LOAD_CORE, measure, median, runLoad, type RunningServer, startServer } from "./processes.ts";
import { ENDPOINT, makeWorkplace, type Workplace } from "./workplace.ts";

/**
 * Measures what one webhook and one recipient of e-mail together cost those who post: posts with both against posts without, in interleaved
 * rounds.
 * Usage: node scripts/bench/notified-posts.ts [ROUNDS] [SECONDS]
 */
const [rounds = 7, seconds = 3] = process.argv.slice(2).map(Number);
const CONNECTIONS = 64;
const WARM_UP_SECONDS = 6;
/** The wait for the messages of the round before. */
const REST_MS = 4000;

let mailed = 0;
const mailServer = new SMTPServer({
  authOptional: true,
  disabledCommands: ["STARTTLS"],
  onData(stream, _session, callback) {
    stream.resume();
    stream.on("end", () => {
      mailed += 1;
      callback(null, "queued");
    });
  },
});
mailServer.on("error", () => undefined);
await new Promise<void>((resolve) => {
  mailServer.listen(0, "127.0.0.1", resolve);
});
const address = mailServer.server.address();
Object.assign(process.env, {
  FORMSVC_MAIL_HOST: "127.0.0.1",
  FORMSVC_MAIL_PORT: String(typeof address === "object" ? address?.port : 0),
  FORMSVC_MAIL_FROM: "forms@example.com",
});

const [plain, notified] = [makeWorkplace(), makeWorkplace()];
const running: RunningServer[] = [];
try {
  running.push(await addRecipients(notified));
  const servers = { plain: await plain.serve(), notified: await notified.serve() };
  running.push(servers.plain, servers.notified);
  for (const place of [plain, notified])
    await runLoad(
      place === plain ? servers.plain : servers.notified,
      CONNECTIONS,
      WARM_UP_SECONDS,
      place.request,
    );
  await sleep(REST_MS);
  const rates: number[] = [];
  const costs: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const without = await measure(servers.plain, CONNECTIONS, seconds, plain.request);
    const withBoth = await measure(servers.notified, CONNECTIONS, seconds, notified.request);
    await sleep(REST_MS);
    rates.push(withBoth.requestsPerSecond / without.requestsPerSecond);
    costs.push(withBoth.processorUs / without.processorUs);
  }
  process.stdout.write(`posts with both over posts without, by round | ${median(rates).toFixed(2)}\n`);
  process.stdout.write(`processor time of a post, with both over without | ${median(costs).toFixed(2)}\n`);
  process.stdout.write(`e-mails that were sent | ${mailed}\n`);
} finally {
  await Promise.all(running.map((server) => server.stop()));
  for (const place of [plain, notified]) place.remove();
  mailServer.close();
}

async function addRecipients({ folder, run }: Workplace): Promise<RunningServer> {
  const script = fileURLToPath(new URL("webhook-receiver.ts", import.meta.url));
  const receiver = await startServer([process.execPath, script], join(folder, "receiver.log"), {}, LOAD_CORE);
  const url = `http://127.0.0.1:${receiver.port}/`;
  run("webhook", "create", "--endpoint", ENDPOINT, "--url", url, "--allow-private", "--json");
  run("recipient", "add", "ada@example.org", "--endpoint", ENDPOINT, "--max-spam-score", "100", "--json");
  return receiver;
}

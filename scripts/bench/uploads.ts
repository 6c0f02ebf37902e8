import { randomBytes } from "node:crypto";
import { execFile, execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { type Figure, renderFigures } from "./figures.ts";
import {
  leaveServerCore,
  median,
  residentMb,
  type RunningServer,
  runLoad,
  startServer,
} from "./processes.ts";
import { makeWorkplace, type Workplace } from "./workplace.ts";

/**
 * Measures what uploads cost others, and how fast they are: posts without files during 8 uploads of 5 MiB; the memory of 64 uploads of 25
 * MiB at once; the rate of uploads against a server that only reads a form and writes its file to the disk; and posts during a backup of
 * many files.
 * Usage: node scripts/bench/uploads.ts [ROUNDS] [MEGABYTES]
 */
const MEBIBYTE = 1_048_576;
const SECONDS = 6;
/**
 * The number of spells in which a rate and its floor take turns, because the speed of a shared disk changes from one second to the next.
 */
const SPELLS = 6;
/** The posts without files. They are a tenth of what a server can accept, so that their latency is not that of a queue. */
const POSTS = { connections: 16, rate: 400 };
const UPLOADERS = 8;
const CROWD = 64;

/** A form with files as a client sends it. */
interface Form {
  readonly type: string;
  readonly body: Buffer;
}

export interface Place extends Workplace {
  /** A secret key of a form that accepts files. */
  readonly key: string;
  /** The publishable key of the same form. */
  readonly publishable: string;
}

if (import.meta.main) {
  const [rounds = 3, megabytes = 1000] = process.argv.slice(2).map(Number);
  leaveServerCore();
  const place = makePlace();
  try {
    const server = await place.serve();
    const figures = [
      ...(await besideUploads(place, server, rounds)),
      await rateOverFloor(place, server, rounds),
    ];
    await server.stop();
    figures.push(...(await crowdOfUploads(place)), await duringBackup(place, megabytes));
    process.stdout.write(renderFigures(figures));
  } finally {
    place.remove();
  }
}

export function makePlace(): Place {
  const place = makeWorkplace();
  const schema = join(place.folder, "files.json");
  writeFileSync(schema, JSON.stringify({ name: { type: "string" }, cv: { type: "file", maxFiles: 3 } }));
  const made = place.run("endpoint", "create", "--name", "Uploads", "--schema", schema, "--json", "--quiet");
  const { keys } = JSON.parse(made) as { keys: { publishable: string; secret: string } };
  return { ...place, key: keys.secret, publishable: keys.publishable };
}

/** Makes a form with files of these sizes, in bytes. */
export async function formOf(...sizes: readonly number[]): Promise<Form> {
  const form = new FormData();
  form.append("name", "Ana");
  for (const size of sizes) {
    const bytes = randomBytes(size);
    bytes.write("%PDF-1.7\n", 0, "latin1");
    form.append("cv", new Blob([bytes]), "cv.pdf");
  }
  const response = new Response(form);
  const type = response.headers.get("content-type") ?? "";
  return { type, body: Buffer.from(await response.arrayBuffer()) };
}

/**
 * Sends a form from the client's own address, so that no two clients share the limit of an address. Returns the status; 0 if the connection
 * broke.
 */
function upload(port: number, key: string, form: Form, client: number): Promise<number> {
  return new Promise((resolve) => {
    const sent = request({
      port,
      host: "127.0.0.1",
      localAddress: `127.0.1.${client + 1}`,
      method: "POST",
      path: "/submit",
      headers: {
        authorization: `Bearer ${key}`,
        "content-type": form.type,
        "content-length": form.body.length,
      },
    });
    sent.on("response", (answer) => {
      answer.resume();
      answer.on("end", () => resolve(answer.statusCode ?? 0));
    });
    sent.on("error", () => resolve(0));
    sent.end(form.body);
  });
}

/** Ends the uploads, and returns how many were accepted. `taken` returns this number meanwhile. */
interface StopUploads {
  (): Promise<number>;
  readonly taken: () => number;
}

/** Uploads one form after the other from each client, until it is stopped. */
export function keepUploading(port: number, key: string, form: Form): StopUploads {
  const state = { isStopped: false };
  let taken = 0;
  const clients = Array.from({ length: UPLOADERS }, async (_, client) => {
    while (!state.isStopped) if ((await upload(port, key, form, client)) === 200) taken += 1;
  });
  const stop = async (): Promise<number> => {
    state.isStopped = true;
    await Promise.all(clients);
    return taken;
  };
  return Object.assign(stop, { taken: () => taken });
}

async function besideUploads(place: Place, server: RunningServer, rounds: number): Promise<Figure[]> {
  const form = await formOf(5 * MEBIBYTE);
  const [alone, beside]: [number[], number[]] = [[], []];
  const p99Ms = async (): Promise<number> => {
    // Data that were written before would otherwise still be on their way to the disk.
    execFileSync("sync");
    const load = { port: server.port, rate: POSTS.rate };
    return (await runLoad(load, POSTS.connections, SECONDS, place.request)).p99Ms;
  };
  // The first round does not count, because the server's code is not compiled yet.
  for (let round = 0; round <= rounds; round += 1) {
    const quiet = await p99Ms();
    const stop = keepUploading(server.port, place.key, form);
    const busy = await p99Ms();
    if ((await stop()) === 0) throw new Error("no upload was taken");
    if (round === 0) continue;
    alone.push(quiet);
    beside.push(busy);
  }
  const [quiet, busy] = [median(alone), median(beside)];
  return [
    { figure: "p99 of posts without files", value: quiet, unit: "ms", bound: null },
    {
      figure: `the same while ${UPLOADERS} uploads of 5 MiB run`,
      value: busy,
      unit: "ms",
      bound: { atMost: 2 * quiet },
    },
  ];
}

/** Measures the rate of one client, in bytes a second. */
async function rateOf(port: number, key: string, form: Form): Promise<number> {
  const startedAt = performance.now();
  let bytes = 0;
  while (performance.now() - startedAt < (1000 * SECONDS) / SPELLS) {
    if ((await upload(port, key, form, 0)) !== 200) throw new Error("an upload was refused");
    bytes += form.body.length;
  }
  return (bytes * 1000) / (performance.now() - startedAt);
}

async function rateOverFloor(place: Place, server: RunningServer, rounds: number): Promise<Figure> {
  const form = await formOf(5 * MEBIBYTE);
  const script = fileURLToPath(new URL("upload-floor.ts", import.meta.url));
  const command = [process.execPath, script, place.folder];
  const floor = await startServer(command, join(place.folder, "floor.log"), {});
  const shares: number[] = [];
  for (let spell = 0; spell < rounds * SPELLS; spell += 1) {
    const bare = await rateOf(floor.port, place.key, form);
    shares.push((await rateOf(server.port, place.key, form)) / bare);
  }
  await floor.stop();
  return {
    figure: "rate of uploads of 5 MiB over busboy to a file with fsync",
    value: median(shares),
    unit: "",
    bound: { atLeast: 0.4 },
  };
}

/** Sends 64 uploads of three files each, all at once, from 64 visitors of a page, to a server that has just started. */
async function crowdOfUploads(place: Place): Promise<Figure[]> {
  const server = await place.serve();
  const form = await formOf(10 * MEBIBYTE - 1, 10 * MEBIBYTE - 1, 5 * MEBIBYTE - 4096);
  const { port, pid } = server;
  await upload(port, place.publishable, await formOf(1000), 0);
  const rest = residentMb(pid);
  const crowd = Array.from({ length: CROWD }, (_, client) => upload(port, place.publishable, form, client));
  const statuses = await Promise.all(crowd);
  const most = Number(/^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);
  await server.stop();
  const taken = statuses.filter((status) => status === 200).length;
  return [
    {
      figure: `most memory during ${CROWD} uploads of 25 MiB at once, over rest`,
      value: most / 1024 - rest,
      unit: "MB",
      bound: { atMost: 64 },
    },
    { figure: `of these are taken at once`, value: taken, unit: "", bound: { atLeast: 8 } },
  ];
}

/** Compares posts during a backup of a database with this many megabytes of files with the posts just before. */
async function duringBackup(place: Place, megabytes: number): Promise<Figure> {
  const server = await place.serve();
  const form = await formOf(10 * MEBIBYTE - 1);
  for (let sent = 0; sent < megabytes; sent += 10)
    if ((await upload(server.port, place.key, form, 0)) !== 200) throw new Error("an upload was refused");
  const before = await runLoad(server, POSTS.connections, SECONDS, place.request);
  const state = { isMade: false };
  const args = ["backup", join(place.folder, "copy.db"), "--db", place.db, "--quiet"];
  const backup = promisify(execFile)(join(place.folder, "formsvc"), args).finally(
    () => (state.isMade = true),
  );
  let [posts, seconds] = [0, 0];
  while (!state.isMade) {
    const { requests } = await runLoad(server, POSTS.connections, 1, place.request);
    [posts, seconds] = [posts + requests, seconds + 1];
  }
  await backup;
  await server.stop();
  return {
    figure: `posts/s during a backup of a database with ${megabytes} MB of files, over before`,
    value: posts / seconds / before.requestsPerSecond,
    unit: "",
    bound: { atLeast: 0.5 },
  };
}

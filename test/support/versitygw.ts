import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { freePort } from "./postgresql-cluster.ts";
import { makeFolder } from "./temporary-folder.ts";
import { until } from "./until.ts";

const PROGRAM = join(
  process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"),
  "formsvc-tests/versitygw/versitygw",
);

/** Whether `scripts/install-versitygw.sh` built the server; otherwise the tests that need it are skipped. */
export const hasVersitygw: boolean = existsSync(PROGRAM);

if (!hasVersitygw) {
  process.stderr.write(
    "SKIPPED: files in a real S3 server, because Versity S3 Gateway is not here. Run scripts/install-versitygw.sh\n",
  );
}

/** A bucket of an S3 server. */
export interface Bucket {
  /** The settings as `files.s3` names them. */
  readonly settings: {
    readonly endpoint: string;
    readonly bucket: string;
    readonly region: string;
    readonly prefix: string;
    readonly accessKeyId: string;
    readonly secretAccessKey: string;
  };
  /** Reads the name and the bytes of every object. */
  objects(): ReadonlyMap<string, Buffer>;
}

/** Starts Versity S3 Gateway over a folder, with one bucket. It checks signatures and checksums. It is stopped after the test. */
export async function startVersitygw(prefix = ""): Promise<Bucket> {
  const folder = makeFolder().path;
  const [root, meta, bucket] = [join(folder, "root"), join(folder, "meta"), "formsvc-files"];
  mkdirSync(join(root, bucket), { recursive: true });
  mkdirSync(meta);
  const port = await freePort();
  const settings = {
    endpoint: `http://127.0.0.1:${port}`,
    bucket,
    region: "eu-central-1",
    prefix,
    accessKeyId: "the-access-key",
    secretAccessKey: "the secret of the access key",
  };
  const given = ["--access", settings.accessKeyId, "--secret", settings.secretAccessKey];
  const place = [
    "--port",
    `127.0.0.1:${port}`,
    "--region",
    settings.region,
    "--health",
    "/health",
    "--quiet",
  ];
  const child = spawn(PROGRAM, [...given, ...place, "posix", "--sidecar", meta, root], {
    stdio: ["ignore", "pipe", "pipe"],
    cwd: folder,
  });
  const said: string[] = [];
  for (const output of [child.stdout, child.stderr]) output.on("data", (text) => said.push(String(text)));
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  onTestFinished(async () => {
    child.kill();
    await ended;
  });
  const isReady = (): Promise<boolean> =>
    fetch(`${settings.endpoint}/health`).then(
      ({ ok }) => ok,
      () => false,
    );
  await until(async () => {
    if (child.exitCode !== null) throw new Error(`the S3 server ended: ${said.join("")}`);
    return (await isReady()) || undefined;
  });
  return {
    settings,
    objects: () => new Map(filesBelow(join(root, bucket), "")),
  };
}

function filesBelow(folder: string, name: string): [string, Buffer][] {
  return readdirSync(folder).flatMap((entry) => {
    const path = join(folder, entry);
    // The server's own files, like parts of uploads that were cut off.
    if (entry.startsWith(".sgwtmp")) return [];
    if (statSync(path).isDirectory()) return filesBelow(path, `${name}${entry}/`);
    return [[name + entry, readFileSync(path)] as [string, Buffer]];
  });
}

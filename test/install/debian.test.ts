import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, rmSync, symlinkSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import SqliteDatabase from "better-sqlite3";
import { beforeAll, describe, expect, test } from "vitest";
import { countUp, startPosting } from "../faults/poster.ts";
import { freePort } from "../faults/server.ts";
import { readStored } from "../faults/stored.ts";
import { until } from "../support/until.ts";
import { applicationSchema, multipart, pdf, sha256 } from "../support/uploads.ts";
import { type Debian, DEBIANS, fillDebian, INSTALL_SYSTEMD } from "./bare-systems.ts";
import { copyDebian, type DebianRoot, readIn } from "./debian-root.ts";
import { canInstall, hasOldTables, newRelease, OLD_SCHEMA, OLD_VERSION, VERSION } from "./made-release.ts";
import { type BootedRoot, bootSystemd } from "./systemd-machine.ts";

/** It only ends what hangs: a bare system is copied and filled, which a busy machine does slowly. */
const INSTALL_MS = 900_000;
/** Bare ones with systemd in addition. */
const bootable = new Map<Debian, string | null>();

beforeAll(() => {
  if (!canInstall) process.stderr.write("SKIPPED: installing on Debian needs root on Linux and x64\n");
  for (const system of canInstall ? DEBIANS : [])
    bootable.set(system, fillDebian(system, INSTALL_SYSTEMD, `systemd on ${system}`));
}, INSTALL_MS);

/** The repository of a release is where apt reads it, as on a web server. */
function addRepository(root: DebianRoot, release: "old" | "new"): void {
  rmSync(join(root.path, "srv/apt"), { force: true });
  symlinkSync(`${release}/apt`, join(root.path, "srv/apt"));
  mkdirSync(join(root.path, "etc/apt/keyrings"), { recursive: true });
  copyFileSync(
    join(newRelease, "apt/formsvc-archive-key.asc"),
    join(root.path, "etc/apt/keyrings/formsvc.asc"),
  );
  rmSync(join(root.path, "etc/apt/sources.list"), { force: true });
  root.write(
    "etc/apt/sources.list.d/formsvc.list",
    "deb [signed-by=/etc/apt/keyrings/formsvc.asc] file:/srv/apt stable main\n",
  );
}

const APT = "apt-get update && apt-get install -y --no-install-recommends formsvc";

describe.skipIf(!canInstall).each(DEBIANS)("a bare %s", (system) => {
  test(
    "under systemd the package is upgraded from other tables under load without a refused post, and taken away without a lost post or file",
    { timeout: INSTALL_MS },
    async ({ skip }) => {
      const source = bootable.get(system) ?? skip("no root");
      const root = copyDebian(source);
      const port = await freePort();
      // Nothing but the address, which other servers on this machine may use.
      const socket = `[Socket]\nListenStream=\nListenStream=127.0.0.1:${port}\n`;
      root.write("etc/systemd/system/formsvc.socket.d/address.conf", socket);
      const started = await bootSystemd(root);
      const booted = typeof started === "string" ? skip(started) : started;
      addRepository(root, "old");
      booted.mustRun(APT);
      expect(booted.mustRun("formsvc version")).toBe(`${OLD_VERSION}\n`);
      root.write("etc/formsvc/formsvc.config.json", CHANGED_CONFIGURATION);
      booted.mustRun("systemctl restart formsvc");
      const create = (name: string, schema: string): string => {
        const made = booted.mustRun(`formsvc endpoint create --name ${name} --schema - --env`, schema);
        return /FORMSVC_SECRET_KEY=(\S+)/.exec(made)?.[1] ?? "";
      };
      const poster = startPosting({ port, key: create("Numbers", '{"n":{"type":"number"}}') }, 8, countUp());
      const uploader = startUploading(port, create("Jobs", JSON.stringify(applicationSchema)));
      await until(() => poster.posts.length > 50 && uploader.uploads.length > 2);
      if (hasOldTables) expect(schemaOf(root)).toBe(OLD_SCHEMA);
      const before = invocations(booted);

      addRepository(root, "new");
      await booted.finish(APT);
      expect(booted.mustRun("formsvc version")).toBe(`${VERSION}\n`);
      const [posted, uploaded] = [poster.posts.length, uploader.uploads.length];
      await until(() => poster.posts.length > posted + 50 && uploader.uploads.length > uploaded + 2);
      await Promise.all([poster.stop(), uploader.stop()]);
      // A connection that was refused, or ended without an answer, has the status null.
      expect(poster.posts.filter(({ status }) => status !== 200)).toEqual([]);
      expect(uploader.uploads.filter(({ status }) => status !== 200)).toEqual([]);
      const after = invocations(booted);
      expect(after.socket).toBe(before.socket);
      expect(after.service).not.toBe(before.service);
      expect(readIn(root, "etc/formsvc/formsvc.config.json")).toBe(CHANGED_CONFIGURATION);
      if (hasOldTables) {
        expect(schemaOf(root)).toBeGreaterThan(OLD_SCHEMA);
        // The copy that the new program kept before it changed the tables.
        expect(existsSync(`${databaseIn(root)}.schema-${OLD_SCHEMA}`)).toBe(true);
      }

      await booted.finish("apt-get remove -y formsvc");
      expect(booted.run("systemctl is-active formsvc.socket formsvc.service").stdout).not.toMatch(/^active/m);
      await expect(fetch(`http://127.0.0.1:${port}/readyz`)).rejects.toThrow("fetch failed");
      expect(booted.run("formsvc version").status).toBe(127);
      const purged = booted.mustRun("apt-get purge -y formsvc");
      expect(purged).toMatch(/the submissions are kept in \/var\/lib\/(?:private\/)?formsvc;/);
      expect(booted.run("ls /etc/formsvc").status).not.toBe(0);
      expectStored(root, poster.posts.length + uploader.uploads.length);

      booted.mustRun(APT);
      await until(
        async () => (await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => null))?.ok === true,
      );
      const listed = JSON.parse(booted.mustRun("formsvc file list --limit 1000 --json")) as FileList;
      expect(listed.data.map((each) => each.sha256).sort()).toEqual(
        uploader.uploads.map((each) => each.sha256).sort(),
      );
      const saved = booted.mustRun(
        "cd /srv && formsvc submission export --output all.csv --files saved && sha256sum saved/*/*",
      );
      expect(saved.match(/\b[0-9a-f]{64}\b/g)?.sort()).toEqual(listed.data.map((each) => each.sha256).sort());
      expect(purgeOnTerminal(booted)).toContain("the submissions are kept in /var/lib/private/formsvc");
      expectStored(root, poster.posts.length + uploader.uploads.length);
    },
  );
});

/** Of each unit: systemd gives another one when it starts the unit. */
function invocations(booted: BootedRoot): { readonly socket: string; readonly service: string } {
  const of = (unit: string): string => {
    const told = booted.mustRun(`systemctl show --property InvocationID,ActiveState formsvc.${unit}`);
    expect(told).toContain("ActiveState=active");
    return /InvocationID=(\w{32})/.exec(told)?.[1] ?? told;
  };
  return { socket: of("socket"), service: of("service") };
}

/** The folder of a service whose user exists only while it runs. */
function databaseIn(root: DebianRoot): string {
  return join(root.path, "var/lib/private/formsvc/formsvc.db");
}

function expectStored(root: DebianRoot, posts: number): void {
  expect(readStored(databaseIn(root)).ids).toHaveLength(posts);
}

/** How many migrations the database of the service has had. */
function schemaOf(root: DebianRoot): unknown {
  const database = new SqliteDatabase(databaseIn(root), { readonly: true });
  try {
    return database.pragma("user_version", { simple: true });
  } finally {
    database.close();
  }
}

/**
 * Sends one application with a file after the other, each on a connection of its own: one that was idle may be closed at the moment
 * when something is sent.
 */
function startUploading(port: number, key: string) {
  const uploads: Upload[] = [];
  const over = new AbortController();
  const work = async (): Promise<void> => {
    for (let n = 1; !over.signal.aborted; n++) {
      const file = pdf(100_000, String(n));
      const form = await multipart([
        ["name", `Applicant ${n}`],
        ["cv", { name: `${n}.pdf`, bytes: file }],
      ]);
      const headers = { authorization: `Bearer ${key}`, ...form.headers };
      uploads.push({ status: await post(port, headers, form.body), sha256: sha256(file) });
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
  };
  const working = work();
  return {
    uploads,
    stop(): Promise<void> {
      over.abort();
      return working;
    },
  };
}

interface FileList {
  readonly data: readonly { readonly id: string; readonly sha256: string }[];
}

interface Upload {
  /** Of the answer; null if the connection was refused, or ended without one. */
  readonly status: number | null;
  readonly sha256: string;
}

function post(port: number, headers: Record<string, string>, body: Buffer): Promise<number | null> {
  return new Promise((resolve) => {
    const options = { host: "127.0.0.1", port, method: "POST", path: "/submit", agent: false, headers };
    const sent = request(options, (answer) => {
      answer.on("end", () => resolve(answer.complete ? (answer.statusCode ?? null) : null)).resume();
    });
    sent.on("error", () => resolve(null));
    sent.end(body);
  });
}

/** As a person does it, whom nothing asks: what needs an answer would wait for ever, and is ended. */
function purgeOnTerminal(booted: BootedRoot): string {
  const purge = ["nsenter", ...booted.enter, "apt-get", "purge", "--yes", "formsvc"].join(" ");
  const { status, stdout } = spawnSync("script", ["-qec", purge, "/dev/null"], {
    encoding: "utf8",
    env: { PATH: "/usr/sbin:/usr/bin:/sbin:/bin", HOME: "/root", TERM: "linux" },
    timeout: INSTALL_MS / 3,
  });
  return `${stdout}\n${status === 0 ? "" : `exit ${status}`}`;
}

/** Without limits, so that the load is not refused; it is the owner's, which an upgrade leaves as it is. */
const CHANGED_CONFIGURATION = JSON.stringify({
  database: { path: "/var/lib/formsvc/formsvc.db" },
  plans: { hobby: { monthlySubmissions: null, endpoints: null, customSpam: true } },
  rateLimit: { secret: { max: null } },
});

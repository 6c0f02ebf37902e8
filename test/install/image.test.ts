import { spawn, spawnSync } from "node:child_process";
import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join, relative } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { freePort } from "../faults/server.ts";
import { collect, whenEnded } from "../support/program.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { until } from "../support/until.ts";
import { applicationSchema, pdf, postFiles, sha256 } from "../support/uploads.ts";
import { canInstall, newRelease, RELEASE_URL, VERSION } from "./made-release.ts";

const missing = ["skopeo", "umoci", "bwrap", "setpriv"].filter(
  (tool) => spawnSync(tool, ["--version"]).error !== undefined,
);
const isMade = canInstall && existsSync(join(newRelease, "image"));
const canRun = isMade && missing.length === 0;
if (!canRun)
  process.stderr.write(
    `SKIPPED: the container image: ${isMade ? `${missing.join(", ")} missing` : "it was not made"}\n`,
  );

const layout = `oci:${join(newRelease, "image")}:formsvc:${VERSION}`;

function run(tool: string, ...args: string[]): string {
  const ran = spawnSync(tool, args, { encoding: "utf8" });
  if (ran.status !== 0) throw new Error(`${tool} ${args.join(" ")}: exit ${ran.status}\n${ran.stderr}`);
  return ran.stdout;
}

interface ImageConfig {
  readonly config: Record<string, unknown>;
}

test.skipIf(!canRun)(
  "the image says what it runs, as whom, where its data is and which version it is",
  () => {
    const { config } = JSON.parse(run("skopeo", "inspect", "--config", layout)) as ImageConfig;
    expect(config).toMatchObject({
      User: "10001:10001",
      Entrypoint: ["/usr/bin/formsvc"],
      Cmd: ["serve"],
      ExposedPorts: { "8787/tcp": {} },
      Volumes: { "/data": {} },
    });
    expect(config["Env"]).toEqual(
      expect.arrayContaining(["FORMSVC_SERVER_HOST=0.0.0.0", "FORMSVC_DATABASE_PATH=/data/formsvc.db"]),
    );
    expect(config["Labels"]).toMatchObject({
      "org.opencontainers.image.version": VERSION,
      "org.opencontainers.image.licenses": "MIT",
      "org.opencontainers.image.source": RELEASE_URL,
    });
  },
);

test.skipIf(!canRun)("one index names the image for amd64 and the one for arm64", () => {
  const top = JSON.parse(readFileSync(join(newRelease, "image/index.json"), "utf8")) as Index;
  expect(top.manifests).toHaveLength(1);
  expect(top.manifests[0]?.annotations).toEqual({
    "org.opencontainers.image.ref.name": `formsvc:${VERSION}`,
  });
  const index = JSON.parse(run("skopeo", "inspect", "--raw", layout)) as Index;
  expect(index.manifests.map(({ platform }) => platform)).toEqual([
    { architecture: "amd64", os: "linux" },
    { architecture: "arm64", os: "linux" },
  ]);
  for (const architecture of ["amd64", "arm64"]) {
    const told = run("skopeo", "--override-arch", architecture, "inspect", layout);
    expect(JSON.parse(told)).toMatchObject({ Architecture: architecture, Os: "linux" });
  }
});

interface Index {
  readonly manifests: readonly {
    readonly platform?: object;
    readonly annotations?: Readonly<Record<string, string>>;
  }[];
}

/** The files and links of an unpacked image, without its folders. */
function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map(({ parentPath, name }) => relative(folder, join(parentPath, name)))
    .sort();
}

test.skipIf(!canRun)(
  "the unpacked image serves with a read-only root, as user 10001, with every temporary folder mounted noexec",
  { timeout: 900_000 },
  async () => {
    const folder = temporaryFolder();
    run("skopeo", "copy", "-q", "--override-arch", "amd64", layout, `oci:${folder}/one:formsvc`);
    run("umoci", "unpack", "--image", `${folder}/one:formsvc`, `${folder}/bundle`);
    for (const path of [folder, `${folder}/bundle`]) chmodSync(path, 0o755);
    const rootfs = join(folder, "bundle/rootfs");
    expect(readFileSync(join(rootfs, "etc/nsswitch.conf"), "utf8")).toContain("hosts: files dns");
    expect(readFileSync(join(rootfs, "etc/ssl/certs/ca-certificates.crt"), "utf8")).toContain(
      "BEGIN CERTIFICATE",
    );
    const libraries = ["c", "dl", "gcc_s", "m", "pthread", "rt"].map((name) => `lib${name}.so.`);
    // The program, its libraries and their loader, certificates, names, and what Debian's packages were: no shell, nothing else.
    const others = filesBelow(rootfs).filter(
      (file) => !libraries.some((name) => file.startsWith(`usr/lib/x86_64-linux-gnu/${name}`)),
    );
    expect(others).toEqual([
      "etc/group",
      "etc/nsswitch.conf",
      "etc/passwd",
      "etc/ssl/certs/ca-certificates.crt",
      "lib64/ld-linux-x86-64.so.2",
      "usr/bin/formsvc",
      "usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2",
      "usr/lib/x86_64-linux-gnu/libstdc++.so.6",
      "usr/share/doc/formsvc/debian-packages",
    ]);
    // It is the addon of argon2 that needs this one, inside the program.
    expect(filesBelow(rootfs)).toContain("usr/lib/x86_64-linux-gnu/librt.so.1");
    const owner = statSync(join(rootfs, "data"));
    expect([owner.uid, owner.gid, owner.mode & 0o777]).toEqual([10_001, 10_001, 0o700]);
    const data = join(folder, "data");
    mkdirSync(data);
    chownSync(data, 10_001, 10_001);
    const port = await freePort();
    const start = (...args: string[]) => {
      // Bubblewrap's own mounts can be executed from: the mounts are made noexec before it starts.
      const noexec = `mount -t tmpfs -o noexec,mode=1777 none ${rootfs}/tmp && mount --bind ${data} ${rootfs}/data && mount -o remount,bind,noexec ${rootfs}/data`;
      const bwrap = `exec setpriv --reuid 10001 --regid 10001 --clear-groups bwrap --die-with-parent --unshare-user --unshare-pid --ro-bind ${rootfs} / --bind ${rootfs}/tmp /tmp --bind ${rootfs}/data /data --proc /proc --dev /dev --remount-ro /dev --chdir /data "$@"`;
      const env = [
        "--setenv",
        "FORMSVC_SERVER_PORT",
        String(port),
        "--setenv",
        "FORMSVC_DATABASE_PATH",
        "/data/formsvc.db",
      ];
      return spawn(
        "unshare",
        ["-m", "sh", "-c", `${noexec} && ${bwrap}`, "sh", ...env, "/usr/bin/formsvc", ...args],
        {
          env: { PATH: process.env["PATH"] },
          stdio: ["pipe", "pipe", "pipe"],
        },
      );
    };
    const unhealthy = await collect(start("healthcheck"));
    expect(unhealthy).toMatchObject({ code: 1 });
    const account = await collect(start("account", "create", "ada@example.org"));
    expect(account).toMatchObject({ code: 0 });
    // Nothing but the data and the temporary folder can be written.
    const refused = await collect(start("backup", "/usr/backup.db"));
    expect(refused.code).not.toBe(0);
    const form = start("endpoint", "create", "--name", "Jobs", "--schema", "-", "--env");
    form.stdin?.end(JSON.stringify(applicationSchema));
    const { code, stdout: keys } = await collect(form);
    expect(code).toBe(0);
    const server = start("serve");
    onTestFinished(async () => {
      server.kill("SIGKILL");
      await whenEnded(server);
    });
    await until(async () => (await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => null))?.ok === true);
    expect(await collect(start("healthcheck"))).toMatchObject({ code: 0 });
    const key = /FORMSVC_SECRET_KEY=(\S+)/.exec(keys)?.[1] ?? "";
    const bytes = pdf(200_000);
    const { files } = await postFiles({ url: `http://127.0.0.1:${port}` }, key, [
      ["name", "Ada"],
      ["cv", { name: "cv.pdf", bytes }],
    ]);
    expect(files.map((file) => file.sha256)).toEqual([sha256(bytes)]);
    expect(statSync(join(data, "formsvc.db")).uid).toBe(10_001);
  },
);

import { spawn, spawnSync } from "node:child_process";
import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { freePort } from "../faults/server.ts";
import { collect, whenEnded } from "../support/program.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { until } from "../support/until.ts";
import { canInstall, newRelease, VERSION } from "./made-release.ts";

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
      "org.opencontainers.image.source": expect.any(String) as unknown,
    });
  },
);

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
          stdio: ["ignore", "pipe", "pipe"],
        },
      );
    };
    const unhealthy = await collect(start("healthcheck"));
    expect(unhealthy).toMatchObject({ code: 1 });
    const account = await collect(start("account", "create", "ada@example.org"));
    expect(account).toMatchObject({ code: 0 });
    const server = start("serve");
    onTestFinished(async () => {
      server.kill("SIGKILL");
      await whenEnded(server);
    });
    await until(async () => (await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => null))?.ok === true);
    expect(await collect(start("healthcheck"))).toMatchObject({ code: 0 });
  },
);

import { spawn, spawnSync } from "node:child_process";
import { expect, onTestFinished, test } from "vitest";
import { createAuthority } from "../support/certificates.ts";
import { collect, whenEnded } from "../support/program.ts";
import { until } from "../support/until.ts";
import { fillDebian, READERS_TOOLS } from "./bare-systems.ts";
import { copyDebian, type DebianRoot } from "./debian-root.ts";
import { canInstall, newRelease, RELEASE_URL, VERSION } from "./made-release.ts";

const { hostname, pathname } = new URL(RELEASE_URL);

/** Serves the folder at the path of the release's address, and prints each path that is asked for. */
const SERVER = `
  const [, folder, below, options] = process.argv;
  const { createReadStream } = require("node:fs");
  require("node:https").createServer(JSON.parse(options), ({ url }, response) => {
    console.log(url);
    createReadStream(folder + url.replace(below, "")).on("error", () => response.destroy()).pipe(response);
  }).listen(443, "127.0.0.1", () => console.log("listening"));
`;

/** The release at its own address, in a network that has nothing else. */
async function publish(root: DebianRoot) {
  const authority = createAuthority();
  onTestFinished(() => authority.remove());
  root.write("etc/hosts", `127.0.0.1 localhost ${hostname}\n`);
  root.write("etc/ssl/certs/ca-certificates.crt", authority.cert);
  const options = JSON.stringify(authority.issue(`DNS:${hostname}`));
  const words = [process.execPath, "-e", SERVER, newRelease, pathname, options];
  const child = spawn("unshare", ["--net", "sh", "-c", 'ip link set lo up && exec "$@"', "sh", ...words], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await whenEnded(child);
  });
  let told = "";
  child.stdout.on("data", (part: Buffer) => (told += String(part)));
  await until(() => told.includes("listening"));
  const enter = (script: string): string[] => {
    const inside = ["chroot", root.path, "/bin/sh", "-c", script];
    return ["--target", String(child.pid), "--net", ...inside];
  };
  const env = {
    PATH: "/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    HOME: "/root",
    NODE_EXTRA_CA_CERTS: "/etc/ssl/certs/ca-certificates.crt",
  };
  return {
    asked: (): string[] => told.trim().split("\n").slice(1),
    start: (script: string) => spawn("nsenter", enter(script), { env, stdio: "ignore" }),
    /** What it printed, while the server answers. */
    async finish(script: string): Promise<string> {
      const { code, stdout, stderr } = await collect(
        spawn("nsenter", enter(script), { env, stdio: ["ignore", "pipe", "pipe"] }),
      );
      if (code !== 0) throw new Error(`${script}: exit ${code}\n${stdout}${stderr}`);
      return stdout;
    },
    succeeds: (script: string): boolean => spawnSync("nsenter", enter(script), { env }).status === 0,
  };
}

test.skipIf(!canInstall)(
  "the script without arguments installs from the address that the release was made for; the program asks there only if told to",
  { timeout: 900_000 },
  async ({ skip }) => {
    const source = fillDebian("Debian 13", READERS_TOOLS, "the release's own address");
    const root = copyDebian(source ?? skip("no root"));
    const machine = await publish(root);
    await machine.finish("sh /srv/new/install.sh");
    expect(await machine.finish("formsvc version")).toBe(`${VERSION}\n`);
    const files = ["SHA256SUMS", "SHA256SUMS.sig", `formsvc-${VERSION}-linux-x64.tar.gz`];
    expect(machine.asked()).toEqual(files.map((name) => `${pathname}/${name}`));

    const folder = "mkdir -p /srv/own && cd /srv/own";
    const made = await machine.finish(
      `${folder} && echo '{}' | formsvc endpoint create --name A --schema - --env; formsvc doctor >&2 || true`,
    );
    const server = machine.start(`${folder} && exec formsvc serve`);
    onTestFinished(async () => {
      server.kill("SIGKILL");
      await whenEnded(server);
    });
    await until(() => machine.succeeds("curl -fs http://127.0.0.1:8787/readyz"));
    const key = /FORMSVC_SECRET_KEY=(\S+)/.exec(made)?.[1] ?? "";
    const submit = `curl -fsS http://127.0.0.1:8787/submit -H 'Authorization: Bearer ${key}' --json '{"n":1}'`;
    expect(await machine.finish(submit)).toContain('"success":true');
    expect(machine.asked()).toHaveLength(files.length);

    expect(JSON.parse(await machine.finish("formsvc upgrade --check --json"))).toEqual({
      current: VERSION,
      latest: VERSION,
      newer: false,
    });
    expect(machine.asked().slice(files.length)).toEqual([
      `${pathname}/SHA256SUMS`,
      `${pathname}/SHA256SUMS.sig`,
    ]);
  },
);

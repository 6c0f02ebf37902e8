import type { DockerMachine } from "./docker-machine.ts";

/** What the images of the other services do when they start, in the same words as the compose files use. */
const ENTRYPOINTS = {
  "caddy:2": ["/usr/local/bin/caddy", "run", "--config", "/etc/caddy/Caddyfile", "--adapter", "caddyfile"],
  "postgres:17": ["/bin/sh", "/postgres.sh"],
  "litestream/litestream:0.3": ["/usr/local/bin/litestream"],
} as const;

/** As in the image `postgres`: makes the cluster, the role and the database that the environment names. */
const POSTGRES = `
set -e
mkdir -p -m 1777 /tmp
data=/var/lib/postgresql/data bin=/usr/lib/postgresql/17/bin
chown postgres "$data"
as() { setpriv --reuid postgres --regid postgres --init-groups "$@"; }
if [ ! -e "$data/PG_VERSION" ]; then
  printf %s "$POSTGRES_PASSWORD" >/tmp/password && chmod 644 /tmp/password
  as "$bin/initdb" -D "$data" --username "$POSTGRES_USER" --pwfile /tmp/password --auth-host scram-sha-256 --encoding UTF8 --locale C
  echo "host all all all scram-sha-256" >>"$data/pg_hba.conf"
  as "$bin/pg_ctl" -D "$data" -o "-c listen_addresses= -k /tmp" -w start
  as "$bin/createdb" -h /tmp --username "$POSTGRES_USER" "$POSTGRES_DB"
  as "$bin/pg_ctl" -D "$data" -w stop
fi
chown postgres /var/run/postgresql && chmod 3777 /var/run/postgresql
exec setpriv --reuid postgres --regid postgres --init-groups "$bin/postgres" -D "$data" -c "listen_addresses=*" -k /var/run/postgresql
`;

/** What is of no use in an image of Caddy or PostgreSQL, and would only take time. */
const WITHOUT = [
  "docker*",
  "containerd*",
  "runc",
  "ctr",
  "podman",
  "skopeo",
  "cni",
  "python3*",
  "perl*",
  "*llvm*",
  "*LLVM*",
  "libz3*",
  "17/main",
  "i18n",
  "gcc",
  "doc",
  "locale",
  "man",
];

/**
 * Makes images of Caddy, Debian's PostgreSQL and Litestream under the names that the compose files use.
 *
 * @returns the reason if Docker cannot make them or run a container of them.
 */
export function makeOtherImages(machine: DockerMachine): string | null {
  try {
    makeImages(machine);
    machine.mustRun("docker run --rm --publish 127.0.0.1:81:81 services /bin/true");
    return null;
  } catch (error) {
    return `Docker cannot run a container: ${(error as Error).message}`;
  }
}

function makeImages(machine: DockerMachine): void {
  const excluded = WITHOUT.map((name) => `--exclude='${name}'`).join(" ");
  const tar = `tar -C / ${excluded} -c bin sbin lib lib64 usr etc postgres.sh var/lib/postgresql`;
  machine.write("postgres.sh", POSTGRES);
  machine.mustRun("mv postgres.sh /postgres.sh");
  // Before Debian's wrappers of PostgreSQL's programs.
  const path = "PATH=/usr/lib/postgresql/17/bin:/usr/local/bin:/usr/sbin:/usr/bin";
  const environment = `--change 'ENV ${path} XDG_DATA_HOME=/data XDG_CONFIG_HOME=/config'`;
  machine.mustRun(`${tar} | docker import ${environment} - services`);
  for (const [name, words] of Object.entries(ENTRYPOINTS)) {
    const entrypoint = `--change 'ENTRYPOINT ${JSON.stringify(words)}'`;
    machine.mustRun("docker create --name made services /bin/true");
    machine.mustRun(`docker commit ${entrypoint} made ${name} && docker rm made`);
  }
}

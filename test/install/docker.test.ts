import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, type TestContext } from "vitest";
import { type Block, blocksOf } from "../recipes/recipe-blocks.ts";
import { whenEnded } from "../support/program.ts";
import { until } from "../support/until.ts";
import { makeOtherImages } from "./docker-images.ts";
import { type DockerMachine, startDocker } from "./docker-machine.ts";
import { prepareDocker } from "./docker-root.ts";
import { repository } from "./make-release.ts";
import { canInstall, OLD_VERSION, VERSION } from "./made-release.ts";

/*
 * A reader follows docs/docker.md with a real Docker, command by command as they stand there. What such a machine cannot have has a
 * stand-in: the reader's own name is `localhost`, for which Caddy makes the certificate itself; the images of Caddy, PostgreSQL and
 * Litestream are made from packages; Litestream's place elsewhere is a folder of the volume; the registry has no TLS.
 */

/** It only ends what hangs. */
const DOCKER_MS = 1_800_000;
const REGISTRY = "localhost:5000";
const page = readFileSync(join(repository, "docs/docker.md"), "utf8");

let machine: DockerMachine | null = null;
let reason = "needs root on Linux and x64";

beforeAll(async () => {
  const source = canInstall ? prepareDocker() : null;
  if (source !== null) {
    const started = await startDocker(source);
    if (typeof started === "string") reason = started;
    else {
      machine = started;
      const lack = makeOtherImages(machine);
      if (lack !== null) {
        reason = lack;
        await machine.end();
        machine = null;
      }
    }
  } else if (canInstall) reason = "Debian's Docker cannot be had";
  if (machine === null) process.stderr.write(`SKIPPED: following docs/docker.md: ${reason}\n`);
}, DOCKER_MS);
afterAll(() => machine?.end());

/** A machine with Docker in an empty folder, and nothing left of the test before. */
function newFolder({ skip }: TestContext): DockerMachine {
  const found = machine ?? skip(reason);
  // A test that failed before its end left its services.
  found.run(
    "docker ps -aq | xargs -r docker rm --force --volumes; docker network prune --force; docker volume prune --all --force",
  );
  found.mustRun("rm -rf /site/* /site/.env");
  return found;
}

function ofReader(text: string, version: string): string {
  return text
    .replaceAll("VERSION", version)
    .replaceAll("forms.example.com", "localhost")
    .replaceAll("images.example.com", REGISTRY)
    .replaceAll("RELEASE", "http://127.0.0.1:8000");
}

/** The blocks of a section as the reader types them: files and commands. */
function blocksUnder(heading: string, version = VERSION): Block[] {
  const section = page.split(/^## /m).find((text) => text.startsWith(`${heading}\n`));
  if (section === undefined) throw new Error(`the page has no section ${heading}`);
  return blocksOf(ofReader(section, version));
}

/** The commands of each shell block of a section, one a line. */
function commandsUnder(heading: string, version = VERSION): string[][] {
  const blocks = blocksUnder(heading, version).filter(({ language }) => language === "sh");
  return blocks.map(({ text }) => text.trimEnd().split("\n"));
}

/** Types each command by itself, and returns what all of them print. */
function follow(found: DockerMachine, commands: readonly string[] | undefined): string {
  if (commands === undefined) throw new Error("the section has fewer blocks of commands");
  return commands.map((line) => found.mustRun(line)).join("");
}

function writeFiles(found: DockerMachine, heading: string, version = VERSION): void {
  // Caddy keeps posts waiting longer than the page says, because this machine may be slow.
  for (const { file, text } of blocksUnder(heading, version))
    if (file !== "") found.write(file, text.replace(/lb_try_duration \d+s/, "lb_try_duration 600s"));
}

/** A command of the table. */
function commandWith(tool: string, version = VERSION): string {
  const row = page.split("\n").find((line) => line.startsWith(`| ${tool}`)) ?? "";
  const [, command = `no row: ${tool}`] = /`(.+)` \|$/.exec(row) ?? [];
  return ofReader(command.replaceAll("\\|", "|"), version);
}

/** Unless a test before has loaded it. */
function loadImage(found: DockerMachine, release: "old" | "new", version: string): void {
  if (found.run(`docker image inspect formsvc:${version}`).status === 0) return;
  const told = found.mustRun(`cd /srv/${release} && ${commandWith("Docker", version)}`);
  expect(told).toContain(`Loaded image: formsvc:${version}`);
}

const SUBMIT = `curl -sSk -o /dev/null -w '%{http_code}\\n' https://localhost/submit -H 'Content-Type: application/json' -d '{"n":1}'`;

/** A form of the server in a container, and a command that posts to it through Caddy and prints the status. */
function makeForm(found: DockerMachine, service: string): string {
  const formsvc = `docker compose exec -T ${service} formsvc`;
  const made = found.mustRun(
    `echo '{"n":{"type":"number"}}' | ${formsvc} endpoint create --name A --schema - --env`,
  );
  found.mustRun(`${formsvc} workspace set-plan business`);
  return `${SUBMIT} -H 'Authorization: Bearer ${/FORMSVC_SECRET_KEY=(\S+)/.exec(made)?.[1] ?? ""}'`;
}

/** How many submissions there are. */
function listed(found: DockerMachine, service: string): number {
  const told = found.mustRun(`docker compose exec -T ${service} formsvc submission list --limit 1000 --json`);
  return told.split('"sub_').length - 1;
}

/** Posts one after the other, few enough for the limit of requests, while `during` runs; how many, and all of them are stored. */
async function postWhile(found: DockerMachine, post: string, during: () => void): Promise<number> {
  const child = found.start(`while [ ! -e stop ]; do ${post}; sleep 0.2; done`);
  let told = "";
  child.stdout?.on("data", (part: Buffer) => (told += String(part)));
  await until(() => told.includes("\n"));
  during();
  const before = told.length;
  await until(() => told.length > before);
  found.mustRun("touch stop");
  await whenEnded(child);
  found.mustRun("rm stop");
  const statuses = told.trim().split("\n");
  const refused = statuses.filter((status) => status !== "200");
  if (refused.length > 0)
    throw new Error(`${refused.join(" ")}: ${found.run("docker compose logs caddy").stdout}`);
  return statuses.length;
}

/** What Docker reads from the file: a stop waits for every answer, and the program asks itself whether it is healthy. */
function expectCheckedService(found: DockerMachine, name: string): void {
  // An unset password is a warning beside the JSON.
  const told = found.mustRun("POSTGRES_PASSWORD=x docker compose config --format json 2>/dev/null");
  const { services } = JSON.parse(told) as { services: Record<string, Record<string, unknown>> };
  expect(services[name]).toMatchObject({
    stop_grace_period: "20s",
    read_only: true,
    healthcheck: { test: ["CMD", "/usr/bin/formsvc", "healthcheck", "--quiet"] },
  });
}

function end(found: DockerMachine): void {
  found.mustRun("docker compose down --volumes");
}

describe("docs/docker.md, followed word by word", () => {
  test(
    "the image is fetched from an address, verified, and loaded with each tool of the table",
    { timeout: DOCKER_MS },
    async (context) => {
      const found = newFolder(context);
      found.start("caddy file-server --root /srv/new --listen 127.0.0.1:8000");
      found.mustRun("mkdir /registry");
      const storage = "storage: { filesystem: { rootdirectory: /registry } }";
      found.write("registry.yml", `version: 0.1\n${storage}\nhttp: { addr: "127.0.0.1:5000" }\n`);
      found.start("docker-registry serve registry.yml");
      for (const port of [8000, 5000]) await until(() => found.run(`curl -s 127.0.0.1:${port}`).status === 0);
      const [lists = [], files = []] = commandsUnder("Get the image");
      expect(follow(found, lists)).toMatch(/Good "formsvc" signature[^]*image\.sha256: OK/);
      follow(found, files);
      follow(found, [commandWith("Docker"), commandWith("Podman")]);
      expect(found.mustRun(`docker run --rm formsvc:${VERSION} version`)).toBe(`${VERSION}\n`);
      const podman = "podman --runtime runc run --rm --network host";
      expect(found.mustRun(`${podman} localhost/formsvc:${VERSION} version`)).toContain(VERSION);
      const insecure = `printf '[[registry]]\nlocation = "${REGISTRY}"\ninsecure = true\n'`;
      found.mustRun(`${insecure} >/etc/containers/registries.conf.d/own.conf`);
      follow(found, [commandWith("a registry"), `docker pull ${REGISTRY}/formsvc:${VERSION}`]);

      found.mustRun("for blob in image/blobs/sha256/*; do printf x >>$blob; break; done");
      expect(found.run(files.at(-1) ?? "").stdout).toMatch(/image\/blobs\/sha256\/\w+: FAILED/);
      found.mustRun("sed -i s/a/b/ image.sha256");
      expect(found.run(lists.at(-1) ?? "").stdout).toContain("image.sha256: FAILED");
    },
  );

  test(
    "one command serves on a terminal, and its link opens the dashboard",
    { timeout: DOCKER_MS },
    async (context) => {
      const found = newFolder(context);
      loadImage(found, "new", VERSION);
      const [[command = ""] = []] = commandsUnder("Try it");
      const readme = readFileSync(join(repository, "README.md"), "utf8");
      expect(ofReader(readme, VERSION)).toContain(`| \`${command}\` |`);
      const child = found.start(`exec script -qec '${command}' /dev/null`);
      let screen = "";
      child.stdout?.on("data", (part: Buffer) => (screen += String(part)));
      const link = await until(() => {
        if (child.exitCode !== null) throw new Error(`docker run ended with ${child.exitCode}: ${screen}`);
        return /http:\/\/127\.0\.0\.1:8787\/dashboard\/\S+/.exec(screen)?.[0];
      });
      expect(found.mustRun(`curl -sS '${link}'`)).toContain('type="password"');
      child.stdin?.write("\u0003");
      expect(await whenEnded(child)).toBe(0);
      expect(found.mustRun("docker volume ls -q")).toContain("formsvc");
    },
  );

  test(
    "behind Caddy: posts are stored, a backup is restored, an upgrade refuses no post, and what is taken away comes back",
    { timeout: DOCKER_MS },
    async (context) => {
      const found = newFolder(context);
      loadImage(found, "old", OLD_VERSION);
      writeFiles(found, "Behind Caddy, with TLS", OLD_VERSION);
      expectCheckedService(found, "server");
      const [start, list] = commandsUnder("Behind Caddy, with TLS");
      expect(follow(found, start)).toMatch(/https:\/\/localhost\/dashboard\/\S+/);
      const post = makeForm(found, "server");
      await until(() => found.run(post).stdout.trim() === "200");
      expect(follow(found, list)).toContain("ep_");

      const [backup, restore] = commandsUnder("Back up and restore");
      follow(found, backup);
      found.mustRun("test -s backup.db");
      expect(found.mustRun(post)).toBe("200\n");
      expect(listed(found, "server")).toBe(2);
      follow(found, restore);
      expect(listed(found, "server")).toBe(1);

      loadImage(found, "new", VERSION);
      found.mustRun(`sed -i s/formsvc:${OLD_VERSION}/formsvc:${VERSION}/ compose.yaml`);
      const [upgrade] = commandsUnder("Upgrade");
      const posted = await postWhile(found, post, () => void follow(found, upgrade));
      expect(found.mustRun("docker compose exec -T server formsvc version")).toBe(`${VERSION}\n`);
      expect(listed(found, "server")).toBe(1 + posted);

      const [away] = commandsUnder("Take it away");
      follow(found, away);
      expect(found.mustRun("docker compose ps --all --quiet")).toBe("");
      follow(found, ["docker compose up --detach --wait"]);
      expect(listed(found, "server")).toBe(1 + posted);
      end(found);
    },
  );

  test(
    "with Litestream: what the lost database held comes back from the copy elsewhere",
    { timeout: DOCKER_MS },
    async (context) => {
      const found = newFolder(context);
      loadImage(found, "new", VERSION);
      writeFiles(found, "Behind Caddy, with TLS");
      writeFiles(found, "With Litestream");
      found.mustRun("sed -i 's#s3://.*#file:///data/replica#' litestream.yml");
      const [start, restore] = commandsUnder("With Litestream");
      follow(found, start);
      const post = makeForm(found, "server");
      await until(() => found.run(post).stdout.trim() === "200");
      let tries = 0;
      // The copy is some seconds behind.
      await until(() => {
        const copy = `/data/copy-${(tries += 1)}.db`;
        const fetched = `docker compose exec -T litestream litestream restore -o ${copy} /data/formsvc.db`;
        if (found.run(fetched).status !== 0) return false;
        return found
          .run(`docker compose exec -T server formsvc submission list --db ${copy} --json`)
          .stdout.includes("sub_");
      });
      expect(found.mustRun(post)).toBe("200\n");
      follow(found, restore);
      expect(listed(found, "server")).toBeGreaterThan(0);
      end(found);
    },
  );

  test(
    "two servers on PostgreSQL: posts are stored while one is stopped, and an upgrade refuses none",
    { timeout: DOCKER_MS },
    async (context) => {
      const found = newFolder(context);
      loadImage(found, "old", OLD_VERSION);
      loadImage(found, "new", VERSION);
      writeFiles(found, "Two servers on PostgreSQL", OLD_VERSION);
      for (const service of ["one", "two"]) expectCheckedService(found, service);
      const [start, upgrade] = commandsUnder("Two servers on PostgreSQL");
      expect(follow(found, start)).toMatch(/https:\/\/localhost\/dashboard\/\S+/);
      expect(found.mustRun("stat -c %a .env")).toBe("600\n");
      const post = makeForm(found, "one");
      await until(() => found.run(post).stdout.trim() === "200");
      const stopped = await postWhile(found, post, () => void found.mustRun("docker compose stop one"));
      found.mustRun("docker compose up --detach --wait one");
      found.mustRun(`sed -i s/formsvc:${OLD_VERSION}/formsvc:${VERSION}/ compose.yaml`);
      const upgraded = await postWhile(found, post, () => void follow(found, upgrade));
      for (const service of ["one", "two"])
        expect(found.mustRun(`docker compose exec -T ${service} formsvc version`)).toBe(`${VERSION}\n`);
      expect(listed(found, "one")).toBe(1 + stopped + upgraded);
      end(found);
    },
  );
});

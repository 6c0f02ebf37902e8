import { spawn, spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { blocksOf } from "../recipes/recipe-blocks.ts";
import { chromiumPath, launchChromium } from "../support/chromium.ts";
import { whenEnded } from "../support/program.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { until } from "../support/until.ts";
import { type Debian, DEBIANS, prepareDebian } from "./bare-systems.ts";
import { copyDebian, type DebianRoot } from "./debian-root.ts";
import { repository } from "./make-release.ts";
import { canInstall, VERSION } from "./made-release.ts";

/*
 * A reader who knows nothing follows the beginning of the README on a bare system, command by command as they stand there. The
 * release is a folder, into which the reader went.
 */

const readAsReader = (file: string): string =>
  readFileSync(join(repository, file), "utf8")
    .replaceAll("RELEASE", "/srv/new")
    .replaceAll("VERSION", VERSION);
const readme = readAsReader("README.md");
/** It calls for the same command. */
const installPage = readAsReader("docs/install.md");
/** The ways of the table; only a person who is not root needs sudo. */
const WAYS = [...readme.matchAll(/^\| (\w+)[^|]*\| `(?:sudo )?([^`]+)` \|$/gm)].map(
  ([, on = "", line = ""]) => ({
    on,
    line,
  }),
);

/** The first block of a shell after a text. */
function commandsAfter(text: string): string {
  const [, after = ""] = readme.split(text);
  return blocksOf(after).find(({ language }) => language === "sh")?.text ?? `nothing after: ${text}`;
}

const roots = new Map<Debian, string | null>();
beforeAll(() => {
  for (const system of canInstall ? DEBIANS : []) roots.set(system, prepareDebian(system));
}, 900_000);

const ENVIRONMENT = {
  PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
  HOME: "/root",
  TERM: "dumb",
};

/** README's form as a page of somebody's site, with the key of the form that they made. */
function pageWith(key: string): string {
  const form = blocksOf(readme).find(({ language }) => language === "html")?.text ?? "no form";
  return `<!doctype html><title>Contact</title>${form.replace("fpk_YOUR_PUBLISHABLE_KEY", key)}`;
}

/** Starts the server in an empty folder, on a terminal and with a network of its own, as on a machine that has nothing else. */
function startOnTerminal(root: DebianRoot) {
  // The terminal is this machine's, since a bare root has none.
  const begin = `ip link set lo up && mkdir "$1/mine" && exec script -qec "chroot $1 sh -c 'cd /mine && exec $2'" /dev/null`;
  const apart = ["--net", "--pid", "--fork", "--kill-child", "sh", "-c", begin, "sh"];
  const child = spawn("unshare", [...apart, root.path, commandsAfter("**2. Start it**").trimEnd()], {
    env: ENVIRONMENT,
    stdio: ["pipe", "pipe", "pipe"],
  });
  let screen = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (part: Buffer) => (screen += String(part)));
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await whenEnded(child);
  });
  const onIt = (...words: readonly string[]): string => {
    const own = ["-t", String(child.pid), "--net", ...words];
    const { stdout, stderr } = spawnSync("nsenter", own, { encoding: "utf8", env: ENVIRONMENT });
    return `${stdout}${stderr}`;
  };
  return {
    /** What is found on the screen. @throws Error if the server ends before it is there. */
    shown: (pattern: RegExp): Promise<string> =>
      until(() => {
        if (child.exitCode !== null) throw new Error(`the server ended with ${child.exitCode}: ${screen}`);
        return pattern.exec(screen)?.[0];
      }),
    /** Opens an address as a browser on that machine would. */
    open: (url: string): string => onIt("curl", "-sS", "-w", "\n%{http_code}", url),
    /** A browser on that machine. */
    async browse(): Promise<Browser> {
      const program = join(temporaryFolder(), "chromium");
      const text = `#!/bin/sh\nexec nsenter -t ${child.pid} --net '${chromiumPath}' "$@"\n`;
      writeFileSync(program, text, { mode: 0o755 });
      const browser = await launchChromium(program);
      onTestFinished(() => browser.close());
      return browser;
    },
    /** Serves a page on that machine from an origin of its own. */
    async serve(page: string): Promise<string> {
      const folder = temporaryFolder();
      writeFileSync(join(folder, "index.html"), page);
      const words = ["-m", "http.server", "--bind", "127.0.0.1", "--directory", folder, "8080"];
      const site = spawn("nsenter", ["-t", String(child.pid), "--net", "python3", ...words], {
        env: ENVIRONMENT,
        stdio: "ignore",
      });
      onTestFinished(async () => {
        site.kill("SIGKILL");
        await whenEnded(site);
      });
      const url = "http://127.0.0.1:8080/";
      await until(() => onIt("curl", "-sS", url) === page);
      return url;
    },
    /** What a second terminal in the server's folder shows; curl, which a bare Debian has not, is this machine's. */
    type: (commands: string): string => onIt("sh", "-c", SECOND_TERMINAL, "sh", root.path, commands),
  };
}

/** In the server's folder of the root, with this machine's shell and curl, since a bare Debian has no curl. */
const SECOND_TERMINAL = `
  root=$1
  cd "$root/mine"
  formsvc() { chroot "$root" sh -c 'cd /mine && exec formsvc "$@"' sh "$@"; }
  eval "$2"
`;

/** Sets the password and makes a form; the code that is shown for the page. */
async function makeForm(page: Page, link: string): Promise<string> {
  await page.goto(link);
  await page.getByLabel("New password").fill("seven oak boards and a plane");
  await page.getByRole("button", { name: "Set the password and sign in" }).click();
  await page.getByRole("link", { name: "Forms", exact: true }).click();
  await page.getByRole("link", { name: "New form" }).click();
  await page.getByLabel("Name of the form").fill("Site");
  await page.getByRole("button", { name: "Make the form" }).click();
  await page.getByRole("heading", { name: "Site is ready" }).waitFor();
  return (await page.locator("pre code").first().textContent()) ?? "";
}

/** Fills in and sends the form on another origin. */
async function sendForm(page: Page, url: string): Promise<void> {
  await page.goto(url);
  await page.getByLabel("Your name").fill("Lena Vogel");
  await page.getByLabel("E-mail").fill("lena@example.org");
  await page.getByLabel("Message").fill("Do you sharpen chisels?");
  await page.getByRole("button", { name: "Send" }).click();
  await page
    .getByText(/thank you/i)
    .first()
    .waitFor();
}

test.skipIf(!canInstall).for(DEBIANS)(
  "a reader of the README on a bare %s installs with the script, serves, opens the link that is printed, and stores a post",
  { timeout: 900_000 },
  async (system, { skip }) => {
    const root = copyDebian(roots.get(system) ?? skip("no root"));
    root.mustRun(`cd /srv/new && ${WAYS.find(({ on }) => on === "Linux")?.line ?? "no way"}`);
    const server = startOnTerminal(root);
    expect(server.open(await server.shown(LINK))).toMatch(PASSWORD_PAGE);
    const told = server.type(commandsAfter("## The same in a terminal"));
    const answer = /\{"success":true,"message":"Submission received","submission_id":"(sub_\w+)"\}/.exec(
      told,
    );
    const [whole = told, id = ""] = answer ?? [];
    expect(told.replace(whole, "")).toContain(id || "the answer to a post");
  },
);

const LINK = /http:\/\/\S+\/dashboard\/\S+/;

/** The page that asks for a new password, and its status. */
const PASSWORD_PAGE = /type="password"[^]*\n200$/;

/** Installs the package as a file, serves, and asks for a link in a second terminal. */
async function followPackage(root: DebianRoot) {
  expect(root.run("ls /usr/lib/*/libatomic.so.1").status).not.toBe(0);
  // Nothing is fetched from a mirror.
  root.mustRun("rm -f /etc/apt/sources.list /etc/apt/sources.list.d/*");
  root.write("etc/apt/apt.conf.d/own", 'APT::Install-Recommends "false";\n');
  const line = WAYS.find(({ on }) => on === "Debian")?.line ?? "no way";
  expect(installPage).toContain(`\n${line}\n`);
  root.mustRun(`cd /srv/new && ${line}`, "y\n");
  expect(root.mustRun("formsvc version")).toBe(`${VERSION}\n`);
  const wanted = root.mustRun("cd /etc/systemd/system && ls sockets.target.wants multi-user.target.wants");
  for (const unit of ["formsvc.service", "formsvc.socket"]) expect(wanted).toContain(unit);
  // What systemd makes for the service, which it also starts.
  root.mustRun("mkdir -m 700 /var/lib/formsvc");
  const server = startOnTerminal(root);
  await server.shown(LINK);
  const told = server.type(commandsAfter("**3. Open the link that it prints.**"));
  return { server, link: /http:\S+/.exec(told)?.[0] ?? told };
}

/** The system on which the reader has a browser: what the browser shows is the same on all. */
const BROWSED: readonly Debian[] = chromiumPath === null ? [] : ["Debian 13"];

test.skipIf(!canInstall).for(DEBIANS.filter((system) => !BROWSED.includes(system)))(
  "a reader of the README on a bare %s installs the package, asks for a link, and opens it",
  { timeout: 900_000 },
  async (system, { skip }) => {
    const { server, link } = await followPackage(copyDebian(roots.get(system) ?? skip("no root")));
    expect(server.open(link)).toMatch(PASSWORD_PAGE);
  },
);

test.skipIf(!canInstall).for(BROWSED)(
  "a reader of the README on a bare %s installs the package, asks for a link, makes a form, and README's form, sent by a browser from a page elsewhere, is in the inbox",
  { timeout: 900_000 },
  async (system, { skip }) => {
    const { server, link } = await followPackage(copyDebian(roots.get(system) ?? skip("no root")));
    const browser = await server.browse();
    const owner = await browser.newPage();
    const code = await makeForm(owner, link);
    const [action = "", key = ""] = /http:\/\/127\.0\.0\.1:8787\/f\/(fpk_\w+)/.exec(code) ?? [];
    const page = pageWith(key);
    expect(page).toContain(`action="${action}"`);
    await sendForm(await browser.newPage(), await server.serve(page));
    await owner.getByRole("link", { name: /^Inbox/ }).click();
    await owner.getByRole("link", { name: "Do you sharpen chisels?" }).waitFor();
    expect(server.type("formsvc submission list --json")).toContain("lena@example.org");
  },
);

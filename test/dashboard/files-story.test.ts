import { existsSync, readFileSync } from "node:fs";
import { crc32, deflateSync } from "node:zlib";
import { expect, onTestFinished, test } from "vitest";
import { chromiumPath, launchChromium } from "../support/chromium.ts";
import { type OperatorMachine, operatorMachine } from "../support/operator-machine.ts";
import { startReceiverWith } from "../support/receivers.ts";
import { addressInCluster, hasPostgresql, temporaryAddress } from "../support/temporary-postgresql.ts";
import { pdf, type PostedFacts, postFiles, sha256 } from "../support/uploads.ts";
import { PATIENCE_MS, until } from "../support/until.ts";
import { startWebSite } from "../support/web-site.ts";

const SIDE = 120;

/** A picture of noise: no part of it is in another one. */
function picture(seed: string): Buffer {
  const noise = pdf(SIDE * (SIDE * 3 + 1), seed);
  for (let row = 0; row < SIDE; row += 1) noise[row * (SIDE * 3 + 1)] = 0;
  const chunk = (type: string, content: Buffer): Buffer => {
    const named = Buffer.concat([Buffer.from(type), content]);
    const ends = Buffer.alloc(8);
    ends.writeUInt32BE(content.length, 0);
    ends.writeUInt32BE(crc32(named), 4);
    return Buffer.concat([ends.subarray(0, 4), named, ends.subarray(4)]);
  };
  const head = Buffer.from([0, 0, 0, SIDE, 0, 0, 0, SIDE, 8, 2, 0, 0, 0]);
  const parts = [chunk("IHDR", head), chunk("IDAT", deflateSync(noise)), chunk("IEND", Buffer.alloc(0))];
  return Buffer.concat([Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]), ...parts]);
}

const SENT = [
  ...["one", "two", "three"].map((name) => ({ name: `${name}.png`, bytes: picture(name) })),
  { name: "offer.pdf", bytes: pdf(600_000, "offer") },
];
const SAME = SENT.map(({ name, bytes }) => [name, sha256(bytes)]);
const settings = { files: { minFreeBytes: 0 }, webhooks: { allowNetworks: ["127.0.0.0/8"] } };

async function savedBy(machine: OperatorMachine, files: readonly PostedFacts[], to: string, db: string[]) {
  const saved: string[][] = [];
  for (const { id, name } of files) {
    await machine.mustRun(["file", "save", id, `${to}-${name}`, ...db]);
    saved.push([name, sha256(readFileSync(machine.path(`${to}-${name}`)))]);
  }
  return saved;
}

test.skipIf(chromiumPath === null || !hasPostgresql)(
  "three pictures and a PDF from a phone without script are seen, saved, fetched, carried everywhere, and erased to the last byte",
  async () => {
    const [machine, site, browser] = [
      operatorMachine(settings),
      await startWebSite(),
      await launchChromium(),
    ];
    onTestFinished(async () => void (await Promise.all([site.stop(), browser.close()])));
    await using receiver = await startReceiverWith((response) => response.end());
    await machine.mustRun(["account", "create", "ada@example.org"]);
    const endpoint = await machine.createEndpoint({
      schema: { name: { type: "string" }, files: { type: "file", maxFiles: 4 } },
      allowOrigin: [site.origin],
    });
    await machine.mustRun(["webhook", "create", "--endpoint", endpoint.id, "--url", receiver.url]);
    const link = await machine.json<{ url: string }>(["account", "sign-in-link", "ada@example.org"]);
    const server = await machine.serveHere();

    const phone = await browser.newPage({ javaScriptEnabled: false, viewport: { width: 390, height: 844 } });
    phone.setDefaultTimeout(PATIENCE_MS);
    const form = `<form action="${server.url}/f/${endpoint.publishable}" method="post" enctype="multipart/form-data">
      <input name="name"><input type="file" name="files" multiple><button>Send</button></form>`;
    await phone.goto(site.put("/", form));
    await phone.fill("[name=name]", "Ana");
    const chosen = SENT.map(({ name, bytes }) => ({ name, mimeType: "", buffer: bytes }));
    await phone.setInputFiles("[name=files]", chosen);
    await phone.click("button");
    const [post] = await until(async () => {
      const posts = await machine.stored(endpoint);
      return posts.length > 0 && posts;
    });
    const files = (post?.["files"] ?? []) as PostedFacts[];
    expect(files.map(({ name, sha256: hash }) => [name, hash])).toEqual(SAME);

    const [message] = await until(() => receiver.received.length > 0 && receiver.received);
    const { submission } = JSON.parse(String(message?.body)) as {
      submission: { id: string; data: { files: { name: string; url: string }[] } };
    };
    const fetched = submission.data.files.map(async ({ name, url }) => {
      const { pathname, search } = new URL(url);
      const answer = await fetch(server.url + pathname + search);
      return [name, sha256(Buffer.from(await answer.arrayBuffer()))];
    });
    expect(await Promise.all(fetched)).toEqual(SAME);

    const entered = await fetch(`${server.url}/dashboard/sign-in/link`, {
      method: "POST",
      redirect: "manual",
      headers: { "sec-fetch-site": "same-origin" },
      body: new URLSearchParams({
        token: link.url.split("#")[1] ?? "",
        new_password: "correct horse battery",
      }),
    });
    const cookie = entered.headers.getSetCookie().find((each) => each.startsWith("formsvc-session=")) ?? "";
    const value = (cookie.split(";")[0] ?? "").replace("formsvc-session=", "");
    for (const colorScheme of ["light", "dark"] as const) {
      const context = await browser.newContext({ colorScheme });
      await context.addCookies([{ name: "formsvc-session", value, url: server.url }]);
      const page = await context.newPage();
      page.setDefaultTimeout(PATIENCE_MS);
      await page.goto(`${server.url}/dashboard/submissions/${submission.id}`);
      const pictures = page.locator(".files img");
      expect(await pictures.count()).toBe(3);
      for (const shown of await pictures.all()) {
        await shown.scrollIntoViewIfNeeded();
        await until(
          async () =>
            (await shown.evaluate((image) => (image as unknown as { naturalWidth: number }).naturalWidth)) ===
            SIDE,
        );
      }
      const shots = process.env["SCREENSHOTS"];
      for (const width of shots ? [390, 1280] : []) {
        await page.setViewportSize({ width, height: 844 });
        await page.screenshot({ path: `${shots}/files-${colorScheme}-${width}.png`, fullPage: true });
      }
      const saves = async (name: string): Promise<Buffer> => {
        const coming = page.waitForEvent("download");
        await page.click(name);
        return readFileSync(await (await coming).path());
      };
      expect(sha256(await saves("text=offer.pdf"))).toBe(SAME[3]?.[1]);
      const archive = await saves("text=Save all files");
      for (const { name } of SENT) expect(archive.includes(`${submission.id}/${name}`)).toBe(true);
      await context.close();
    }

    await machine.mustRun(["backup", "copy.db"]);
    const other = operatorMachine(settings);
    await other.mustRun(["restore", machine.path("copy.db"), "--yes"]);
    expect(await savedBy(other, files, "restored", [])).toEqual(SAME);

    await addressInCluster("postgres");
    const address = await temporaryAddress("TEMPLATE template0");
    await machine.mustRun(["copy", "--to", address]);
    expect(await savedBy(machine, files, "copied", ["--db", address])).toEqual(SAME);
    await machine.mustRun(["copy", "--db", address, "--to", "back.db"]);
    expect(await savedBy(machine, files, "back", ["--db", "back.db"])).toEqual(SAME);

    const shared = operatorMachine({ ...settings, database: { url: address } });
    const [first, second] = [await shared.serve(), await shared.serve()];
    const more = await postFiles(first, endpoint.secret, [
      ["name", "Bo"],
      ...SENT.map((file) => ["files", file] as const),
    ]);
    const given = more.files.map(async ({ id, name }) => {
      const answer = await fetch(`${second.url}/submissions/${more.id}/files/${id}`, {
        headers: { authorization: `Bearer ${endpoint.secret}` },
      });
      return [name, sha256(Buffer.from(await answer.arrayBuffer()))];
    });
    expect(await Promise.all(given)).toEqual(SAME);

    const holds = (): string[] => {
      const read = ["formsvc.db", "formsvc.db-wal"]
        .map((name) => machine.path(name))
        .filter((path) => existsSync(path));
      const held = read.map((path) => readFileSync(path));
      const isHeld = (bytes: Buffer): boolean =>
        held.some((each) => each.includes(bytes.subarray(1000, 1064)));
      return SENT.filter(({ bytes }) => isHeld(bytes)).map(({ name }) => name);
    };
    expect(holds()).toHaveLength(4);
    await machine.mustRun(["submission", "find", "--field", "name=Ana", "--erase", "--yes"]);
    expect(holds()).toEqual([]);
    await server.stop();
    expect(holds()).toEqual([]);
  },
  6 * PATIENCE_MS,
);

import { randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import { createFileLinks, type FileLink, listFileLinkKeys } from "../../src/files/file-links.ts";
import { createKeyring } from "../../src/secrets/keyring.ts";
import { sealedWith } from "../../src/secrets/seal.ts";
import { encryptSome } from "../../src/secrets/stored-secret.ts";
import { ENGINES, rowsOf } from "../support/engines.ts";
import { NOON } from "../support/fake-clock.ts";
import { WEEK_MS } from "../../src/foundation/time-units.ts";

const PLAIN = createKeyring({ keyFile: null, key: null });
const FILE = "fil_01h455vb4pex5vsknk084sn02q";
const OTHER = "fil_01h455vb4pex5vsknk084sn02r";
const facts = { id: FILE, name: "cv.pdf", size: 3, type: "application/pdf", sha256: "00" };
const settings = { baseUrl: "https://files.example.com", days: 7 };

/** The link that data have, as the server reads it. */
function readLink(data: string): FileLink {
  const { cv } = JSON.parse(data) as { cv: [{ url: string }] };
  const url = new URL(cv[0].url);
  const until = url.searchParams.get("until") ?? "";
  return { id: url.pathname.split("/").at(-1) ?? "", until, signature: url.searchParams.get("sig") ?? "" };
}

describe.each(ENGINES)("on $name", ({ temporary }) => {
  test("an address of a file is good until it ends, on every server of the database and after a restart", async () => {
    const db = await temporary();
    const links = createFileLinks({ db, keyring: PLAIN, ...settings });
    const data = await links.link({ name: "Ana", cv: [facts] }, NOON, [facts.id]);
    expect(JSON.parse(data)).toEqual({
      name: "Ana",
      cv: [
        {
          ...facts,
          url: expect.stringMatching(
            new RegExp(`^https://files\\.example\\.com/files/${FILE}\\?until=\\d{10}&sig=[\\w-]{43}$`),
          ) as unknown,
          url_expires_at: new Date(NOON + WEEK_MS).toISOString(),
        },
      ],
    });
    const link = readLink(data);
    const other = createFileLinks({ db, keyring: PLAIN, ...settings });
    for (const each of [links, other]) {
      expect(await each.isGood(link, NOON)).toBe(true);
      expect(await each.isGood(link, NOON + WEEK_MS - 1)).toBe(true);
      expect(await each.isGood(link, NOON + WEEK_MS)).toBe(false);
    }
    expect(await other.link({ cv: [facts] }, NOON, [facts.id])).toBe(
      await links.link({ cv: [facts] }, NOON, [facts.id]),
    );
  });

  test("data that only look like a list of files get no address, for they may name a file of others", async () => {
    const links = createFileLinks({ db: await temporary(), keyring: PLAIN, ...settings });
    const data = { list: [{ ...facts, id: OTHER }], mixed: [facts, { ...facts, id: OTHER, url: "x" }] };
    const linked = JSON.parse(await links.link(data, NOON, [FILE])) as Record<string, { url?: string }[]>;
    expect(linked["list"]).toEqual(data.list);
    expect(linked["mixed"]?.map(({ url }) => url?.slice(0, 5))).toEqual(["https", "x"]);
  });

  test("an address that was changed by one sign, is of another file or of another database is no good", async () => {
    const db = await temporary();
    const links = createFileLinks({ db, keyring: PLAIN, ...settings });
    const link = readLink(await links.link({ cv: [facts] }, NOON, [facts.id]));
    const signatures = Array.from(link.signature, (sign, at) => {
      const replaced = sign === "A" ? "B" : "A";
      return link.signature.slice(0, at) + replaced + link.signature.slice(at + 1);
    });
    // The last sign has bits that mean nothing in base64.
    const last = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    for (const sign of last)
      if (!link.signature.endsWith(sign)) signatures.push(link.signature.slice(0, -1) + sign);
    for (const signature of [...signatures, "", `${link.signature}=`, `${link.signature}A`, "é".repeat(43)])
      expect(await links.isGood({ ...link, signature }, NOON), signature).toBe(false);
    for (const until of [
      `${Number(link.until) + 1}`,
      `0${link.until}`,
      `${link.until}.0`,
      "",
      "1e10",
      "9".repeat(40),
    ])
      expect(await links.isGood({ ...link, until }, NOON), until).toBe(false);
    for (const id of [OTHER, FILE.toUpperCase(), "", "x"])
      expect(await links.isGood({ ...link, id }, NOON), id).toBe(false);
    const elsewhere = createFileLinks({ db: await temporary(), keyring: PLAIN, ...settings });
    expect(await elsewhere.isGood(link, NOON)).toBe(false);
  });

  test("the key of addresses is encrypted with the other secrets, and addresses stay good", async () => {
    const db = await temporary();
    const key = randomBytes(32).toString("base64");
    const keyring = createKeyring({ keyFile: null, key });
    const link = readLink(
      await createFileLinks({ db, keyring: PLAIN, ...settings }).link({ cv: [facts] }, NOON, [facts.id]),
    );
    expect(await db.transaction(() => encryptSome([listFileLinkKeys], keyring))).toBe(1);
    const [row] = (await rowsOf(db, "SELECT key FROM file_link_key")) as readonly { readonly key: Buffer }[];
    expect(sealedWith(row?.key ?? Buffer.alloc(0))).toBe(keyring.ids()[0]);
    expect(await createFileLinks({ db, keyring, ...settings }).isGood(link, NOON)).toBe(true);
  });
});

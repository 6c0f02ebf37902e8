import { randomBytes } from "node:crypto";
import { inspect } from "node:util";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { createKey, seal, sealedWith, unseal } from "../../src/secrets/seal.ts";

const key = createKey(randomBytes(32));
const place = "webhook_secret.key of wh_1";

test("any bytes come back as they were sealed, and no two of the same are sealed alike", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 2000 }), (bytes) => {
      const plain = Buffer.from(bytes);
      const stored = seal(key, plain, place);
      expect(sealedWith(stored)).toBe(key.id);
      expect(unseal(key, stored, place)).toEqual(plain);
      expect(seal(key, plain, place)).not.toEqual(stored);
    }),
  );
});

test("a sealed secret opens in its own row and column only, with its own key only, and unchanged only", () => {
  const stored = seal(key, Buffer.from("a secret"), place);
  const other = { ...createKey(randomBytes(32)), id: key.id };
  expect(() => unseal(key, stored, "webhook_secret.key of wh_2")).toThrow(/wh_2: the encrypted secret was/);
  expect(() => unseal(other, stored, place)).toThrow(/changed/);
  for (let at = 14; at < stored.length; at += 1) {
    const changed = Buffer.from(stored);
    changed[at] = changed[at] === 0x41 ? 0x42 : 0x41;
    expect(() => unseal(key, changed, place), String(at)).toThrow(/changed/);
  }
});

test("no signing key of 24 to 64 bytes is taken for a sealed one, even if it begins like one", () => {
  for (let length = 24; length <= 64; length += 1) expect(sealedWith(randomBytes(length))).toBeNull();
  expect(sealedWith(Buffer.from("enc1:0123abcd:".padEnd(51, "A")))).toBeNull();
  expect(sealedWith(Buffer.from("Bearer enc1:0123abcd:"))).toBeNull();
});

test("a printed key shows nothing of itself", () => {
  const bytes = randomBytes(32);
  const shown = inspect(createKey(bytes), { depth: 9 }) + JSON.stringify(createKey(bytes));
  expect(shown).not.toContain(bytes.toString("hex").slice(0, 12));
  expect(shown).not.toContain(bytes.toString("base64").slice(0, 12));
});

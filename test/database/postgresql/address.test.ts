import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { rootCertificates } from "node:tls";
import { expect, test } from "vitest";
import { isDatabaseAddress, parseDatabaseAddress } from "../../../src/database/postgresql/address.ts";
import { FormsvcError } from "../../../src/foundation/errors.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const SECRET = "hunter2";

test("an address names hosts, user, password and database, with escapes undone and the usual port", () => {
  const address = parseDatabaseAddress(
    "postgres://ana:p%40ss%2F:x@db1.example,[2001:db8::1]:5433/my%20forms",
  );
  expect(address).toMatchObject({
    hosts: [
      { host: "db1.example", port: 5432 },
      { host: "2001:db8::1", port: 5433 },
    ],
    user: "ana",
    password: "p@ss/:x",
    database: "my forms",
    tls: { always: false, authorities: null, bindsChannel: false },
  });
  expect(address.shown).toBe("postgresql://ana@db1.example:5432,[2001:db8::1]:5433/my%20forms");
});

test("a socket is named by its folder", () => {
  const { hosts, password } = parseDatabaseAddress("postgresql://ana@/forms?host=/var/run/postgresql");
  expect([hosts, password]).toEqual([[{ host: "/var/run/postgresql", port: 5432 }], null]);
  expect(parseDatabaseAddress("postgresql://ana@:6432/forms?host=%2Ftmp").hosts).toEqual([
    { host: "/tmp", port: 6432 },
  ]);
});

test("each mode that asks for encryption means a verified one", () => {
  const file = join(temporaryFolder(), "ca.pem");
  const [authorities = ""] = rootCertificates;
  writeFileSync(file, authorities);
  for (const mode of ["require", "verify-ca", "verify-full"]) {
    const { tls } = parseDatabaseAddress(
      `postgresql://a@h/d?sslmode=${mode}&sslrootcert=${file}&channel_binding=require`,
    );
    expect(tls).toEqual({ always: true, authorities, bindsChannel: true });
  }
  expect(parseDatabaseAddress("postgresql://a@localhost/d?sslmode=disable").tls.always).toBe(false);
});

test.each([
  ["no user", `postgresql://:${SECRET}@h/d`, "names no user"],
  ["no database", `postgresql://a:${SECRET}@h/`, "names no database"],
  ["no host", `postgresql://a:${SECRET}@/d`, "names no host"],
  ["one host of several missing", `postgresql://a:${SECRET}@h,/d`, "names no host"],
  ["another scheme", `mysql://a:${SECRET}@h/d`, "is not like postgresql://"],
  ["a space", `postgresql://a:${SECRET}@h h/d`, "is not like postgresql://"],
  ["a password with a slash that is no escape", `postgresql://a:${SECRET}/x@h/d`, "in a password as %2F"],
  ["a password with an @ that is no escape", `postgresql://a:${SECRET}@x@h/d`, "is not like postgresql://"],
  [
    "a port that is none",
    `postgresql://a:${SECRET}@h:99999/d`,
    "has a port that is not a number from 1 to 65535",
  ],
  ["a broken escape", `postgresql://a:${SECRET}%zz@h/d`, "without two hexadecimal digits"],
  [
    "an unknown parameter",
    `postgresql://a:${SECRET}@h/d?password=${SECRET}`,
    "has a parameter that is not one of",
  ],
  ["no encryption to another machine", `postgresql://a:${SECRET}@h/d?sslmode=disable`, "is always encrypted"],
  [
    "encryption perhaps",
    `postgresql://a:${SECRET}@h/d?sslmode=prefer`,
    "has an sslmode that is not verify-full",
  ],
  [
    "authorities in a file that has none",
    `postgresql://a:${SECRET}@h/d?sslrootcert=${import.meta.filename}`,
    "has an sslrootcert that is no certificate in PEM",
  ],
  ["authorities in no file", `postgresql://a:${SECRET}@h/d?sslrootcert=/no/file`, "cannot be read (ENOENT)"],
  ["a standby", `postgresql://a:${SECRET}@h/d?target_session_attrs=standby`, "asks for a standby"],
])("an address with %s is refused, and the message repeats no password", (_, address, message) => {
  let refusal: unknown;
  try {
    parseDatabaseAddress(address);
  } catch (error) {
    refusal = error;
  }
  expect(refusal).toBeInstanceOf(FormsvcError);
  expect(refusal).toMatchObject({
    code: "config_invalid",
    message: expect.stringContaining(message) as string,
  });
  expect(String(refusal)).not.toContain(SECRET);
});

test("an address is told from the path of a file", () => {
  const texts = [
    "postgresql://a@h/d",
    "postgres://a@h/d",
    "POSTGRESQL://a@h/d",
    "formsvc.db",
    "/a/postgresql.db",
  ];
  expect(texts.map(isDatabaseAddress)).toEqual([true, true, true, false, false]);
});

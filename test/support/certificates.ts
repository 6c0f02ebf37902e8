import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

interface Certificate {
  readonly key: string;
  readonly cert: string;
}

export interface Authority extends Certificate {
  /** A certificate of this authority for a name or address; a negative number of days makes one that has expired. */
  issue(subjectAltName: string, days?: number): Certificate;
  remove(): void;
}

/** Creates a certificate authority for one test, in its own folder, with the `openssl` program. */
export function createAuthority(): Authority {
  const folder = mkdtempSync(join(tmpdir(), "formsvc-ca-"));
  const run = (...args: string[]): void => {
    execFileSync("openssl", args, { cwd: folder, stdio: "pipe" });
  };
  const read = (name: string): string => readFileSync(join(folder, name), "utf8");
  const newKey = (name: string): void =>
    run("ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", name);
  newKey("ca.key");
  run(
    "req",
    "-x509",
    "-new",
    "-key",
    "ca.key",
    "-subj",
    "/CN=Test authority",
    "-days",
    "2",
    "-out",
    "ca.crt",
  );
  return {
    key: read("ca.key"),
    cert: read("ca.crt"),
    issue(subjectAltName, days = 2) {
      newKey("leaf.key");
      writeFileSync(join(folder, "leaf.ext"), `subjectAltName=${subjectAltName}\n`);
      run("req", "-new", "-key", "leaf.key", "-subj", "/CN=Test receiver", "-out", "leaf.csr");
      const authority = ["-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial"];
      const leaf = ["-days", String(days), "-extfile", "leaf.ext", "-out", "leaf.crt"];
      run("x509", "-req", "-in", "leaf.csr", ...authority, ...leaf);
      return { key: read("leaf.key"), cert: read("leaf.crt") };
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";

/** The purpose of the OpenSSH signatures. The program that verifies them must name the same one. */
const NAMESPACE = "formsvc";

/** Signs with the two keys of a release. The times in signatures are the time of the commit. */
export interface Signer {
  /** The public key in one line, as in `id_ed25519.pub`. */
  readonly sshPublicKey: string;
  /** The public key as `gpg --export` writes it, in binary form. */
  readonly openPgpPublicKey: Buffer;
  /** The same key, armoured. */
  readonly openPgpPublicText: string;
  /** Makes an OpenSSH signature of a text, as text. */
  signWithSsh(text: string): string;
  /** Makes an OpenPGP signature of a text, as text: detached, or around the signed text. */
  signWithOpenPgp(text: string, form: "detached" | "around"): string;
  /** Removes the temporary folder with the private keys. */
  close(): void;
}

/**
 * Opens the two keys of a release.
 *
 * @param seconds the time of the commit, since 1970
 * @throws Error if a key cannot be used, or was made after the commit
 */
export function openSigner(seconds: number): Signer {
  const folder = mkdtempSync(join(tmpdir(), "formsvc-signing-"));
  try {
    const sshKey = join(folder, "ssh-key");
    writeFileSync(sshKey, `${keyText("RELEASE_SIGNING_KEY", makeSshKey).trimEnd()}\n`, { mode: 0o600 });
    const sshPublicKey = run("ssh-keygen", ["-y", "-P", "", "-f", sshKey]).trim();
    if (!sshPublicKey.startsWith("ssh-ed25519 "))
      throw new Error("RELEASE_SIGNING_KEY is not an ed25519 key of OpenSSH");
    const gpg = openGpg(folder, keyText("RELEASE_GPG_KEY", makeOpenPgpKey), seconds);
    return {
      sshPublicKey: sshPublicKey.split(" ").slice(0, 2).join(" "),
      openPgpPublicKey: gpg(["--export"], ""),
      openPgpPublicText: gpg(["--export", "--armor"], "").toString("latin1"),
      signWithSsh: (text) => run("ssh-keygen", ["-q", "-Y", "sign", "-n", NAMESPACE, "-f", sshKey], text),
      signWithOpenPgp: (text, form) =>
        gpg(["--armor", form === "around" ? "--clear-sign" : "--detach-sign"], text).toString("latin1"),
      close: () => closeFolder(folder),
    };
  } catch (error) {
    closeFolder(folder);
    throw error;
  }
}

function closeFolder(folder: string): void {
  spawnSync("gpgconf", ["--homedir", folder, "--kill", "all"], { stdio: "ignore" });
  rmSync(folder, { recursive: true, force: true });
}

/** Reads the key from a variable, which holds the key itself or the path of its file. If the variable is empty, returns a test key. */
function keyText(variable: "RELEASE_SIGNING_KEY" | "RELEASE_GPG_KEY", make: (file: string) => void): string {
  const given = process.env[variable] ?? "";
  if (given.startsWith("-----BEGIN")) return given;
  if (given !== "") return readFileSync(given, "latin1");
  const folder = join(process.env["XDG_STATE_HOME"] ?? join(homedir(), ".local/state"), "formsvc-test-keys");
  const file = join(folder, variable);
  if (!existsSync(file)) {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    make(file);
  }
  process.stderr.write(
    `${variable} is not set: signing with the test key ${file}, which nobody should trust\n`,
  );
  return readFileSync(file, "latin1");
}

function makeSshKey(file: string): void {
  run("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-C", "a test key", "-f", file]);
}

/** The time of the test key, before any commit of a release: a key must not be younger than its signatures. */
const TEST_KEY_MADE = Date.UTC(2026, 0, 1) / 1000;

function makeOpenPgpKey(file: string): void {
  const folder = mkdtempSync(join(tmpdir(), "formsvc-signing-"));
  try {
    const gpg = gpgIn(folder, TEST_KEY_MADE);
    const user = "Test key <test@formsvc.invalid>";
    gpg(["--passphrase", "", "--quick-generate-key", user, "ed25519", "sign", "never"], "");
    writeFileSync(file, gpg(["--export-secret-keys", "--armor"], ""), { mode: 0o600 });
  } finally {
    closeFolder(folder);
  }
}

type Gpg = (args: readonly string[], input: string) => Buffer;

function openGpg(folder: string, key: string, seconds: number): Gpg {
  const gpg = gpgIn(folder, seconds);
  gpg(["--import"], key);
  const listed = gpg(["--list-secret-keys", "--with-colons"], "").toString("latin1").split("\n");
  const [key0, ...more] = listed.filter((line) => line.startsWith("sec:"));
  if (key0 === undefined || more.length > 0) throw new Error("RELEASE_GPG_KEY is not exactly one secret key");
  const [, , , algorithm, , made = "0"] = key0.split(":");
  if (algorithm !== EDDSA) throw new Error("RELEASE_GPG_KEY is not an ed25519 key");
  if (Number(made) > seconds)
    throw new Error(
      "RELEASE_GPG_KEY was made after the commit that is released: nobody would accept its signature",
    );
  return gpg;
}

/** The number of this algorithm in RFC 9580, section 9.1. */
const EDDSA = "22";

function gpgIn(folder: string, seconds: number): Gpg {
  const time = new Date(seconds * 1000).toISOString().replace(/[-:]|\..*/g, "");
  const fixed = ["--homedir", folder, "--batch", "--quiet", "--no-options", "--pinentry-mode", "loopback"];
  // The exclamation mark after the time stops the clock at that time.
  const options = [
    ...fixed,
    "--faked-system-time",
    `${time}!`,
    "--digest-algo",
    "SHA512",
    "--no-emit-version",
  ];
  return (args, input) =>
    execFileSync("gpg", [...options, ...args], { input, stdio: ["pipe", "pipe", "pipe"] });
}

function run(program: string, args: readonly string[], input = ""): string {
  return execFileSync(program, args, { input, encoding: "latin1", stdio: ["pipe", "pipe", "pipe"] });
}

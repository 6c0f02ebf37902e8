import { execFile } from "node:child_process";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { parseCsv } from "./parse-csv.ts";
import { temporaryFolder } from "./temporary-folder.ts";

const PLACES = ["/usr/bin/soffice", "/usr/bin/libreoffice"];

/** The path of LibreOffice; null skips the tests that need it. */
export const libreofficePath: string | null = PLACES.find((path) => existsSync(path)) ?? null;

if (libreofficePath === null)
  process.stderr.write(
    "SKIPPED: the tests with LibreOffice, because it is not installed. Run scripts/install-packaging-tools.sh\n",
  );

/**
 * The options of the export: comma, double quotes, UTF-8, from the first line on, no quotes around every cell, cells as they are shown,
 * every sheet.
 */
const FILTER = "csv:Text - txt - csv (StarCalc):44,34,76,1,,0,false,true,false,false,false,-1";

/** Returns the cells of each sheet of a workbook, as LibreOffice shows them. */
export async function openInLibreoffice(book: Buffer): Promise<ReadonlyMap<string, string[][]>> {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "book.xlsx"), book);
  const profile = `-env:UserInstallation=file://${join(folder, "profile")}`;
  const out = ["--convert-to", FILTER, "--outdir", join(folder, "out"), join(folder, "book.xlsx")];
  await promisify(execFile)(libreofficePath ?? "", [profile, "--headless", "--norestore", ...out], {
    cwd: folder,
    env: { ...process.env, HOME: folder },
  });
  return new Map(
    readdirSync(join(folder, "out")).map((name) => [
      name.replace(/^book-|\.csv$/g, ""),
      parseCsv(readFileSync(join(folder, "out", name), "utf8")),
    ]),
  );
}

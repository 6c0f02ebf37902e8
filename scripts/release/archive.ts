import { type Target, targets } from "../executable.ts";
import { gzip } from "./compress.ts";
import { file } from "./packed-file.ts";
import type { Made, Parts } from "./parts.ts";
import { packTar } from "./tar.ts";
import { packZip } from "./zip.ts";

/** Makes the archive of a platform: one folder with the executable and the licences. */
export function makeArchive(target: Target, executable: Buffer, parts: Parts): Made {
  const name = `formsvc-${parts.version}-${targets[target].platform}`;
  const isWindows = target.startsWith("win32");
  const files = [
    file(`${name}/${isWindows ? "formsvc.exe" : "formsvc"}`, executable, 0o755),
    file(`${name}/LICENSE`, parts.license),
    file(`${name}/THIRD-PARTY-LICENSES.txt`, parts.thirdParty),
  ];
  return isWindows
    ? { name: `${name}.zip`, content: packZip(files) }
    : { name: `${name}.tar.gz`, content: gzip(packTar(files, parts.seconds)) };
}

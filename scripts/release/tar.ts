import { type PackedFile, withFolders } from "./packed-file.ts";

const BLOCK = 512;

/**
 * Makes a tar archive (ustar). All files have the same time, and their order is that of their paths, so that the same files make the same
 * bytes.
 *
 * @param prefix stands before each path: `./` in a Debian package, empty in other archives
 * @param seconds the time of all files, since 1970
 * @throws Error if a path has more than 100 bytes
 */
export function packTar(files: readonly PackedFile[], seconds: number, prefix = ""): Buffer {
  const parts: Buffer[] = prefix === "" ? [] : [header({ path: "", mode: 0o755 }, prefix, seconds)];
  for (const each of withFolders(files)) {
    parts.push(header(each, prefix, seconds));
    if (each.content === undefined) continue;
    parts.push(each.content, Buffer.alloc(-each.content.length & (BLOCK - 1)));
  }
  parts.push(Buffer.alloc(2 * BLOCK));
  return Buffer.concat(parts);
}

function header(file: PackedFile, prefix: string, seconds: number): Buffer {
  const isFolder = file.content === undefined && file.link === undefined;
  const path = `${prefix}${file.path}${isFolder && file.path !== "" ? "/" : ""}`;
  if (Buffer.byteLength(path) > 100) throw new Error(`the path is too long for an archive: ${path}`);
  const block = Buffer.alloc(BLOCK);
  const octal = (value: number, at: number, digits: number): void => {
    block.write(value.toString(8).padStart(digits, "0"), at, "latin1");
  };
  block.write(path, 0);
  octal(file.mode, 100, 7);
  octal(file.owner ?? 0, 108, 7);
  octal(file.owner ?? 0, 116, 7);
  octal(file.content?.length ?? 0, 124, 11);
  octal(seconds, 136, 11);
  block.write(isFolder ? "5" : file.link === undefined ? "0" : "2", 156);
  block.write(file.link ?? "", 157);
  block.write("ustar\x0000", 257, "latin1");
  if (file.owner === undefined) {
    block.write("root", 265);
    block.write("root", 297);
  }
  block.fill(0x20, 148, 156);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148, "latin1");
  return block;
}

/** A file, folder or link in an archive. It belongs to root unless an owner is named. */
export interface PackedFile {
  /** The path below the archive's root, without a slash at the beginning or the end. */
  readonly path: string;
  readonly mode: number;
  /** Absent for a folder and for a link. */
  readonly content?: Buffer;
  /** The target of a symbolic link, which has no content. */
  readonly link?: string;
  /** The user id, which is also the group id. */
  readonly owner?: number;
}

export function file(path: string, content: Buffer | string, mode = 0o644): PackedFile {
  return { path, mode, content: Buffer.from(content) };
}

/** Lists the files in the order of their paths, each folder before its content. */
export function withFolders(files: readonly PackedFile[]): readonly PackedFile[] {
  const all = new Map<string, PackedFile>();
  for (const each of files) {
    const parts = each.path.split("/");
    for (let depth = 1; depth < parts.length; depth++) {
      const path = parts.slice(0, depth).join("/");
      if (!all.has(path)) all.set(path, { path, mode: 0o755 });
    }
    all.set(each.path, each);
  }
  return [...all.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
}

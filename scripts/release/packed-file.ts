/** A file, folder or link of an archive. Everything belongs to root unless an owner is named. */
export interface PackedFile {
  /** Below the archive's root, without a slash at its beginning or end. */
  readonly path: string;
  readonly mode: number;
  /** Absent for a folder. */
  readonly content?: Buffer;
  /** What a symbolic link names, in place of content. */
  readonly link?: string;
  /** User and group id. */
  readonly owner?: number;
}

export function file(path: string, content: Buffer | string, mode = 0o644): PackedFile {
  return { path, mode, content: Buffer.from(content) };
}

/** The files in the order of their paths, each folder before what it holds. */
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

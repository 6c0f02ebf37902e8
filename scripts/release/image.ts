import { ARCHITECTURES } from "./deb.ts";
import type { Target } from "../executable.ts";
import { gzip } from "./compress.ts";
import { file, type PackedFile } from "./packed-file.ts";
import type { Made, Parts } from "./parts.ts";
import { sha256 } from "./sha256.ts";
import { packTar } from "./tar.ts";

/** The id of the user who runs the program. The only other user in the image is root. */
const USER = 10_001;

/** The parts of one architecture's image. */
export interface ImageSource {
  readonly target: Target;
  readonly executable: Buffer;
  /** The libraries and the bundle of certificates, from Debian's packages. */
  readonly libraries: readonly PackedFile[];
}

/**
 * Makes an OCI image layout below image/: one index of the architectures. Each architecture has a layer of libraries and a layer with the
 * program.
 */
export function makeImage(sources: readonly ImageSource[], parts: Parts): readonly Made[] {
  const blobs = new Map<string, Buffer>();
  const add = (mediaType: string, content: Buffer): Descriptor => {
    const digest = digestOf(content);
    blobs.set(`image/blobs/${digest.replace(":", "/")}`, content);
    return { mediaType, digest, size: content.length };
  };
  const addJson = (mediaType: string, value: unknown): Descriptor =>
    add(mediaType, Buffer.from(JSON.stringify(value)));
  const forDocker: Made[] = [];
  const manifests = sources.map((source) => {
    const layers = [baseFiles(source.libraries), [file("usr/bin/formsvc", source.executable, 0o755)]];
    const tars = layers.map((files) => packTar(files, parts.seconds));
    const architecture = ARCHITECTURES[source.target] ?? "";
    const manifest = {
      schemaVersion: 2,
      mediaType: `${OCI}.manifest.v1+json`,
      config: addJson(`${OCI}.config.v1+json`, configOf(architecture, tars, parts)),
      layers: tars.map((tar) => add(`${OCI}.layer.v1.tar+gzip`, gzip(tar))),
    };
    forDocker.push(dockerManifest(architecture, manifest, parts));
    return { ...addJson(manifest.mediaType, manifest), platform: { architecture, os: "linux" } };
  });
  const index = addJson(`${OCI}.index.v1+json`, {
    schemaVersion: 2,
    mediaType: `${OCI}.index.v1+json`,
    manifests,
  });
  const named = {
    ...index,
    annotations: { "org.opencontainers.image.ref.name": `formsvc:${parts.version}` },
  };
  return [
    { name: "image/oci-layout", content: '{"imageLayoutVersion":"1.0.0"}' },
    {
      name: "image/index.json",
      content: JSON.stringify({ schemaVersion: 2, mediaType: `${OCI}.index.v1+json`, manifests: [named] }),
    },
    ...forDocker,
    ...[...blobs].map(([name, content]) => ({ name, content })),
  ];
}

/**
 * Makes the file that `docker load` reads if Docker keeps images in its own store. That store does not know OCI layouts, and knows only one
 * processor. The file goes beside `index.json`. With the store of containerd, Docker reads the index instead.
 */
function dockerManifest(
  architecture: string,
  { config, layers }: { readonly config: Descriptor; readonly layers: readonly Descriptor[] },
  { version }: Parts,
): Made {
  const blob = ({ digest }: Descriptor): string => `blobs/${digest.replace(":", "/")}`;
  const image = { Config: blob(config), RepoTags: [`formsvc:${version}`], Layers: layers.map(blob) };
  return { name: `image/docker/${architecture}/manifest.json`, content: JSON.stringify([image]) };
}

const OCI = "application/vnd.oci.image";

interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
}

function digestOf(content: Buffer): string {
  return `sha256:${sha256(content)}`;
}

/** Lists all files except the program. */
function baseFiles(libraries: readonly PackedFile[]): readonly PackedFile[] {
  return [
    ...libraries,
    file(
      "etc/passwd",
      `root:x:0:0:root:/:/sbin/nologin\nformsvc:x:${USER}:${USER}:formsvc:/data:/sbin/nologin\n`,
    ),
    file("etc/group", `root:x:0:\nformsvc:x:${USER}:\n`),
    file("etc/nsswitch.conf", "passwd: files\ngroup: files\nhosts: files dns\n"),
    { path: "data", mode: 0o700, owner: USER },
    { path: "tmp", mode: 0o1777 },
    { path: "proc", mode: 0o555 },
    { path: "dev", mode: 0o755 },
    { path: "sys", mode: 0o555 },
  ];
}

function configOf(architecture: string, tars: readonly Buffer[], { version, seconds, url }: Parts): object {
  const created = new Date(seconds * 1000).toISOString().replace(".000", "");
  return {
    created,
    architecture,
    os: "linux",
    config: {
      User: `${USER}:${USER}`,
      ExposedPorts: { "8787/tcp": {} },
      Env: ["PATH=/usr/bin", "FORMSVC_SERVER_HOST=0.0.0.0", "FORMSVC_DATABASE_PATH=/data/formsvc.db"],
      Entrypoint: ["/usr/bin/formsvc"],
      Cmd: ["serve"],
      Volumes: { "/data": {} },
      WorkingDir: "/data",
      StopSignal: "SIGTERM",
      Labels: {
        "org.opencontainers.image.title": "formsvc",
        "org.opencontainers.image.version": version,
        "org.opencontainers.image.licenses": "MIT",
        "org.opencontainers.image.source": url,
        "org.opencontainers.image.created": created,
      },
    },
    rootfs: { type: "layers", diff_ids: tars.map(digestOf) },
    history: ["libraries", "formsvc"].map((what) => ({ created, created_by: what })),
  };
}

import { execFileSync } from "node:child_process";
import { chmodSync, copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { build, type BuildOptions, type Plugin } from "esbuild";
import { type Language, LANGUAGES } from "../src/languages/language.ts";
import type { Texts } from "../src/languages/texts/en.ts";
import type { CompiledPhrases } from "../src/spam/phrases/compile-phrases.ts";
import { bundleOnce, isFile, type Program } from "./bundle-once.ts";
import { renderBrowserClient } from "./embed-browser-client.ts";
import { linkAtomic } from "./link-atomic.ts";
import { packDashboard } from "./dashboard-script.ts";
import { embedLogThread } from "./log-thread-script.ts";
import { embedAddons, platformFiles } from "./native-addons.ts";
import {
  asAscii,
  embedManual,
  embedMigrations,
  pack,
  packLateScripts,
  bundlePatternEngine,
  shortenLocals,
} from "./smaller-script.ts";
import { type Source, targets } from "./targets.ts";

/** The parts that the build for this machine and the release for all machines share. */

export { type Target, targets } from "./targets.ts";

/**
 * The engine lets the space of young objects grow to three times this size, in MB. The work of 64 busy connections fills most of 4 MB. With
 * 8 MB, some objects were still copied to the old objects, which cost about 2 % more processor time for each post than 16 MB. With 16 MB,
 * 120 busy connections from one address use 170 MB of memory, 3 MB more than with 8 MB.
 */
const MOST_YOUNG_MB = 16;
const RUNTIME_FLAGS: readonly string[] = [
  `--max-semi-space-size=${MOST_YOUNG_MB}`,
  // The program ignores SIGUSR1 too, but until its first line runs, the signal would open the debugger.
  "--disable-sigusr1",
];

/**
 * The options of Node's single executable. The runtime takes no flags from `NODE_OPTIONS`, because they could load any script before the
 * program.
 */
export const SEA_OPTIONS = {
  disableExperimentalSEAWarning: true,
  useSnapshot: false,
  execArgv: RUNTIME_FLAGS,
  execArgvExtension: "none",
} as const;

/**
 * Copies the platform's Node from its package. On Linux the copy does not need `libatomic.so.1`.
 * @param strip a program that removes the debugger's symbols from the copy, a sixth of its bytes; null keeps them
 */
export function copyNode({ folder, target }: Source, copy: string, strip: string | null): void {
  const bin = target.startsWith("win32") ? "bin/node.exe" : "bin/node";
  copyFileSync(join(folder, "node_modules", targets[target].node, bin), copy);
  chmodSync(copy, 0o755);
  if (strip !== null) execFileSync(strip, ["--strip-all", copy]);
  if (!target.startsWith("linux")) return;
  const bytes = readFileSync(copy);
  linkAtomic(bytes);
  writeFileSync(copy, bytes);
}

export interface Bundle {
  /** The files that are embedded beside the script, by name: native addons, the text model and other packed parts. */
  readonly assets: Readonly<Record<string, string>>;
  /** The files that are in the bundle, as paths from the source's folder. */
  readonly inputs: readonly string[];
}

/** The options with which src/ becomes one script for Node. */
export const ONE_SCRIPT = {
  bundle: true,
  platform: "node",
  format: "cjs",
  target: "node26",
  minifySyntax: true,
  minifyWhitespace: true,
  legalComments: "none",
} as const satisfies BuildOptions;

/** Bundles src/ into one script, which is the same for all platforms; the addons beside it are those of the source's. */
export async function bundleSource(source: Source, bundle: string): Promise<Bundle> {
  const { folder, target } = source;
  const { script, assets, inputs } = await bundleOnce(source, () => bundleProgram(source, dirname(bundle)));
  writeFileSync(bundle, script);
  const { addons, driver } = platformFiles(target);
  const runtime = join("node_modules", targets[target].node, "package.json");
  return {
    assets: {
      ...assets,
      ...Object.fromEntries(Object.entries(addons).map(([name, path]) => [name, join(folder, path)])),
    },
    inputs: [...inputs, driver, ...Object.values(addons), runtime],
  };
}

/** Bundles what all platforms share. The packed parts are files in `buildFolder`. */
async function bundleProgram({ folder, target, release }: Source, buildFolder: string): Promise<Program> {
  const assets: Record<string, string> = {};
  const inputs = new Set<string>();
  const addonsFor = (loadAddon: (name: string) => string): Plugin => embedAddons(folder, target, loadAddon);
  const beside = { folder, buildFolder, options: { ...ONE_SCRIPT, external: EXTERNAL }, assets, inputs };
  const { metafile, outputFiles } = await build({
    absWorkingDir: folder,
    ...ONE_SCRIPT,
    entryPoints: [join(folder, "src/main.ts")],
    write: false,
    metafile: true,
    define: release === undefined ? {} : { FORMSVC_RELEASE: JSON.stringify(release) },
    logLevel: "warning",
    external: EXTERNAL,
    plugins: [
      addonsFor(loadEmbedded(folder)),
      embedTextModel(buildFolder, assets),
      embedSubjectWords(buildFolder, assets),
      embedPhrases(buildFolder, assets),
      embedLanguages(buildFolder, assets),
      embedManual(buildFolder, assets),
      embedMigrations(buildFolder, assets),
      embedLogThread({ ...beside, options: ONE_SCRIPT }, addonsFor),
      embedBrowserClient(),
      leaveOutLanguages(),
      leaveOutCaller(),
      bundlePatternEngine(),
      packDashboard(beside),
      packLateScripts(beside),
      // This plugin is the last one, because it takes every file that no other has taken.
      shortenLocals(),
    ],
  });
  for (const input of Object.keys(metafile.inputs)) inputs.add(input);
  return { script: asAscii(outputFiles[0]?.text ?? ""), assets, inputs: [...inputs].filter(isFile) };
}

/** The code of a module that loads an addon from the executable. */
function loadEmbedded(folder: string): (name: string) => string {
  const loader = JSON.stringify(join(folder, "src/foundation/native-addon.ts"));
  return (name) => `module.exports = require(${loader}).loadNativeAddon(${JSON.stringify(name)});`;
}

/** `debug` can use this package and works without it. The bundler would find it above the folder, among the packages for development. */
const EXTERNAL = ["supports-color"];

/** Embeds the client that src/browser/ makes now, and not the generated file. */
function embedBrowserClient(): Plugin {
  return {
    name: "embed-browser-client",
    setup(builder) {
      builder.onLoad({ filter: /browser-client\.generated\.ts$/ }, async () => ({
        loader: "js",
        contents: await renderBrowserClient(),
      }));
    },
  };
}

/** Leaves out Zod's messages in fifty languages, which the program does not use: they are 340 KB of the script and 3 ms of each start. */
function leaveOutLanguages(): Plugin {
  return {
    name: "leave-out-languages",
    setup(builder) {
      builder.onLoad({ filter: /[\\/]zod[\\/]v4[\\/]locales[\\/]index\.js$/ }, () => ({
        loader: "js",
        contents: 'export { default as en } from "./en.js";',
      }));
    },
  };
}

/**
 * Leaves out the question which file called Pino. Pino needs the answer only for transports that are files, which the program does not use.
 * For the answer, the engine would count the lines of the whole script, which takes 4 ms of each start.
 */
function leaveOutCaller(): Plugin {
  return {
    name: "leave-out-caller",
    setup(builder) {
      builder.onLoad({ filter: /[\\/]pino[\\/]lib[\\/]caller\.js$/ }, () => ({
        loader: "js",
        contents: "module.exports = () => [];",
      }));
    },
  };
}

/** The first lines of a module whose data are packed. Unpacking takes 0.5 ms for each 100 KiB. */
const UNPACK = `import { getRawAsset } from "node:sea";
import { brotliDecompressSync } from "node:zlib";
const unpack = (name) => brotliDecompressSync(getRawAsset(name));`;

/** Embeds the 129 KiB of weights in 96 KiB. As text in the script they would take 172 KiB. */
function embedTextModel(buildFolder: string, assets: Record<string, string>): Plugin {
  return {
    name: "embed-text-model",
    setup(builder) {
      builder.onLoad({ filter: /text-model\.generated\.ts$/ }, async ({ path }) => {
        const model = (await import(pathToFileURL(path).href)) as TextModel;
        const { TEXT_WEIGHTS, ...rest } = model;
        assets[WEIGHTS_ASSET] = join(buildFolder, WEIGHTS_ASSET);
        writeFileSync(assets[WEIGHTS_ASSET], pack(TEXT_WEIGHTS));
        // The order is that of the names, and does not depend on what loads the module.
        const others = Object.entries(rest)
          .sort(([a], [b]) => a.localeCompare(b))
          .map(([name, value]) => `export const ${name} = ${JSON.stringify(value)};`);
        return {
          loader: "js",
          contents: [
            UNPACK,
            `export const TEXT_WEIGHTS = new Uint8Array(unpack(${JSON.stringify(WEIGHTS_ASSET)}));`,
            ...others,
          ].join("\n"),
        };
      });
    },
  };
}

const WEIGHTS_ASSET = "text-weights";

/** Embeds the words, in half of their size in UTF-8. */
function embedSubjectWords(buildFolder: string, assets: Record<string, string>): Plugin {
  return {
    name: "embed-subject-words",
    setup(builder) {
      builder.onLoad({ filter: /[\\/]subject-words\.ts$/ }, async ({ path }) => {
        const { SUBJECT_WORDS } = (await import(pathToFileURL(path).href)) as SubjectWords;
        assets[WORDS_ASSET] = join(buildFolder, WORDS_ASSET);
        writeFileSync(assets[WORDS_ASSET], pack(JSON.stringify(SUBJECT_WORDS)));
        return {
          loader: "js",
          contents: [
            UNPACK,
            `export const SUBJECT_WORDS = JSON.parse(unpack(${JSON.stringify(WORDS_ASSET)}).toString("utf8"));`,
          ].join("\n"),
        };
      });
    },
  };
}

const WORDS_ASSET = "subject-words";

/** The exports of `subject-words.ts`. */
interface SubjectWords {
  readonly SUBJECT_WORDS: Readonly<Record<string, string>>;
}

/** Embeds the phrases of pitches as a packed automaton. To compile them at the first suspicious text would take 60 ms and 20 MB. */
function embedPhrases(buildFolder: string, assets: Record<string, string>): Plugin {
  return {
    name: "embed-phrases",
    setup(builder) {
      builder.onLoad({ filter: /[\\/]phrases[\\/]compiled-phrases\.ts$/ }, async ({ path }) => {
        const { readCompiledPhrases } = (await import(pathToFileURL(path).href)) as CompiledPhrasesModule;
        const compiled = readCompiledPhrases();
        assets[PHRASES_ASSET] = join(buildFolder, PHRASES_ASSET);
        const columns = [compiled.origins, compiled.tokens, compiled.targets, compiled.meanings].map((each) =>
          Buffer.from(each.slice().buffer),
        );
        writeFileSync(assets[PHRASES_ASSET], pack(Buffer.concat(columns)));
        const transitions = compiled.origins.length;
        return {
          loader: "js",
          contents: [
            UNPACK,
            "export function readCompiledPhrases() {",
            `  const { buffer } = new Uint8Array(unpack(${JSON.stringify(PHRASES_ASSET)}));`,
            `  const column = (number) => new Uint32Array(buffer, number * ${transitions * 4}, ${transitions});`,
            `  const meanings = new Uint8Array(buffer, ${transitions * 12});`,
            "  return { origins: column(0), tokens: column(1), targets: column(2), meanings };",
            "}",
          ].join("\n"),
        };
      });
    },
  };
}

const PHRASES_ASSET = "pitch-phrases";

/** The exports of `phrases/compiled-phrases.ts`. */
interface CompiledPhrasesModule {
  readonly readCompiledPhrases: () => CompiledPhrases;
}

/** Embeds the words for visitors. Each language is packed by itself, because a server unpacks only the languages that it needs. */
function embedLanguages(buildFolder: string, assets: Record<string, string>): Plugin {
  return {
    name: "embed-languages",
    setup(builder) {
      builder.onLoad({ filter: /[\\/]languages[\\/]texts\.ts$/ }, async ({ path }) => {
        const { readTexts } = (await import(pathToFileURL(path).href)) as LanguageTexts;
        for (const language of LANGUAGES) {
          const asset = `language-${language}`;
          assets[asset] = join(buildFolder, asset);
          writeFileSync(assets[asset], pack(JSON.stringify(readTexts(language))));
        }
        return {
          loader: "js",
          contents: [
            UNPACK,
            "export function readTexts(language) {",
            '  return JSON.parse(unpack(`language-${language}`).toString("utf8"));',
            "}",
          ].join("\n"),
        };
      });
    },
  };
}

/** The exports of `languages/texts.ts`. */
interface LanguageTexts {
  readonly readTexts: (language: Language) => Texts;
}

/** The exports of `text-model.generated.ts`. */
interface TextModel extends Readonly<Record<string, unknown>> {
  readonly TEXT_WEIGHTS: Uint8Array;
}

/**
 * Puts bundle and addons into a copy of the platform's Node. Nothing from the building machine gets into it: no path, and no compiled code,
 * whose form depends on the processor.
 */
export async function assemble(source: Source, output: string, strip: string | null): Promise<Bundle> {
  const { folder } = source;
  const bundle = await bundleSource(source, join(folder, "formsvc.cjs"));
  const { assets } = bundle;
  for (const [name, path] of Object.entries(assets)) copyFileSync(path, join(folder, name));
  copyNode(source, join(folder, "node"), strip);
  const config = {
    main: "formsvc.cjs",
    executable: "node",
    output,
    ...SEA_OPTIONS,
    useCodeCache: false,
    // The order is that of the names, because the bundler finds them in another order each time.
    assets: Object.fromEntries(
      Object.keys(assets)
        .sort((a, b) => a.localeCompare(b))
        .map((name) => [name, name]),
    ),
  };
  writeFileSync(join(folder, "sea-config.json"), JSON.stringify(config));
  execFileSync(process.execPath, ["--build-sea", "sea-config.json"], { cwd: folder });
  return bundle;
}

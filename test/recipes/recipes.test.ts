import { execFile, spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { build, type Plugin } from "esbuild";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { compileScript, parse } from "vue/compiler-sfc";
import { chromiumPath, launchChromium } from "../support/chromium.ts";
import type { Endpoint, ServerHere } from "../support/machine-database.ts";
import { makeMachine } from "../support/operator-machine.ts";
import { FORMSVC } from "../support/shell.ts";

import { startWebSite, type WebSite } from "../support/web-site.ts";
import { type Block, readRecipe, recipeNames } from "./recipe-blocks.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const PAGES = ["plain-html", "html-with-script", "fetch", "react", "vue", "npm", "hugo"];
const IN_APPLICATION = ["react", "vue", "npm"];
const PROGRAMS: Readonly<Record<string, string>> = {
  curl: "curl",
  node: "node",
  python: "python3",
  php: "php",
  "no-code": "",
};

/** Tested in `api-recipes.test.ts`, and the last one in `test/api/terraform.test.ts`. */
const OF_API = ["n8n", "deploy", "terraform"];

const PLAIN = { name: "Ada Lovelace", email: "ada@example.org", message: "Without script" };

const machine = makeMachine();
let server: ServerHere;
let site: WebSite;
let form: Endpoint;
let folder: string;

beforeAll(async () => {
  machine.configure({});
  [server, site] = await Promise.all([machine.serveHere(), startWebSite()]);
  const [contact] = readRecipe("README", { url: "", publishable: "" });
  form = await machine.createEndpoint({
    schema: JSON.parse(contact?.text ?? "") as object,
    allowOrigin: [site.origin],
  });
  folder = mkdtempSync(join(tmpdir(), "formsvc-recipes-"));
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await Promise.all([site.stop(), machine.remove()]);
});

const blocks = (name: string) => readRecipe(name, { url: server.url, publishable: form.publishable });

function isMissing(program: string): boolean {
  const paths = (process.env["PATH"] ?? "").split(delimiter);
  const missing = program !== "" && !paths.some((path) => existsSync(join(path, program)));
  if (missing) process.stderr.write(`SKIPPED: the recipe that needs ${program}, which is not installed\n`);
  return missing;
}

test("every recipe is run by a test here", () => {
  expect([...PAGES, ...Object.keys(PROGRAMS), ...OF_API].sort()).toEqual([...recipeNames].sort());
});

describe("on a server", () => {
  for (const [name, program] of Object.entries(PROGRAMS)) {
    test.skipIf(isMissing(program))(
      `the recipe ${name} stores what it sends, and what it reads is there`,
      async () => {
        const before = (await machine.stored(form)).length;
        const recipe = blocks(name);
        expect(recipe.length).toBeGreaterThan(0);
        for (const block of recipe) {
          const out = await runBlock(block);
          expect(out).toContain(block.text.includes("/submissions") ? '"ada@example.org"' : "sub_");
        }
        const stored = await machine.stored(form);
        expect(stored.slice(before)).toEqual([
          { name: "Ada Lovelace", email: "ada@example.org", message: "From a script" },
        ]);
      },
    );
  }

  async function runBlock({ language, file, text }: Block): Promise<string> {
    if (language === "http") return sendHttp(text);
    const program = { sh: "bash", js: process.execPath, python: "python3", php: "php" }[language] ?? "";
    const path = join(folder, file || "script.sh");
    writeFileSync(path, text);
    const env = { PATH: process.env["PATH"], HOME: folder, FORMSVC_SECRET_KEY: form.secret };
    const { stdout } = await promisify(execFile)(program, [path], { cwd: folder, env });
    return stdout;
  }

  /** As a tool would, from its form's fields: method and address, headers, body. */
  async function sendHttp(text: string): Promise<string> {
    const [head = "", body] = text.replaceAll("$FORMSVC_SECRET_KEY", form.secret).split("\n\n");
    const [first = "", ...lines] = head.trim().split("\n");
    const [method = "", address = ""] = first.split(" ");
    const headers = lines.map((line) => line.split(": ") as [string, string]);
    const answer = await fetch(address, { method, headers, ...(body !== undefined && { body }) });
    expect(answer.status).toBe(200);
    return answer.text();
  }
});

describe.skipIf(chromiumPath === null)("in Chromium", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchChromium();
  });
  afterAll(() => browser.close());

  for (const name of PAGES) {
    const needs = name === "hugo" ? "hugo" : "";
    test.skipIf(isMissing(needs))(
      `the recipe ${name} tells what is wrong, then stores and thanks`,
      async () => {
        const before = (await machine.stored(form)).length;
        const page = await browser.newPage();
        page.setDefaultTimeout(15_000);
        await page.goto(await publish(name, blocks(name)));
        await page.fill("[name=name]", "Ada Lovelace");
        // Good enough for the browser's own check, not for the schema.
        await page.fill("[name=email]", "ada@example");
        await page.fill("[name=message]", "From a page");
        await page.click("button");
        await page.getByText("Email must be an e-mail address").first().waitFor();
        // A screen reader says it: a script of the page's own has a live region, formsvc.js moves the focus.
        if (IN_APPLICATION.includes(name))
          expect(await page.getByRole("alert").allTextContents()).toContain(
            "Email must be an e-mail address",
          );
        expect(await page.inputValue("[name=message]")).toBe("From a page");
        await page.fill("[name=email]", "ada@example.org");
        await page.click("button");
        await page.getByText("Thank you").first().waitFor();
        expect((await machine.stored(form)).slice(before)).toEqual([
          { name: "Ada Lovelace", email: "ada@example.org", message: "From a page" },
        ]);
        await page.close();
      },
    );
  }

  test.each(IN_APPLICATION)(
    "the form of the recipe %s is a plain form while its script does not run",
    async (name) => {
      const before = (await machine.stored(form)).length;
      const page = await browser.newPage();
      page.setDefaultTimeout(15_000);
      await page.goto(await publish(name, blocks(name)));
      for (const [field, value] of Object.entries(PLAIN)) await page.fill(`[name=${field}]`, value);
      // This asks no listener.
      await page.evaluate("document.forms[0].submit()");
      await page.getByText("Thank you").waitFor();
      expect((await machine.stored(form)).slice(before)).toEqual([PLAIN]);
      await page.close();
    },
  );

  test("the recipes react and npm compile, and a field that the form does not have does not", async () => {
    await publish("npm", blocks("npm"));
    await publish("react", blocks("react"));
    // The script's own types, beside JavaScript that is checked.
    writeFileSync(
      join(folder, "react/formsvc.d.ts"),
      await (await fetch(`${server.url}/formsvc.d.ts`)).text(),
    );
    for (const [project, file, options] of [
      ["npm/app", "main.tsx", { files: ["main.tsx", "wrong-main.tsx"] }],
      // As Next.js configures the compiler if a project has no configuration.
      ["npm/app", "main.tsx", { files: ["main.tsx", "wrong-main.tsx"], strict: false }],
      [
        "react",
        "main.jsx",
        {
          files: ["main.jsx", "wrong-main.jsx", "formsvc.d.ts"],
          allowJs: true,
          checkJs: true,
          strict: false,
        },
      ],
    ] as const) {
      const home = join(folder, project);
      const wrong = readFileSync(join(home, file), "utf8").replace(
        "setBusy(true);",
        "setBusy(true);\n    data.colour.trim(submit.colour, formsvc.colour);",
      );
      writeFileSync(join(home, `wrong-${file}`), wrong);
      const complaints = compile(home, options).trim().split("\n");
      expect(complaints).toContainEqual(expect.stringMatching(/'colour' does not exist/));
      expect(complaints.filter((line) => !/wrong-main|^ /.test(line))).toEqual([]);
    }
  });

  /** As a person would at a terminal in the project's folder, with this machine's formsvc. */
  async function runInProject(home: string, text: string): Promise<void> {
    const bin = join(folder, "bin");
    mkdirSync(bin, { recursive: true });
    writeFileSync(join(bin, "formsvc"), `#!/bin/sh\ncd '${machine.folder}' && exec ${FORMSVC} "$@"\n`, {
      mode: 0o755,
    });
    const env = { ...process.env, PATH: `${bin}${delimiter}${process.env["PATH"] ?? ""}` };
    await promisify(execFile)("bash", ["-e", "-c", text], { cwd: home, env });
  }

  /** Puts the recipe's files on the site, built as their framework builds them. */
  async function publish(name: string, files: readonly Block[]): Promise<string> {
    const home = join(folder, name);
    const named = files.filter(({ file }) => file !== "");
    for (const { file, text } of named) {
      mkdirSync(dirname(join(home, file)), { recursive: true });
      writeFileSync(join(home, file), text);
    }
    if (name === "hugo") {
      await promisify(execFile)("hugo", ["--quiet"], { cwd: home });
      return site.put("/hugo", readFileSync(join(home, "public/contact/index.html"), "utf8"));
    }
    for (const { text } of files.filter(({ language }) => language === "sh")) await runInProject(home, text);
    const script = files.find(({ file }) => /^(?:app\/)?main\./.test(file));
    if (script !== undefined) {
      const bundled = await build({
        entryPoints: [join(home, script.file)],
        bundle: true,
        write: false,
        jsx: "automatic",
        logLevel: "warning",
        define: { "process.env.NODE_ENV": '"production"' },
        plugins: [singleFileComponents],
      });
      site.put("/main.js", bundled.outputFiles[0]?.text ?? "");
    }
    return site.put(`/${name}`, files.find(({ language }) => language === "html")?.text ?? "");
  }
});

/** What the compiler says of a project. */
function compile(
  home: string,
  { files, ...options }: { files: readonly string[]; [option: string]: unknown },
): string {
  const compilerOptions = {
    strict: true,
    noEmit: true,
    jsx: "react-jsx",
    module: "preserve",
    target: "es2022",
    lib: ["es2022", "dom", "dom.iterable"],
    types: [],
    allowImportingTsExtensions: true,
    skipLibCheck: true,
    ...options,
  };
  writeFileSync(join(home, "tsconfig.json"), JSON.stringify({ compilerOptions, files }));
  const tsc = join(root, "node_modules/typescript/bin/tsc");
  return spawnSync(process.execPath, [tsc, "-p", home], { encoding: "utf8" }).stdout;
}

const singleFileComponents: Plugin = {
  name: "vue",
  setup(builder) {
    builder.onLoad({ filter: /\.vue$/ }, ({ path }) => {
      const { descriptor, errors } = parse(readFileSync(path, "utf8"), { filename: path });
      if (errors.length > 0) throw errors[0] as Error;
      const { content } = compileScript(descriptor, { id: "contact", inlineTemplate: true });
      return { contents: content, loader: "js", resolveDir: dirname(path) };
    });
  },
};

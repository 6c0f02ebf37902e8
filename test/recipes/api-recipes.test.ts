import { execFile } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { runInNewContext } from "node:vm";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { operatorMachine } from "../support/operator-machine.ts";
import { FORMSVC } from "../support/shell.ts";
import { readRecipe } from "./recipe-blocks.ts";

/** Of a recipe, with the address of a test's server. */
function blockOf(recipe: string, file: string, url: string): string {
  const block = readRecipe(recipe, { url, publishable: "" }).find((each) => each.file === file);
  if (block === undefined) throw new Error(`${recipe} shows no ${file}`);
  return block.text;
}

/** The words of the command that makes the recipe's token. */
function tokenCommand(recipe: string): string[] {
  const blocks = readRecipe(recipe, { url: "", publishable: "" });
  const line = blocks.find(({ text }) => text.startsWith("formsvc token create "))?.text ?? "";
  return [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? "").slice(1);
}

type Named = readonly { readonly name: string; readonly value: string }[];

interface HttpNode {
  readonly name: string;
  readonly type: string;
  readonly parameters: {
    readonly method: string;
    readonly url: string;
    readonly queryParameters?: { readonly parameters: Named };
    readonly headerParameters?: { readonly parameters: Named };
    readonly jsonBody?: string;
    readonly options: {
      readonly pagination?: {
        readonly pagination: {
          readonly parameters: { readonly parameters: Named };
          readonly completeExpression: string;
        };
      };
    };
  };
}

/** A value as n8n reads it: what begins with `=` has expressions in double braces; one that is all of it keeps its type. */
function valueOf(text: string, scope: object): unknown {
  if (!text.startsWith("=")) return text;
  const evaluate = (expression: string): unknown => runInNewContext(expression, { JSON, ...scope });
  const whole = /^=\{\{([^]*)\}\}$/.exec(text);
  if (whole !== null) return evaluate(whole[1] ?? "");
  return text
    .slice(1)
    .replace(/\{\{([^]*?)\}\}/g, (_match, expression: string) => String(evaluate(expression)));
}

/** All that an HTTP node sends for one item, as the node of n8n does; the bodies of the answers. */
async function runNode({ parameters }: HttpNode, token: string, $json: object): Promise<unknown[]> {
  const { method, url, queryParameters, headerParameters, jsonBody, options } = parameters;
  const pages = options.pagination?.pagination;
  const bodies: unknown[] = [];
  for (let $response: { body: unknown } | null = null; ;) {
    const query = new URLSearchParams(
      queryParameters?.parameters.map(({ name, value }) => [name, value]) ?? [],
    );
    if ($response !== null)
      for (const { name, value } of pages?.parameters.parameters ?? [])
        query.set(name, String(valueOf(value, { $response })));
    const headers = headerParameters?.parameters.map(({ name, value }): [string, string] => [
      name,
      String(valueOf(value, { $json })),
    ]);
    const answer = await fetch(`${url}?${query.toString()}`, {
      method,
      headers: {
        accept:
          "application/json,text/html,application/xhtml+xml,application/xml,text/*;q=0.9, image/*;q=0.8, */*;q=0.7",
        "user-agent": "n8n",
        authorization: `Bearer ${token}`,
        ...(jsonBody !== undefined && { "content-type": "application/json" }),
        ...Object.fromEntries(headers ?? []),
      },
      ...(jsonBody !== undefined && { body: String(valueOf(jsonBody, { $json })) }),
    });
    if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`);
    $response = { body: await answer.json() };
    bodies.push($response.body);
    if (pages === undefined || valueOf(pages.completeExpression, { $response }) === true) return bodies;
  }
}

test("the nodes of the n8n recipe read every open submission, page by page, and tick each off, once and again", async () => {
  const machine = operatorMachine();
  const form = await machine.createEndpoint({ schema: { name: { type: "string" } } });
  const server = await machine.serveHere();
  for (let posted = 0; posted < 103; posted += 1) {
    const answer = await fetch(`${server.url}/submit`, {
      method: "POST",
      headers: { authorization: `Bearer ${form.secret}`, "content-type": "application/json" },
      body: JSON.stringify({ name: `Ana ${posted}` }),
    });
    expect(answer.status).toBe(200);
  }
  const { secret: token } = await machine.json<{ secret: string }>(tokenCommand("n8n"));
  const { nodes } = JSON.parse(blockOf("n8n", "workflow.json", server.url)) as { nodes: HttpNode[] };
  const http = nodes.filter(({ type }) => type === "n8n-nodes-base.httpRequest");
  const [read, tick] = http as [HttpNode, HttpNode];
  const open = async (): Promise<{ id: string }[]> => {
    const pages = (await runNode(read, token, {})) as { data: { id: string }[] }[];
    return pages.flatMap(({ data }) => data);
  };
  const found = await open();
  expect(new Set(found.map(({ id }) => id)).size).toBe(103);
  for (const item of [...found, ...found.slice(0, 2)]) await runNode(tick, token, item);
  expect(await open()).toEqual([]);
});

interface Step {
  readonly name?: string;
  readonly if?: string;
  readonly run?: string;
}

const run = promisify(execFile);

describe("the workflow of the deploying recipe", () => {
  interface Workflow {
    readonly env: Readonly<Record<string, string>>;
    readonly jobs: { readonly forms: { readonly steps: readonly Step[] } };
  }

  test("shows what would change, stops at a form that is not there, and then keeps the forms as the file says", async () => {
    const machine = operatorMachine();
    const server = await machine.serveHere();
    await machine.mustRun(["workspace", "create", "--name", "Client A"]);
    const { secret } = await machine.json<{ secret: string }>(tokenCommand("deploy"));
    const workflow = parse(blockOf("deploy", ".github/workflows/forms.yml", server.url)) as Workflow;
    mkdirSync(machine.path("bin"));
    const formsvc = machine.path("bin/formsvc");
    writeFileSync(formsvc, `#!/bin/sh\nexec ${FORMSVC} "$@"\n`, { mode: 0o755 });
    machine.write("forms.yaml", blockOf("deploy", "forms.yaml", server.url));
    const secrets: Readonly<Record<string, string>> = { FORMSVC_TOKEN: secret };
    const env = Object.fromEntries(
      Object.entries(workflow.env).map(([name, value]) => [
        name,
        value.replace(/\$\{\{ secrets\.(\w+) \}\}/, (_match, of: string) => secrets[of] ?? ""),
      ]),
    );
    const { steps } = workflow.jobs.forms;
    /** The steps of a job, as the runner's shell does them; but the one that installs, because the program is here. */
    const job = async (event: string) => {
      let [code, output] = [0, ""];
      for (const step of steps) {
        const isMeant = step.if === undefined || step.if === `github.event_name == '${event}'`;
        if (step.run === undefined || step.name === "Install formsvc" || !isMeant || code !== 0) continue;
        const path = [join(machine.folder, "bin"), "/usr/bin", "/bin"].join(":");
        const options = { cwd: machine.folder, env: { ...env, PATH: path, HOME: machine.folder } };
        const ran = await run("bash", ["-e", "-o", "pipefail", "-c", step.run], options).catch(
          (error: { code: number; stdout: string; stderr: string }) => error,
        );
        output += ran.stdout + ran.stderr;
        code = "code" in ran ? ran.code : 0;
      }
      return { code, output };
    };
    const forms = async () => {
      const { data } = await machine.json<{ data: { name: string }[] }>(["endpoint", "list"]);
      return data.map(({ name }) => name);
    };
    const shown = await job("pull_request");
    expect([shown.code, shown.output]).toEqual([0, expect.stringContaining("Contact")]);
    expect(await forms()).toEqual([]);
    const stopped = await job("push");
    expect([stopped.code, stopped.output]).toEqual([2, expect.stringContaining("--env")]);
    expect(stopped.output).not.toMatch(/f[sp]k_[0-9A-Za-z]{50}/);
    expect(await forms()).toEqual([]);
    const made = await run(formsvc, ["apply", "forms.yaml", "--env"], {
      cwd: machine.folder,
      env: { ...env, HOME: machine.folder },
    });
    expect(made.stdout).toContain("FORM_CONTACT_SECRET_KEY=fsk_");
    expect((await job("push")).output).toContain("nothing to change");
    await machine.mustRun(["endpoint", "set", "Contact", "--keep-days", "3"]);
    machine.write(
      "forms.yaml",
      blockOf("deploy", "forms.yaml", server.url).replace("maxLength: 5000", "maxLength: 400"),
    );
    expect(await job("push")).toMatchObject({ code: 0 });
    const schema = await machine.json<{ message: object }>(["schema", "show", "Contact"]);
    expect(schema).toMatchObject({ message: { maxLength: 400 } });
  });
});

import { once } from "node:events";
import type { Command } from "commander";
import type { z } from "zod";
import { SECRET_LISTS } from "../../app/features.ts";
import { loadConfig } from "../../config/load-config.ts";
import { examine } from "../../doctor/examine.ts";
import { showEndpoint } from "../../endpoints/endpoint-operations.ts";
import type { Finding } from "../../foundation/finding.ts";
import { plainText } from "../../foundation/plain-text.ts";
import type { AgentAccess } from "../../mcp/mcp-server.ts";
import type { ToolGroup } from "../../mcp/tool.ts";
import type { Actor, Reach } from "../../operations/actor.ts";
import type { tokenShape } from "../../tokens/token-json.ts";
import { showOwnToken } from "../../tokens/token-operations.ts";
import { showWorkspace } from "../../workspaces/workspace-operations.ts";
import { operationParts } from "./apply-command.ts";
import { type ChosenServer, serverOf } from "../remote/choose-server.ts";
import { addCommand, command, type CommandContext, refuse } from "../command.ts";
import { operateHere, terminalActor, terminalHere } from "../operate.ts";
import { writeError } from "../output/output.ts";
import type { Here, Terminal } from "../output/terminal.ts";

export function register(program: Command): void {
  addCommand(program, mcp);
}

const GROUPS: readonly string[] = ["triage", "replay"] satisfies readonly ToolGroup[];

const mcp = command({
  usage: "mcp",
  summary: "Serve an agent on standard input and output, by the Model Context Protocol",
  notes: `The agent's program starts it; see formsvc docs agents. Agents read forms and what was sent to them. They get
no key and name no address, and change nothing unless --allow says so. Each call is noted on the page Changes.`,
  options: [
    { flags: "--workspace <workspace>", summary: "show only this workspace: its id or name" },
    { flags: "--endpoint <endpoint>", summary: "show only this endpoint" },
    {
      flags: "--allow <groups>",
      summary:
        "tools that change something: triage (mark submissions, release held posts), replay; separated by commas",
      parse: parseGroups,
    },
    {
      flags: "--redact",
      summary: "hide e-mail addresses, telephone numbers and IP addresses of what was sent",
    },
  ],
  examples: ["formsvc mcp --workspace 'Client A' --redact", "formsvc mcp --endpoint Contact --allow triage"],
  action: (context, { workspace, endpoint, allow, redact }) => {
    if (workspace !== null && endpoint !== null) return refuse("give --workspace or --endpoint, not both");
    const said = { workspace, endpoint, groups: allow ?? [], redacts: redact };
    const server = serverOf(context);
    return server === null ? serveHere(context, said) : serveAtDistance(context, server, said);
  },
});

interface Said {
  readonly workspace: string | null;
  readonly endpoint: string | null;
  readonly groups: readonly ToolGroup[];
  readonly redacts: boolean;
}

function serveHere(context: CommandContext, { workspace, endpoint, ...said }: Said): Promise<void> {
  return operateHere(context, async (terminal) => {
    const { here } = terminal;
    const actor = terminalActor(await reachOf(terminal, workspace, endpoint));
    const { perform } = terminalHere(context, here, actor);
    const parts = { ...(await operationParts(here)), examine: () => findingsOf(context, here) };
    const makeParts = () => parts as never;
    return serveUntilClosed({
      ...said,
      actor,
      call: (operation, input) => perform(operation, input, makeParts as never),
      baseUrl: here.config.server.baseUrl,
    });
  });
}

/** Serves tools that run on a server, with the token that was chosen for it. */
async function serveAtDistance(
  { output }: CommandContext,
  server: ChosenServer,
  { workspace, endpoint, ...said }: Said,
): Promise<void> {
  const { terminalAtDistance } = await import("../remote/distant-terminal.ts");
  const whole = terminalAtDistance(server, output);
  const { token } = await whole.perform(showOwnToken, {});
  const reach = await reachOf(whole, workspace, endpoint);
  const { perform } = terminalAtDistance(server, output, reach && (reach.endpointId ?? reach.workspaceId));
  return serveUntilClosed({
    ...said,
    actor: actorOf(token),
    // The server has the parts that an operation needs.
    call: (operation, input) => perform(operation, input, undefined as never),
    baseUrl: server.origin,
  });
}

/** An actor with the token's rights. They decide which tools are offered; the server checks each call itself. */
function actorOf({ id, name, account, scopes }: z.output<typeof tokenShape>): Actor {
  const owner = account === null ? null : { accountId: "", email: account, isOperator: true };
  return { kind: "token", tokenId: id, name, account: owner, scopes, reach: null };
}

async function serveUntilClosed(access: Omit<AgentAccess, "onDefect">): Promise<void> {
  const { serveAgent } = await import("../../mcp/serve-agent.ts");
  const onDefect: AgentAccess["onDefect"] = (error, tool) =>
    writeError(
      `formsvc: the tool ${tool} failed: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
    );
  const served = serveAgent({ ...access, onDefect }, (reason) =>
    writeError(`formsvc: what the client sent could not be read: ${plainText(reason).slice(0, MAX_REASON)}`),
  );
  // A file that is standard input ends and is never closed.
  await Promise.race(["end", "close"].map((event) => once(process.stdin, event)));
  await served.close();
}

/** The largest number of characters that are told of why a message could not be read. */
const MAX_REASON = 300;

function parseGroups(text: string): ToolGroup[] {
  const groups = text.split(",").map((each) => each.trim());
  const unknown = groups.find((each) => !GROUPS.includes(each));
  return unknown === undefined
    ? (groups as ToolGroup[])
    : refuse(`there are no tools named ${JSON.stringify(unknown)}; choose from triage, replay`);
}

/** The reach that the flags ask for. @throws not_found, ambiguous */
async function reachOf(
  { perform }: Terminal,
  workspace: string | null,
  endpoint: string | null,
): Promise<Reach | null> {
  if (endpoint !== null) {
    const { id, workspace_id: workspaceId } = (await perform(showEndpoint, { endpoint })).endpoint;
    return { workspaceId, endpointId: id };
  }
  if (workspace === null) return null;
  return { workspaceId: (await perform(showWorkspace, { workspace })).workspace.id, endpointId: null };
}

function findingsOf(context: CommandContext, { db, config }: Here): Promise<readonly Finding[]> {
  const loaded = loadConfig(context.configFile);
  return examine({ db, config, loaded, secretLists: SECRET_LISTS, now: context.clock.now() }, "quick");
}

import { once } from "node:events";
import type { Command } from "commander";
import { SECRET_LISTS } from "../app/features.ts";
import { loadConfig } from "../config/load-config.ts";
import { examine } from "../doctor/examine.ts";
import { showEndpoint } from "../endpoints/endpoint-operations.ts";
import type { Finding } from "../foundation/finding.ts";
import type { ToolGroup } from "../mcp/tool.ts";
import type { Reach } from "../operations/actor.ts";
import { showWorkspace } from "../workspaces/workspace-operations.ts";
import { operationParts } from "./apply-command.ts";
import { addCommand, command, type CommandContext, refuse } from "./command.ts";
import { operateHere, terminalActor, terminalHere } from "./operate.ts";
import { writeError } from "./output.ts";
import type { Here, Terminal } from "./terminal.ts";

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
    { flags: "--workspace <workspace>", summary: "only this workspace, by its id or name" },
    { flags: "--endpoint <endpoint>", summary: "only this endpoint" },
    {
      flags: "--allow <groups>",
      summary: "tools that change something: triage (mark, release), replay; separated by commas",
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
    if (context.server !== null)
      return refuse(
        `this works beside the database; give the agent ${context.server.origin}/mcp and a token`,
      );
    return operateHere(context, async (terminal) => {
      const { here } = terminal;
      const reach = await reachOf(terminal, workspace, endpoint);
      const { serveAgent } = await import("../mcp/serve-agent.ts");
      const actor = terminalActor(reach);
      const { perform } = terminalHere(context, here, actor);
      const parts = { ...(await operationParts(here)), examine: () => findingsOf(context, here) };
      const makeParts = () => parts as never;
      const served = serveAgent({
        actor,
        call: (operation, input) => perform(operation, input, makeParts as never),
        baseUrl: here.config.server.baseUrl,
        groups: allow ?? [],
        redacts: redact,
        onDefect: (error, tool) =>
          writeError(
            `formsvc: the tool ${tool} failed: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
          ),
      });
      await once(process.stdin, "close");
      await served.close();
    });
  },
});

function parseGroups(text: string): ToolGroup[] {
  const groups = text.split(",").map((each) => each.trim());
  const unknown = groups.find((each) => !GROUPS.includes(each));
  return unknown === undefined
    ? (groups as ToolGroup[])
    : refuse(`there are no tools named ${JSON.stringify(unknown)}; choose of triage, replay`);
}

/** @throws not_found, ambiguous */
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
  return examine({ db, config, loaded, secretLists: SECRET_LISTS, now: context.clock.now() }, false);
}

import type { Command } from "commander";
import { getContext, HERE, readContexts, writeContexts } from "../remote/contexts.ts";
import { addNoun, command } from "../command.ts";

export function register(program: Command): void {
  addNoun(program, "context", "The servers that somebody logged in to, and which of them commands go to", [
    list,
    use,
    remove,
  ]);
}

const list = command({
  usage: "list",
  summary: "List the servers, without their tokens",
  isLocal: true,
  action: ({ output }) => {
    const { in_use: used, contexts } = readContexts();
    const data = contexts.map(({ name, server, token_id, expires_at }) => {
      return { name, server, token_id, expires_at, in_use: name === used };
    });
    if (output.isJson) return output.json({ data });
    const rows = data.map((each) => [
      each.in_use ? "*" : "",
      each.name,
      each.server,
      each.token_id,
      each.expires_at ?? "never",
    ]);
    return output.table(["", "NAME", "SERVER", "TOKEN", "EXPIRES"], rows, "no servers; see: formsvc login");
  },
});

const use = command({
  usage: "use <name>",
  summary: "Send commands to that server from now on; the name 'here' means the database of this machine",
  isLocal: true,
  examples: ["formsvc context use forms.example.com", "formsvc context use here"],
  action: ({ output }, _options, [name]) => {
    const before = readContexts();
    const used = name === HERE ? null : getContext(before, name).name;
    writeContexts({ ...before, in_use: used });
    if (output.isJson) return output.json({ in_use: used });
    return output.note(used === null ? "commands work on this machine" : `commands go to ${used}`);
  },
});

const remove = command({
  usage: "remove <name>",
  summary: "Forget a server and its token here; formsvc logout revokes the token too",
  isLocal: true,
  action: ({ output }, _options, [name]) => {
    const before = readContexts();
    const removed = getContext(before, name);
    writeContexts({
      in_use: before.in_use === name ? null : before.in_use,
      contexts: before.contexts.filter((each) => each !== removed),
    });
    if (output.isJson) return output.json({ removed: name });
    return output.note(`forgotten; ${removed.token_id} works until it is revoked in the dashboard or ends`);
  },
});

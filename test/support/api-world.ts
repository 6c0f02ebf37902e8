import { listEndpointKeys } from "../../src/endpoints/key-operations.ts";
import { newId } from "../../src/foundation/id.ts";
import { createRecipient } from "../../src/mail/recipients/ask-recipient.ts";
import { insertAccountRows, listAccounts } from "../../src/workspaces/workspace-store.ts";
import { addWebhooks } from "./add-webhooks.ts";
import { contentOf } from "./database-content.ts";
import { addFile } from "./owner-home.ts";
import { performOn } from "./terminal.ts";
import { goodPost, launchServer, type TestServer } from "./test-server.ts";

/** A server with a row for everything that the path of an API route can name. */
export interface ApiWorld {
  readonly server: TestServer;
  /** The values for the parameters of paths. All rows belong to the first account, which is an operator. */
  readonly names: Readonly<Record<string, string>>;
  /** The e-mail address of an account that is not an operator and has its own workspace. */
  readonly stranger: string;
  /** Fills the parameters of a route's path with the names of rows that exist. */
  readonly pathOf: (path: string) => string;
}

/** Starts the world for `beforeAll`: the caller must stop the server. */
export async function launchApiWorld(overrides: Parameters<typeof launchServer>[0] = {}): Promise<ApiWorld> {
  const server = await launchServer(overrides);
  const { id: endpoint, workspaceId: workspace, secret } = await server.addEndpoint();
  const keys = await performOn(server.owner, listEndpointKeys, { endpoint });
  const [account] = server.owner.now(listAccounts);
  await server.post(secret, goodPost);
  const submission = server.owner.prepare("SELECT id FROM submission").pluck().get() as string;
  await server.post(secret, { ...goodPost, _gotcha: "x" });
  const held = server.owner.prepare("SELECT id FROM held").pluck().get() as string;
  // The webhook is added after the posts, so that nothing is sent to it.
  server.owner.now(() => addWebhooks(endpoint, "http://127.0.0.1:9", 1));
  const webhook = server.owner.prepare("SELECT id FROM webhook").pluck().get() as string;
  const made = await performOn(
    server.owner,
    createRecipient,
    { endpoint, address: "office@example.org" },
    { parts: { storedLetters: null } },
  );
  // They have ended now: the clean-up, which runs while the tests do, would delete older ones.
  const deliveries = [newId("msg", 1), newId("msg", 2)] as const;
  server.owner
    .execute(`INSERT INTO delivery (id, submission_id, recipient_id, state, due_at, finished_at) VALUES
    ('${deliveries[0]}', '${submission}', '${webhook}', 'delivered', 1, ${server.clock.now()}),
    ('${deliveries[1]}', '${submission}', '${made.recipient.id}', 'delivered', 1, ${server.clock.now()})`);
  const names: Readonly<Record<string, string>> = {
    "webhook-deliveries": deliveries[0],
    "mail-deliveries": deliveries[1],
    recipient: made.recipient.id,
    endpoint,
    workspace,
    submission,
    file: addFile(server, endpoint, submission),
    held,
    webhook,
    key: keys.data[0]?.id ?? "",
    account: account?.id ?? "",
    email: account?.email ?? "",
  };
  const stranger = server.owner.now(() => insertAccountRows("eve@example.com", server.clock.now())).account;
  const pathOf = (path: string): string =>
    path.replace(/:(\w+)/g, (_match, name: string) => {
      // The path of a message stands below the path of the recipient that it was sent to.
      const value = names[name] ?? names[path.split("/")[1] ?? ""];
      if (value === undefined) throw new Error(`add a row that ${path} can name: ${name}`);
      return value;
    });
  return { server, names, stranger: stranger.email, pathOf };
}

/** Reads all rows, except those of `api_token`, which change with the day on which a token is used. */
export async function contentOfWorld({ server }: Pick<ApiWorld, "server">): Promise<Record<string, unknown>> {
  return { ...(await contentOf(server.owner)), api_token: null };
}

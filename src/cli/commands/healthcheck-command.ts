import { get } from "node:http";
import type { Command } from "commander";
import { loadConfig } from "../../config/load-config.ts";
import { FormsvcError } from "../../foundation/errors.ts";
import { addCommand, command } from "../command.ts";

export function register(program: Command): void {
  addCommand(program, healthcheck);
}

const TIMEOUT_MS = 3_000;
/** The answer has a few hundred bytes. A longer one comes from another program. */
const MAX_ANSWER_BYTES = 4_096;

const healthcheck = command({
  usage: "healthcheck",
  isLocal: true,
  summary: "Ask the server of this configuration whether it takes posts",
  notes: `Asks /readyz on server.port of this machine, for ${TIMEOUT_MS / 1000} seconds at most. Exit code 0: it takes posts; 1: it does not.
The database is not opened. For the health check of a container.`,
  examples: ["formsvc healthcheck", "formsvc healthcheck --quiet"],
  action: async ({ configFile, output }) => {
    const { host, port } = loadConfig(configFile).config.server;
    const url = `http://${bracketed(LOOPBACKS[host] ?? host)}:${port}/readyz`;
    const status = await ask(url);
    if (status !== 200)
      throw new FormsvcError("failed", `${url} answered ${status}: the server takes no posts`);
    if (output.isJson) output.json({ ready: true, url });
    else output.note(`${url} answered 200: the server takes posts`);
  },
});

/** The address by which this machine reaches a server that listens on all addresses. */
const LOOPBACKS: Readonly<Record<string, string>> = { "0.0.0.0": "127.0.0.1", "::": "::1" };

function bracketed(host: string): string {
  return host.includes(":") ? `[${host}]` : host;
}

/** The status of the answer. @throws FormsvcError failed if no answer comes in time */
async function ask(url: string): Promise<number> {
  try {
    return await new Promise((resolve, reject) => {
      const request = get(url, { agent: false, signal: AbortSignal.timeout(TIMEOUT_MS) }, (response) => {
        let bytes = 0;
        response.on("data", (chunk: Buffer) => {
          bytes += chunk.length;
          if (bytes > MAX_ANSWER_BYTES) response.destroy(new Error("the answer is not this server's"));
        });
        response.on("error", reject);
        response.on("end", () => resolve(response.statusCode ?? 0));
      });
      request.on("error", reject);
    });
  } catch (error) {
    const { name, message } = error as Error;
    const why =
      name === "AbortError" || name === "TimeoutError"
        ? `no answer in ${TIMEOUT_MS / 1000} seconds`
        : message;
    throw new FormsvcError("failed", `${url}: ${why}`, { cause: error });
  }
}

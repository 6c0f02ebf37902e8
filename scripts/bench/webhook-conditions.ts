import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { LOAD_CORE, type RunningServer, startServer } from "./processes.ts";
import { ENDPOINT, makeWorkplace, type Workplace } from "./workplace.ts";

/** Ten conditions on the fields of a plain contact form. All of them hold. */
export const MET = [
  "name",
  "email",
  "message",
  "name=ada lovelace",
  "name!=Grace",
  "email~@EXAMPLE.",
  "email!=grace@example.com",
  "message~scarf",
  "message~changing room",
  "message!=Hello",
];
/** Ten conditions, of which only the last does not hold. */
export const UNMET = [...MET.slice(1), "message~purchase order"];

export interface Receiver extends RunningServer {
  /** Stops the receiver and removes its folder. */
  readonly remove: () => Promise<void>;
}

/** Starts a receiver that accepts what webhooks send. */
export async function startReceiver(): Promise<Receiver> {
  const script = fileURLToPath(new URL("webhook-receiver.ts", import.meta.url));
  const place = makeWorkplace();
  const server = await startServer(
    [process.execPath, script],
    join(place.folder, "receiver.log"),
    {},
    LOAD_CORE,
  );
  const remove = async (): Promise<void> => {
    await server.stop();
    place.remove();
  };
  return { ...server, remove };
}

/** Makes a form with one webhook for each list of conditions. */
export function makeSide(receiver: Receiver, webhooks: readonly string[][], program?: string): Workplace {
  const place = makeWorkplace(null, program);
  for (const [index, conditions] of webhooks.entries()) {
    const url = `http://127.0.0.1:${receiver.port}/${index}`;
    const when = conditions.flatMap((each) => ["--when", each]);
    place.run(
      "webhook",
      "create",
      "--endpoint",
      ENDPOINT,
      "--url",
      url,
      "--allow-private",
      ...when,
      "--json",
    );
  }
  return place;
}

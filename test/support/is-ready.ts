import { Agent, get } from "node:http";

/** A connection of its own each time. */
const noAgent = new Agent({ keepAlive: false });

/** Whether a server of this port of loopback says that it is ready; false also if nothing answers. */
export function isReady(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const asked = get(
      { port, host: "127.0.0.1", path: "/readyz", agent: noAgent, timeout: 5000 },
      (answer) => {
        answer.resume();
        resolve(answer.statusCode === 200);
      },
    );
    asked.on("timeout", () => asked.destroy());
    asked.on("error", () => resolve(false));
  });
}

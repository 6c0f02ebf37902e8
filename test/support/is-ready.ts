import { Agent, get } from "node:http";

/** Opens a new connection for each request. */
const noAgent = new Agent({ keepAlive: false });

/** Whether a server on this port of loopback answers that it is ready; false also if nothing answers. */
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

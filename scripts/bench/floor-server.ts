import SqliteDatabase from "better-sqlite3";
import fastify from "fastify";

/**
 * A server that shows the lowest cost of a durable post with this framework and this driver. It answers like an echo, after it has stored
 * the body as the last row of a table without indices and has committed it with the posts that came at the same time. It has no key, check,
 * score, id or log.
 * Usage: node floor-server.ts DATABASE, a file that does not exist yet.
 */
const db = new SqliteDatabase(process.argv[2]);
db.pragma("journal_mode = WAL");
db.pragma("synchronous = FULL");
db.exec("CREATE TABLE post (number INTEGER PRIMARY KEY, body TEXT NOT NULL) STRICT");
const insert = db.prepare("INSERT INTO post (body) VALUES (?)");
const store = db.transaction((posts: readonly Post[]) => {
  for (const { body } of posts) insert.run(JSON.stringify(body));
});

interface Post {
  readonly body: unknown;
  readonly answer: () => void;
}

let waiting: Post[] = [];
const server = fastify();
server.post("/submit", async ({ body }) => {
  await new Promise<void>((answer) => {
    waiting.push({ body, answer });
    if (waiting.length === 1) setImmediate(() => setImmediate(commit));
  });
  return body;
});
await server.listen({ host: "127.0.0.1", port: 0 });
process.stdout.write(`${JSON.stringify(server.addresses()[0])}\n`);

function commit(): void {
  const posts = waiting;
  waiting = [];
  store(posts);
  for (const { answer } of posts) answer();
}

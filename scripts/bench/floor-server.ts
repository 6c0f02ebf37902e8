import SqliteDatabase from "better-sqlite3";
import fastify from "fastify";

/**
 * The least that a durable post costs with this framework and this driver: an echo whose body becomes the last row of a
 * table without indices, committed with whatever came beside it before the answer leaves. No key, check, score, id or log.
 * Usage: node floor-server.ts DATABASE, a file that is not there yet.
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

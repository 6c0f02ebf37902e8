import { mkdtempSync } from "node:fs";
import { open } from "node:fs/promises";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { Busboy } from "@fastify/busboy";

/**
 * A server that shows the lowest cost of an upload: it reads a form, writes its file into a folder, and answers when the file is on the
 * disk. Usage: node upload-floor.ts FOLDER
 */
const folder = mkdtempSync(join(process.argv[2] ?? ".", "floor-"));
let count = 0;

const server = createServer((asked, answer) => {
  store(asked)
    .then(() => answer.end('{"success":true}'))
    .catch(() => answer.writeHead(500).end());
});
server.listen(0, "127.0.0.1", () => {
  process.stdout.write(`{"port":${(server.address() as AddressInfo).port}}\n`);
});
process.on("SIGTERM", () => process.exit(0));

async function store(asked: IncomingMessage): Promise<void> {
  const parser = new Busboy({ headers: { "content-type": asked.headers["content-type"] ?? "" } });
  const files: Promise<void>[] = [];
  parser.on("file", (_name, stream) => {
    files.push(
      (async () => {
        const file = await open(join(folder, String((count += 1))), "wx");
        for await (const bytes of stream) await file.write(bytes as Buffer);
        await file.sync();
        await file.close();
      })(),
    );
  });
  const ended = new Promise((resolve, reject) => parser.on("finish", resolve).on("error", reject));
  asked.pipe(parser);
  await ended;
  await Promise.all(files);
}

import { SMTPServer } from "smtp-server";

/** A mail server on loopback that accepts everything at once and keeps nothing. */
const server = new SMTPServer({
  authOptional: true,
  disabledCommands: ["STARTTLS"],
  maxClients: 1000,
  onData(stream, _session, callback) {
    stream.resume();
    stream.on("end", () => callback(null, "queued"));
  },
});
// A client may end its connection at any time.
server.on("error", () => undefined);
server.listen(0, "127.0.0.1", () => process.stdout.write(`${JSON.stringify(server.server.address())}\n`));

import { lockServer } from "../../src/database/server-lock.ts";

/** A process of its own that holds the server's lock until it is killed. */
lockServer(process.argv[2] ?? "", process.pid, new Date().toISOString());
process.send?.("locked");
setInterval(() => {}, 1000);

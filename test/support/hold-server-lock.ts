import { lockServer } from "../../src/database/sqlite/server-lock.ts";

/** A process of its own that holds the server's lock until it is killed. */
const lock = lockServer(process.argv[2] ?? "", process.pid, new Date().toISOString());
process.send?.("locked");
// Named here, because a lock that nothing refers to is collected, and let go.
setInterval(() => lock, 1000);

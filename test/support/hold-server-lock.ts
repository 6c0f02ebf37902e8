import { lockServer } from "../../src/database/sqlite/server-lock.ts";

/** This process holds the server's lock until it is killed. */
const lock = lockServer(process.argv[2] ?? "", process.pid, new Date().toISOString());
process.send?.("locked");
// The timer refers to the lock, because a lock that nothing refers to is garbage-collected and released.
setInterval(() => lock, 1000);

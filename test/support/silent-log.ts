import { createLog } from "../../src/foundation/log.ts";

/** A log that writes nothing. Each log listens for the end of the process, so all tests share one. */
export const silentLog = createLog("silent", "json");

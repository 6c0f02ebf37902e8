import { createLog } from "../../src/foundation/log.ts";

/** A log that writes nothing. */
export const silentLog = createLog("silent", { write: () => undefined });

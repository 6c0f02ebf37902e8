import { createLog } from "../../src/foundation/log.ts";

export const silentLog = createLog("silent", { write: () => undefined });

import { version } from "./foundation/version.ts";

process.stdout.write(`${version}\n`);

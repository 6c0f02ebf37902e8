/** What script adds to the dashboard's pages, all of which work without it. */
import { showRelativeTimes } from "./relative-times.ts";

showRelativeTimes(document);

import {
  checkSchema,
  getEndpoint,
  getFindings,
  getSnippet,
  getUsage,
  listDeliveries,
  listEndpoints,
  listWebhooks,
  replayDelivery,
} from "./form-tools.ts";
import {
  explainSpamScore,
  getSubmission,
  listHeldPosts,
  markSubmissions,
  releaseHeldPosts,
  searchSubmissions,
} from "./post-tools.ts";
import type { Tool } from "./tool.ts";

/**
 * Everything that an agent can do. There are no tools for addresses outside, keys, tokens, members, deletion, whole exports, settings and
 * bytes of files, so that somebody whose post misleads an agent finds no way to send data out.
 */
export const TOOLS: readonly Tool[] = [
  listEndpoints,
  getEndpoint,
  searchSubmissions,
  getSubmission,
  explainSpamScore,
  listHeldPosts,
  listWebhooks,
  listDeliveries,
  getUsage,
  getFindings,
  checkSchema,
  getSnippet,
  markSubmissions,
  releaseHeldPosts,
  replayDelivery,
];

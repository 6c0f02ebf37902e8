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
 * Everything that an agent can do. Never a tool is what names an address outside, keys, tokens, members, deletion, whole exports, settings
 * and bytes of files: whoever misleads an agent with what they post must find no way out.
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

import { toIsoTime } from "../foundation/clock.ts";
import { DEFAULT_HONEYPOTS, type Endpoint } from "./endpoint.ts";

/** An endpoint as every JSON output shows it. */
export function endpointJson(endpoint: Endpoint) {
  const { settings } = endpoint;
  return {
    id: endpoint.id,
    name: endpoint.name,
    workspace_id: endpoint.workspaceId,
    state: endpoint.state,
    allowed_origins: settings.allowedOrigins,
    unknown_fields: settings.unknownFields,
    honeypots: settings.honeypots ?? DEFAULT_HONEYPOTS,
    success_url: settings.successUrl,
    error_url: settings.errorUrl,
    keep_days: settings.keepDays,
    store_address: settings.storeAddress,
    schema_version: endpoint.schemaVersion,
    created_at: toIsoTime(endpoint.createdAt),
  };
}

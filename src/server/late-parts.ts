import { ENDPOINT_CONTENTS, spamDefaults, WORKSPACE_CONTENTS } from "../app/features.ts";
import type { ServiceParts } from "../app/parts.ts";
import type { SubmitService } from "../app/submit-service.ts";
import { dashboardUrlOf } from "../app/transports.ts";

interface Served {
  readonly parts: Omit<ServiceParts, "metrics">;
  readonly service: SubmitService;
}

/** The parts that operations work with in a server, by whatever door they are called. */
export function latePartsOf({ parts, service }: Served) {
  const { posts, submissions, webhooks, mail, keyring, fileLinks, news, limiter, onChange } = service;
  return {
    ...parts,
    dashboardUrl: dashboardUrlOf(parts.config),
    endpointContents: ENDPOINT_CONTENTS,
    workspaceContents: WORKSPACE_CONTENTS,
    spamDefaults: spamDefaults(parts.config),
    keyring,
    fileLinks,
    sender: webhooks.sender,
    testSlots: webhooks.testSlots,
    letters: mail?.letters ?? null,
    storedLetters: mail?.storedLetters ?? null,
    mailTests: mail?.tests ?? null,
    blindness: posts.blindness,
    news,
    searches: submissions.searches,
    imports: submissions.imports,
    limiter,
    onChange,
  };
}

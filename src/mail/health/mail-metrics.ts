import type { KindMetricNames } from "../../outbox/queue/kind-metrics.ts";
import { REPLY_KIND } from "../../outbox/queue/recipient.ts";
import { MAIL_KIND } from "../recipients/mail-recipient.ts";

export const MAIL_METRICS: KindMetricNames = {
  kind: MAIL_KIND,
  recipients: ["formsvc_mail_recipients", "Recipients of e-mail by state."],
  prefix: "formsvc_mail",
};

export const AUTO_REPLY_METRICS: KindMetricNames = {
  kind: REPLY_KIND,
  recipients: ["formsvc_auto_replies", "Automatic replies of endpoints by state."],
  prefix: "formsvc_auto_reply",
};

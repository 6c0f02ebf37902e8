import type { ChannelNames } from "../outbox/channel-metrics.ts";
import { MAIL_KIND } from "./mail-recipient.ts";

export const MAIL_METRICS: ChannelNames = {
  kind: MAIL_KIND,
  recipients: ["formsvc_mail_recipients", "Recipients of e-mail by state."],
  prefix: "formsvc_mail",
};

interface MailSettings {
  readonly mail: { readonly host: string | null };
  readonly server: { readonly baseUrl: string | null };
}

export const NOT_SET_UP = "E-mail is not set up on this server. Ask whoever runs it.";

/** The reason why the holders of addresses cannot be asked whether they want e-mail; null if they can be asked. */
export function mailMissing(
  { mail, server }: MailSettings,
  { isOperator }: { readonly isOperator: boolean },
): string | null {
  if (mail.host === null)
    return isOperator
      ? "E-mail is not set up on this server. Write mail.host, mail.from and server.baseUrl into the configuration and restart the server; docs/notifications.md has an example."
      : NOT_SET_UP;
  if (server.baseUrl !== null) return null;
  return isOperator
    ? "Nobody can be added here yet: the e-mail that asks a new recipient needs a link to this server. Write server.baseUrl into the configuration and restart the server."
    : "Nobody can be added here yet, because this server does not know its own address. Ask whoever runs it.";
}

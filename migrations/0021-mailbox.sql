-- An address that wants no e-mail, or refuses it, is looked up by its mailbox, however it is spelled: small letters, without dots and
-- what stands behind a plus sign before the at sign.
DROP INDEX mail_recipient_by_address;
CREATE INDEX mail_recipient_by_mailbox ON mail_recipient (
  replace(substr(lower(address), 1, instr(replace(address, '@', '+'), '+') - 1), '.', '') || substr(lower(address), instr(address, '@'))
);

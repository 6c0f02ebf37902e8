-- How an address that wants no e-mail is looked up. ../0021-mailbox.sql says what is a mailbox.

DROP INDEX mail_recipient_by_address;
CREATE INDEX mail_recipient_by_mailbox ON mail_recipient (
  (replace(split_part(split_part(lower(address), '@', 1), '+', 1), '.', '') || '@' || split_part(lower(address), '@', 2))
);

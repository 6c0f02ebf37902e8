-- ../0032-proved-email.sql says what it means.
ALTER TABLE account ADD COLUMN email_proved_at bigint;
UPDATE account SET email_proved_at = (
  SELECT max(at) FROM audit_event
  WHERE audit_event.account_id = account.id AND lower(audit_event.subject) = lower(account.email) AND (
    action = 'account.create' AND detail = 'signed up' OR action = 'account.set-password' AND detail = 'by a link in an e-mail'
  )
);

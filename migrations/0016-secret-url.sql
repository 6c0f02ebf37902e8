-- The address of a chat lets anybody post there: it is a secret, and url keeps what may be shown of it.
ALTER TABLE webhook ADD COLUMN secret_url BLOB;
UPDATE webhook SET secret_url = CAST(url AS BLOB) WHERE format <> 'standard';
UPDATE webhook
  SET url = substr(url, 1, instr(url, '://') + 2 + instr(substr(url, instr(url, '://') + 3), '/')) || '…' || substr(url, -4)
  WHERE format <> 'standard';

-- The tables as all migrations together make them, for readers; nothing runs this file.
-- Made by scripts/embed-migrations.ts from the numbered files. Times are milliseconds since 1970 UTC.

-- People who sign in, by e-mail address. An operator sees all workspaces.
CREATE TABLE account (
  id TEXT PRIMARY KEY,
  email TEXT NOT NULL UNIQUE COLLATE NOCASE,
  created_at INTEGER NOT NULL,
  is_operator INTEGER NOT NULL DEFAULT 0 CHECK (is_operator IN (0, 1)), email_proved_at INTEGER, is_doubtful INTEGER NOT NULL DEFAULT 0 CHECK (is_doubtful IN (0, 1)), operator_by TEXT
) STRICT;
CREATE INDEX account_by_email ON account (lower(email));

-- Groups of endpoints, each with the plan that limits it and one of its owners.
CREATE TABLE workspace (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES account,
  name TEXT NOT NULL,
  plan TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  time_zone TEXT, brand_colour TEXT, brand_name TEXT, brand_footer TEXT
) STRICT;
CREATE INDEX workspace_by_account ON workspace (account_id);
CREATE TRIGGER workspace_gets_owner AFTER INSERT ON workspace BEGIN
  INSERT INTO member (workspace_id, account_id, role, endpoints, may_export, sees_spam_details, since, by_account_id)
    VALUES (new.id, new.account_id, 'owner', NULL, 1, 1, new.created_at, NULL);
END;

-- The accounts that see a workspace, each with its role. A trigger makes the account of a new workspace its owner.
CREATE TABLE member (
  workspace_id TEXT NOT NULL REFERENCES workspace ON DELETE CASCADE,
  account_id TEXT NOT NULL REFERENCES account ON DELETE CASCADE,
  role TEXT NOT NULL CHECK (role IN ('owner', 'editor', 'reader')),
  -- A list of ids as JSON: the only endpoints that are seen. NULL is all of the workspace, later ones too.
  endpoints TEXT,
  -- Two switches for readers.
  may_export INTEGER NOT NULL CHECK (may_export IN (0, 1)),
  sees_spam_details INTEGER NOT NULL CHECK (sees_spam_details IN (0, 1)),
  since INTEGER NOT NULL,
  -- Who made them a member; NULL is nobody with an account.
  by_account_id TEXT REFERENCES account ON DELETE SET NULL,
  PRIMARY KEY (workspace_id, account_id),
  CHECK (role <> 'owner' OR endpoints IS NULL)
) STRICT, WITHOUT ROWID;
CREATE INDEX member_by_account ON member (account_id);
CREATE INDEX member_by_maker ON member (by_account_id) WHERE by_account_id IS NOT NULL;

-- Invitations to become a member, each valid for 7 days.
CREATE TABLE invitation (
  id TEXT PRIMARY KEY,
  workspace_id TEXT NOT NULL REFERENCES workspace ON DELETE CASCADE,
  email TEXT NOT NULL,
  -- As of a member.
  role TEXT NOT NULL CHECK (role IN ('owner', 'editor', 'reader')),
  endpoints TEXT,
  may_export INTEGER NOT NULL CHECK (may_export IN (0, 1)),
  sees_spam_details INTEGER NOT NULL CHECK (sees_spam_details IN (0, 1)),
  -- SHA-256 of the token of the link that its maker was shown; NULL if none was.
  handed_hash BLOB UNIQUE,
  -- The same of the link in the letter; NULL before it is sent.
  mailed_hash BLOB UNIQUE,
  created_at INTEGER NOT NULL,
  -- Its maker; NULL is nobody with an account. It is worth nothing without them.
  by_account_id TEXT REFERENCES account ON DELETE CASCADE,
  -- Whether an operator made it, whose word for an address is taken.
  by_operator INTEGER NOT NULL CHECK (by_operator IN (0, 1)),
  CHECK (role <> 'owner' OR endpoints IS NULL)
) STRICT, WITHOUT ROWID;
CREATE INDEX invitation_by_age ON invitation (created_at);
CREATE UNIQUE INDEX invitation_by_email ON invitation (lower(email), workspace_id);
CREATE INDEX invitation_by_maker ON invitation (by_account_id) WHERE by_account_id IS NOT NULL;
CREATE INDEX invitation_by_workspace ON invitation (workspace_id);

-- The number of accepted submissions by workspace and UTC calendar month (YYYY-MM), which plan limits count.
CREATE TABLE usage (
  workspace_id TEXT NOT NULL REFERENCES workspace ON DELETE CASCADE,
  month TEXT NOT NULL,
  used INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, month)
) STRICT, WITHOUT ROWID;

-- The settings of one form.
CREATE TABLE endpoint (
  id TEXT PRIMARY KEY,
  workspace_id TEXT NOT NULL REFERENCES workspace,
  name TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('active', 'paused')),
  schema_version INTEGER NOT NULL,
  allowed_origins TEXT NOT NULL,
  honeypots TEXT,
  success_url TEXT,
  error_url TEXT,
  created_at INTEGER NOT NULL,
  keep_days INTEGER CHECK (keep_days BETWEEN 1 AND 36500), store_address TEXT NOT NULL DEFAULT 'full'
  CHECK (store_address IN ('full', 'short', 'none')), unknown_fields TEXT NOT NULL DEFAULT 'drop'
  CHECK (unknown_fields IN ('set-aside', 'drop', 'keep', 'reject')), language TEXT, page TEXT, challenge TEXT, challenge_secret BLOB, challenge_fault TEXT, page_place INTEGER
) STRICT;
CREATE INDEX endpoint_by_name ON endpoint (name);
CREATE INDEX endpoint_by_page ON endpoint (name, page_place, id) WHERE page_place IS NOT NULL;
CREATE INDEX endpoint_by_workspace ON endpoint (workspace_id);
CREATE TRIGGER endpoint_gets_number AFTER INSERT ON endpoint BEGIN
  INSERT INTO endpoint_number (endpoint_id) VALUES (new.id);
END;

-- A small number for each endpoint, which its submissions refer to. A trigger adds it.
CREATE TABLE endpoint_number (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  endpoint_id TEXT NOT NULL UNIQUE REFERENCES endpoint ON DELETE CASCADE
) STRICT;

-- Every version of an endpoint's schema.
CREATE TABLE endpoint_schema (
  endpoint_id TEXT NOT NULL REFERENCES endpoint ON DELETE CASCADE,
  version INTEGER NOT NULL,
  definition TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (endpoint_id, version)
) STRICT, WITHOUT ROWID;

-- Keys of endpoints, as hashes.
CREATE TABLE api_key (
  id TEXT PRIMARY KEY,
  endpoint_id TEXT NOT NULL REFERENCES endpoint ON DELETE CASCADE,
  kind TEXT NOT NULL CHECK (kind IN ('secret', 'publishable')),
  -- The 12 characters of the key that it is looked up by.
  lookup TEXT NOT NULL UNIQUE,
  -- argon2id of the whole key, in PHC format.
  hash TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  -- From then on the key is refused; set ahead of time by a rotation with grace.
  revoked_at INTEGER,
  -- When a secret key was last refused because a browser sent it.
  seen_in_browser_at INTEGER,
  is_revoked INTEGER NOT NULL DEFAULT 0 CHECK (is_revoked IN (0, 1)), tag BLOB
) STRICT;
CREATE INDEX api_key_by_endpoint ON api_key (endpoint_id);
CREATE INDEX api_key_in_grace ON api_key (revoked_at) WHERE is_revoked = 0 AND revoked_at IS NOT NULL;

-- Tokens of the HTTP API, as hashes.
CREATE TABLE api_token (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  -- The 12 characters by which it is found.
  lookup TEXT NOT NULL UNIQUE,
  hash BLOB NOT NULL,
  -- Whose it is; NULL is a service token, which belongs to a workspace and may be bound to one endpoint of it.
  account_id TEXT REFERENCES account ON DELETE CASCADE,
  workspace_id TEXT REFERENCES workspace ON DELETE CASCADE,
  endpoint_id TEXT REFERENCES endpoint ON DELETE CASCADE,
  -- A list as JSON.
  scopes TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  -- NULL is never.
  expires_at INTEGER,
  -- To the day.
  last_used_at INTEGER,
  revoked_at INTEGER,
  CHECK ((account_id IS NULL) = (workspace_id IS NOT NULL)),
  CHECK (endpoint_id IS NULL OR workspace_id IS NOT NULL)
) STRICT;
CREATE INDEX api_token_by_account ON api_token (account_id) WHERE account_id IS NOT NULL;
CREATE INDEX api_token_by_endpoint ON api_token (endpoint_id) WHERE endpoint_id IS NOT NULL;
CREATE INDEX api_token_by_expiry ON api_token (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX api_token_by_workspace ON api_token (workspace_id) WHERE workspace_id IS NOT NULL;

-- Command lines that ask to be logged in, each for ten minutes.
CREATE TABLE login_request (
  device_hash BLOB PRIMARY KEY,
  -- What a person compares and types: XXXX-XXXX.
  user_code TEXT NOT NULL UNIQUE,
  -- As the client says it is called; what it asks for; where it asks from, cut to what counts as one client.
  client_name TEXT NOT NULL,
  scopes TEXT NOT NULL,
  client_address TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('waiting', 'approved', 'denied')),
  -- Who approved it.
  account_id TEXT REFERENCES account ON DELETE CASCADE,
  polled_at INTEGER NOT NULL,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX login_request_by_age ON login_request (created_at);
CREATE INDEX login_request_by_client ON login_request (client_address);

-- The first answer to an Idempotency-Key over the API, without secrets. It is kept for 24 h. Both hashes are SHA-256.
CREATE TABLE api_answer (
  -- Whose token it was: an account, a workspace or an endpoint.
  owner TEXT NOT NULL,
  operation TEXT NOT NULL,
  key_hash BLOB NOT NULL,
  body_hash BLOB NOT NULL,
  status INTEGER NOT NULL,
  answer TEXT,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (owner, operation, key_hash)
) STRICT, WITHOUT ROWID;
CREATE INDEX api_answer_by_age ON api_answer (created_at);

-- Accepted posts. seq is the order of commits, which `tail` follows; the number of a deleted row is not used again.
CREATE TABLE submission (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  endpoint_number INTEGER NOT NULL REFERENCES endpoint_number ON DELETE CASCADE,
  schema_version INTEGER NOT NULL,
  data TEXT NOT NULL,
  spam_score INTEGER NOT NULL CHECK (spam_score BETWEEN 0 AND 100),
  spam_reasons TEXT NOT NULL,
  ip_address TEXT NOT NULL,
  user_agent TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  event_head TEXT, event_tail TEXT, spam_version INTEGER NOT NULL DEFAULT 1, unknown_fields TEXT, unknown_fields_dropped INTEGER, imported_from TEXT, not_sent TEXT
) STRICT;
CREATE INDEX submission_by_endpoint ON submission (endpoint_number, id);
CREATE INDEX submission_set_aside ON submission (endpoint_number, id) WHERE unknown_fields IS NOT NULL;

-- Rows from exports of other services that were imported, as hashes. They stay after their submissions are deleted.
CREATE TABLE imported_row (
  endpoint_id TEXT NOT NULL REFERENCES endpoint ON DELETE CASCADE,
  row_hash TEXT NOT NULL,
  PRIMARY KEY (endpoint_id, row_hash)
) STRICT, WITHOUT ROWID;

-- The first 200 answer to an Idempotency-Key, by kind of API key. It is kept for 24 h. Both hashes are SHA-256.
CREATE TABLE idempotency (
  endpoint_id TEXT NOT NULL REFERENCES endpoint ON DELETE CASCADE,
  kind TEXT NOT NULL CHECK (kind IN ('secret', 'publishable')),
  key_hash BLOB NOT NULL,
  body_hash BLOB NOT NULL,
  submission_id TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (endpoint_id, kind, key_hash)
) STRICT, WITHOUT ROWID;
CREATE INDEX idempotency_by_age ON idempotency (created_at);

-- Posts that were refused as spam or because of the monthly limit, and that can be released.
CREATE TABLE held (
  id TEXT PRIMARY KEY,
  workspace_id TEXT NOT NULL REFERENCES workspace ON DELETE CASCADE,
  endpoint_id TEXT NOT NULL REFERENCES endpoint ON DELETE CASCADE,
  why TEXT NOT NULL CHECK (why IN ('spam', 'limit', 'origin')),
  -- Whether a honeypot was filled: those go first when there are too many.
  trapped INTEGER NOT NULL CHECK (trapped IN (0, 1)),
  -- SHA-256 of the Idempotency-Key: a client that tries again is held once. NULL where it sent none.
  key_hash BLOB,
  schema_version INTEGER NOT NULL,
  data TEXT NOT NULL,
  spam_score INTEGER NOT NULL CHECK (spam_score BETWEEN 0 AND 100),
  spam_reasons TEXT NOT NULL,
  spam_version INTEGER NOT NULL DEFAULT 1,
  ip_address TEXT NOT NULL,
  user_agent TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  -- A hash of the submitter's network; the address itself in rows of earlier versions.
  network TEXT NOT NULL DEFAULT '',
  -- The page's origin, if the post is held for it.
  origin TEXT,
  -- Bytes of its texts.
  bytes INTEGER NOT NULL DEFAULT 0,
  unknown_fields TEXT, unknown_fields_dropped INTEGER, sent_kind TEXT CHECK (sent_kind IN ('secret', 'publishable')), sent_key_hash BLOB, sent_body_hash BLOB
) STRICT;
CREATE INDEX held_by_endpoint ON held (endpoint_id, id);
CREATE UNIQUE INDEX held_by_key ON held (endpoint_id, key_hash) WHERE key_hash IS NOT NULL;
CREATE INDEX held_by_network ON held (workspace_id, network, trapped DESC, id);
CREATE INDEX held_by_sent_key ON held (endpoint_id, sent_kind, sent_key_hash) WHERE sent_key_hash IS NOT NULL;
CREATE INDEX held_for_limit ON held (workspace_id, created_at) WHERE why = 'limit';
CREATE INDEX held_of_origins ON held (workspace_id, id) WHERE why = 'origin';
CREATE INDEX held_of_origins_by_endpoint ON held (endpoint_id, id) WHERE why = 'origin';
CREATE TRIGGER held_comes AFTER INSERT ON held BEGIN
  INSERT INTO held_total (workspace_id, posts, bytes) VALUES (new.workspace_id, 1, new.bytes)
    ON CONFLICT DO UPDATE SET posts = posts + 1, bytes = bytes + excluded.bytes;
  INSERT INTO held_network VALUES (new.workspace_id, new.network, 1, new.trapped, new.id)
    ON CONFLICT DO UPDATE SET posts = posts + 1,
      first_id = iif((-excluded.first_trapped, excluded.first_id) < (-first_trapped, first_id),
        excluded.first_id, first_id),
      first_trapped = max(first_trapped, excluded.first_trapped);
END;
CREATE TRIGGER held_goes AFTER DELETE ON held BEGIN
  UPDATE held_total SET posts = posts - 1, bytes = bytes - old.bytes WHERE workspace_id = old.workspace_id;
  DELETE FROM held_network
    WHERE workspace_id = old.workspace_id AND network = old.network AND NOT EXISTS
      (SELECT 1 FROM held WHERE workspace_id = old.workspace_id AND network = old.network);
  UPDATE held_network SET posts = posts - 1, (first_trapped, first_id) =
      (SELECT trapped, id FROM held WHERE workspace_id = old.workspace_id AND network = old.network
        ORDER BY trapped DESC, id LIMIT 1)
    WHERE workspace_id = old.workspace_id AND network = old.network;
END;
CREATE TRIGGER held_moves AFTER UPDATE OF workspace_id ON held BEGIN
  UPDATE held_total SET posts = posts - 1, bytes = bytes - old.bytes WHERE workspace_id = old.workspace_id;
  DELETE FROM held_network
    WHERE workspace_id = old.workspace_id AND network = old.network AND NOT EXISTS
      (SELECT 1 FROM held WHERE workspace_id = old.workspace_id AND network = old.network);
  UPDATE held_network SET posts = posts - 1, (first_trapped, first_id) =
      (SELECT trapped, id FROM held WHERE workspace_id = old.workspace_id AND network = old.network
        ORDER BY trapped DESC, id LIMIT 1)
    WHERE workspace_id = old.workspace_id AND network = old.network;
  INSERT INTO held_total (workspace_id, posts, bytes) VALUES (new.workspace_id, 1, new.bytes)
    ON CONFLICT DO UPDATE SET posts = posts + 1, bytes = bytes + excluded.bytes;
  INSERT INTO held_network VALUES (new.workspace_id, new.network, 1, new.trapped, new.id)
    ON CONFLICT DO UPDATE SET posts = posts + 1,
      first_id = iif((-excluded.first_trapped, excluded.first_id) < (-first_trapped, first_id),
        excluded.first_id, first_id),
      first_trapped = max(first_trapped, excluded.first_trapped);
END;

-- The number of held posts that a network has in a workspace, and the one that is deleted first. Triggers count.
CREATE TABLE held_network (
  workspace_id TEXT NOT NULL REFERENCES workspace ON DELETE CASCADE,
  network TEXT NOT NULL,
  posts INTEGER NOT NULL,
  -- The post of this network that goes first: the oldest with a filled honeypot, else the oldest.
  first_trapped INTEGER NOT NULL CHECK (first_trapped IN (0, 1)),
  first_id TEXT NOT NULL,
  PRIMARY KEY (workspace_id, network)
) STRICT, WITHOUT ROWID;
CREATE INDEX held_network_by_posts ON held_network (workspace_id, posts DESC, first_trapped DESC, first_id);

-- The number of posts that a workspace holds, and the number of those deleted because there was no room. Triggers count.
CREATE TABLE held_total (
  workspace_id TEXT PRIMARY KEY REFERENCES workspace ON DELETE CASCADE,
  posts INTEGER NOT NULL,
  -- Posts that had to go because there were too many, ever, and when the last one went.
  evicted INTEGER NOT NULL DEFAULT 0,
  evicted_at INTEGER,
  bytes INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

-- Files of submissions and held posts. A clean-up deletes a file that no longer belongs to either.
CREATE TABLE file (
  id TEXT PRIMARY KEY,
  endpoint_id TEXT NOT NULL,
  submission_id TEXT REFERENCES submission (id) ON DELETE SET NULL,
  held_id TEXT REFERENCES held (id) ON DELETE SET NULL,
  state TEXT NOT NULL CHECK (state IN ('storing', 'stored')),
  name TEXT NOT NULL,
  -- In bytes.
  size INTEGER NOT NULL,
  -- The media type that its content has.
  type TEXT NOT NULL,
  sha256 TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  for_held INTEGER NOT NULL DEFAULT 0 CHECK (for_held IN (0, 1)), is_left_out INTEGER NOT NULL DEFAULT 0 CHECK (is_left_out IN (0, 1)), object_id TEXT
) STRICT;
CREATE INDEX file_by_endpoint ON file (endpoint_id, id);
CREATE INDEX file_by_held ON file (held_id) WHERE held_id IS NOT NULL;
CREATE INDEX file_by_submission ON file (submission_id) WHERE submission_id IS NOT NULL;
CREATE INDEX file_for_held ON file (endpoint_id, size) WHERE for_held = 1;
CREATE INDEX file_without_owner ON file (state, created_at) WHERE submission_id IS NULL AND held_id IS NULL;
CREATE TRIGGER file_comes AFTER INSERT ON file BEGIN
  INSERT INTO file_total (endpoint_id, files, bytes) VALUES (new.endpoint_id, 1, new.size)
    ON CONFLICT DO UPDATE SET files = files + 1, bytes = bytes + excluded.bytes;
END;
CREATE TRIGGER file_goes AFTER DELETE ON file BEGIN
  UPDATE file_total SET files = files - 1, bytes = bytes - old.size WHERE endpoint_id = old.endpoint_id;
  DELETE FROM file_total WHERE endpoint_id = old.endpoint_id AND files = 0;
END;
CREATE TRIGGER file_object_goes AFTER DELETE ON file WHEN old.object_id IS NOT NULL BEGIN
  INSERT INTO file_deletion (object_id, lost_at, was_stored)
    VALUES (old.object_id, CAST(unixepoch('subsec') * 1000 AS INTEGER), old.state <> 'storing') ON CONFLICT DO NOTHING;
END;
CREATE TRIGGER file_object_leaves AFTER UPDATE OF object_id ON file
  WHEN old.object_id IS NOT NULL AND new.object_id IS NULL BEGIN
  INSERT INTO file_deletion (object_id, lost_at, was_stored)
    VALUES (old.object_id, CAST(unixepoch('subsec') * 1000 AS INTEGER), old.state <> 'storing') ON CONFLICT DO NOTHING;
END;

-- The bytes of files. Each row has 262144 bytes; the last row of a file has the rest.
CREATE TABLE file_chunk (
  file_id TEXT NOT NULL REFERENCES file (id),
  -- From 0 on.
  position INTEGER NOT NULL,
  bytes BLOB NOT NULL,
  PRIMARY KEY (file_id, position)
) STRICT;

-- Objects in the store of files whose file is gone. Triggers write them; they stay until the store has deleted the object.
CREATE TABLE file_deletion (
  object_id TEXT PRIMARY KEY,
  lost_at INTEGER NOT NULL,
  -- 0 if its post was cut off: the store may still be receiving it, so it is deleted once more after an hour.
  was_stored INTEGER NOT NULL CHECK (was_stored IN (0, 1)),
  attempts INTEGER NOT NULL DEFAULT 0,
  next_at INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX file_deletion_by_time ON file_deletion (next_at);

-- The number and the bytes of the files of an endpoint. Triggers count.
CREATE TABLE file_total (
  endpoint_id TEXT PRIMARY KEY,
  files INTEGER NOT NULL,
  bytes INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Files for which a virus scanner has given no verdict.
CREATE TABLE file_scan (
  file_id TEXT PRIMARY KEY REFERENCES file (id) ON DELETE CASCADE,
  -- Nobody may read a file that is `scanning`. It could not be scanned in time if it is `kept`, which may be read, or `refused`.
  state TEXT NOT NULL CHECK (state IN ('scanning', 'kept', 'refused')),
  -- Until then it is `scanning`.
  wait_until INTEGER NOT NULL,
  -- Scans that ended without a verdict, for a reason that may lie in the file.
  attempts INTEGER NOT NULL DEFAULT 0,
  -- When it is to be scanned. Whoever scans it moves it ahead meanwhile, so that it is due again if that process ends. NULL is never.
  due_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX file_scan_due ON file_scan (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX file_scan_waiting ON file_scan (wait_until) WHERE state = 'scanning';

-- Submissions whose messages wait until their files have a verdict, or until a certain time.
CREATE TABLE scan_wait (
  submission_id TEXT PRIMARY KEY REFERENCES submission (id) ON DELETE CASCADE,
  until INTEGER NOT NULL,
  recipients TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX scan_wait_by_time ON scan_wait (until);

-- The bytes of files that came in a UTC day, by address (as a hash) and by form.
CREATE TABLE upload_use (
  -- YYYY-MM-DD, UTC.
  day TEXT NOT NULL,
  unit TEXT NOT NULL,
  bytes INTEGER NOT NULL,
  PRIMARY KEY (day, unit)
) STRICT, WITHOUT ROWID;

-- Proofs of work that came with posts, because each is valid once. A row is kept until its proof has expired.
CREATE TABLE spent_proof (
  id BLOB PRIMARY KEY,
  used_by TEXT NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX spent_proof_by_end ON spent_proof (expires_at);

-- One row. Every change to what servers hold in memory raises its number.
CREATE TABLE settings_version (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  version INTEGER NOT NULL
) STRICT;

-- What the last thousand changes of settings were about, so that servers drop only that from their memory.
CREATE TABLE settings_change (
  slot INTEGER PRIMARY KEY,
  version INTEGER NOT NULL,
  -- The id of an endpoint or a workspace, or a word of settings-version.ts.
  subject TEXT NOT NULL
) STRICT;

-- One row. The clock as the clean-ups saw it last, which do not follow one that went far ahead.
CREATE TABLE clock_seen (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  seen_at INTEGER NOT NULL,
  -- What the clock showed when it was first doubted; NULL if it is trusted.
  doubted_at INTEGER,
  -- How long a server has run since then.
  waited_ms INTEGER NOT NULL
) STRICT;

-- One row. The last address that seems to be a proxy but is not in `server.trustProxy`.
CREATE TABLE untrusted_proxy (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  address TEXT NOT NULL,
  seen_at INTEGER NOT NULL
) STRICT;

-- Faults of pages with a form, which their posts show. A row has the last time of one kind of fault.
CREATE TABLE page_fault (
  endpoint_id TEXT NOT NULL REFERENCES endpoint ON DELETE CASCADE,
  -- `redirect`: it names a page after success to which nobody is led. `file_name`: it sends the name in place of the file.
  kind TEXT NOT NULL CHECK (kind IN ('redirect', 'file_name')),
  -- The origin of that page, empty if it was no address of the web; or the field that should have had a file.
  what TEXT NOT NULL,
  seen_at INTEGER NOT NULL,
  PRIMARY KEY (endpoint_id, kind)
) STRICT, WITHOUT ROWID;

-- Unsolved problems about which the operator got an e-mail. After a restart, no second e-mail is sent about them.
CREATE TABLE told_problem (
  -- What the problem is about: it stays the same while the problem lasts.
  topic TEXT PRIMARY KEY,
  -- The address that was told. Another operator is told anew.
  told_to TEXT NOT NULL,
  -- JSON of the finding.
  finding TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Recipients of an endpoint's notifications, of every kind, each with its state.
CREATE TABLE recipient (
  id TEXT PRIMARY KEY,
  endpoint_id TEXT NOT NULL REFERENCES endpoint ON DELETE CASCADE,
  max_spam_score INTEGER NOT NULL CHECK (max_spam_score BETWEEN 0 AND 100),
  -- `stopped`: the receiver said twice that it is gone.
  state TEXT NOT NULL CHECK (state IN ('enabled', 'disabled', 'stopped')),
  -- How the receiver is doing: what breaker.ts calls its health.
  breaker TEXT NOT NULL CHECK (breaker IN ('closed', 'open', 'ramping')),
  breaker_count INTEGER NOT NULL,
  not_before INTEGER NOT NULL,
  -- The first 410 since the last success, and the first failure since then.
  gone_at INTEGER,
  failing_since INTEGER,
  created_at INTEGER NOT NULL,
  kind TEXT NOT NULL DEFAULT 'webhook', confirmed_at INTEGER, refusals INTEGER NOT NULL DEFAULT 0, conditions TEXT
) STRICT;
CREATE INDEX recipient_by_endpoint ON recipient (endpoint_id);

-- The address and settings of a recipient that is reached over HTTP.
CREATE TABLE webhook (
  id TEXT PRIMARY KEY REFERENCES recipient ON DELETE CASCADE,
  url TEXT NOT NULL,
  -- JSON object of further request headers.
  headers TEXT NOT NULL,
  allow_private INTEGER NOT NULL CHECK (allow_private IN (0, 1)),
  format TEXT NOT NULL DEFAULT 'standard', secret_url BLOB
) STRICT;

-- Keys that sign notifications. After a rotation, the old key expires.
CREATE TABLE webhook_secret (
  webhook_id TEXT NOT NULL REFERENCES webhook ON DELETE CASCADE,
  key BLOB NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER,
  PRIMARY KEY (webhook_id, key)
) STRICT, WITHOUT ROWID;

-- The address and settings of a recipient that is reached by e-mail.
CREATE TABLE mail_recipient (
  id TEXT PRIMARY KEY REFERENCES recipient ON DELETE CASCADE,
  address TEXT NOT NULL,
  -- With {endpoint} and {name of a field}; NULL is the built-in subject.
  subject TEXT,
  -- `each` submission in an e-mail of its own, or those of an hour or a day in one.
  digest TEXT NOT NULL CHECK (digest IN ('each', 'hourly', 'daily')),
  -- SHA-256 of the token in the e-mail that asks for a confirmation, and until when it works; NULL when none is open.
  confirmation_hash BLOB,
  confirmation_expires_at INTEGER,
  -- In every e-mail: who has it may end these e-mails, and nothing else.
  unsubscribe_token TEXT NOT NULL,
  unsubscribed_at INTEGER,
  language TEXT, attach INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
CREATE INDEX mail_recipient_by_mailbox ON mail_recipient (
  replace(substr(lower(address), 1, instr(replace(address, '@', '+'), '+') - 1), '.', '') || substr(lower(address), instr(address, '@'))
);

-- Letters of the server that must not be lost. None contains the token of a link: a confirmation gets it when it is sent.
CREATE TABLE letter (
  -- `msg_…`, which its Message-ID has.
  id TEXT PRIMARY KEY,
  -- `security`: somebody changed how an account signs in. `operator`: what the operator or an owner must know. `confirmation`: asks the
  -- holder of an address.
  kind TEXT NOT NULL CHECK (kind IN ('security', 'operator', 'confirmation')),
  -- What it is about. While one waits, no other of this topic is written to its address.
  topic TEXT NOT NULL,
  address TEXT NOT NULL,
  -- The recipient whose holder is asked; NULL for other kinds.
  recipient_id TEXT REFERENCES mail_recipient ON DELETE CASCADE,
  -- JSON of subject, paragraphs and link.
  content TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('pending', 'delivered', 'failed')),
  -- All attempts begun, and those of them that count towards the schedule.
  attempts INTEGER NOT NULL DEFAULT 0,
  spent INTEGER NOT NULL DEFAULT 0,
  due_at INTEGER NOT NULL,
  -- The server that sends it; it goes on unless that server is lost. NULL when none has begun.
  claimed_by TEXT,
  -- JSON of the last attempt that ended; NULL before it.
  last_attempt TEXT,
  finished_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX letter_by_address ON letter (address, id);
CREATE INDEX letter_by_recipient ON letter (recipient_id) WHERE recipient_id IS NOT NULL;
CREATE INDEX letter_finished ON letter (finished_at) WHERE finished_at IS NOT NULL;
CREATE INDEX letter_pending ON letter (due_at) WHERE state = 'pending';
CREATE UNIQUE INDEX letter_waiting ON letter (address, topic) WHERE state = 'pending';

-- The automatic reply of an endpoint: an e-mail with the owner's text to the person who posts.
CREATE TABLE auto_reply (
  id TEXT PRIMARY KEY REFERENCES recipient ON DELETE CASCADE,
  -- Name of the field that has the address.
  field TEXT NOT NULL,
  -- NULL is the built-in subject or text.
  subject TEXT,
  text TEXT,
  -- The recipient that gets the answers; NULL when nobody does.
  reply_to TEXT REFERENCES mail_recipient ON DELETE SET NULL,
  -- When the last reply was begun to be sent; NULL before the first.
  begun_at INTEGER,
  sent_at INTEGER
) STRICT, WITHOUT ROWID;

-- The language of the automatic reply to a post, if the post named one.
CREATE TABLE reply_language (
  submission_id TEXT PRIMARY KEY REFERENCES submission (id) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED,
  language TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- The use of limits of messages: a row for each message and limit, until it no longer counts.
CREATE TABLE quota_use (
  -- SHA-256 of whom the limit is for.
  key BLOB NOT NULL,
  expires_at INTEGER NOT NULL,
  -- The submission that the message is about; it may be deleted meanwhile.
  submission_id TEXT NOT NULL,
  PRIMARY KEY (key, expires_at, submission_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX quota_use_by_age ON quota_use (expires_at);
CREATE INDEX quota_use_by_submission ON quota_use (submission_id);

-- The number of messages that a recipient got lately, if its kind has such a limit. A recipient that got nothing yet has no row.
CREATE TABLE recipient_pace (
  recipient_id TEXT PRIMARY KEY REFERENCES recipient ON DELETE CASCADE,
  -- The short window and the hour: when each began, and the messages begun in it.
  window_at INTEGER NOT NULL,
  window_sent INTEGER NOT NULL,
  hour_at INTEGER NOT NULL,
  hour_sent INTEGER NOT NULL,
  -- Until then messages are gathered for a summary; NULL when each goes at once.
  gathers_until INTEGER
) STRICT, WITHOUT ROWID;

-- Places that fail at present, like a mail server: all their recipients wait. People read these rows; a new server ignores them.
CREATE TABLE place_fault (
  kind TEXT NOT NULL,
  place TEXT NOT NULL,
  since INTEGER NOT NULL,
  message TEXT NOT NULL,
  next_probe_at INTEGER NOT NULL,
  PRIMARY KEY (kind, place)
) STRICT, WITHOUT ROWID;

-- Messages that are not claimed yet. A row has the messages of one transaction to one recipient.
CREATE TABLE outbox (
  number INTEGER PRIMARY KEY,
  recipient_id TEXT NOT NULL REFERENCES recipient ON DELETE CASCADE,
  queued_at INTEGER NOT NULL,
  message_count INTEGER NOT NULL,
  -- JSON array of [message id, submission id].
  messages TEXT NOT NULL
) STRICT;
CREATE INDEX outbox_by_recipient ON outbox (recipient_id, number, queued_at, message_count);

-- One message to one recipient: its state and when its next attempt is due.
CREATE TABLE delivery (
  -- The message's id, which the receiver sees as webhook-id.
  id TEXT PRIMARY KEY,
  submission_id TEXT NOT NULL REFERENCES submission (id) ON DELETE CASCADE,
  recipient_id TEXT NOT NULL REFERENCES recipient ON DELETE CASCADE,
  state TEXT NOT NULL CHECK (state IN ('pending', 'sending', 'delivered', 'held', 'failed')),
  -- All attempts made, and those of them that count towards the schedule.
  attempts INTEGER NOT NULL DEFAULT 0,
  spent INTEGER NOT NULL DEFAULT 0,
  -- Attempts in a row that this program did not live to see the end of.
  interruptions INTEGER NOT NULL DEFAULT 0,
  due_at INTEGER NOT NULL,
  -- Of the attempt that is being made: when it began, and whether it is a probe.
  claimed_at INTEGER,
  is_probe INTEGER NOT NULL DEFAULT 0 CHECK (is_probe IN (0, 1)),
  finished_at INTEGER,
  last_status INTEGER,
  lead_id TEXT REFERENCES delivery ON DELETE SET NULL DEFERRABLE INITIALLY DEFERRED, event TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX delivery_by_recipient ON delivery (recipient_id);
CREATE INDEX delivery_by_submission ON delivery (submission_id);
CREATE INDEX delivery_delivered ON delivery (finished_at) WHERE state = 'delivered';
CREATE INDEX delivery_failed ON delivery (recipient_id) WHERE state = 'failed';
CREATE INDEX delivery_held ON delivery (recipient_id) WHERE state = 'held';
CREATE INDEX delivery_members ON delivery (lead_id) WHERE lead_id IS NOT NULL;
CREATE INDEX delivery_pending ON delivery (recipient_id, lead_id, due_at) WHERE state = 'pending';
CREATE INDEX delivery_sending ON delivery (id) WHERE state = 'sending';

-- Every attempt of a delivery.
CREATE TABLE attempt (
  delivery_id TEXT NOT NULL REFERENCES delivery ON DELETE CASCADE,
  number INTEGER NOT NULL,
  started_at INTEGER NOT NULL,
  duration_ms INTEGER NOT NULL,
  outcome TEXT NOT NULL,
  status INTEGER,
  -- For people; NULL where the attempt delivered.
  message TEXT,
  -- The first KiB of what a failing receiver answered.
  answer TEXT,
  is_probe INTEGER NOT NULL CHECK (is_probe IN (0, 1)),
  PRIMARY KEY (delivery_id, number)
) STRICT, WITHOUT ROWID;

-- Notices to owners in a month: their workspace is near its limit of posts or files, has reached it, or holds a first post.
CREATE TABLE limit_notice (
  workspace_id TEXT NOT NULL REFERENCES workspace ON DELETE CASCADE,
  month TEXT NOT NULL,
  what TEXT NOT NULL CHECK (what IN ('near', 'full', 'held', 'files_near', 'files_full')),
  told_at INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, month, what)
) STRICT, WITHOUT ROWID;

-- The parts of an e-mail about submissions besides these, from before its first attempt: each attempt sends the same bytes.
CREATE TABLE mail_frame (
  delivery_id TEXT PRIMARY KEY REFERENCES delivery ON DELETE CASCADE,
  -- JSON of the subject's template, of who gets the answer, and of the addresses of links.
  frame TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- A workspace's choices for the spam filter.
CREATE TABLE workspace_spam (
  workspace_id TEXT PRIMARY KEY REFERENCES workspace ON DELETE CASCADE,
  choices TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- An endpoint's choices for the spam filter.
CREATE TABLE endpoint_spam (
  endpoint_id TEXT PRIMARY KEY REFERENCES endpoint ON DELETE CASCADE,
  choices TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- The origins of pages whose posts an endpoint refused, because they are not among its allowed origins.
CREATE TABLE refused_origin (
  endpoint_id TEXT NOT NULL REFERENCES endpoint ON DELETE CASCADE,
  origin TEXT NOT NULL,
  posts INTEGER NOT NULL,
  last_at INTEGER NOT NULL,
  -- Whether the owner said that it is none of theirs: its posts are not held any more.
  ignored INTEGER NOT NULL DEFAULT 0 CHECK (ignored IN (0, 1)),
  PRIMARY KEY (endpoint_id, origin)
) STRICT, WITHOUT ROWID;

-- Sketches of the last texts that a workspace received, with which repeated texts are recognised.
CREATE TABLE remembered_text (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  workspace_id TEXT NOT NULL REFERENCES workspace ON DELETE CASCADE,
  -- JSON array of the keys it is looked up by, the one of its very words first.
  keys TEXT NOT NULL,
  -- MinHash values of 32 bits, little end first; none for short texts.
  sketch BLOB NOT NULL,
  -- JSON array of [e-mail hash, network hash], either may be null.
  senders TEXT NOT NULL,
  -- Marks that posts with this text have now; a text with any is kept.
  marked_spam INTEGER NOT NULL DEFAULT 0,
  marked_ham INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX remembered_text_by_age ON remembered_text (workspace_id, id) WHERE marked_spam = 0 AND marked_ham = 0;

-- Keys by which remembered texts are found.
CREATE TABLE remembered_text_key (
  key INTEGER NOT NULL,
  text_id INTEGER NOT NULL,
  PRIMARY KEY (key, text_id)
) STRICT, WITHOUT ROWID;

-- Submissions that a person marked as spam or not, as the features from which the filter learns.
CREATE TABLE lesson (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  workspace_id TEXT NOT NULL REFERENCES workspace ON DELETE CASCADE,
  submission_id TEXT NOT NULL UNIQUE,
  mark TEXT NOT NULL CHECK (mark IN ('spam', 'ham')),
  -- Hash of the e-mail address; NULL where the post has none.
  email TEXT,
  text_id INTEGER REFERENCES remembered_text ON DELETE SET NULL,
  -- Word buckets of 16 bits, little end first, and the log-odds that the shipped model gave, in thousandths.
  buckets BLOB NOT NULL,
  odds INTEGER NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX lesson_by_email ON lesson (workspace_id, email);
CREATE INDEX lesson_by_text ON lesson (text_id);
CREATE INDEX lesson_by_workspace ON lesson (workspace_id, id);

-- The weights that a workspace's filter has learned from its lessons.
CREATE TABLE learned_weights (
  workspace_id TEXT PRIMARY KEY REFERENCES workspace ON DELETE CASCADE,
  version INTEGER NOT NULL,
  weights BLOB NOT NULL
) STRICT, WITHOUT ROWID;

-- How an account signs in. An account that never signed in has no row.
CREATE TABLE credential (
  account_id TEXT PRIMARY KEY REFERENCES account ON DELETE CASCADE,
  -- argon2id of the password, in PHC format.
  password_hash TEXT NOT NULL,
  -- The secret of the second factor, encrypted if a key is configured; NULL without one.
  totp_secret BLOB,
  -- The 30-second step of the last code that was used: neither it nor an earlier one works again.
  totp_step INTEGER,
  -- When the password or the second factor last changed.
  changed_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Codes that replace the second factor, each for one sign-in.
CREATE TABLE recovery_code (
  account_id TEXT NOT NULL REFERENCES account ON DELETE CASCADE,
  -- SHA-256 of the code.
  hash BLOB NOT NULL,
  PRIMARY KEY (account_id, hash)
) STRICT, WITHOUT ROWID;

-- Passkeys (WebAuthn), with which a person's device signs in.
CREATE TABLE passkey (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES account ON DELETE CASCADE,
  -- As the device names it.
  credential_id BLOB NOT NULL UNIQUE,
  -- The host for which it was made, of server.baseUrl: it works for no other.
  host TEXT NOT NULL,
  -- COSE.
  public_key BLOB NOT NULL,
  -- How often the device says that it was used; 0 if it does not count.
  counter INTEGER NOT NULL,
  name TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  used_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX passkey_by_account ON passkey (account_id, created_at);

-- Challenges that a passkey has answered. A row is kept until its challenge is too old to be answered again.
CREATE TABLE spent_challenge (
  -- SHA-256
  hash BLOB PRIMARY KEY,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX spent_challenge_by_age ON spent_challenge (expires_at);

-- Links that set an account's password, each for one use.
CREATE TABLE sign_in_link (
  -- The newest link of an account; an earlier one does not work any more.
  account_id TEXT PRIMARY KEY REFERENCES account ON DELETE CASCADE,
  -- SHA-256 of the token.
  token_hash BLOB NOT NULL UNIQUE,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Links in letters, each for one use: they make an account or set a new password.
CREATE TABLE mailed_link (
  -- SHA-256 of the token.
  token_hash BLOB PRIMARY KEY,
  -- `sign-up` makes the account, which is not there before; `reset` sets a forgotten password.
  purpose TEXT NOT NULL CHECK (purpose IN ('sign-up', 'reset')),
  email TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX mailed_link_by_age ON mailed_link (purpose, created_at);
CREATE UNIQUE INDEX mailed_link_by_email ON mailed_link (purpose, lower(email));

-- Sessions of browsers that are signed in.
CREATE TABLE session (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES account ON DELETE CASCADE,
  -- SHA-256 of the secret half of the cookie.
  secret_hash BLOB NOT NULL,
  created_at INTEGER NOT NULL,
  -- To the minute.
  seen_at INTEGER NOT NULL,
  -- The beginning of what the browser calls itself.
  user_agent TEXT NOT NULL,
  -- NULL unless dashboard.logAddresses is set.
  ip_address TEXT,
  issuer TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX session_by_account ON session (account_id, seen_at);

-- The account to which a subject of an OpenID issuer belongs.
CREATE TABLE oidc_binding (
  -- As the issuer writes both.
  issuer TEXT NOT NULL,
  subject TEXT NOT NULL,
  account_id TEXT NOT NULL REFERENCES account ON DELETE CASCADE,
  bound_at INTEGER NOT NULL,
  PRIMARY KEY (issuer, subject)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX oidc_binding_by_account ON oidc_binding (account_id, issuer);

-- One row. The key that signs the addresses of files.
CREATE TABLE file_link_key (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  -- 32 random bytes, sealed or plain.
  key BLOB NOT NULL
) STRICT;

-- One row. The key for the proof that a browser or an address has signed in before.
CREATE TABLE sign_in_key (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  -- 32 random bytes, sealed or plain.
  key BLOB NOT NULL
) STRICT;

-- Addresses, as keyed hashes, from which an account was used in the last 30 days.
CREATE TABLE known_address (
  account_id TEXT NOT NULL REFERENCES account ON DELETE CASCADE,
  -- HMAC-SHA-256 of the account and the address (IPv6: its /64).
  address_hash BLOB NOT NULL,
  -- To the day.
  seen_at INTEGER NOT NULL,
  PRIMARY KEY (account_id, address_hash)
) STRICT, WITHOUT ROWID;
CREATE INDEX known_address_by_age ON known_address (seen_at);

-- The members who have read a submission. An unread submission has no row.
CREATE TABLE submission_read (
  submission_id TEXT NOT NULL REFERENCES submission (id) ON DELETE CASCADE,
  account_id TEXT NOT NULL,
  PRIMARY KEY (submission_id, account_id)
) STRICT, WITHOUT ROWID;

-- The work on a submission: whether it is done, and who does it. One that is open and assigned to nobody needs no row.
CREATE TABLE submission_work (
  id TEXT PRIMARY KEY REFERENCES submission (id) ON DELETE CASCADE,
  endpoint_number INTEGER NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('open', 'done')),
  assignee_id TEXT REFERENCES account ON DELETE SET NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX submission_work_by_assignee ON submission_work (assignee_id) WHERE assignee_id IS NOT NULL;
CREATE INDEX submission_work_by_endpoint ON submission_work (endpoint_number, id);

-- Submissions that were deleted and can be restored. Each is still in `submission`.
CREATE TABLE submission_bin (
  id TEXT PRIMARY KEY REFERENCES submission (id) ON DELETE CASCADE,
  endpoint_number INTEGER NOT NULL,
  deleted_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX submission_bin_by_age ON submission_bin (deleted_at);
CREATE INDEX submission_bin_by_endpoint ON submission_bin (endpoint_number, id);

-- Notes of people on a submission.
CREATE TABLE submission_note (
  id TEXT PRIMARY KEY,
  submission_id TEXT NOT NULL REFERENCES submission (id) ON DELETE CASCADE,
  text TEXT NOT NULL,
  -- The address of the account, or the name of the token, at that time; NULL is the command line.
  author TEXT,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX submission_note_by_submission ON submission_note (submission_id, id);

-- The changes, and who made them. The oldest rows are deleted.
CREATE TABLE audit_event (
  id INTEGER PRIMARY KEY,
  at INTEGER NOT NULL,
  -- Who did it, with the e-mail address of that time; NULL is the command line.
  account_id TEXT,
  email TEXT,
  -- NULL when it is about no workspace.
  workspace_id TEXT,
  -- What was done, like `endpoint.create`.
  action TEXT NOT NULL,
  -- What it was done to: an id or an e-mail address.
  subject TEXT NOT NULL,
  detail TEXT,
  token_id TEXT, token_name TEXT, terminal_user TEXT, stored_after INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX audit_event_by_token ON audit_event (token_id, id) WHERE token_id IS NOT NULL;
CREATE TRIGGER audit_event_gets_place AFTER INSERT ON audit_event BEGIN
  UPDATE audit_event SET stored_after = coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'submission'), 0) WHERE id = new.id;
END;

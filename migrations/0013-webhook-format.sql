-- The document that a webhook's receiver gets: `standard` is our own event, any other the message of a chat.
ALTER TABLE webhook ADD COLUMN format TEXT NOT NULL DEFAULT 'standard';

-- On which submissions a recipient gets a message: a list as JSON; NULL is on every one.
ALTER TABLE recipient ADD COLUMN conditions TEXT;

-- Recipients that were sent nothing because of a condition: a list as JSON; NULL is nobody.
ALTER TABLE submission ADD COLUMN not_sent TEXT;

-- Which version of the filter gave a score: what was stored keeps the score and the reasons of its day.
ALTER TABLE submission ADD COLUMN spam_version INTEGER NOT NULL DEFAULT 1;
ALTER TABLE held ADD COLUMN spam_version INTEGER NOT NULL DEFAULT 1;

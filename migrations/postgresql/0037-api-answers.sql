-- ../0037-api-answers.sql says more.
CREATE TABLE api_answer (
  owner text COLLATE "C" NOT NULL,
  operation text COLLATE "C" NOT NULL,
  key_hash bytea NOT NULL,
  body_hash bytea NOT NULL,
  status integer NOT NULL,
  answer text COLLATE "C",
  created_at bigint NOT NULL,
  PRIMARY KEY (owner, operation, key_hash)
);
CREATE INDEX api_answer_by_age ON api_answer (created_at);

-- Sign-in looks an account up by its address in small letters, as both engines can.
CREATE INDEX account_by_email ON account (lower(email));

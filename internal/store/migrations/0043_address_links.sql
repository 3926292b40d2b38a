-- A link of the kind address proves that somebody reads the mails of their new e-mail address.
ALTER TABLE password_links ADD COLUMN address TEXT NOT NULL DEFAULT ''; -- the new one

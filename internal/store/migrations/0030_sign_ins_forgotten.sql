-- Sign-ins that ended are found by their last request, and forgotten.
CREATE INDEX sign_ins_seen ON sign_ins (seen_at);

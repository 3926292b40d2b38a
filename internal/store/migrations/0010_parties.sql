-- Who issues the statements of a site and is paid, and whose policy it is: name, address, tax number and bank details, as JSON.
-- A statement keeps both as they were when it was issued.
ALTER TABLE sites ADD COLUMN issuer TEXT NOT NULL DEFAULT '{}';
ALTER TABLE sites ADD COLUMN policyholder TEXT NOT NULL DEFAULT '{}';

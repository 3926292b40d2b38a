-- What waits for an operator on any site, the oldest first: there are never many.
CREATE INDEX proposals_open ON proposals (id) WHERE state = 'open';

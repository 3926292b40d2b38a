-- By these a chargeback is matched with its payment (R14), and a claim with what else protects the traveller.
ALTER TABLE transactions ADD COLUMN acquirer_reference TEXT NOT NULL DEFAULT ''; -- the ARN, 23 digits; '' where not given

-- What else protects the traveller: none, bond, trust_account, insurance or scheme.
ALTER TABLE channels ADD COLUMN other_protection TEXT NOT NULL DEFAULT 'none';

ALTER TABLE bookings ADD COLUMN other_protection TEXT NOT NULL DEFAULT ''; -- '' where it is that of the channel


-- The idempotency key that each attempt was given for the outside provider. Attempts of earlier versions have none: the
-- step's own key may have been replaced since.
ALTER TABLE attempts ADD COLUMN idempotency_key TEXT;

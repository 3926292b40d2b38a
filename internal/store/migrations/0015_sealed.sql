-- Which columns of secrets hold no plain text any more. The program seals a column at its first start with the column,
-- because the keys are outside the database.
CREATE TABLE sealed_columns (
    name      TEXT   NOT NULL PRIMARY KEY, -- table.column
    sealed_at BIGINT NOT NULL
);

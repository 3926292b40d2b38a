-- Reserved: the next step of the schema is written here.
SELECT 1;

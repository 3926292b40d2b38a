-- Nothing: the number is kept free for a step that is made elsewhere at the same time.
SELECT 1;

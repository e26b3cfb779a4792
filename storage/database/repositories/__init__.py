"""The ports of what is kept, in SQL: a repository a family of tables, beside it what only that one needs."""

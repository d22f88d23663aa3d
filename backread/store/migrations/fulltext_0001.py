"""Full-text tables of the first schema: dialect-specific, so Alembic cannot generate them."""

from sqlalchemy import Connection, text

_POSTGRESQL = (
    "CREATE TABLE passages_fts ("
    "passage_id bigint PRIMARY KEY REFERENCES passages(id) ON DELETE CASCADE, "
    "account_id varchar(26) NOT NULL, words tsvector NOT NULL)",
    "CREATE INDEX ix_passages_fts_words ON passages_fts USING gin (words)",
    "CREATE INDEX ix_passages_fts_account ON passages_fts (account_id)",
)
# Contentless: rows are removed with FTS5's 'delete' command and the words they were indexed
# with, which are computed from the passage itself.
_SQLITE = (
    "CREATE VIRTUAL TABLE passages_fts USING fts5(account, heading, body, content='', "
    'tokenize="unicode61 remove_diacritics 2")',
    # Words are collected in memory for a whole batch of an import, instead of a megabyte at a
    # time, and pieces of the index merged eight at a time instead of four: a third less work.
    "INSERT INTO passages_fts (passages_fts, rank) VALUES ('hashsize', 67108864)",
    "INSERT INTO passages_fts (passages_fts, rank) VALUES ('automerge', 8)",
)


def create_fulltext(connection: Connection) -> None:
    """Words and phrases of passages, exactly, as `backread/store/fulltext.py` folds them. On
    SQLite the account is a term of its own, so that a search reads one account's postings only.
    """
    is_postgresql = connection.dialect.name == "postgresql"
    for statement in _POSTGRESQL if is_postgresql else _SQLITE:
        connection.execute(text(statement))

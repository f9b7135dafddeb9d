"""Define the server's tables, and the migrations from each earlier version to them."""

from __future__ import annotations

from ragweave.corpora.store.migrations import History

TABLES = """
CREATE TABLE keys (
    id TEXT PRIMARY KEY, name TEXT NOT NULL, hash TEXT NOT NULL UNIQUE, libraries TEXT,
    created TEXT NOT NULL, revoked TEXT, used TEXT, role TEXT NOT NULL DEFAULT 'own'
);
CREATE TABLE sessions (
    hash TEXT PRIMARY KEY, key TEXT NOT NULL REFERENCES keys (id) ON DELETE CASCADE,
    ends DOUBLE PRECISION NOT NULL
);
CREATE INDEX sessions_by_key ON sessions (key);
CREATE TABLE added (
    library TEXT NOT NULL, name TEXT NOT NULL, owner TEXT NOT NULL,
    PRIMARY KEY (library, name)
);
CREATE TABLE threads (
    id TEXT PRIMARY KEY, owner TEXT NOT NULL, library TEXT NOT NULL, title TEXT NOT NULL,
    created TEXT NOT NULL, updated TEXT NOT NULL, pinned INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX threads_by_owner ON threads (owner, updated);
CREATE TABLE turns (
    thread TEXT NOT NULL REFERENCES threads (id) ON DELETE CASCADE, n INTEGER NOT NULL, run TEXT NOT NULL,
    graph TEXT NOT NULL, question TEXT NOT NULL, status TEXT NOT NULL, answer TEXT, problem TEXT,
    created TEXT NOT NULL,
    trail TEXT, context TEXT, verdict TEXT,
    PRIMARY KEY (thread, n)
);
CREATE TABLE pictures (
    thread TEXT NOT NULL, turn INTEGER NOT NULL, n INTEGER NOT NULL, jpeg BLOB NOT NULL,
    PRIMARY KEY (thread, turn, n),
    FOREIGN KEY (thread, turn) REFERENCES turns (thread, n) ON DELETE CASCADE
);
CREATE TABLE runs (
    id TEXT PRIMARY KEY, owner TEXT NOT NULL, library TEXT NOT NULL, thread TEXT NOT NULL,
    turn INTEGER NOT NULL,
    about TEXT NOT NULL, status TEXT NOT NULL, server TEXT NOT NULL, told INTEGER NOT NULL DEFAULT 0,
    stop INTEGER NOT NULL DEFAULT 0, ended DOUBLE PRECISION
);
CREATE INDEX runs_by_thread ON runs (thread);
CREATE INDEX runs_by_status ON runs (status);
CREATE TABLE events (
    run TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE, n INTEGER NOT NULL, type TEXT NOT NULL,
    data TEXT NOT NULL,
    PRIMARY KEY (run, n)
);
CREATE TABLE overviews (library TEXT PRIMARY KEY, generation INTEGER NOT NULL, written TEXT NOT NULL);
CREATE TABLE rates (who TEXT PRIMARY KEY, due DOUBLE PRECISION NOT NULL);
CREATE TABLE files (
    id TEXT PRIMARY KEY, owner TEXT NOT NULL, name TEXT NOT NULL, purpose TEXT NOT NULL,
    size INTEGER NOT NULL,
    created DOUBLE PRECISION NOT NULL, ends DOUBLE PRECISION, data BLOB NOT NULL,
    thread TEXT REFERENCES threads (id) ON DELETE CASCADE
);
CREATE INDEX files_by_owner ON files (owner, created);
CREATE INDEX files_by_thread ON files (thread);
"""
"""The current tables, for both engines. A test checks that the migrations below lead to the same tables."""

_ONE_KEY = "SELECT id FROM keys WHERE libraries IS NULL AND revoked IS NULL"

HISTORY = History(
    0,
    {
        1: (
            """
CREATE TABLE keys (
    id TEXT PRIMARY KEY, name TEXT NOT NULL, hash TEXT NOT NULL UNIQUE, libraries TEXT,
    created TEXT NOT NULL, revoked TEXT, used TEXT
);
CREATE TABLE threads (
    id TEXT PRIMARY KEY, owner TEXT NOT NULL, library TEXT NOT NULL, title TEXT NOT NULL,
    created TEXT NOT NULL, updated TEXT NOT NULL
);
CREATE INDEX threads_by_owner ON threads (owner, updated);
CREATE TABLE turns (
    thread TEXT NOT NULL REFERENCES threads (id) ON DELETE CASCADE, n INTEGER NOT NULL, run TEXT NOT NULL,
    graph TEXT NOT NULL, question TEXT NOT NULL, status TEXT NOT NULL, answer TEXT, problem TEXT,
    created TEXT NOT NULL,
    trail TEXT,
    PRIMARY KEY (thread, n)
)"""
        ),
        2: (
            """
ALTER TABLE turns ADD COLUMN waiting TEXT;
CREATE TABLE pictures (
    thread TEXT NOT NULL, turn INTEGER NOT NULL, n INTEGER NOT NULL, jpeg BLOB NOT NULL,
    PRIMARY KEY (thread, turn, n),
    FOREIGN KEY (thread, turn) REFERENCES turns (thread, n) ON DELETE CASCADE
)"""
        ),
        3: (
            """
ALTER TABLE turns ADD COLUMN context TEXT;
ALTER TABLE turns ADD COLUMN verdict TEXT;
ALTER TABLE threads ADD COLUMN pinned INTEGER NOT NULL DEFAULT 0"""
        ),
        4: (
            """
CREATE TABLE shares (
    id TEXT PRIMARY KEY, hash TEXT NOT NULL UNIQUE, owner TEXT NOT NULL,
    thread TEXT NOT NULL REFERENCES threads (id) ON DELETE CASCADE, title TEXT NOT NULL, page TEXT NOT NULL,
    created TEXT NOT NULL, expires TEXT NOT NULL
);
CREATE TABLE watches (
    id TEXT PRIMARY KEY, owner TEXT NOT NULL, library TEXT NOT NULL, question TEXT NOT NULL,
    created TEXT NOT NULL,
    generation INTEGER NOT NULL DEFAULT 0, known TEXT,
    UNIQUE (owner, library, question)
)"""
        ),
        5: (
            """
CREATE TABLE runs (
    id TEXT PRIMARY KEY, owner TEXT NOT NULL, library TEXT NOT NULL, thread TEXT NOT NULL,
    turn INTEGER NOT NULL,
    about TEXT NOT NULL, status TEXT NOT NULL, server TEXT NOT NULL, told INTEGER NOT NULL DEFAULT 0,
    stop INTEGER NOT NULL DEFAULT 0, ended DOUBLE PRECISION
);
CREATE INDEX runs_by_thread ON runs (thread);
CREATE INDEX runs_by_status ON runs (status);
CREATE TABLE events (
    run TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE, n INTEGER NOT NULL, type TEXT NOT NULL,
    data TEXT NOT NULL,
    PRIMARY KEY (run, n)
);
CREATE TABLE rates (who TEXT PRIMARY KEY, due DOUBLE PRECISION NOT NULL);
UPDATE turns SET status = 'cancelled' WHERE status IN ('running', 'waiting');
ALTER TABLE turns DROP COLUMN waiting"""
        ),
        6: (
            """
CREATE TABLE notes (
    id TEXT PRIMARY KEY, owner TEXT NOT NULL, library TEXT NOT NULL, title TEXT NOT NULL, text TEXT NOT NULL,
    answer TEXT NOT NULL, created TEXT NOT NULL
);
CREATE INDEX notes_by_owner ON notes (owner, library, created)"""
        ),
        7: (
            """
ALTER TABLE shares ADD COLUMN made_with TEXT NOT NULL DEFAULT '';
UPDATE shares SET made_with = substr(owner, 5) WHERE owner <> 'owner'"""
        ),
        # The page lost notes and watches here, and links to conversations in the next version.
        8: "DROP TABLE notes; DROP TABLE watches",
        9: (
            """
DROP TABLE shares;
CREATE TABLE overviews (library TEXT PRIMARY KEY, generation INTEGER NOT NULL, written TEXT NOT NULL)"""
        ),
        # Before, all keys for all libraries were one caller. If only one is left, it gets the conversations.
        10: (
            f"""
ALTER TABLE keys ADD COLUMN role TEXT NOT NULL DEFAULT 'own';
UPDATE keys SET role = 'write' WHERE libraries IS NOT NULL;
CREATE TABLE sessions (
    hash TEXT PRIMARY KEY, key TEXT NOT NULL REFERENCES keys (id) ON DELETE CASCADE,
    ends DOUBLE PRECISION NOT NULL
);
CREATE INDEX sessions_by_key ON sessions (key);
CREATE TABLE added (
    library TEXT NOT NULL, name TEXT NOT NULL, owner TEXT NOT NULL,
    PRIMARY KEY (library, name)
);
UPDATE threads SET owner = 'key ' || ({_ONE_KEY} LIMIT 1)
    WHERE owner = 'owner' AND (SELECT count(*) FROM ({_ONE_KEY}) AS k) = 1;
UPDATE runs SET owner = 'key ' || ({_ONE_KEY} LIMIT 1)
    WHERE owner = 'owner' AND (SELECT count(*) FROM ({_ONE_KEY}) AS k) = 1"""
        ),
        11: (
            """
CREATE TABLE files (
    id TEXT PRIMARY KEY, owner TEXT NOT NULL, name TEXT NOT NULL, purpose TEXT NOT NULL,
    size INTEGER NOT NULL,
    created DOUBLE PRECISION NOT NULL, ends DOUBLE PRECISION, data BLOB NOT NULL,
    thread TEXT REFERENCES threads (id) ON DELETE CASCADE
);
CREATE INDEX files_by_owner ON files (owner, created);
CREATE INDEX files_by_thread ON files (thread)"""
        ),
    },
)

"""The tables of the lexical index in PostgreSQL: the same rows of words as in SQLite, and their postings.

Two triggers keep a posting of every word of every row, and the number of rows of every word; BM25 is a sum
over the postings of the words of a query. A GIN index knows neither how often a word occurs in a row nor how
rare it is. Postings find more, and sooner, and take more disk (benchmarks/gin.py, docs/deploy.md).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlalchemy import Connection, text

from ragweave.corpora.store.words import K1, WEIGHTS, B, Row

_TITLE, _HEADING, _TEXT = WEIGHTS
_CREATE = f"""
DROP TABLE IF EXISTS NAME, NAME_words, NAME_terms;
CREATE TABLE NAME (rowid bigint PRIMARY KEY, title text NOT NULL, heading text NOT NULL, text text NOT NULL);
CREATE TABLE NAME_words (
    term text COLLATE "C", n bigint, tf real NOT NULL, length integer NOT NULL,
    PRIMARY KEY (term, n) INCLUDE (tf, length)
);
CREATE TABLE NAME_terms (term text COLLATE "C" PRIMARY KEY, doc bigint NOT NULL) WITH (fillfactor = 70);

CREATE OR REPLACE FUNCTION NAME_put() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    WITH said AS (
        SELECT rowid, term, sum(weight) AS tf FROM new
            CROSS JOIN LATERAL (VALUES (title, {_TITLE}), (heading, {_HEADING}), (text, {_TEXT}))
                AS c(words, weight)
            CROSS JOIN LATERAL unnest(string_to_array(words, ' ')) AS term
            WHERE length(term) BETWEEN 1 AND 500 GROUP BY rowid, term
    ), lengths AS (
        SELECT rowid, cardinality(string_to_array(concat_ws(' ', nullif(title, ''), nullif(heading, ''),
            nullif(text, '')), ' ')) AS length FROM new
    ), put AS (
        INSERT INTO NAME_words
            SELECT term, rowid, tf, length FROM said JOIN lengths USING (rowid) ORDER BY term, rowid
    )
    INSERT INTO NAME_terms AS t
        SELECT term, count(*) FROM said GROUP BY term
        UNION ALL SELECT '', coalesce(sum(length), 0) FROM lengths
        ORDER BY 1
        ON CONFLICT (term) DO UPDATE SET doc = t.doc + excluded.doc;
    RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION NAME_forget() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    WITH said AS (
        SELECT DISTINCT rowid, term FROM old
            CROSS JOIN LATERAL unnest(string_to_array(concat_ws(' ', title, heading, text), ' ')) AS term
    ), gone AS (
        DELETE FROM NAME_words w USING said s WHERE w.term = s.term AND w.n = s.rowid
            RETURNING w.term, w.n, w.length
    ), less AS (
        SELECT term, count(*) AS doc FROM gone GROUP BY term
        UNION ALL SELECT '', sum(length) FROM (SELECT DISTINCT n, length FROM gone) AS rows
    )
    UPDATE NAME_terms t SET doc = t.doc - less.doc FROM less WHERE t.term = less.term AND less.doc > 0;
    RETURN NULL;
END $$;

CREATE TRIGGER put AFTER INSERT ON NAME REFERENCING NEW TABLE AS new
    FOR EACH STATEMENT EXECUTE FUNCTION NAME_put();
CREATE TRIGGER forget AFTER DELETE ON NAME REFERENCING OLD TABLE AS old
    FOR EACH STATEMENT EXECUTE FUNCTION NAME_forget();
"""
"""Under the empty word stands the number of all tokens. A word longer than 500 characters is not found."""


def create(connection: Connection, name: str) -> None:
    """Make an empty index in place of the one that is there."""
    connection.exec_driver_sql(_CREATE.replace("NAME", name))


def put(connection: Connection, name: str, rows: Sequence[Row]) -> None:
    """Write rows in place of those of the same numbers."""
    n, title, heading, said = map(list, zip(*rows, strict=True))
    connection.execute(text(f"DELETE FROM {name} WHERE rowid = ANY(:n)"), {"n": n})
    one = (
        "unnest(CAST(:n AS bigint[]), CAST(:title AS text[]), CAST(:heading AS text[]), CAST(:text AS"
        " text[]))"
    )
    given = {"n": n, "title": title, "heading": heading, "text": said}
    connection.execute(text(f"INSERT INTO {name}(rowid, title, heading, text) SELECT * FROM {one}"), given)


def remove(connection: Connection, name: str, chosen: str, given: Mapping[str, str]) -> None:
    """Remove the rows whose numbers a query chooses."""
    connection.execute(text(f"DELETE FROM {name} WHERE rowid IN ({chosen})"), given)


def frequencies(
    connection: Connection, names: Sequence[str], terms: Sequence[str]
) -> dict[str, dict[str, int]]:
    """Return in how many rows of each index a term stands, by term and index."""
    look = (
        "SELECT '{0}' AS name, term, doc FROM {0}_terms WHERE term = ANY(:terms) AND term != '' AND doc > 0"
    )
    found: dict[str, dict[str, int]] = {}
    if names:
        for name, term, doc in connection.execute(
            text(" UNION ALL ".join(map(look.format, names))), {"terms": list(terms)}
        ):
            found.setdefault(term, {})[name] = doc
    return found


def candidates(
    connection: Connection,
    name: str,
    weights: Mapping[str, float],
    average: float,
    k: int,
    sources: Sequence[str],
) -> list[tuple[int, str, float]]:
    """Return the best k (row, item id, BM25); `weights` has the inverse document frequencies of the terms."""
    only = "WHERE h.n IN (SELECT n FROM items WHERE source = ANY(:sources))" if sources else ""
    rows = connection.execute(
        text(f"""SELECT n, id, score FROM (
                SELECT h.n, sum(q.weight * h.tf * :above / (h.tf + :short + :each * h.length)) AS score
                FROM unnest(CAST(:terms AS text[]), CAST(:weights AS float8[])) AS q(term, weight)
                CROSS JOIN LATERAL (SELECT n, tf, length FROM {name}_words w WHERE w.term = q.term) AS h
                {only} GROUP BY h.n ORDER BY score DESC, h.n LIMIT :k
            ) AS found JOIN items USING (n) ORDER BY score DESC, n"""),
        {
            "above": K1 + 1,
            "short": K1 * (1 - B),
            "each": K1 * B / average,
            "terms": list(weights),
            "weights": list(weights.values()),
            "k": k,
            **({"sources": list(sources)} if sources else {}),
        },
    )
    return [(row[0], row[1], float(row[2])) for row in rows]


def tokens(connection: Connection, name: str) -> int:
    """Return the tokens of an index."""
    return int(connection.execute(text(f"SELECT doc FROM {name}_terms WHERE term = ''")).scalar_one())

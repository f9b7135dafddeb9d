import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import text as sql

from ragweave.corpora.store import lexical
from ragweave.corpora.store.catalog import Catalog
from ragweave.corpora.store.lexical import Frequencies, prune
from ragweave.corpora.store.schema import items, sources
from ragweave.corpora.store.words import indexed

pytestmark = pytest.mark.both

TEXTS = {
    "plain": "The library of Alexandria held many scrolls and some maps.",
    "zh": "知识图谱把实体连接起来,望远镜观察星星。",
    "ja": "東京の図書館は大きいです。",
    "th": "ห้องสมุดของอเล็กซานเดรีย",
    "ru": "Библиотека хранит книги о звёздах.",
    "number": "The probe flew 3.14 million miles in 1989.",
    "maps": "Maps, maps and more maps.",
}


@pytest.fixture
def filled(tmp_path):
    """A catalog whose library holds TEXTS as paragraphs, one source each."""
    catalog = Catalog(tmp_path / "home")
    yield catalog, fill(catalog, "lib", TEXTS)
    catalog.close()


def fill(catalog, name, texts):
    library = catalog.create(name, "enc", 2).id
    with catalog.writing(library) as connection:
        first = connection.execute(sql("SELECT coalesce(max(n), 0) FROM items")).scalar_one() + 1
        for n, (key, text) in enumerate(texts.items(), first):
            source = {"id": f"s-{key}", "kind": "text", "title": key, "status": "ok", "reason": ""}
            source |= {
                "bytes": 1,
                "sha256": "",
                "params_hash": "",
                "warnings": [],
                "author": "",
                "language": "",
            }
            connection.execute(sources.insert(), {**source, "indexed_at": "", "named": ""})
            row = {"n": n, "source": f"s-{key}", "id": key, "corpus": "paragraph", "ordinal": 0}
            row |= {
                "title": key,
                "text": text,
                "locator": {},
                "heading": [],
                "spans": [],
                "meta": {},
                "language": "",
            }
            connection.execute(items.insert(), row)
            lexical.put(connection, "paragraph", [(n, indexed(key), "", indexed(text))])
    return library


def find(catalog, library, query, k=10, only=(), budget=lexical.BUDGET):
    with catalog.reading(library) as connection:
        known = Frequencies(connection)
        return lexical.search(connection, known, "paragraph", query, k, only, budget)


@pytest.mark.parametrize(
    "query, wanted",
    [
        ("scroll", "plain"),
        ("Which libraries held scrolls?", "plain"),
        ("知识图谱", "zh"),
        ("望远镜", "zh"),
        ("図書館", "ja"),
        ("ห้องสมุด", "th"),
        ("звездах", "ru"),
        ("3.14", "number"),
        ("１９８９", "number"),
        *(
            (query, "maps")
            for query in ('maps" OR "x', "maps NOT maps", "title:maps", "NEAR(maps, 2)", "'maps'; DROP--")
        ),
        *((query, None) for query in ("", "?!", "zzzz", "未知词语", "3.1")),
    ],
)
def test_only_words_are_found_in_any_script_form_and_syntax(filled, query, wanted):
    assert next((id_ for id_, _ in find(*filled, query)), None) == wanted


@given(st.text(max_size=40))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=100, deadline=None)
def test_no_text_breaks_a_search_and_every_score_is_positive(filled, query):
    found = find(*filled, query)
    assert all(score > 0 for _, score in found)
    assert [s for _, s in found] == sorted((s for _, s in found), reverse=True)


def test_scoring_by_all_terms_equals_the_score_of_the_index_itself(filled):
    catalog, library = filled
    query = "many maps of the library, more scrolls"
    whole = find(catalog, library, query, budget=10**6)
    pruned = find(catalog, library, query, budget=1)
    assert len(pruned) < len(whole)
    assert {i: pytest.approx(s, rel=1e-9) for i, s in whole if i in dict(pruned)} == dict(pruned)


@given(st.dictionaries(st.text(max_size=3), st.integers(0, 50)), st.integers(1, 80), st.integers(1, 6))
def test_pruning_keeps_the_rarest_within_the_budget_and_never_nothing(frequency, budget, limit):
    kept = prune(frequency, budget, limit)
    present = [t for t in frequency if frequency[t]]
    assert bool(kept) == bool(present)
    assert len(kept) <= limit
    assert sum(frequency[t] for t in kept) <= max(budget, min((frequency[t] for t in present), default=0))
    if kept:
        assert max(frequency[t] for t in kept) <= min(
            (frequency[t] for t in present if t not in kept), default=99
        )


def test_a_term_of_files_that_came_after_the_count_breaks_no_search(filled):
    catalog, library = filled
    with catalog.reading(library) as connection:
        known = Frequencies(connection)
    fill_more = {f"more{n}": "Maps of stars." for n in range(20)}
    with catalog.writing(library) as connection:
        for n, (key, text) in enumerate(fill_more.items(), 100):
            lexical.put(connection, "paragraph", [(n, indexed(key), "", indexed(text))])
    with catalog.reading(library) as connection:
        lexical.search(connection, known, "paragraph", "maps", 5)
        assert known.of(connection, "paragraph", ["map"])["map"] <= known.totals["paragraph"]

"""A bucket is indexed like a folder: what changes there changes here, and what is gone is forgotten."""

from pathlib import Path

import pytest

from ragweave.corpora.ingest.mirror import mirrored
from ragweave.corpora.store.library import open_library
from ragweave.corpora.store.objects import Objects
from ragweave.graphs.indexing import aindex
from ragweave.models.errors import InputError
from ragweave.tests.support.objects import bucket


@pytest.fixture(params=["file", "s3"])
def there(request, tmp_path, monkeypatch):
    """A function that puts an object, or removes it, and the address of a store."""
    if request.param == "file":
        folder = tmp_path / "bucket" / "team"
        folder.mkdir(parents=True)

        def put(name: str, text: str | None) -> None:
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).unlink() if text is None else (folder / name).write_text(text)

        yield f"file://{folder}", put
        return
    with bucket(monkeypatch) as address:
        from obstore.store import from_url

        store = from_url(address)

        def put(name: str, text: str | None) -> None:
            store.delete(name) if text is None else store.put(name, text.encode())

        yield address, put


async def names() -> dict[str, int]:
    return {Path(s.path).name: s.items for s in await (await open_library()).sources()}


async def test_a_bucket_is_indexed_and_followed_and_an_address_where_nothing_lies_forgets_nothing(there, home):
    address, put = there
    put("rome.md", "# Rome\n\nAqueducts fed the fountains.\n")
    put("deep/cairo [1].md", "# Cairo\n\nThe Nile is long.\n")
    put("deep/.env", "KEY=1")
    first = await aindex(address)
    assert (first.indexed, set(await names())) == (2, {"rome.md", "cairo [1].md"})
    folder = await mirrored(address)
    (folder / "gone since.md").write_text("# Nothing\n")
    (folder / ".mirror.json").write_text('{"rome.md": "3')  # killed while it noted what it had copied
    again = await aindex(address)
    assert (again.indexed, again.unchanged, again.removed) == (0, 2, 0)
    put("rome.md", "# Rome\n\nAqueducts fed the fountainS.\n")  # of the same size
    put("deep/cairo [1].md", None)
    after = await aindex(f"{address}/")
    assert (after.indexed, after.removed, set(await names())) == (1, 1, {"rome.md"})
    found = await (await open_library()).search("paragraph", ["fountains"])
    items = await (await open_library()).items([h.id for h in found[0].lexical])
    assert ["fountainS" in item.text for item in items.values()] == [True]
    put("rome.md", None)
    put("deep/.env", None)
    with pytest.raises(InputError, match="Nothing lies at"):
        await aindex(address)
    assert set(await names()) == {"rome.md"}


class Listed:
    """A store whose listing is written down, as fsspec gives that of a bucket with markers of folders."""

    def __init__(self, monkeypatch, address: str) -> None:
        self.objects: dict[str, bytes] = {}
        store = Objects(address, Path("/"))
        self.root = store._root

        def find(fs, root, detail):
            return {f"{self.root}/{n}".rstrip("/"): {"size": len(b), "e_tag": repr(b)} for n, b in self.objects.items()}

        def bring(store, path):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(self.objects[store._name(path).removeprefix(f"{self.root}/")])
            return True

        monkeypatch.setattr(type(store._fs), "find", find)
        monkeypatch.setattr(Objects, "bring", bring)


@pytest.mark.parametrize(
    ("objects", "why"),
    [
        ({"": b"# A"}, "A single object lies at"),
        ({"": b""}, "Nothing lies at"),
        ({"a": b"# A", "a/b.md": b"# B"}, "an object 'a' and others below"),
        ({"a/../../../b.md": b"# B"}, "Rename it"),
    ],
)
async def test_what_no_folder_can_be_made_of_is_told(tmp_path, home, monkeypatch, objects, why):
    address = f"file://{tmp_path}/bucket"
    Listed(monkeypatch, address).objects = objects
    with pytest.raises(InputError, match=why):
        await mirrored(address)

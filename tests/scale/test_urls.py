"""Trees at URLs give the answer of the same trees in a directory: memory://, file://, and an S3 server."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.errors import TreeError
from harness.scale import cluster as clusters
from harness.scale.places import listed, located
from tests.scale import serial
from tests.scale.clusters import far
from tests.scale.nursery import Nursery

pytest.importorskip("distributed", reason="Dask is not installed (extra 'scale')")
fsspec = pytest.importorskip("fsspec", reason="fsspec is not installed (extra 'scale')")
pytestmark = pytest.mark.scale

RANKS, OTHERS = (0, 1, 3), (0, 1, 2)


def trees(folder: Path, kind: str) -> None:
    serial.write(folder / "good", kind, RANKS, 2, 5)
    serial.write(folder / "bad", kind, OTHERS, 2, 5, 1)


def put(folder: Path, url: str) -> None:
    """Brings both trees to a URL."""
    files, root = fsspec.core.url_to_fs(url)
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.relative_to(folder).parts[0] in ("good", "bad"):
            files.pipe_file(f"{root}/{path.relative_to(folder).as_posix()}", path.read_bytes())


def held(folder: Path, url: str, *shared: str) -> None:
    """Import, diff and check of trees at a URL are those of the directories, but for the trees' names."""
    for words, files in (
        (("import", "good", "g.h5"), ("g.h5",)),
        (("diff", "good", "bad", *serial.WRITTEN), serial.FILES),
        (("check", "bad", "g.h5"), ()),
    ):
        alone = serial.said(folder, *words, files=files)
        there = [f"{url}/{word}" if word in ("good", "bad") else word for word in words]
        together = serial.said(folder, *there, *shared, files=files)
        assert plain(together, url) == plain(alone, str(folder)), words


def plain(said: object, url: str) -> str:
    return str(said).replace(f"{url}/", "")


@pytest.mark.parametrize("kind", serial.KINDS)
def test_trees_in_memory(tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clusters, "cluster", far)
    trees(tmp_path, kind)
    url = f"memory://{tmp_path.name}"
    put(tmp_path, url)
    held(tmp_path, url, "--workers", "1")


@pytest.fixture(scope="module")
def forks(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nursery]:
    found = Nursery(tmp_path_factory.mktemp("forks"))
    yield found
    found.close()


def test_trees_at_file_urls(tmp_path: Path, forks: Nursery, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MSDUMP_SCALE_LIMIT", "600")
    trees(tmp_path, "tree")
    _, address = forks.fork(kind="scheduler")
    forks.fork(kind="worker", scheduler=address)
    held(tmp_path, f"file://{tmp_path}", "--scheduler", address)


def test_trees_on_an_s3_server(tmp_path: Path, forks: Nursery, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("s3fs", reason="s3fs is not installed (tox -e scale)")
    server = pytest.importorskip("moto.server", reason="moto's server is not installed (tox -e scale)")
    started = server.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    started.start()
    host, port = started.get_host_and_port()
    keys = {
        "AWS_ENDPOINT_URL": f"http://{host}:{port}", "AWS_ACCESS_KEY_ID": "none", "AWS_SECRET_ACCESS_KEY": "none",
        "AWS_DEFAULT_REGION": "us-east-1", "AWS_EC2_METADATA_DISABLED": "true",
    }  # fmt: skip
    try:
        for name, value in keys.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setenv("MSDUMP_SCALE_LIMIT", "600")
        trees(tmp_path, "tree-statistics")
        fsspec.filesystem("s3").mkdir("dumps")
        put(tmp_path, "s3://dumps")
        _, address = forks.fork(kind="scheduler")
        for _ in range(2):
            forks.fork(kind="worker", scheduler=address, environment=keys)
        held(tmp_path, "s3://dumps", "--scheduler", address)
        said = serial.said(tmp_path, "check", "s3://nobodys/bad", "g.h5", "--scheduler", address)
        assert said[0] == 2
        assert "s3://nobodys/bad" in str(said[2])
        assert len(str(said[2]).splitlines()) == 1
    finally:
        started.stop()


def test_bad_urls_are_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    serial.write(tmp_path / "good", "tree", (0,), 1, 5)
    assert serial.said(tmp_path, "import", "good", "g.h5")[0] == 0
    alone = serial.said(tmp_path, "check", "memory://x/good", "g.h5")
    monkeypatch.setattr(clusters, "cluster", far)
    for url, why in (("gopher://x/good", "gopher"), ("memory://nothing-is-here", "sees a rank there")):
        code, out, errors, _ = serial.said(tmp_path, "check", url, "g.h5", "--workers", "1")
        assert (code, out) == (2, "")
        assert why in str(errors)
        assert len(str(errors).splitlines()) == 1
    assert alone[0] == 2
    assert "--workers" in str(alone[2])


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("rank_3/Net/0/12/a.npy", (3, (0, 12))),
        ("debug_dump/rank_3/Net/0/12/a.npy", (3, (0, 12))),
        ("rank_3/graphs/a.ir", (3, None)),
        ("rank_3/Net/0/constants/a.npy", (3, None)),
        ("step7/rank2/dump_tensor_data/a.npy", (2, (-1, 7))),
        ("step7/rank/dump.json", (0, (-1, 7))),
        ("step7/proc4711/dump.json", (0, (-1, 7))),
        ("20260101000000/2/Net/5/9/a", (2, (5, 9))),
        ("4/20260101000000/2/Net/5/9/a", (2, (5, 4))),
        ("acl_dump_0.json", (None, None)),
    ],
)
def test_whose_a_file_is(path: str, found: object) -> None:
    assert located(path) == found


def test_a_name_that_leaves_the_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    class Files:
        def find(self, root: str, detail: bool) -> dict[str, dict[str, int]]:
            return {f"{root}/rank_0/../../x": {"size": 1}}

    monkeypatch.setattr(sys.modules["harness.scale.places"], "filesystem", lambda place: (Files(), "root"))
    with pytest.raises(TreeError, match="leaves the tree"):
        listed("odd://root")

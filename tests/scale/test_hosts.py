"""Three hosts with directories of their own, two workers each, and a scheduler: the answer is the serial one."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.scale.hosts import HOSTS, Hosts, msdump, run
from tests.scale.network import Loopback, Namespaces, why_not
from tests.scale.preload import left, order
from tests.scale.trees import write_tree

pytest.importorskip("distributed", reason="Dask is not installed (extra 'scale')")
pytestmark = pytest.mark.scale

CHANGED = (6, 2)
WAITS = "no worker is there that sees it; this waits 600 s for one"


@pytest.fixture(scope="module")
def hosts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hosts]:
    folder = tmp_path_factory.mktemp("hosts")
    for host, ranks in HOSTS.items():
        write_tree(folder / host / "good", ranks)
        write_tree(folder / host / "bad", ranks, changed=CHANGED)
        for name in ("good", "bad"):
            shutil.copytree(folder / host / name, folder / "all" / name, dirs_exist_ok=True)
    assert msdump(folder, "import", "all/good", "golden.h5").returncode == 0
    found = Hosts(folder, Loopback() if why_not() else Namespaces(*HOSTS))
    try:
        yield found
    finally:
        found.close()


FILES = ("--json", "x.json", "--csv", "x.csv", "--report", "x.html")


def outputs(folder: Path, done: subprocess.CompletedProcess[str]) -> dict[str, str]:
    """Everything a diff said, the trees under one name."""
    texts = {name: (folder / name).read_text() for name in FILES[1::2]} | {"text": done.stdout}
    return {name: plain(folder, text) for name, text in texts.items()}


def plain(folder: Path, text: str) -> str:
    """A text with the name of the one tree in place of the template's, which a shell wants quoted."""
    return re.sub(rf"'?{re.escape(str(folder))}/{{host}}/(good|bad)'?", r"all/\1", text)


def test_diff_and_check_are_the_serial_ones_though_workers_die(hosts: Hosts) -> None:
    folder = hosts.folder
    template = f"{folder}/{{host}}"
    serial = msdump(folder, "diff", "all/good", "all/bad", *FILES)
    expected = outputs(folder, serial)
    order(hosts.deaths, "6-2")
    shared = hosts.run("diff", f"{template}/good", f"{template}/bad", *FILES)
    assert serial.returncode == shared.returncode == 1, shared.stderr
    assert "\nRanks:\n  First: rank 6, iteration 2, " in serial.stdout
    assert not left(hosts.deaths), "a worker died"
    assert outputs(folder, shared) == expected
    order(hosts.deaths, "fetched")
    serial = msdump(folder, "check", "all/bad", "golden.h5")
    shared = hosts.run("check", f"{template}/bad", "golden.h5")
    assert plain(folder, shared.stdout) == serial.stdout
    assert shared.returncode == serial.returncode == 1
    assert not left(hosts.deaths), "another worker died"
    assert msdump(folder, "import", "all/good", "one.h5", "--rank", "0").returncode == 0
    words = "one.h5", "--shard", "*MatMul*:input.0=0"
    serial = msdump(folder, "check", "all/bad", *words)
    shared = hosts.run("check", f"{template}/bad", *words)
    assert serial.returncode == 1
    assert (plain(folder, shared.stdout), shared.returncode) == (serial.stdout, serial.returncode)


def test_a_host_that_is_removed_is_named_and_the_run_goes_on_when_it_is_back(hosts: Hosts) -> None:
    template = f"{hosts.folder}/{{host}}"
    order(hosts.deaths, "9-1", what=hosts.remove("c"))
    words = ("check", f"{template}/good", "golden.h5")
    lost = hosts.run(*words, module="tests.scale.command")
    assert lost.returncode == 2, lost.stderr
    assert "is unreachable: for 600 s no worker is there that sees it" in lost.stderr.splitlines()[-1]
    assert "Traceback" not in lost.stderr
    assert list((hosts.folder / ".msdump" / "scale").iterdir()), "the journal is kept"
    hosts.add("c")
    hosts.wait()
    back = hosts.run(*words, "--resume")
    serial = msdump(hosts.folder, "check", "all/good", "golden.h5")
    assert plain(hosts.folder, back.stdout) == serial.stdout, back.stderr
    assert back.returncode == 0
    assert not (hosts.folder / ".msdump" / "scale").exists(), "a journal of what came to its end is gone"


def test_a_host_that_is_removed_and_added_while_the_command_runs(hosts: Hosts) -> None:
    serial = msdump(hosts.folder, "check", "all/bad", "golden.h5")
    order(hosts.deaths, "9-2", what=hosts.remove("c"))
    words = hosts.command("check", f"{hosts.folder}/{{host}}/bad", "golden.h5")
    code, out, errors = hosts.run_and(words, WAITS, lambda: hosts.add("c"))
    assert WAITS in errors
    assert (code, plain(hosts.folder, out)) == (serial.returncode, serial.stdout), errors
    hosts.wait()


class Cut:
    """A link that is cut at a step; ``command`` is an ``msdump`` to which that is long ago at once."""

    def __init__(self, hosts: Hosts, host: str, step: str) -> None:
        network = hosts.network
        assert isinstance(network, Namespaces)
        self._file = hosts.folder / "cut"
        self._heal = network.link(host, "up").split()
        order(hosts.deaths, step, what=f"touch {self._file}\n{network.link(host, 'down')}")
        self.command = ["--cut", network.addresses[host], str(self._file)]

    def heal(self) -> None:
        subprocess.run(self._heal, check=True, timeout=600)
        self._file.unlink(missing_ok=True)


@pytest.mark.skipif(bool(why_not()), reason=why_not() or "there are links to cut")
def test_a_link_that_is_cut_and_healed(hosts: Hosts) -> None:
    serial = msdump(hosts.folder, "check", "all/bad", "golden.h5")
    cut = Cut(hosts, "b", "5-1")
    words = ["--wait", "check", f"{hosts.folder}/{{host}}/bad", "golden.h5"]
    command = hosts.command(*cut.command, *words, module="tests.scale.command")
    code, out, errors = hosts.run_and(command, WAITS, cut.heal)
    assert WAITS in errors
    assert "is silent for 600 s; others do its work" in errors
    assert (code, plain(hosts.folder, out)) == (serial.returncode, serial.stdout), errors


@pytest.mark.skipif(bool(why_not()), reason=why_not() or "there are links to cut")
def test_a_link_that_stays_cut_is_an_unreachable_rank(hosts: Hosts) -> None:
    cut = Cut(hosts, "b", "6-1")
    words = ["check", f"{hosts.folder}/{{host}}/good", "golden.h5"]
    try:
        lost = run(hosts.folder, hosts.command(*cut.command, *words, module="tests.scale.command"))
    finally:
        cut.heal()
    assert lost.returncode == 2, lost.stderr
    assert "is unreachable: for 600 s no worker is there that sees it" in lost.stderr.splitlines()[-1]


def test_bad_input_is_one_line(hosts: Hosts) -> None:
    template = f"{hosts.folder}/{{host}}"
    nothing = hosts.run("check", f"{template}/nothing", "golden.h5")
    assert nothing.returncode == 2
    assert "workers sees a rank there" in nothing.stderr.splitlines()[-1]
    # One rank, in two places that are not alike: half of it is on another host.
    shutil.copytree(hosts.folder / "a" / "good" / "rank_1", hosts.folder / "b" / "half" / "rank_1")
    shutil.copytree(hosts.folder / "a" / "good" / "rank_1", hosts.folder / "a" / "half" / "rank_1")
    shutil.rmtree(hosts.folder / "b" / "half" / "rank_1" / "Net" / "0" / "3")
    half = hosts.run("check", f"{template}/half", "golden.h5")
    assert half.returncode == 2
    assert "rank 1 lies in two places that are not alike, on a and b" in half.stderr.splitlines()[-1]

"""Wrong first lines of a new user's at the command: each is answered in at most six lines that say what to do.

Mistakes in tests and pytest's options: ``tests/plugin/test_mistakes.py`` and its neighbours.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from harness.cli import main
from harness.cli.parser import MEANT, app
from harness.store import RunData, RunId, manifest, update
from tests.compare.helpers import operator

TREE = "give a dump path, or one of its rank_N directories"
USAGE = "Try 'msdump {} -h' for help."
#: what is typed, and what the answer has to say
LINES: dict[str, tuple[str, ...]] = {
    "show": (USAGE.format("show"), "Missing argument 'path'"),
    "show nothing": ("nothing: there is no such file or directory",),
    "show net.py": ("files of this kind are not read; accepted are a dump tree, a golden store",),
    "show tests": (TREE,),
    "show broken.h5": ("broken.h5: not a complete HDF5 file",),
    "show empty.h5": ("empty.h5: ",),
    "show golden/a.h5 --run gpu": ("no run gpu is stored here; the store holds: cpu/tensor",),
    "show golden/a.h5 --operator Conv": ("no slot of operator Conv; there are, among others, Default/Mul-op0",),
    "show golden/a.h5 --slot output.9": ("output.9",),
    "show golden/a.h5 --jsn": ("No such option: --jsn",),
    "show golden/a.h5 golden/b.h5": ("unexpected extra argument", "golden/b.h5"),
    "diff": (USAGE.format("diff"), "Missing argument 'expected'"),
    "diff golden/a.h5": ("Missing argument 'found'",),
    "diff golden golden": ("golden: a directory of golden stores; name one of its .h5 files",),
    "diff golden/a.h5 nothing": ("nothing: there is neither a golden store nor a directory of that name",),
    "diff golden/a.h5 tests": ("tests: it holds no rank_N directory", TREE),
    "diff golden/a.h5::gpu golden/a.h5": ("gpu",),
    "diff golden/a.h5 golden/b.h5 --rtol big": ("Invalid value for '--rtol'",),
    "diff golden/a.h5 golden/b.h5 --tolerance loose": ("'loose'", "accepted are 'exact', 'default', 'noise'"),
    "diff golden/a.h5 golden/b.h5 --rtol -1": ("rtol is a finite number of at least 0",),
    "check": (USAGE.format("check"), "Missing argument 'tree'"),
    "check tests": ("Missing argument 'golden'",),
    "check golden/a.h5 golden/b.h5": ("a golden store, where a dump tree is wanted; `diff` compares two stores",),
    "check tests golden": ("golden: this is a directory; a golden store is one file (.h5)",),
    "check tests golden/a.h5": ("tests: it holds no rank_N directory", TREE),
    "check nothing golden/a.h5": ("nothing: there is no such file or directory",),
    "import": ("Missing argument 'tree'",),
    "import nothing x.h5": ("nothing: there is no such file or directory", TREE),
    "import golden/a.h5 x.h5": ("a golden store, where a dump tree is wanted",),
    "import tests x.h5": ("tests: it holds no rank_N directory", TREE),
    "import golden x.h5": ("a directory of golden stores",),
    "accept nothing": ("nothing: there is no such bundle",),
    "accept": ("no gate left candidates in .msdump/candidates",),
    "accept golden": ("golden: these are the goldens themselves; name a bundle that a gate left",),
    "review nothing": ("nothing: there is no such bundle",),
    "verify nothing": ("nothing: there is no such directory of goldens",),
    "verify tests": ("tests: no golden store lies in this directory",),
    "verify golden/a.h5": ("this is a file; a directory of goldens is read whole", "msdump verify golden"),
    "audit nothing": ("nothing: there is no such golden store",),
    "audit tests": ("tests: no golden store lies in this directory",),
    "learn golden/a.h5": ("takes dump trees, or --command with --times",),
    "learn": ("Missing argument 'golden'",),
    "judge net.py": ("net.py: not JSON",),
    "judge nothing": ("nothing",),
    "report nothing --join page.html": ("nothing: No such file or directory; pages that",),
    "report page.html": ("Missing option '--join'",),
    "ranks golden/a.h5": ("it has 1 rank; several are needed",),
    "ranks nothing": ("nothing: there is neither",),
    "inspect nothing": ("nothing: there is neither",),
    "inspect tests": ("tests: it holds no rank_N directory", TREE),
    "extract golden/a.h5": ("Missing argument 'found'",),
    "convert": ("give SOURCE and TARGET, or -d",),
    "convert golden/a.h5 out.xyz": ("its suffix is none of .npz, .safetensors, .json",),
    "convert nothing out.npz": ("nothing: there is neither a golden store nor a directory of that name",),
    "backends cuda": ("no device is called 'cuda'; known are ",),
    "doctor nothing": ("nothing: there is no such directory",),
    "init net.py": ("net.py: a directory is accepted, a file is in its place",),
    "run": ("Missing argument 'script'",),
    "run nothing.py": ("cannot open script 'nothing.py': No such file or directory",),
    "run tests": ("cannot open script 'tests': Is a directory",),
    "run -m nothing": ("there is no module 'nothing'",),
    "run --backend gpuu net.py": ("no backend is called 'gpuu'; did you mean gpu?",),
    "run --backend mindspore net.py": ("mindspore",),
    "run --config nothing.json net.py": ("nothing.json",),
    "shwo golden": ("No such command 'shwo'. Did you mean 'show'?",),
    "ls": ("No such command 'ls'. Did you mean `msdump show`?",),
    "test": ("Did you mean `pytest --msdump`?",),
    "update": ("Did you mean `msdump regen`?",),
    "frobnicate": ("No such command 'frobnicate'", "Try 'msdump -h' for help."),
    "--jsn": ("No such option: --jsn",),
}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two goldens, a script, and files that are none."""
    folder = tmp_path_factory.mktemp("project")
    (folder / "golden").mkdir()
    (folder / "tests").mkdir()
    x = np.linspace(1, 2, 6, dtype=np.float32)
    for name, factor in (("a", 1), ("b", 2)):
        made = operator("Default/Mul-op0", [x], [x * np.float32(factor)], "Mul")
        update(folder / "golden" / f"{name}.h5", name, {RunId("cpu", "tensor"): RunData(made)})
    manifest.rebuild(folder / "golden")
    (folder / "net.py").write_text("print('ran')\n")
    (folder / "broken.h5").write_bytes(b"no store")
    (folder / "empty.h5").touch()
    (folder / "page.html").touch()
    return folder


@pytest.mark.parametrize("typed", LINES, ids=lambda typed: typed.replace(" ", "_"))
def test_wrong_first_lines(
    project: Path, typed: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(project)
    before = sorted(os.listdir(project))
    assert main(typed.split()) == 2
    found = capsys.readouterr()
    lines = [line for line in (found.out + found.err).splitlines() if line.strip()]
    text = "\n".join(lines)
    assert 0 < len(lines) <= 6, text
    assert all(each in text for each in LINES[typed]), text
    assert "Traceback" not in text
    assert sorted(os.listdir(project)) == before


def test_words_of_other_tools_name_commands_of_ours() -> None:
    ours = {each.name or str(getattr(each.callback, "__name__", "")) for each in app.registered_commands}
    meant = {each.split()[0] for each in MEANT.values() if not each.startswith(("(", "-"))}
    assert not meant - ours
    assert not set(MEANT) & ours

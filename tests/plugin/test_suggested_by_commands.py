"""Commands that messages of ``msdump`` and of the library suggest, typed in a shell exactly as they are printed; see
``test_suggested``."""

from __future__ import annotations

import shlex
from pathlib import Path

import numpy as np
import pytest

from tests.plugin.typed import Shell, covers, odd

pytestmark = pytest.mark.long  # some forty processes

TEST = """
import os
import numpy as np
from harness import nn

class Net(nn.Cell):
    def construct(self, x):
        return x * float(os.environ.get("FACTOR", 2))

def test_net(msdump):
    msdump.run(Net(), np.arange(4, dtype=np.float32))
"""
#: Writes a dump tree and the recorder's directory.
DUMPS = """
import os, sys
from pathlib import Path
import numpy as np
from harness import Tensor, backends, context, nn
from harness.rdr import RdrConfig, RdrObserver

class Net(nn.Cell):
    def construct(self, x):
        return x * float(os.environ.get("FACTOR", 2)) + x

context.set_context(mode=context.GRAPH_MODE)
with backends.get("cpu").open(network="net") as process:
    if sys.argv[2] == "recorder":
        process.session.recording.add(RdrObserver(RdrConfig(True, 2, sys.argv[1] + "/")))
    else:
        process.keep_tree(Path(sys.argv[1]))
    process.execute(lambda: Net()(Tensor(np.arange(4, dtype=np.float32))))
"""
NEEDS = {
    "harness.capture.torch:<module> install": ("torch", "import harness.capture.torch"),
    "harness.framework.dataset.pictures:pillow install": (
        "PIL", "from harness.framework.dataset.pictures import pillow; pillow()",
    ),
    "harness.scale.places:filesystem install": (
        "fsspec", "from harness.scale.places import filesystem; filesystem('memory://x')",
    ),
    "harness.framework.train.summary.pictures:png install": (
        "PIL", "from harness.framework.train.summary.pictures import png; png(None)",
    ),
    "harness.framework.mindrecord.layout:msgpack install": (
        "msgpack", "from harness.framework.mindrecord.layout import msgpack; msgpack()",
    ),
}  # fmt: skip


@covers("harness.cli.init:initialise command", "harness.cli.show:_store command")
def test_a_new_project(typed: Shell) -> None:
    (new,) = odd("a new project", 1)
    typed.type(f"msdump init {shlex.quote('./' + new)}", typed.below, 0)
    (regen,) = typed.made("harness.cli.init:initialise command")
    typed.type(regen, typed.below, 0)
    assert len(list((typed.below / new / "golden").rglob("*.h5"))) == 1
    (typed.below / "test_net.py").write_text(TEST, encoding="utf-8")
    typed.type("msdump regen --msdump-rdr test_net.py", typed.below, 0)
    (store,) = (typed.project / "golden").rglob("*.h5")
    typed.type(f"msdump show {shlex.quote(str(store))}", typed.below, 0)
    (text,) = typed.made("harness.cli.show:_store command")
    typed.type(text, typed.below, 0)


@covers(
    "harness.cli.doctor:_pytest command",
    "harness.cli.doctor:_goldens command",
    "harness.cli.doctor:_fix command",
    "harness.cli.doctor:_repository command",
)
def test_what_is_left_to_do(typed: Shell) -> None:
    home, (new,) = typed.project.parent, odd("left to do", 1)
    (home / new).mkdir()
    typed.type(f"git init --quiet {shlex.quote('./' + new)}", home, 0)
    looked = f"msdump doctor {shlex.quote('./' + new)}"
    typed.type(looked, home, 1)
    (init,) = typed.made("harness.cli.doctor:_pytest command")
    assert typed.made("harness.cli.doctor:_repository command") == [init]
    typed.type(init, home, 0)
    (regen,) = typed.made("harness.cli.doctor:_goldens command")
    typed.type(regen, home, 0)
    (store,) = (home / new / "golden").rglob("*.h5")
    store.with_suffix(".manifest.json").unlink()
    typed.type(looked, home, 1)
    (fix,) = typed.made("harness.cli.doctor:_fix command")
    typed.type(fix, home, 0)
    assert "nothing to do" in typed.type(looked, home, 0)


@covers("harness.cli.git_drivers:merge command")
def test_a_merge_that_needs_a_person(typed: Shell) -> None:
    from harness.store import RunData, update
    from tests.store.helpers import CPU, record

    (typed.project / "test_net.py").write_text(TEST, encoding="utf-8")
    for at, name in enumerate(("base", "ours", "theirs")):
        update(typed.project / name, "Net", {CPU: RunData([record(np.full(3, at, np.float32))])})
    typed.type("msdump merge base ours theirs --path golden/x.h5", typed.project, 1)
    (regen,) = typed.made("harness.cli.git_drivers:merge command")
    typed.type(regen, typed.project, 0)


@covers(
    "harness.cli.check:_print command",
    "harness.cli.check:_tell_unread command",
    "harness.explain.text:see_slot command",
    "harness.cli.diff:_commands command",
)
def test_trees_that_differ(typed: Shell) -> None:
    start, (golden, one, other) = typed.below, odd("trees", 3)
    script = start / "dumps.py"
    script.write_text(DUMPS, encoding="utf-8")
    for name, factor in ((one, "2"), (other, "3")):
        typed.type(f"python dumps.py {shlex.quote('./' + name)} tree", start, 0, env_FACTOR=factor)
    one, other, store = (shlex.quote(f"./{name}") for name in (one, other, f"{golden}.h5"))
    typed.type(f"msdump import --run cpu/tensor {one} {store}", start, 0)
    typed.type(f"msdump check --exact {other} {store}", start, 1)
    typed.type(f"msdump diff {one} {other}", start, 1)
    sites = ("check:_print", "check:_tell_unread", "diff:_commands")
    while made := [each for site in sites for each in typed.made(f"harness.cli.{site} command")]:
        for each in made:  # one may suggest the next
            typed.type(each, start, 0 if each.startswith("msdump verify") else 1)
    for each in typed.made("harness.explain.text:see_slot command"):
        typed.type(each, start, 0)
    assert (start / "report.html").is_file()
    assert (start / "diff.json").is_file()


@covers("harness.cli.recorder:check_recorder command", "harness.cli.show:_lines command")
def test_the_recorder_s_directories(typed: Shell) -> None:
    start, (other, golden) = typed.below, odd("recorded", 2)
    (start / "test_net.py").write_text(TEST, encoding="utf-8")
    typed.type("msdump regen --msdump-rdr", start, 0)
    (store,) = (typed.project / "golden").rglob("*.h5")
    store.rename(start / f"{golden}.h5")
    (start / "dumps.py").write_text(DUMPS, encoding="utf-8")
    typed.type(f"python dumps.py {shlex.quote('./' + other)} recorder", start, 0)
    typed.type(f"msdump show {shlex.quote('./' + other)}", start, 0)
    (text,) = typed.made("harness.cli.show:_lines command")
    typed.type(text, start, 0)
    typed.type(f"msdump check {shlex.quote('./' + other)} {shlex.quote(f'./{golden}.h5')}", start, 1)
    made = typed.made("harness.cli.recorder:check_recorder command")
    assert made
    for each in made:
        typed.type(each, start, 0)


@covers("harness.cli.parser:Commands.resolve_command command")
def test_words_of_other_tools(typed: Shell) -> None:
    (typed.tests / "test_net.py").write_text(TEST, encoding="utf-8")
    for word, code in (("status", 1), ("gate", 1), ("help", 0), ("update", 0)):
        typed.type(f"msdump {word}", typed.project, 2)
        for each in typed.made("harness.cli.parser:Commands.resolve_command command"):
            typed.type(each, typed.project, code)


@covers("harness.cli.accept:accept_bundles command")
def test_a_pattern_that_fits_nothing(typed: Shell) -> None:
    (typed.tests / "test_net.py").write_text(TEST, encoding="utf-8")
    start, golden = typed.below, shlex.quote(odd("accepted", 1)[0])
    typed.type(f"msdump regen --msdump-golden={golden} ..", start, 0)
    typed.type(f"pytest --msdump --msdump-golden={golden} ..", start, 1, env_FACTOR="3")
    (bundle,) = (typed.project / ".msdump" / "candidates").iterdir()
    named = f"--golden ./{golden}" if golden.startswith("-") else f"--golden {golden}"
    typed.type(f"msdump accept {shlex.quote(str(bundle))} {named} --only nobody", start, 2)
    (review,) = typed.made("harness.cli.accept:accept_bundles command")
    assert "moved first" in typed.type(review, start, 1)


@covers(
    "harness.cli.backends:_features command",
    "harness.framework.engines.available:<module> install",
    "harness.backends.mindspore.installed:<module> install",
)
def test_backends_that_are_not_here(typed: Shell) -> None:
    typed.type("msdump backends", typed.below, 0, env_HIDDEN="torch,mindspore")
    for module in ("framework.engines.available", "backends.mindspore.installed"):
        (install,) = typed.made(f"harness.{module}:<module> install")
        typed.type(install, typed.below, 0)
    (more,) = typed.made("harness.cli.backends:_features command")
    typed.type(more, typed.below, 0)


@covers(
    "harness.capture.torch:<module> install",
    "harness.framework.dataset.pictures:pillow install",
    "harness.framework.mindrecord.layout:msgpack install",
    "harness.framework.train.summary.pictures:png install",
    "harness.scale.cluster:cluster install",
    "harness.scale.places:filesystem install",
)
def test_libraries_that_are_not_here(typed: Shell) -> None:
    Path(typed.below, "golden").mkdir()
    commands = {
        "harness.scale.cluster:cluster install": (
            "dask,distributed",
            "msdump verify golden --scheduler tcp://127.0.0.1:9",
        ),
        **{site: (hidden, f"python -c {shlex.quote(code)}") for site, (hidden, code) in NEEDS.items()},
    }
    for site, (hidden, command) in commands.items():
        typed.type(command, typed.below, env_HIDDEN=hidden)
        for install in typed.made(site):
            typed.type(install, typed.below, 0)

"""The order of a block's variables, as the function graphs of MindSpore 2.10.0 have values that nothing reads."""

from __future__ import annotations

import pytest

from harness.framework.compile.hashed import order_of

#: what a function is given and itself; its variables in the order written; the same as the graph has them
RECORDED = (
    ("x construct", "c b a", "c b a"),
    ("x construct", "v1 v2 v10", "v10 v1 v2"),
    ("x construct", "v1 v2 v3 v4 v5 v6 v7 v8", "v3 v5 v7 v8 v6 v4 v1 v2"),
    ("x construct", "v3 v3b v7 v1", "v3 v7 v1 v3b"),
    ("x construct", "v5 v5b v9 v11 v20 v20b", "v5b v11 v5 v20 v9 v20b"),
    (
        "x construct",
        " ".join(f"v{at}" for at in range(1, 30)),
        "v10 v7 v4 v9 v25 v1 v14 v2 v17 v13 v20 v8 v21 v22 v19 v3 v12 v23 v11 v28 v5 v27 v18 v29 v26 v24 v15 v6 v16",
    ),
)


@pytest.mark.parametrize(("given", "written", "wanted"), RECORDED)
def test_order_is_that_of_the_graphs(given: str, written: str, wanted: str) -> None:
    names = written.split()
    assert [name for name in order_of([*given.split(), *names]) if name in names] == wanted.split()


def test_each_name_is_given_back_once() -> None:
    names = [f"name_{at % 40}" for at in range(100)]
    assert sorted(order_of(names)) == sorted(set(names))

"""The page in a real browser: every view, with the keyboard, in light and dark, on a phone, at 20,000 slots.

That the console stays empty and nothing is fetched is held for each test by the fixture.
"""

from __future__ import annotations

import pytest

from harness.compare import Comparison
from harness.compare.spread import Spread
from harness.report import Run, content, only_counts, render
from tests.report.conftest import Screen
from tests.report.made import known, made, network, wide

VIEWS = {
    "1": ("Summary", "First divergence"),
    "2": ("Error", "Error along the execution order"),
    "3": ("Slots", "of 12 slots"),
    "4": ("Graph", "its slots"),
    "5": ("Drift", "Statistics over iterations"),
    "6": ("Artefacts", "What the Running Data Recorder wrote"),
}
# Contrast of every text in sight with what is behind it (WCAG 2.2, 1.4.3): the least, and where it is.
CONTRAST = """() => {
  const channel = (v) => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  const light = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
  const pen = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const over = (colours) => { pen.fillStyle = "#000"; pen.fillRect(0, 0, 1, 1); colours.forEach((c) => { pen.fillStyle = c; pen.fillRect(0, 0, 1, 1); }); return [...pen.getImageData(0, 0, 1, 1).data]; };
  let least = [99, ""];
  const judge = (each, fore, back) => {
    const [a, b] = [light(fore), light(back)].sort((x, y) => y - x), ratio = (a + 0.05) / (b + 0.05);
    if (ratio < least[0]) least = [ratio, `${each.tagName}: ${each.textContent.slice(0, 60)}`];
  };
  for (const each of document.querySelectorAll("body *")) {
    if (each.closest("script, style, svg, option") || !each.checkVisibility() || each.getBoundingClientRect().width < 2) continue;
    if (![...each.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim())) continue;
    const behind = [];
    for (let up = each; up; up = up.parentElement) behind.unshift(getComputedStyle(up).backgroundColor);
    const back = over(behind), fore = over([...behind, getComputedStyle(each).color]);
    judge(each, fore, back);
  }
  for (const each of document.querySelectorAll("svg text")) {
    const behind = [getComputedStyle(document.body).backgroundColor];
    behind.push(...[...each.parentElement.querySelectorAll("rect")].map((box) => getComputedStyle(box).fill));
    judge(each, over([...behind, getComputedStyle(each).fill]), over(behind));
  }
  return least;
}"""  # noqa: E501
# Whether the first canvas in sight has anything drawn on it.
DRAWN = """(canvas) => {
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  return data.some((value) => value !== 0);
}"""
# Texts that would stand in a serif type, or in whatever a machine takes for `system-ui`.
SERIF = """() => [...document.querySelectorAll("body *")].map((each) => getComputedStyle(each).fontFamily)
  .filter((family) => /system-ui/.test(family) || !/(sans-serif|monospace)$/.test(family))"""
# Titles and what the first screen says, where their end is out of sight.
CUT = """() => [...document.querySelectorAll("h1, h2, .verdict *, .card *")]
  .filter((each) => getComputedStyle(each).display !== "inline" && each.scrollWidth > each.clientWidth + 1)
  .map((each) => each.outerHTML)"""
# Boxes of a picture that lie outside the cell they are in, or on another box of it.
OVERLAPS = """() => {
  const wrong = [];
  for (const frame of document.querySelectorAll("svg.network")) {
    const boxes = [...frame.querySelectorAll(".operator rect, .folded rect")].map((each) => each.getBBox());
    boxes.forEach((a, i) => boxes.slice(i + 1).forEach((b) => {
      const beside = a.x >= b.x + b.width || b.x >= a.x + a.width;
      if (!beside && a.y < b.y + b.height && b.y < a.y + a.height) wrong.push([a, b]);
    }));
  }
  return wrong.length;
}"""
FOCUS = (
    "() => { const e = document.activeElement; return e.id || e.dataset.view || e.getAttribute('role') || e.tagName; }"
)


def test_every_view_loads_and_is_drawn(screen: Screen) -> None:
    screen.open([made(), made("other", scale=1.0)])
    for key, (name, words) in VIEWS.items():
        screen.press(key)
        assert words in screen.text
        assert screen.texts('nav [aria-selected="true"]') == [f"{key} {name}"]
        assert not [
            line for line in screen.text.splitlines() if line in ("null", "undefined", "NaN", "[object Object]")
        ]
        for canvas in screen.page.query_selector_all("#view canvas"):
            assert canvas.evaluate(DRAWN)
        assert screen.run(SERIF) == []
        assert screen.run("() => document.documentElement.scrollWidth <= innerWidth"), name
        screen.shot(f"view-{key}-{name.lower()}")


def test_a_view_without_content_is_not_offered(screen: Screen) -> None:
    nothing = content(
        Run("nothing", "its golden", "run", Comparison([]), Spread(()), text="no golden", verdict="missing")
    )
    screen.open([nothing, only_counts(made(scale=1.0))])
    for run, says, offered in (("0", "no golden", ["1 Summary"]), ("1", "holds", ["1 Summary", "6 Artefacts"])):
        screen.page.select_option("#run", run)
        screen.press("Escape", "1")
        assert says in screen.text
        assert screen.texts("nav button") == offered
        for key in VIEWS:
            screen.press(key)
            assert screen.texts('nav [aria-selected="true"]')[0] in offered
            assert screen.text.strip()
        screen.press("/", "]")


def test_the_first_screen_says_what_why_and_how_much(screen: Screen) -> None:
    screen.open([known()])
    for width, height in ((1280, 720), (390, 760)):
        screen.page.set_viewport_size({"width": width, "height": height})
        verdict, card = (screen.page.locator(each).first for each in ("#view .verdict", "#view .card"))
        assert "✗ differs" in verdict.inner_text()
        assert "3 identical" in verdict.inner_text()
        said = card.inner_text()
        assert "Cause, proven by replay" in said
        assert "Default/fc-Dense/MatMul-op0" in said
        rows = [each.split("\t") for each in screen.texts(".changes tr")]
        assert rows[1] == ["<b>eps</b>", "1e-05", "→", "0.001"]
        assert [screen.texts(f".card .{side} b") for side in ("expected", "found")] == [["0.25"], ["0.5"]]
        # All of it is in sight: nobody has to scroll, nothing is cut.
        assert screen.run("() => document.querySelector('.card').getBoundingClientRect().bottom <= innerHeight")
        assert screen.run(CUT) == []
        screen.shot(f"first-{width}")


def test_arrow_keys_choose_a_tab(screen: Screen) -> None:
    screen.open([known()])
    names = screen.run("() => [...document.querySelectorAll('[role=tab]')].map((each) => each.dataset.view)")
    screen.page.locator("[role=tab]").first.focus()
    for key, expected in (
        ("ArrowRight", names[1]),
        ("End", names[-1]),
        ("ArrowRight", names[0]),
        ("ArrowLeft", names[-1]),
    ):
        screen.page.keyboard.press(key)
        chosen = screen.page.locator("[role=tab][aria-selected=true]")
        assert chosen.get_attribute("data-view") == expected
        assert screen.run("() => document.activeElement.id") == f"tab-{expected}"
        assert screen.page.locator("#view").get_attribute("aria-labelledby") == f"tab-{expected}"


def test_the_policy_stops_what_is_not_the_pages_own(screen: Screen) -> None:
    strange = "<script>document.title = 'other'</script><img src='https://example.invalid/x.png'></body>"
    screen.show(render([made()], "report").replace("</body>", strange))
    assert screen.page.title() == "report"
    assert "✗ differs" in screen.text
    assert len(screen.troubles) == 2
    assert all("Content Security Policy" in each for each in screen.troubles)
    screen.troubles.clear()
    screen.requests.clear()


def test_without_an_explanation_the_first_screen_says_what_is_known(screen: Screen) -> None:
    run = made() | {"explanation": None}
    screen.open([run])
    card = screen.page.locator("#view .card").first.inner_text()
    for words in ("First divergence", "Default/layer1-Dense/Add-op1", "output.0 Float32 [4, 6]", "24 of 24 elements"):
        assert words in card
    assert len(screen.texts(".card .values b")) == 2


def test_a_narrow_window_scrolls_down_only(screen: Screen) -> None:
    screen.open([made(), made("other", scale=1.0)])
    for width in (600, 390):
        screen.page.set_viewport_size({"width": width, "height": 900})
        for key in [*VIEWS, "]"]:
            screen.press(key)
            assert screen.run("() => document.documentElement.scrollWidth <= innerWidth"), key
            screen.shot(f"narrow-{width}-{key if key != ']' else 'slot'}")


def test_the_page_of_a_slot(screen: Screen) -> None:
    screen.open([made()])
    screen.press("]")
    assert "layer1-Dense/Add-op1 output.0" in screen.text
    for words in ("values, ", "errors, of the largest", "largest error of each cell", "statistics", "smallest rtol"):
        assert words in screen.text
    assert screen.text.index("found") < screen.text.index("statistics") < screen.text.index("execution")
    assert len(screen.page.query_selector_all("#view canvas")) == 2
    screen.shot("slot")
    before = screen.text
    screen.press("]")
    assert screen.text != before
    screen.press("[")
    assert screen.text == before


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_can_be_read(screen: Screen, scheme: str) -> None:
    screen.page.emulate_media(color_scheme=scheme)
    screen.open([made(), made("other", scale=1.0)])
    assert screen.run("() => document.documentElement.dataset.theme") == scheme
    for key in [*VIEWS, "]"]:
        screen.press(key)
        if key == "6":
            screen.page.locator(".texts > details:not([open]) > summary").first.click()
        ratio, where = screen.run(CONTRAST)
        assert ratio >= 4.5, f"view {key}, {where}"
        screen.shot(f"{scheme}-{key if key != ']' else 'slot'}")
    screen.press("t")
    assert screen.run("() => document.documentElement.dataset.theme") != scheme


def test_sorting(screen: Screen) -> None:
    screen.open([made()])
    screen.press("3")
    column = ".row > :nth-child(8)"
    screen.page.click("[data-sort=max_abs]")
    values = [float(value) for value in screen.texts(column)]
    assert values == sorted(values, reverse=True)
    assert len(values) > 3
    assert screen.page.get_attribute("[data-sort=max_abs]", "aria-sort") == "descending"
    screen.page.click("[data-sort=max_abs]")
    assert [float(value) for value in screen.texts(column)] == sorted(values)
    screen.page.click("[data-sort=operator]")
    names = screen.texts(".row > :nth-child(3)")
    assert names == sorted(names)


def test_filtering(screen: Screen) -> None:
    screen.open([made()])
    screen.press("/")
    screen.page.keyboard.type("layer1")
    assert set(screen.texts(".row > :nth-child(3)")) == {"Default/layer1-Dense/Add-op1"}
    screen.page.keyboard.type(" nothing")
    assert screen.texts(".row") == []
    assert "0 of 12 slots" in screen.text
    screen.page.fill("#filter", "")
    screen.page.select_option("[aria-label=verdict]", "identical")
    assert set(screen.texts(".row > :nth-child(7)")) == {"identical"}
    screen.page.select_option("[aria-label=verdict]", "all")
    assert len(screen.texts(".row")) == 12


def test_links_lead_on_and_the_address_leads_back(screen: Screen) -> None:
    screen.open([made(), made("other", scale=1.0)])
    screen.page.click("a:text-is('6 texts')")
    assert "What the Running Data Recorder wrote" in screen.text
    screen.press("1")
    assert "6 texts: 1 identical, 3 differing, 1 missing, 1 new" in screen.text
    screen.page.click(".card a:text-is('Default/layer1-Dense/Add-op1')")
    assert "its slots" in screen.text
    screen.page.click("a:text-is('output.0')")
    assert "errors, of the largest" in screen.text
    address, text = screen.page.url, screen.text
    screen.page.click("text=over iterations")
    assert "Statistics over iterations" in screen.text
    screen.page.goto("about:blank")
    screen.page.goto(address)
    assert screen.text == text
    screen.page.click("text=in the network")
    assert "its slots" in screen.text
    address = screen.page.url
    screen.page.goto("about:blank")
    screen.page.goto(address)
    assert "its slots" in screen.text
    screen.press("1")
    screen.page.click("a:text-is('other')")
    assert "holds" in screen.text
    screen.press("4")
    assert "expected and found: the same operators" in screen.text


def test_everything_is_reached_by_the_keyboard(screen: Screen) -> None:
    screen.open([made()])
    order = []
    for _ in range(12):
        screen.press("Tab")
        order.append(screen.run(FOCUS))
    assert order[:3] == ["run", "tab-Summary", "theme"]  # arrow keys go from tab to tab
    assert order[3] == "A"  # the first divergence
    screen.press("3")
    assert screen.run(FOCUS) == "grid"
    screen.press("ArrowDown", "ArrowDown", "ArrowUp")
    rows = screen.texts(".row")
    assert screen.texts('.row[aria-selected="true"]') == [rows[1]]
    screen.press("Enter")
    assert "all slots" in screen.text
    screen.press("2")
    screen.page.locator("#view canvas").focus()
    screen.press("ArrowRight")
    assert "Add-op" in screen.page.inner_text("#view p.mono")
    screen.press("Enter")
    assert "its slots" in screen.text
    screen.press("5")
    screen.page.locator("[role=listbox]").focus()
    first = screen.page.inner_text("#view .pair h3 >> nth=-1")
    screen.press("ArrowDown")
    assert screen.page.inner_text("#view .pair h3 >> nth=-1") != first
    screen.press("Enter")
    assert "all slots" in screen.text


def test_artefacts_and_their_differences(screen: Screen) -> None:
    screen.open([made()])
    screen.press("6")
    rows = [line.split("\n") for line in screen.texts(".texts > details > summary")]
    assert [(row[0], row[1]) for row in rows] == [
        ("differs", "rdr/2/PIPELINE.01_type_inference.ir"), ("differs", "rdr/2/PIPELINE.02_auto_monad.ir"),
        ("new", "rdr/2/RUNTIME_FRAMEWORK.mem_address_list.txt"), ("missing", "rdr/2/SESSION.graph_exec_order.0.txt"),
        ("differs", "compared/training_0.txt"), ("identical", "execution_order/ms_execution_order_graph_0.csv"),
    ]  # fmt: skip
    assert rows[0][2] == "graph after a compile action"
    first = screen.page.locator(".texts > details").first
    assert "… 16 equal lines … @@ line 17 @@" in first.inner_text()
    assert [each.strip() for each in first.locator("mark").all_inner_texts()] == ["Add", "Sub", "00"]
    assert [first.locator("tr.del td.no").first.inner_text(), first.locator("tr.add td.no").nth(1).inner_text()] == [
        "20", "20",
    ]  # fmt: skip
    assert "time stamp" in first.inner_text()
    screen.press("s")
    assert first.locator("table.beside").count() == 2
    screen.shot("side-by-side")
    second = screen.page.locator(".texts > details").nth(1)
    second.locator("summary").first.focus()
    screen.press("Enter")
    second.get_by_text("Differs in the same lines as rdr/2/PIPELINE.01_type_inference.ir").wait_for()
    first.locator(".hunk > summary").first.click()
    assert "CNode_20" not in first.inner_text()
    screen.page.select_option("#states", "missing")
    assert len(screen.texts(".texts > details")) == 1
    screen.page.locator(".texts > details > summary").click()
    screen.page.get_by_text("Default/Add-op0").wait_for()
    screen.page.select_option("#states", "all")
    screen.press("/")
    screen.page.keyboard.type("training")
    assert len(screen.texts(".texts > details")) == 1
    # Of the page's data, which nothing in it can end.
    screen.page.get_by_text("loss <script>alert(1)</script>").wait_for()


def test_the_network_is_a_picture(screen: Screen) -> None:
    screen.open([network()])
    screen.press("4")
    boxes = lambda: screen.drawn("svg .operator .name")  # noqa: E731
    whole = boxes()
    assert sorted(whole) == ["Add-op0", "MatMul-op0", "ReLU-op0", "ReLU-op1", "tail-Dense/MatMul-op1"]
    assert screen.page.locator("svg .operator .origin").count() == 1
    assert "★ MatMul · noise" in " ".join(screen.drawn("svg .note"))
    assert "MatMul-op0" in screen.page.inner_text("#operator h2")
    assert screen.page.locator("svg .flow.differs").count() == 2
    assert screen.page.locator("svg .flow").count() == 4
    assert screen.run(OVERLAPS) == 0
    # Fold by mouse, unfold by keyboard.
    screen.page.click("svg [aria-label='fold body-Block']")
    assert "MatMul-op0" not in boxes()
    assert screen.drawn("svg .folded .note") == ["★ 3 operators, 2 differ"]
    screen.press("Enter")
    assert boxes() == whole
    # Open an operator by mouse and by keyboard.
    screen.page.click("svg .operator:has-text('Add-op0')")
    assert "Add-op0" in screen.page.inner_text("#operator h2")
    screen.page.locator("svg .operator:has-text('tail')").focus()
    screen.press("Enter")
    assert "tail-Dense/MatMul-op1" in screen.page.inner_text("#operator h2")
    assert screen.run(FOCUS) == "button"
    screen.page.click("#operator a:text-is('output.0')")
    assert "all slots" in screen.text


def test_the_picture_is_zoomed_and_moved(screen: Screen) -> None:
    screen.open([network()])
    screen.press("4")
    at = lambda: screen.page.get_attribute("svg.network > g", "transform")  # noqa: E731
    seen = [at()]

    def changed() -> None:
        assert at() not in seen[-1:]
        seen.append(at())

    screen.page.click("[aria-label='zoom in (+)']")
    changed()
    frame = screen.page.locator("svg.network")
    box = frame.bounding_box()
    screen.page.mouse.move(box["x"] + 30, box["y"] + 30)
    screen.page.mouse.wheel(0, 200)
    screen.page.wait_for_function(
        "before => document.querySelector('svg.network > g').getAttribute('transform') !== before", arg=seen[-1]
    )
    changed()
    screen.page.mouse.down()
    screen.page.mouse.move(box["x"] + 90, box["y"] + 60, steps=4)
    screen.page.mouse.up()
    changed()
    frame.focus()
    for key in ("ArrowRight", "ArrowDown", "+", "-"):
        screen.press(key)
        changed()
    screen.page.click("button:text-is('fit')")
    assert at() == seen[0]


def test_operators_are_searched(screen: Screen) -> None:
    screen.open([network()])
    screen.press("4")
    screen.page.click("button:text-is('fold all')")
    assert screen.drawn("svg .operator .name") == []
    screen.press("/")
    screen.page.keyboard.type("relu op1")
    assert "1 found" in screen.text
    screen.press("Enter")
    assert "ReLU-op1" in screen.page.inner_text("#operator h2")
    assert "ReLU-op1" in screen.drawn("svg .operator .name")
    assert screen.page.locator("svg .chosen").count() == 1
    screen.page.fill("#filter", "nothing of the kind")
    assert "0 found" in screen.text


def test_two_networks_stand_side_by_side(screen: Screen) -> None:
    screen.open([network(inserted=True)])
    screen.press("4")
    assert screen.texts("#view h3")[:2] == ["expected", "found"]
    sides = [screen.page.locator("svg.network").nth(i) for i in (0, 1)]
    assert [side.locator(".operator .alone").count() for side in sides] == [1, 1]
    assert "removed" in " ".join(sides[0].locator(".note").all_text_contents())
    assert "inserted" in " ".join(sides[1].locator(".note").all_text_contents())
    # Cells are folded on both sides.
    screen.page.click("svg [aria-label='fold body-Block'] >> nth=0")
    assert [side.locator("[aria-label^='unfold body-Block']").count() for side in sides] == [1, 1]
    screen.shot("side-by-side-networks")


def test_twenty_thousand_slots_are_shown_at_once(screen: Screen) -> None:
    screen.open([wide(10_000)])
    entry = "() => performance.getEntriesByType('navigation')[0].loadEventEnd"
    screen.measured("first view of 20,000 slots", screen.run(entry))
    screen.press("3")
    assert "399 of 20000 slots" in screen.text
    screen.page.select_option("[aria-label=verdict]", "all")
    screen.page.locator(".grid").focus()
    # Only the rows in sight are elements.
    assert len(screen.texts(".row")) < 100
    screen.press("End")
    assert len(screen.texts(".row[aria-selected=true]")) == 1
    for name, action in (
        ("sort", "document.querySelector('[data-sort=noise]').click()"),
        ("scroll", "document.querySelector('.grid').scrollTop = 90000"),
    ):
        screen.measured(
            name, screen.run(f"() => {{ const t = performance.now(); {action}; return performance.now() - t; }}")
        )
    screen.shot("twenty-thousand")


def test_ten_thousand_operators_are_a_picture(screen: Screen) -> None:
    screen.open([wide(10_000)])
    took = "() => { const t = performance.now(); document.querySelector('[data-view=Graph]').click(); return performance.now() - t; }"  # noqa: E501
    screen.measured("picture of 10,000 operators", screen.run(took))
    assert "Add-op9800" in screen.page.inner_text("#operator h2")
    # Only what is unfolded is laid out: the way to the first divergence.
    assert 0 < screen.page.locator("svg [role=button]").count() < 400
    assert screen.page.locator("svg .operator .origin").count() == 1
    assert screen.run(OVERLAPS) == 0
    screen.page.fill("#filter", "op9123")
    screen.press("Enter")
    assert "Add-op9123" in screen.page.inner_text("#operator h2")
    assert screen.page.locator("svg .chosen").count() == 1
    screen.shot("ten-thousand-operators")

/* -- one slot ------------------------------------------------------------------------------------------------------ */
function slotPage(slot) {
  const step = run().steps.findIndex((each) => each.slots.includes(slot));
  const ways = [link("all slots", () => open({ slot: null }))];
  if (offered("Graph") && step >= 0)
    ways.push(
      " · ",
      link("in the network", () => openStep(step)),
    );
  if (run().drift.some((each) => each.slots.includes(slot)))
    ways.push(
      " · ",
      link("over iterations", () => open({ view: "Drift" })),
    );
  const [verdict, reason] = ["verdict", "reason"].map((name) => cell(slot, name));
  return [
    el("p", {}, ways),
    el("h2", {}, `${cell(slot, "operator")} ${cell(slot, "slot")}`),
    cell(slot, "found_as") ? el("p", {}, `on the found side: ${cell(slot, "found_as")}`) : null,
    el("p", { class: verdict === "identical" ? "good" : "" }, `${verdict}${reason ? `: ${reason}` : ""}`),
    worstOf(slot),
    ...slotPictures(slot),
    el("h3", {}, "what is known of it"),
    factsOf(slot),
    ...statement(step),
  ];
}
/* The element that is furthest off, as both sides have it. */
function worstOf(slot) {
  const at = cell(slot, "at_abs");
  if (cell(slot, "expected") === null) return null;
  return values(at ? `at [${at.join(", ")}]` : "", shown(cell(slot, "expected")), shown(cell(slot, "found")));
}
function values(where, expected, found) {
  const side = (name, value) => el("span", { class: `side ${name}` }, el("small", {}, name), el("b", {}, value));
  return el(
    "div",
    { class: "values" },
    where ? el("span", { class: "dim" }, where) : null,
    side("expected", expected),
    el("span", { class: "arrow", "aria-hidden": "true" }, "→"),
    side("found", found),
  );
}
function factsOf(slot) {
  const rows = run().columns.filter((name) => cell(slot, name) !== null && cell(slot, name) !== "");
  return el(
    "table",
    { class: "plain" },
    rows.map((name) =>
      el("tr", {}, el("th", {}, name.replaceAll("_", " ")), el("td", { class: "mono" }, shown(cell(slot, name)))),
    ),
  );
}
function slotPictures(slot) {
  const detail = run().details[slot];
  if (!detail) {
    const why =
      cell(slot, "verdict") === "identical" ? "its values agree" : "they were not kept, or others are noisier";
    return [el("p", { class: "dim" }, `No pictures of its values: ${why}.`)];
  }
  const both = ["expected", "found"].map((name, i) => ({ name, counts: detail[name], colour: i ? "orange" : "blue" }));
  return [
    el(
      "div",
      { class: "pair" },
      el(
        "div",
        {},
        el("h3", {}, `values, ${shown(number(detail.low))} to ${shown(number(detail.high))}`),
        histogram(both),
        el("h3", {}, `largest error of each cell (${detail.cell[0]} by ${detail.cell[1]} elements)`),
        heat(detail.map),
      ),
      el(
        "div",
        {},
        el("h3", {}, "errors, of the largest expected magnitude"),
        errorTable(detail.errors),
        el("h3", {}, "statistics"),
        statistics(detail.statistics),
      ),
    ),
  ];
}
function histogram(series) {
  const canvas = el("canvas", { role: "img", "aria-label": "histogram of expected and found values" });
  later(() => {
    const width = canvas.clientWidth || 400,
      tall = 120,
      ratio = window.devicePixelRatio || 1,
      most = Math.max(1, ...series.flatMap((each) => each.counts));
    canvas.width = width * ratio;
    canvas.height = tall * ratio;
    canvas.style.height = `${tall}px`;
    const pen = canvas.getContext("2d");
    pen.scale(ratio, ratio);
    series.forEach((each, i) =>
      each.counts.forEach((count, bin) => {
        const wide = width / each.counts.length,
          high = count ? Math.max(1, (count / most) * (tall - 4)) : 0;
        pen.fillStyle = colour(each.colour);
        pen.fillRect(bin * wide + (i * wide) / 2, tall - high, Math.max(1, wide / 2 - 0.5), high);
      }),
    );
  });
  return el("div", {}, canvas, el("p", { class: "dim" }, "left, blue: expected; right, orange: found"));
}
function errorTable(counts) {
  const most = Math.max(1, ...counts),
    names = ["none", "≤ 1e-10", ...Array.from({ length: counts.length - 3 }, (_, i) => `≤ 1e${i - 9}`), "> 1, NaN"];
  return el(
    "table",
    { class: "plain" },
    counts.map((count, i) =>
      count
        ? el(
            "tr",
            {},
            el("td", { class: "mono" }, names[i]),
            el("td", { class: "mono" }, String(count)),
            el(
              "td",
              {},
              el("span", {
                class: `bar ${i ? "off" : ""}`,
                style: { width: `${Math.max(2, (160 * count) / most)}px` },
              }),
            ),
          )
        : null,
    ),
  );
}
function heat(rows) {
  const canvas = el("canvas", { role: "img", "aria-label": "where the errors are" });
  later(() => {
    const across = rows.length ? rows[0].length : 1,
      width = canvas.clientWidth || 400,
      size = Math.max(2, Math.min(18, width / across)),
      ratio = window.devicePixelRatio || 1;
    canvas.width = width * ratio;
    canvas.height = size * Math.max(1, rows.length) * ratio;
    canvas.style.height = `${size * Math.max(1, rows.length)}px`;
    const pen = canvas.getContext("2d");
    pen.scale(ratio, ratio);
    rows.forEach((row, y) =>
      [...row].forEach((digit, x) => {
        if (digit === "0") return;
        pen.globalAlpha = digit === "9" ? 1 : 0.12 + (0.88 * Number(digit)) / 8;
        pen.fillStyle = colour(digit === "9" ? "violet" : "red");
        pen.fillRect(x * size, y * size, size, size);
      }),
    );
  });
  return el(
    "div",
    {},
    canvas,
    el("p", { class: "dim" }, "blank equal, red 1e-8 to 1, violet NaN or infinity against something else"),
  );
}
function statistics(both) {
  return el(
    "table",
    { class: "plain" },
    el(
      "tr",
      {},
      ["", "expected", "found"].map((name) => el(name ? "th" : "td", {}, name)),
    ),
    Object.keys(both[0]).map((name) =>
      el(
        "tr",
        {},
        el("td", {}, name),
        both.map((side) => el("td", { class: "mono" }, shown(side[name]))),
      ),
    ),
  );
}

/* What an operator's graph says of it. */
function statement(step) {
  const lines = run().ir[step];
  if (!lines) return [];
  const marked = lines.map((line) => el("div", { class: /# .*In file/.test(line) ? "source" : "" }, line || " "));
  return [el("h3", {}, "its statement in the graph, with its lines of the script"), el("pre", {}, marked)];
}

/* -- over iterations ----------------------------------------------------------------------------------------------- */
function drift() {
  const all = run().drift;
  if (!all.length)
    return [
      ...cut(),
      el(
        "p",
        {},
        run().slots.length
          ? "No output differs, or the run has one iteration only."
          : "The page has no slots of this run.",
      ),
    ];
  const named = state.slot === null ? -1 : all.findIndex((each) => each.slots.includes(state.slot));
  let chosen = Math.max(0, named);
  const list = el("div", {
      class: "list",
      role: "listbox",
      tabindex: 0,
      "aria-label": "outputs that differ; arrow keys choose",
    }),
    picture = el("div", { class: "pair" });
  function choose(at) {
    chosen = Math.max(0, Math.min(all.length - 1, at));
    [...list.children].forEach((child, i) => child.setAttribute("aria-selected", String(i === chosen)));
    list.children[chosen].scrollIntoView({ block: "nearest" });
    const each = all[chosen];
    picture.replaceChildren(
      el(
        "div",
        {},
        el("h3", {}, "mean, and from the smallest to the largest value"),
        course(each, 2, [0, 1]),
        el("h3", {}, "L2 norm"),
        course(each, 3, null),
        el("h3", {}, "noise"),
        noiseCourse(each),
      ),
      el("div", {}, el("h3", {}, each.name), driftTable(each)),
    );
    placed.splice(0).forEach((action) => action());
  }
  all.forEach((each, at) =>
    list.append(
      el(
        "div",
        { role: "option", onclick: () => choose(at) },
        each.name,
        el(
          "span",
          { class: "dim" },
          ` differs in ${each.noise.filter((noise) => noise !== 0).length} of ${each.noise.length}`,
        ),
      ),
    ),
  );
  list.addEventListener("keydown", (event) => {
    const by = { ArrowDown: 1, ArrowUp: -1, Home: -1e9, End: 1e9 }[event.key];
    if (by) {
      event.preventDefault();
      choose(chosen + by);
    }
    if (event.key === "Enter")
      openSlot(
        all[chosen].slots[
          Math.max(
            0,
            all[chosen].noise.findIndex((noise) => noise !== 0),
          )
        ],
      );
  });
  later(() => choose(chosen));
  return [
    el("h2", {}, "Statistics over iterations"),
    el("p", { class: "dim" }, "outputs that differ, those of the first divergence first; blue expected, orange found"),
    list,
    picture,
  ];
}
function driftTable(each) {
  const pair = (at, i) =>
    each.expected[at] && each.found[at]
      ? each.expected[at][i] === each.found[at][i]
        ? shown(number(each.found[at][i]))
        : `${shown(number(each.expected[at][i]))} → ${shown(number(each.found[at][i]))}`
      : "";
  return el(
    "table",
    { class: "plain" },
    el(
      "tr",
      {},
      ["iteration", "noise", "min", "max", "mean", "L2 norm"].map((name) => el("th", {}, name)),
    ),
    each.iterations.slice(0, 100).map((iteration, at) =>
      el(
        "tr",
        {},
        el(
          "td",
          {},
          link(String(iteration), () => openSlot(each.slots[at])),
        ),
        el("td", { class: "mono right" }, shown(number(each.noise[at]))),
        [0, 1, 2, 3].map((i) => el("td", { class: "mono right" }, pair(at, i))),
      ),
    ),
  );
}
function course(each, value, band) {
  const canvas = el("canvas", { role: "img", "aria-label": "statistics of both sides over the iterations" });
  later(() => {
    const width = canvas.clientWidth || 500,
      tall = 130,
      left = 70,
      pen = drawing(canvas, width, tall);
    const sides = [
      ["blue", each.expected],
      ["orange", each.found],
    ];
    const values = sides
      .flatMap(([, rows]) => rows.filter(Boolean).flatMap((row) => [value, ...(band || [])].map((i) => number(row[i]))))
      .filter(Number.isFinite);
    let low = Math.min(...values),
      high = Math.max(...values);
    if (!values.length) {
      pen.fillStyle = colour("dim");
      pen.fillText("no values were kept, or none is finite", left, tall / 2);
      return;
    }
    if (low === high) {
      low -= Math.abs(low) || 1;
      high += Math.abs(high) || 1;
    }
    const count = each.iterations.length,
      x = (at) => left + (count > 1 ? at / (count - 1) : 0.5) * (width - left - 12),
      y = (v) => 8 + (1 - (v - low) / (high - low)) * (tall - 30);
    pen.fillStyle = colour("dim");
    pen.fillText(shown(high), 2, y(high) + 4);
    pen.fillText(shown(low), 2, y(low) + 4);
    pen.fillText(`iteration ${each.iterations[0]}`, left, tall - 4);
    const end = String(each.iterations[count - 1]);
    if (count > 1) pen.fillText(end, width - 8 - pen.measureText(end).width, tall - 4);
    sides.forEach(([name, rows], side) => {
      pen.strokeStyle = pen.fillStyle = colour(name);
      if (band) {
        pen.globalAlpha = 0.18;
        rows.forEach((row, at) => {
          if (!row) return;
          const a = number(row[band[0]]),
            b = number(row[band[1]]);
          if (Number.isFinite(a) && Number.isFinite(b))
            pen.fillRect(x(at) - 4 + side * 4, y(b), 4, Math.max(1, y(a) - y(b)));
        });
        pen.globalAlpha = 1;
      }
      pen.lineWidth = side ? 1.5 : 3;
      pen.beginPath();
      let down = false;
      rows.forEach((row, at) => {
        const v = row ? number(row[value]) : null;
        if (v === null || !Number.isFinite(v)) {
          down = false;
          return;
        }
        if (down) pen.lineTo(x(at), y(v));
        else pen.moveTo(x(at), y(v));
        down = true;
        pen.fillRect(x(at) - 2, y(v) - 2, 4, 4);
      });
      pen.stroke();
    });
  });
  return canvas;
}
function noiseCourse(each) {
  const canvas = el("canvas", { role: "img", "aria-label": "noise over the iterations" });
  later(() => {
    const width = canvas.clientWidth || 500,
      tall = 110,
      left = 70,
      pen = drawing(canvas, width, tall),
      count = each.iterations.length;
    const y = (part) => 6 + (1 - part) * (tall - 26);
    for (let decade = NOISE_LOW; decade <= NOISE_HIGH - 1; decade += 5) {
      const level = y((decade - NOISE_LOW) / (NOISE_HIGH - NOISE_LOW));
      pen.fillStyle = colour("line");
      pen.fillRect(left, level, width - left, 1);
      pen.fillStyle = colour("dim");
      pen.fillText(`1e${decade}`, 2, level + 4);
    }
    const wide = (width - left - 12) / count;
    each.noise.forEach((noise, at) => {
      const part = height(number(noise));
      if (part) {
        pen.fillStyle = colour("red");
        pen.fillRect(left + at * wide, y(part), Math.max(1, Math.min(24, wide - 1)), y(0) - y(part));
      }
    });
    pen.fillStyle = colour("dim");
    pen.fillText(`iteration ${each.iterations[0]}`, left, tall - 4);
  });
  return canvas;
}

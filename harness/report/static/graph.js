/* -- the network: both sides, search, and the operator that is open ------------------------------------------------ */
const FLOWS = {
  graph: "Arrows: what the graphs of the run say.",
  contents:
    "Arrows: read from equal contents (an output and a later input with the same digest), as there is no graph of " +
    "the run; numbers are left out.",
};
const named = (graph, name) => `${graph}\n${name}`;
function graph() {
  const sides = run().network.sides;
  if (!sides.length) return [...cut(), el("p", {}, `No picture: ${run().network.cut || "the page has no operators"}.`)];
  const iterations = [...new Set(run().steps.map(timeOf))];
  const origin = run().first === null ? null : run().steps[run().first];
  const opened = run().steps[state.step ?? run().first] || null;
  if (!iterations.includes(state.iteration)) state.iteration = opened ? timeOf(opened) : "all";
  if (state.operator === null && opened) state.operator = nameOf(opened);
  const looks = looksOf(sides, origin);
  const panel = el("div", { class: "panel", id: "operator" });
  const pictures = sides.map((side, at) =>
    networkPicture(side, looks[at], (place) => choose(looks[at].name(place), true)),
  );
  const repaint = () => pictures.forEach((picture) => picture.paint());
  looks.forEach((look) => (look.repaint = repaint));
  const reveal = (name) =>
    pictures.forEach((picture, i) => looks[i].near(name) !== null && picture.reveal(looks[i].near(name)));

  function choose(name, quiet) {
    state.operator = name;
    const at = run().steps.findIndex((step) => nameOf(step) === name && isNow(step));
    state.step = at < 0 ? null : at;
    if (!quiet) reveal(name);
    repaint();
    if (!quiet) pictures.forEach((picture, i) => looks[i].near(name) !== null && picture.centre(looks[i].near(name)));
    panel.replaceChildren(...operatorPanel(name, choose).flat().filter(Boolean));
    remember();
  }
  function begin() {
    const wanted = [origin && nameOf(origin), state.operator].filter(Boolean);
    if (sides[0].operators.length <= WHOLE)
      pictures.forEach((each) => each.all().forEach((box) => looks[0].unfolded.add(box.key)));
    wanted.forEach(reveal);
    repaint();
    pictures.forEach((picture, i) => picture.start(looks[i].near(state.operator)));
    if (state.operator !== null) panel.replaceChildren(...operatorPanel(state.operator, choose).flat().filter(Boolean));
  }
  later(begin);
  const titles = sides.length > 1 ? ["expected", "found"] : ["expected and found: the same operators"];
  return [
    ...cut(),
    tools(pictures, iterations, looks, choose, repaint),
    el(
      "div",
      { class: sides.length > 1 ? "pair networks" : "networks" },
      pictures.map((picture, i) => el("div", {}, el("h3", {}, titles[i]), picture.frame)),
    ),
    legend(sides),
    panel,
  ];
}
const nameOf = (step) => named(step.where[1], step.where[3]);
const timeOf = (step) => `${step.where[0]}/${step.where[2]}`;
const isNow = (step) => state.iteration === "all" || timeOf(step) === state.iteration;
/* How the operators of each side look: by the steps of the chosen iteration, under the expected names. */
function looksOf(sides, origin) {
  const expected = new Map(run().network.renamed.map(([of, found, name]) => [named(of, found), named(of, name)]));
  const all = sides.map((side) => side.operators.map(([of, name]) => named(of, name)));
  if (all[1]) all[1] = all[1].map((name) => expected.get(name) || name);
  const has = all.map((names) => new Set(names));
  const steps = new Map();
  run().steps.forEach((step) => {
    const name = nameOf(step);
    if (!steps.has(name)) steps.set(name, []);
    steps.get(name).push(step);
  });
  const differing = new Map();
  for (const step of run().steps)
    for (const taker of step.feeds.map((at) => run().steps[at])) {
      const pair = `${nameOf(step)}\n${nameOf(taker)}`;
      if (!differing.has(pair)) differing.set(pair, new Set());
      differing.get(pair).add(timeOf(taker));
    }
  const first = origin && nameOf(origin);
  const unfolded = new Set();
  return sides.map((side, i) => ({
    title: i ? "found" : "expected",
    unfolded,
    places: new Map(all[i].map((name, at) => [name, at])),
    name: (at) => all[i][at],
    /* The place of an operator; where only the other side has it, of the one before it that this side has, too. */
    near(name) {
      if (has[i].has(name)) return all[i].indexOf(name);
      const other = all[1 - i] || [];
      const before = other.slice(0, other.indexOf(name) + 1).findLast((each) => has[i].has(each));
      return before === undefined ? null : all[i].indexOf(before);
    },
    type: (at) => side.operators[at][2],
    flows(from, to) {
      const times = differing.get(`${all[i][from]}\n${all[i][to]}`);
      return times !== undefined && (state.iteration === "all" || times.has(state.iteration));
    },
    chosen: () => all[i].indexOf(state.operator),
    tell(at) {
      const mine = (steps.get(all[i][at]) || []).filter(isNow);
      const role = ROLES[Math.min(...mine.map((step) => ROLES.indexOf(step.role)), ROLES.length - 1)];
      const mark = sides.length > 1 && !has[1 - i].has(all[i][at]) ? (i ? "inserted" : "removed") : "";
      const noise = Math.max(0, ...mine.map((step) => number(step.out)).filter((value) => value !== null));
      return { role, noise, mark, origin: all[i][at] === first };
    },
  }));
}
function tools(pictures, iterations, looks, choose, repaint) {
  const button = (label, title, act) =>
    el("button", { type: "button", title, "aria-label": title, onclick: act }, label);
  const each = (act) => () => pictures.forEach(act);
  const fold = (picture) => {
    looks[0].unfolded.clear();
    picture.paint();
    picture.fit();
  };
  const unfold = () => {
    pictures.forEach((picture) => picture.all().forEach((box) => looks[0].unfolded.add(box.key)));
    repaint();
    pictures.forEach((picture) => picture.fit());
  };
  const parts = [
    ...searching(looks, choose),
    button(
      "+",
      "zoom in (+)",
      each((picture) => picture.zoom(1.3)),
    ),
    button(
      "−",
      "zoom out (-)",
      each((picture) => picture.zoom(1 / 1.3)),
    ),
    button(
      "fit",
      "the whole picture (0)",
      each((picture) => picture.fit()),
    ),
    button("fold all", "fold all cells", each(fold)),
  ];
  // More would take long to lay out and show nothing that can be read.
  if (Math.max(...pictures.map((picture) => picture.shown.length)) <= 400)
    parts.push(button("unfold all", "unfold all cells", unfold));
  const origin = run().first === null ? null : run().steps[run().first];
  if (origin) parts.push(button("★ first divergence", "show the first divergence", () => choose(nameOf(origin))));
  if (iterations.length > 1) parts.push(iterationChoice(iterations, choose, repaint));
  return el("div", { class: "tools" }, parts);
}
function iterationChoice(iterations, choose, repaint) {
  const ranks = new Set(iterations.map((time) => time.split("/")[0]));
  const label = (time) => {
    const [rank, iteration] = time.split("/");
    return `${ranks.size > 1 ? `rank ${rank}, ` : ""}iteration ${iteration}`;
  };
  const options = ["all", ...iterations].map((time) =>
    el("option", { value: time, selected: time === state.iteration }, time === "all" ? "all iterations" : label(time)),
  );
  const change = (event) => {
    state.iteration = event.target.value;
    if (state.operator !== null) choose(state.operator, true);
    else repaint();
  };
  return el("select", { "aria-label": "iteration", onchange: change }, options);
}
/* Words of the name or type; Enter goes from one to the next. */
function searching(looks, choose) {
  const count = el("span", { class: "dim", "aria-live": "polite" });
  let found = [],
    at = -1;
  const look = (words) => {
    const names = new Map();
    looks.forEach((each) =>
      each.places.forEach((place, name) => names.set(name, `${name} ${each.type(place)}`.toLowerCase())),
    );
    found = words.length
      ? [...names].filter(([, text]) => words.every((word) => text.includes(word))).map(([name]) => name)
      : [];
    at = -1;
    count.textContent = words.length ? `${found.length} found${found.length ? ", Enter: the next" : ""}` : "";
  };
  const input = el("input", {
    id: "filter",
    type: "search",
    placeholder: "search operators ...",
    "aria-label": "search operators",
    oninput: (event) => look(event.target.value.toLowerCase().split(/\s+/).filter(Boolean)),
    onkeydown: (event) => {
      if (event.key !== "Enter" || !found.length) return;
      at = (at + 1) % found.length;
      count.textContent = `${at + 1} of ${found.length}`;
      choose(found[at]);
    },
  });
  return [input, count];
}
function legend(sides) {
  const entry = (kind, words) => el("span", { class: "entry" }, el("span", { class: `swatch ${kind}` }), words);
  const roles = ROLES.filter((role) => run().steps.some((step) => step.role === role) && run().roles[role]);
  const entries = roles.map((role) => el("span", { title: run().roles[role] }, entry(role, role)));
  const flows = [...new Set(sides.map((side) => side.flow))].map((flow) => FLOWS[flow]);
  return el(
    "p",
    { class: "legend dim" },
    el("span", {}, "★ first divergence"),
    entries,
    sides.length > 1 ? entry("alone", "one side only") : null,
    el("span", {}, `Deeper colour: larger error. ${flows.join(" ")} Orange: a value that differs.`),
  );
}
function operatorPanel(name, choose) {
  const [of, operator] = name.split("\n");
  const mine = run()
    .steps.map((_, at) => at)
    .filter((at) => nameOf(run().steps[at]) === name);
  const now = mine.filter((at) => isNow(run().steps[at]));
  const at = now.includes(state.step) ? state.step : now[0];
  const parts = [el("h2", { class: at === undefined ? "" : run().steps[at].role }, operator)];
  if (at === undefined)
    return [...parts, el("p", { class: "dim" }, `graph ${of}; it was not compared in this iteration`)];
  const step = run().steps[at];
  const facts = [stepTime(step), step.type, run().roles[step.role], step.source].filter(Boolean);
  parts.push(el("p", {}, facts.join(" · ")));
  const ways = (title, steps) =>
    steps.length
      ? el(
          "p",
          {},
          `${title}: `,
          steps.slice(0, 8).flatMap((each, i) => [i ? ", " : "", wayTo(each, choose)]),
          steps.length > 8 ? ` and ${steps.length - 8} more` : "",
        )
      : null;
  parts.push(ways("differing values come from", step.fed_by), ways("differing values go to", step.feeds));
  return [...parts, el("h3", {}, "its slots"), slotsOf(step), ...statement(at)];
}
function wayTo(at, choose) {
  const where = run().steps[at].where;
  return link(where[3].split("/").slice(-2).join("/"), () => choose(named(where[1], where[3])));
}
function slotsOf(step) {
  const beside = step.slots.some((slot) => cell(slot, "found_as"));
  const columns = ["verdict", "expected", "found", "max_abs", "max_rel", "noise", "dtype", "shape"];
  const head = ["slot", ...columns.map((name) => name.replaceAll("_", " ")), ...(beside ? ["on the found side"] : [])];
  const row = (slot) =>
    el(
      "tr",
      {},
      el(
        "td",
        {},
        link(cell(slot, "slot"), () => openSlot(slot)),
      ),
      columns.map((name) => el("td", { class: "mono" }, shown(cell(slot, name)))),
      beside ? el("td", { class: "mono" }, cell(slot, "found_as") || "") : null,
    );
  return el(
    "table",
    { class: "plain" },
    el(
      "tr",
      {},
      head.map((name) => el("th", {}, name)),
    ),
    step.slots.map(row),
  );
}

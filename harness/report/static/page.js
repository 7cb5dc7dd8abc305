"use strict";
const DATA = JSON.parse(document.getElementById("data").textContent);
const VIEWS = ["Summary", "Error", "Slots", "Graph", "Drift", "Artefacts"];
const ROW = 22, NOISE_LOW = -10, NOISE_HIGH = 1;
const state = { run: 0, view: "Summary", slot: null, step: null, sort: null, descending: false, filter: "", verdict: "not identical", row: 0, texts: "all", named: "", beside: false };
const $ = (selector, within) => (within || document).querySelector(selector);
const view = $("#view");
const cut = () => run().cut.map((text) => el("p", { class: "cut" }, text));
function drawing(canvas, width, tall) {
  const ratio = window.devicePixelRatio || 1;
  canvas.width = width * ratio; canvas.height = tall * ratio; canvas.style.height = `${tall}px`;
  const pen = canvas.getContext("2d"); pen.scale(ratio, ratio); pen.font = "10px ui-monospace, monospace";
  return pen;
}

function el(tag, attributes, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return made;
}
function svg(tag, attributes, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes || {})) made.setAttribute(name, value);
  made.append(...children);
  return made;
}
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
const run = () => DATA.runs[state.run];
const column = (name) => run().columns.indexOf(name);
const cell = (slot, name) => { const value = run().slots[slot][column(name)]; return value === undefined ? null : value; };
const number = (value) => value === null || value === undefined ? null : typeof value === "string" ? Number(value.replace("inf", "Infinity")) : value;
function shown(value) {
  if (value === null || value === undefined) return "";
  if (typeof value === "number" && !Number.isInteger(value)) return value !== 0 && (Math.abs(value) < 1e-3 || Math.abs(value) >= 1e6) ? value.toExponential(3) : String(Number(value.toPrecision(6)));
  return Array.isArray(value) ? `[${value.join(", ")}]` : String(value);
}
const stepName = (step) => `${step.where[0] ? `rank ${step.where[0]}, ` : ""}iteration ${step.where[2]}, ${step.where[3]}${step.where[4] ? ` (${step.where[4]})` : ""}`;
const differing = () => run().slots.map((_, at) => at).filter((at) => cell(at, "verdict") !== "identical");
function link(text, go) { return el("a", { href: "#", onclick: (event) => { event.preventDefault(); go(); } }, text); }
// What needs sizes runs once the elements are on the page.
const placed = [];
const later = (action) => placed.push(action);
function open(changes) { Object.assign(state, changes); draw(); }
const openSlot = (slot) => open({ view: "Slots", slot });
const openStep = (step) => open({ view: "Graph", step, slot: null });

/* -- summary ------------------------------------------------------------------------------------------------------- */
function summary() {
  const counts = el("div", { class: "counts" }, Object.entries(run().counts).map(([verdict, count]) =>
    el("div", { class: count && !["identical", "within tolerance"].includes(verdict) ? "bad" : "" }, el("b", {}, String(count)), verdict)));
  const parts = [...cut(),
    el("p", {}, el("strong", { class: run().holds ? "good" : "bad" }, run().holds ? "holds" : "does not hold"), ` · found ${run().found} · expected ${run().expected}`),
    run().notes.length ? el("p", { class: "dim" }, run().notes.join(" · ")) : null, counts];
  if (run().artefacts.length) {
    const states = Object.keys(STATES).map((name) => [run().artefacts.filter((each) => each.state === name).length, name]).filter(([count]) => count);
    parts.push(el("p", {}, link(`${run().artefacts.length} texts`, () => open({ view: "Artefacts" })), `: ${states.map(([count, name]) => `${count} ${name}`).join(", ")}`));
  }
  if (run().first !== null) {
    const step = run().steps[run().first];
    parts.push(el("h2", {}, "First divergence"), el("p", {}, link(stepName(step), () => openStep(run().first)), step.source ? el("span", { class: "dim" }, ` at ${step.source}`) : null));
  }
  const cause = run().explanation && run().explanation.cause;
  if (cause) parts.push(el("h2", {}, cause.proven ? `Cause, ${cause.certainty}` : "Cause, likely"), el("p", {}, el("strong", {}, cause.text), cause.source ? el("span", { class: "dim" }, ` (${cause.source})`) : null));
  parts.push(...rolesTable());
  if (run().steps.some((step) => step.role !== "agrees")) parts.push(el("h2", {}, "Error along the execution order"), errorCanvas(180));
  if (run().text) parts.push(el("h2", {}, "In words"), el("pre", {}, run().text));
  if (DATA.runs.length > 1) parts.unshift(runsTable());
  return parts;
}
function runsTable() {
  const rows = DATA.runs.map((each, at) => el("tr", {}, el("td", {}, link(each.name, () => open({ run: at, slot: null, step: null }))),
    el("td", { class: each.holds ? "good" : "bad" }, each.holds ? "holds" : "does not hold"), Object.values(each.counts).map((count) => el("td", {}, String(count)))));
  return el("div", {}, el("h2", {}, `${DATA.runs.length} runs`), el("table", { class: "plain" },
    el("tr", {}, ["run", "", ...Object.keys(run().counts)].map((name) => el("th", {}, name))), rows));
}
function rolesTable() {
  const rows = Object.entries(run().roles).map(([role, meaning]) => [role, meaning, run().steps.map((s, at) => [s, at]).filter(([step]) => step.role === role)])
    .filter(([role, , steps]) => steps.length && role !== "agrees");
  if (!rows.length) return [];
  return [el("h2", {}, "How it spreads"), el("table", { class: "plain" }, rows.map(([role, meaning, steps]) => el("tr", {}, el("td", { class: role }, role),
    el("td", {}, String(steps.length)), el("td", {}, meaning), el("td", {}, steps.slice(0, 3).flatMap(([step, at], i) => [i ? ", " : "", link(step.where[3].split("/").pop(), () => openStep(at))]), steps.length > 3 ? " ..." : ""))))];
}

/* -- error along the execution order ------------------------------------------------------------------------------- */
const height = (value) => value === null ? null : value === 0 ? 0 : Math.max(0.02, Math.min(1, (Math.log10(value) - NOISE_LOW) / (NOISE_HIGH - NOISE_LOW)));
function errorCanvas(pixels) {
  const canvas = el("canvas", { tabindex: 0, role: "img", "aria-label": "error of each operator's outputs along the execution order; arrow keys move, Enter opens" });
  const note = el("p", { class: "dim mono" }, "noise: root mean square error over root mean square of the expected values, logarithmic, 1e-10 to 10; move over it, or use the arrow keys");
  const steps = run().steps;
  let at = null;
  function paint() {
    const width = canvas.clientWidth || 1000, ratio = window.devicePixelRatio || 1, left = 44, inner = width - left - 6;
    canvas.width = width * ratio; canvas.height = pixels * ratio; canvas.style.height = `${pixels}px`;
    const pen = canvas.getContext("2d"); pen.scale(ratio, ratio); pen.font = "10px ui-monospace, monospace";
    const y = (part) => pixels - 16 - part * (pixels - 28), x = (place) => left + (steps.length > 1 ? place / (steps.length - 1) : 0.5) * inner;
    for (let decade = NOISE_LOW; decade <= NOISE_HIGH; decade += 2) {
      const level = y((decade - NOISE_LOW) / (NOISE_HIGH - NOISE_LOW));
      pen.strokeStyle = colour("line"); pen.beginPath(); pen.moveTo(left, level); pen.lineTo(width, level); pen.stroke();
      pen.fillStyle = colour("dim"); pen.fillText(`1e${decade}`, 4, level + 3);
    }
    let iteration = null, rank = null, free = 0;
    steps.forEach((step, place) => {
      if (step.where[2] !== iteration || step.where[0] !== rank) {
        const label = `${step.where[0] !== rank && step.where[0] ? `rank ${step.where[0]} ` : ""}it ${step.where[2]}`;
        iteration = step.where[2]; rank = step.where[0]; pen.fillStyle = colour("dim");
        if (place) { pen.fillRect(x(place), 4, 1, pixels - 20); }
        // Labels that would cover one another are left out.
        if (x(place) >= free) { pen.fillText(label, x(place) + 3, pixels - 4); free = x(place) + pen.measureText(label).width + 10; }
      }
      const noise = number(step.out), part = height(noise);
      if (step.role === "agrees" || part === null || part === 0) return;
      pen.fillStyle = colour({ new: "red", given: "violet", carried: "orange" }[step.role] || "blue");
      const size = step.role === "new" || step.role === "given" ? 3 : 2;
      pen.fillRect(x(place) - size / 2, y(part), size, y(0) - y(part) + 1);
    });
    if (at !== null) { pen.strokeStyle = colour("fore"); pen.strokeRect(x(at) - 3, 3, 6, pixels - 18); }
  }
  function move(place) { at = Math.max(0, Math.min(steps.length - 1, place)); note.textContent = `${stepName(steps[at])} · ${steps[at].role} · noise in ${shown(steps[at].in)}, out ${shown(steps[at].out)}`; paint(); }
  const placeOf = (event) => { const box = canvas.getBoundingClientRect(); return Math.round((event.clientX - box.left - 44) / (box.width - 50) * (steps.length - 1)); };
  canvas.addEventListener("mousemove", (event) => move(placeOf(event)));
  canvas.addEventListener("click", (event) => { move(placeOf(event)); openStep(at); });
  canvas.addEventListener("keydown", (event) => {
    const by = { ArrowLeft: -1, ArrowRight: 1, PageUp: -20, PageDown: 20 }[event.key];
    if (by) { event.preventDefault(); move((at ?? run().first ?? 0) + (at === null ? 0 : by)); }
    if (event.key === "Enter" && at !== null) openStep(at);
  });
  later(paint);
  return el("div", {}, canvas, note);
}
function errors() { if (!run().steps.length) return [...cut(), el("p", {}, "The page has no operators of this run.")]; return [el("h2", {}, "Error along the execution order"), errorCanvas(Math.max(260, Math.round(innerHeight * 0.5))), ...rolesTable()]; }

/* -- table of slots ------------------------------------------------------------------------------------------------ */
const SHOWN = ["iteration", "graph", "operator", "slot", "dtype", "shape", "verdict", "max_abs", "max_rel", "noise", "max_ulp"];
function chosen() {
  const words = state.filter.toLowerCase().split(/\s+/).filter(Boolean), names = ["operator", "slot", "type", "dtype", "verdict", "source", "reason"].map(column);
  let rows = run().slots.map((_, at) => at).filter((at) => {
    const verdict = cell(at, "verdict");
    if (state.verdict === "not identical" ? verdict === "identical" : state.verdict !== "all" && verdict !== state.verdict) return false;
    const text = words.length ? `${names.map((name) => run().slots[at][name] || "").join(" ")} ${cell(at, "found_as") || ""}`.toLowerCase() : "";
    return words.every((word) => text.includes(word));
  });
  if (state.sort) {
    const at = column(state.sort), sign = state.descending ? -1 : 1;
    const key = (row) => { const value = run().slots[row][at]; const n = number(value); return value === null || value === undefined ? null : typeof n === "number" && !Number.isNaN(n) && typeof value !== "object" ? n : String(value); };
    const keys = new Map(rows.map((row) => [row, key(row)]));
    rows = rows.sort((a, b) => { const one = keys.get(a), other = keys.get(b); return one === other ? a - b : one === null ? 1 : other === null ? -1 : (one < other ? -1 : 1) * sign; });
  }
  return rows;
}
function slots() {
  if (state.slot !== null) return slotPage(state.slot);
  if (!run().slots.length) return [...cut(), el("p", {}, "The page has no slots of this run.")];
  const body = el("div", { style: "position:relative" }), head = el("div", { class: "head" }), count = el("span", { class: "dim" });
  const grid = el("div", { class: "grid", tabindex: 0, role: "grid", "aria-label": "slots" }, head, body);
  let rows = [];
  SHOWN.forEach((name) => head.append(el("button", { type: "button", "data-sort": name, onclick: () => { state.descending = state.sort === name ? !state.descending : !["iteration", "graph", "operator", "slot", "dtype", "shape", "verdict"].includes(name); state.sort = name; fill(); } }, name)));
  function paint() {
    const from = Math.max(0, Math.floor(grid.scrollTop / ROW) - 5), to = Math.min(rows.length, from + Math.ceil(grid.clientHeight / ROW) + 10);
    body.replaceChildren(...rows.slice(from, to).map((slot, i) => el("div", { class: "row", role: "row", style: `top:${(from + i) * ROW}px`, "aria-selected": String(from + i === state.row), onclick: () => openSlot(slot) },
      SHOWN.map((name) => el("span", { class: name === "operator" ? "tail" : name === "verdict" && !["identical", "within tolerance"].includes(cell(slot, name)) ? "bad" : "", title: shown(cell(slot, name)) }, name === "operator" ? el("bdi", {}, shown(cell(slot, name))) : (name === "iteration" && cell(slot, "rank") ? `r${cell(slot, "rank")} · ` : "") + shown(cell(slot, name)))))));
  }
  function fill() {
    rows = chosen(); state.row = Math.min(state.row, Math.max(0, rows.length - 1));
    body.style.height = `${rows.length * ROW}px`; count.textContent = `${rows.length} of ${run().slots.length} slots`;
    head.querySelectorAll("button").forEach((button) => { const name = button.dataset.sort; button.setAttribute("aria-sort", state.sort === name ? (state.descending ? "descending" : "ascending") : "none"); button.textContent = name + (state.sort === name ? (state.descending ? " ↓" : " ↑") : ""); });
    paint();
  }
  const filter = el("input", { id: "filter", type: "search", placeholder: "operator, type, dtype, source ...", value: state.filter, "aria-label": "filter", oninput: (event) => { state.filter = event.target.value; grid.scrollTop = 0; fill(); } });
  const verdict = el("select", { "aria-label": "verdict", onchange: (event) => { state.verdict = event.target.value; grid.scrollTop = 0; fill(); } },
    ["not identical", "all", ...Object.keys(run().counts)].map((name) => el("option", { value: name, selected: name === state.verdict }, name)));
  grid.addEventListener("scroll", paint);
  grid.addEventListener("keydown", (event) => {
    const by = { ArrowDown: 1, ArrowUp: -1, PageDown: 20, PageUp: -20, Home: -1e9, End: 1e9 }[event.key];
    if (by) {
      event.preventDefault(); state.row = Math.max(0, Math.min(rows.length - 1, state.row + by));
      const top = state.row * ROW;
      if (top < grid.scrollTop) grid.scrollTop = top; else if (top > grid.scrollTop + grid.clientHeight - 3 * ROW) grid.scrollTop = top - grid.clientHeight + 3 * ROW;
      paint();
    }
    if (event.key === "Enter" && rows.length) openSlot(rows[state.row]);
  });
  if (!run().slots.some((_, at) => cell(at, "verdict") !== "identical") && state.verdict === "not identical") { state.verdict = "all"; verdict.value = "all"; }
  later(fill);
  return [el("div", { class: "tools" }, filter, verdict, count), grid];
}

/* -- one slot ------------------------------------------------------------------------------------------------------ */
function slotPage(slot) {
  const detail = run().details[slot], step = run().steps.findIndex((each) => each.slots.includes(slot));
  const facts = el("table", { class: "plain" }, run().columns.filter((name) => cell(slot, name) !== null).map((name) =>
    el("tr", {}, el("th", {}, name.replace("_", " ")), el("td", { class: "mono" }, shown(cell(slot, name))))));
  const parts = [el("p", {}, link("all slots", () => open({ slot: null })), " · ", link("graph around it", () => openStep(step)), " · ", link("over iterations", () => open({ view: "Drift" }))),
    el("h2", {}, `${cell(slot, "operator")} ${cell(slot, "slot")}`), cell(slot, "found_as") ? el("p", {}, `on the found side: ${cell(slot, "found_as")}`) : "", el("p", { class: cell(slot, "verdict") === "identical" ? "good" : "" }, `${cell(slot, "verdict")}${cell(slot, "reason") ? `: ${cell(slot, "reason")}` : ""}`)];
  if (!detail) return [...parts, facts, el("p", { class: "dim" }, "no pictures of this slot: its values agree, were not kept, or are among the less noisy ones")];
  const both = ["expected", "found"].map((name, i) => ({ name, counts: detail[name], colour: i ? "orange" : "blue" }));
  return [...parts, el("div", { class: "pair" }, facts, el("div", {},
    el("h3", {}, `values, ${shown(number(detail.low))} to ${shown(number(detail.high))}`), histogram(both), el("h3", {}, "errors, of the largest expected magnitude"), errorTable(detail.errors),
    el("h3", {}, `largest error of each cell (${detail.cell[0]} by ${detail.cell[1]} elements)`), heat(detail.map), el("h3", {}, "statistics"), statistics(detail.statistics))), ...statement(step)];
}
function histogram(series) {
  const canvas = el("canvas", { role: "img", "aria-label": "histogram of expected and found values" });
  later(() => {
    const width = canvas.clientWidth || 400, tall = 120, ratio = window.devicePixelRatio || 1, most = Math.max(1, ...series.flatMap((each) => each.counts));
    canvas.width = width * ratio; canvas.height = tall * ratio; canvas.style.height = `${tall}px`;
    const pen = canvas.getContext("2d"); pen.scale(ratio, ratio);
    series.forEach((each, i) => each.counts.forEach((count, bin) => {
      const wide = width / each.counts.length, high = count ? Math.max(1, count / most * (tall - 4)) : 0;
      pen.fillStyle = colour(each.colour); pen.fillRect(bin * wide + i * wide / 2, tall - high, Math.max(1, wide / 2 - 0.5), high);
    }));
  });
  return el("div", {}, canvas, el("p", { class: "dim" }, "left, blue: expected; right, orange: found"));
}
function errorTable(counts) {
  const most = Math.max(1, ...counts), names = ["none", "≤ 1e-10", ...Array.from({ length: counts.length - 3 }, (_, i) => `≤ 1e${i - 9}`), "> 1, NaN"];
  return el("table", { class: "plain" }, counts.map((count, i) => count ? el("tr", {}, el("td", { class: "mono" }, names[i]), el("td", { class: "mono" }, String(count)),
    el("td", {}, el("span", { style: `display:inline-block;height:.7em;background:var(--${i ? "orange" : "green"});width:${Math.max(2, 160 * count / most)}px` }))) : null));
}
function heat(rows) {
  const canvas = el("canvas", { role: "img", "aria-label": "where the errors are" });
  later(() => {
    const across = rows.length ? rows[0].length : 1, width = canvas.clientWidth || 400, size = Math.max(2, Math.min(18, width / across)), ratio = window.devicePixelRatio || 1;
    canvas.width = width * ratio; canvas.height = size * Math.max(1, rows.length) * ratio; canvas.style.height = `${size * Math.max(1, rows.length)}px`;
    const pen = canvas.getContext("2d"); pen.scale(ratio, ratio);
    rows.forEach((row, y) => [...row].forEach((digit, x) => {
      if (digit === "0") return;
      pen.globalAlpha = digit === "9" ? 1 : 0.12 + 0.88 * Number(digit) / 8; pen.fillStyle = colour(digit === "9" ? "violet" : "red");
      pen.fillRect(x * size, y * size, size, size);
    }));
  });
  return el("div", {}, canvas, el("p", { class: "dim" }, "blank equal, red 1e-8 to 1, violet NaN or infinity against something else"));
}
function statistics(both) {
  return el("table", { class: "plain" }, el("tr", {}, ["", "expected", "found"].map((name) => el("th", {}, name))),
    Object.keys(both[0]).map((name) => el("tr", {}, el("td", {}, name), both.map((side) => el("td", { class: "mono" }, shown(side[name]))))));
}

/* -- graph around a step ------------------------------------------------------------------------------------------- */
function graph() {
  const at = state.step ?? run().first;
  if (at === null) return [el("p", {}, "Nothing differs. Open a slot to see the graph around it.")];
  const levels = new Map([[at, 0]]);
  const spread = (from, name, by) => { let edge = from; for (let depth = 1; depth <= 2; depth++) { const next = []; edge.forEach((each) => run().steps[each][name].forEach((other) => { if (!levels.has(other) && next.length < 6) { levels.set(other, by * depth); next.push(other); } })); edge = next; } };
  spread([at], "fed_by", -1); spread([at], "feeds", 1);
  const columns = new Map(), place = new Map();
  [...levels].forEach(([step, level]) => { if (!columns.has(level)) columns.set(level, []); columns.get(level).push(step); });
  const order = [...columns.keys()].sort((a, b) => a - b), tall = Math.max(...[...columns.values()].map((each) => each.length)) * 66 + 20;
  const picture = svg("svg", { viewBox: `0 0 ${order.length * 250} ${tall}`, width: order.length * 250, height: tall, role: "group", "aria-label": "operators around it and the differing values that go from one to the other" });
  order.forEach((level, x) => columns.get(level).forEach((step, y) => place.set(step, [x * 250 + 5, y * 66 + 10])));
  place.forEach(([x, y], step) => run().steps[step].feeds.filter((other) => place.has(other)).forEach((other) => {
    const [x2, y2] = place.get(other);
    picture.append(svg("path", { d: `M${x + 220},${y + 25} C${x + 240},${y + 25} ${x2 - 20},${y2 + 25} ${x2 - 2},${y2 + 25}` }), svg("path", { class: "tip", d: `M${x2 - 8},${y2 + 21} L${x2 - 1},${y2 + 25} L${x2 - 8},${y2 + 29} z` }));
  }));
  place.forEach(([x, y], step) => {
    const each = run().steps[step], name = each.where[3].split("/");
    const box = svg("g", { tabindex: 0, role: "button" }, svg("rect", { x, y, width: 220, height: 52, rx: 4, class: `box ${each.role}${step === at ? " chosen" : ""}` }));
    [name.pop(), name.slice(-2).join("/"), `${each.role}, noise ${shown(each.out) || "-"}`].forEach((text, i) => { const line = svg("text", { x: x + 8, y: y + 15 + i * 15 }); line.textContent = text.length > 31 ? `..${text.slice(text.length - 29)}` : text; box.append(line); });
    box.addEventListener("click", () => openStep(step)); box.addEventListener("keydown", (event) => { if (event.key === "Enter") openStep(step); });
    picture.append(box);
  });
  const step = run().steps[at];
  return [el("h2", { class: step.role }, stepName(step)), el("p", {}, `${run().roles[step.role]}${step.source ? ` · ${step.source}` : ""}`), picture,
    el("p", { class: "dim" }, "arrows: differing values, from the operator that made them to those that take them, two operators either way"), ...statement(at), el("h3", {}, "its slots"),
    el("table", { class: "plain" }, el("tr", {}, ["slot", "dtype", "shape", "verdict", "max abs", "max rel", "noise", ...(step.slots.some((slot) => cell(slot, "found_as")) ? ["on the found side"] : [])].map((name) => el("th", {}, name))), step.slots.map((slot) => el("tr", {}, el("td", {}, link(cell(slot, "slot"), () => openSlot(slot))), ["dtype", "shape", "verdict", "max_abs", "max_rel", "noise"].map((name) => el("td", { class: "mono" }, shown(cell(slot, name)))), cell(slot, "found_as") ? el("td", { class: "mono" }, cell(slot, "found_as")) : null)))];
}

function statement(step) {
  const lines = run().ir[step];
  return lines ? [el("h3", {}, "its statement in the graph, with its lines of the script"), el("pre", {}, lines.map((line) => el("div", { class: /# .*In file/.test(line) ? "source" : "" }, line || " ")))] : [];
}

/* -- over iterations ----------------------------------------------------------------------------------------------- */
function drift() {
  const all = run().drift;
  if (!all.length) return [...cut(), el("p", {}, run().slots.length ? "No output differs, or the run has one iteration only." : "The page has no slots of this run.")];
  const named = state.slot === null ? -1 : all.findIndex((each) => each.slots.includes(state.slot));
  let chosen = Math.max(0, named);
  const list = el("div", { class: "list", role: "listbox", tabindex: 0, "aria-label": "outputs that differ; arrow keys choose" }), picture = el("div", { class: "pair" });
  function choose(at) {
    chosen = Math.max(0, Math.min(all.length - 1, at));
    [...list.children].forEach((child, i) => child.setAttribute("aria-selected", String(i === chosen)));
    list.children[chosen].scrollIntoView({ block: "nearest" });
    const each = all[chosen];
    picture.replaceChildren(
      el("div", {}, el("h3", {}, "mean, and from the smallest to the largest value"), course(each, 2, [0, 1]), el("h3", {}, "L2 norm"), course(each, 3, null), el("h3", {}, "noise"), noiseCourse(each)),
      el("div", {}, el("h3", {}, each.name), driftTable(each)));
    placed.splice(0).forEach((action) => action());
  }
  all.forEach((each, at) => list.append(el("div", { role: "option", onclick: () => choose(at) }, each.name, el("span", { class: "dim" }, ` differs in ${each.noise.filter((noise) => noise !== 0).length} of ${each.noise.length}`))));
  list.addEventListener("keydown", (event) => {
    const by = { ArrowDown: 1, ArrowUp: -1, Home: -1e9, End: 1e9 }[event.key];
    if (by) { event.preventDefault(); choose(chosen + by); }
    if (event.key === "Enter") openSlot(all[chosen].slots[Math.max(0, all[chosen].noise.findIndex((noise) => noise !== 0))]);
  });
  later(() => choose(chosen));
  return [el("h2", {}, "Statistics over iterations"), el("p", { class: "dim" }, "outputs that differ, those of the first divergence first; blue expected, orange found"), list, picture];
}
function driftTable(each) {
  const pair = (at, i) => each.expected[at] && each.found[at] ? (each.expected[at][i] === each.found[at][i] ? shown(number(each.found[at][i])) : `${shown(number(each.expected[at][i]))} → ${shown(number(each.found[at][i]))}`) : "";
  return el("table", { class: "plain" }, el("tr", {}, ["iteration", "noise", "min", "max", "mean", "L2 norm"].map((name) => el("th", {}, name))),
    each.iterations.slice(0, 100).map((iteration, at) => el("tr", {}, el("td", {}, link(String(iteration), () => openSlot(each.slots[at]))), el("td", { class: "mono" }, shown(number(each.noise[at]))), [0, 1, 2, 3].map((i) => el("td", { class: "mono" }, pair(at, i))))));
}
function course(each, value, band) {
  const canvas = el("canvas", { role: "img", "aria-label": "statistics of both sides over the iterations" });
  later(() => {
    const width = canvas.clientWidth || 500, tall = 130, left = 70, pen = drawing(canvas, width, tall);
    const sides = [["blue", each.expected], ["orange", each.found]];
    const values = sides.flatMap(([, rows]) => rows.filter(Boolean).flatMap((row) => [value, ...(band || [])].map((i) => number(row[i])))).filter(Number.isFinite);
    let low = Math.min(...values), high = Math.max(...values);
    if (!values.length) { pen.fillStyle = colour("dim"); pen.fillText("no values were kept, or none is finite", left, tall / 2); return; }
    if (low === high) { low -= Math.abs(low) || 1; high += Math.abs(high) || 1; }
    const count = each.iterations.length, x = (at) => left + (count > 1 ? at / (count - 1) : 0.5) * (width - left - 12), y = (v) => 8 + (1 - (v - low) / (high - low)) * (tall - 30);
    pen.fillStyle = colour("dim"); pen.fillText(shown(high), 2, y(high) + 4); pen.fillText(shown(low), 2, y(low) + 4);
    pen.fillText(`iteration ${each.iterations[0]}`, left, tall - 4); const end = String(each.iterations[count - 1]); if (count > 1) pen.fillText(end, width - 8 - pen.measureText(end).width, tall - 4);
    sides.forEach(([name, rows], side) => {
      pen.strokeStyle = pen.fillStyle = colour(name);
      if (band) { pen.globalAlpha = 0.18; rows.forEach((row, at) => { if (!row) return; const a = number(row[band[0]]), b = number(row[band[1]]); if (Number.isFinite(a) && Number.isFinite(b)) pen.fillRect(x(at) - 4 + side * 4, y(b), 4, Math.max(1, y(a) - y(b))); }); pen.globalAlpha = 1; }
      pen.lineWidth = side ? 1.5 : 3; pen.beginPath(); let down = false;
      rows.forEach((row, at) => { const v = row ? number(row[value]) : null; if (v === null || !Number.isFinite(v)) { down = false; return; } if (down) pen.lineTo(x(at), y(v)); else pen.moveTo(x(at), y(v)); down = true; pen.fillRect(x(at) - 2, y(v) - 2, 4, 4); });
      pen.stroke();
    });
  });
  return canvas;
}
function noiseCourse(each) {
  const canvas = el("canvas", { role: "img", "aria-label": "noise over the iterations" });
  later(() => {
    const width = canvas.clientWidth || 500, tall = 110, left = 70, pen = drawing(canvas, width, tall), count = each.iterations.length;
    const y = (part) => 6 + (1 - part) * (tall - 26);
    for (let decade = NOISE_LOW; decade <= NOISE_HIGH - 1; decade += 5) { const level = y((decade - NOISE_LOW) / (NOISE_HIGH - NOISE_LOW)); pen.fillStyle = colour("line"); pen.fillRect(left, level, width - left, 1); pen.fillStyle = colour("dim"); pen.fillText(`1e${decade}`, 2, level + 4); }
    const wide = (width - left - 12) / count;
    each.noise.forEach((noise, at) => { const part = height(number(noise)); if (part) { pen.fillStyle = colour("red"); pen.fillRect(left + at * wide, y(part), Math.max(1, Math.min(24, wide - 1)), y(0) - y(part)); } });
    pen.fillStyle = colour("dim"); pen.fillText(`iteration ${each.iterations[0]}`, left, tall - 4);
  });
  return canvas;
}

/* -- artefacts ----------------------------------------------------------------------------------------------------- */
const STATES = { identical: "good", differs: "bad", missing: "bad", new: "bad" };
const bytes = (count) => count === null ? "-" : count < 1024 ? `${count} B` : count < 1 << 20 ? `${(count / 1024).toFixed(1)} kB` : `${(count / (1 << 20)).toFixed(1)} MB`;
function artefacts() {
  const all = run().artefacts;
  if (!all.length) return [...cut(), el("p", {}, "The runs hold no texts (graphs, execution orders, what the Running Data Recorder wrote).")];
  const groups = [["What the Running Data Recorder wrote", all.filter((each) => each.recorder)], ["Other texts of the run: graphs, execution orders, what a mode watched", all.filter((each) => !each.recorder)]];
  const count = (state) => all.filter((each) => each.state === state).length;
  const box = el("div", {}), pick = el("select", { id: "states", "aria-label": "which artefacts", onchange: (event) => { state.texts = event.target.value; fill(); } },
    ["all", "not identical", ...Object.keys(STATES)].map((name) => el("option", { value: name, selected: name === state.texts }, name)));
  const find = el("input", { id: "filter", type: "search", placeholder: "name or kind ...", value: state.named, "aria-label": "filter artefacts", oninput: (event) => { state.named = event.target.value; fill(); } });
  const beside = el("button", { type: "button", id: "beside", "aria-pressed": String(state.beside), onclick: (event) => { state.beside = !state.beside; event.target.setAttribute("aria-pressed", String(state.beside)); fill(); } }, "side by side (s)");
  function fill() {
    let left = 2; // so many differences are open at first
    box.replaceChildren(...groups.flatMap(([title, group]) => {
      const rows = group.filter((each) => (state.texts === "all" || (state.texts === "not identical" ? each.state !== "identical" : each.state === state.texts)) && `${each.name} ${each.kind}`.toLowerCase().includes(state.named.toLowerCase()));
      return rows.length ? [el("h2", {}, title), el("div", { class: "texts" }, rows.map((each) => artefact(each, each.state === "differs" && each.hunks && each.hunks.length > 0 && left-- > 0)))] : [];
    }));
    if (!box.children.length) box.append(el("p", { class: "dim" }, "none of these"));
  }
  fill();
  return [...cut(), el("div", { class: "tools" }, find, pick, beside, el("span", { class: "dim" }, Object.keys(STATES).map((name) => `${count(name)} ${name}`).join(" · "))), box];
}
function artefact(each, opened) {
  const sizes = each.bytes[0] === each.bytes[1] ? bytes(each.bytes[0]) : `${bytes(each.bytes[0])} → ${bytes(each.bytes[1])}`;
  const made = el("details", { open: opened }, el("summary", {}, el("span", { class: `state ${STATES[each.state]}` }, each.state), el("span", { class: "mono" }, each.name), el("span", { class: "dim" }, each.kind), el("span", { class: "dim mono" }, sizes),
    each.removed + each.added > 0 ? el("span", { class: "mono" }, el("span", { class: "del" }, `−${each.removed}`), " ", el("span", { class: "add" }, `+${each.added}`)) : el("span", {})));
  const show = () => { if (made.open && made.children.length === 1) made.append(...difference(each)); };
  made.addEventListener("toggle", show); show();
  return made;
}
function difference(each) {
  const parts = [];
  if (each.same_as !== undefined) { const other = run().artefacts[each.same_as]; parts.push(el("p", {}, `Differs in the same lines as ${other.name}:`)); each = { ...each, hunks: other.hunks, cut: other.cut, lines: other.lines }; }
  if (each.state === "identical") parts.push(el("p", { class: "dim" }, "the same bytes on both sides"));
  if (each.state === "missing") parts.push(el("p", {}, "Only the expected side has it; it begins:"));
  if (each.state === "new") parts.push(el("p", {}, "Only the found side has it; it begins:"));
  const hunks = each.hunks || [], only = each.state !== "differs";
  let at = 1;
  hunks.forEach(([old, now, lines]) => {
    const equal = old - at; at = old + lines.filter(([tag]) => tag !== "+").length;
    parts.push(el("details", { class: "hunk", open: true }, el("summary", { class: "dim mono" }, `${equal > 0 ? `… ${equal} equal line${equal > 1 ? "s" : ""} … ` : ""}@@ line ${old}${now !== old ? ` → ${now}` : ""} @@`), state.beside && !only ? besideTable(old, now, lines) : unified(old, now, lines)));
  });
  const rest = each.state === "differs" && each.lines && each.lines[0] !== null && hunks.length && !each.cut ? each.lines[0] - at + 1 : 0;
  if (rest > 0) parts.push(el("p", { class: "dim mono" }, `… ${rest} equal line${rest > 1 ? "s" : ""} …`));
  if (each.cut) parts.push(el("p", { class: "bad" }, each.cut));
  if (each.normalised) parts.push(el("p", { class: "dim" }, `Compared without what differs from run to run: ${each.normalised}.`));
  if (!each.counts) parts.push(el("p", { class: "dim" }, "It describes the run: a difference here is no failure by itself."));
  return parts;
}
function pairsOf(lines) {
  const rows = []; let old = [], now = [];
  const flush = () => { for (let i = 0; i < Math.max(old.length, now.length); i++) rows.push([old[i], now[i]]); old = []; now = []; };
  lines.forEach(([tag, text]) => { if (tag === "-") { if (now.length) flush(); old.push(text); } else if (tag === "+") now.push(text); else { flush(); rows.push([text, text, true]); } });
  flush(); return rows;
}
function marked(text, other) {
  // The part in which two lines differ stands out.
  if (text === undefined) return [];
  if (other === undefined || text === other) return [text || " "];
  let head = 0, tail = 0; const short = Math.min(text.length, other.length);
  while (head < short && text[head] === other[head]) head++;
  while (tail < short - head && text[text.length - 1 - tail] === other[other.length - 1 - tail]) tail++;
  const middle = text.slice(head, text.length - tail);
  return [text.slice(0, head), middle ? el("mark", {}, middle) : "", text.slice(text.length - tail)];
}
function unified(old, now, lines) {
  const body = []; let before = [], after = [];
  const flush = () => {
    before.forEach((text, i) => body.push(el("tr", { class: "del" }, el("td", { class: "no" }, String(old++)), el("td", { class: "no" }), el("td", { class: "tag" }, "−"), el("td", {}, marked(text, after[i])))));
    after.forEach((text, i) => body.push(el("tr", { class: "add" }, el("td", { class: "no" }), el("td", { class: "no" }, String(now++)), el("td", { class: "tag" }, "+"), el("td", {}, marked(text, before[i])))));
    before = []; after = [];
  };
  lines.forEach(([tag, text]) => {
    if (tag === "-") { if (after.length) flush(); before.push(text); } else if (tag === "+") after.push(text);
    else { flush(); body.push(el("tr", {}, el("td", { class: "no" }, String(old++)), el("td", { class: "no" }, String(now++)), el("td", { class: "tag" }), el("td", {}, text || " "))); }
  });
  flush();
  return el("div", { class: "diff" }, el("table", {}, body));
}
function besideTable(old, now, lines) {
  return el("div", { class: "diff" }, el("table", { class: "beside" }, pairsOf(lines).map(([left, right, same]) => el("tr", {},
    el("td", { class: "no" }, left === undefined ? "" : String(old++)), el("td", { class: same || left === undefined ? "" : "del" }, same ? left || " " : marked(left, right)),
    el("td", { class: "no" }, right === undefined ? "" : String(now++)), el("td", { class: same || right === undefined ? "" : "add" }, same ? right || " " : marked(right, left))))));
}

/* -- frame --------------------------------------------------------------------------------------------------------- */
const DRAW = { Summary: summary, Error: errors, Slots: slots, Graph: graph, Drift: drift, Artefacts: artefacts };
function draw() {
  document.querySelectorAll("nav button").forEach((button) => button.setAttribute("aria-selected", String(button.dataset.view === state.view)));
  $("#run").value = String(state.run);
  placed.length = 0;
  view.replaceChildren(...DRAW[state.view]().flat().filter((part) => part !== null));
  placed.splice(0).forEach((action) => action());
  view.scrollTop = 0; scrollTo(0, 0);
  const grid = $(".grid", view); if (grid) grid.focus({ preventScroll: true });
  location.replace(`#${state.run}/${state.view}${state.slot !== null ? `/${state.slot}` : ""}`);
}
function theme(dark) { document.documentElement.dataset.theme = dark ? "dark" : "light"; draw(); }
VIEWS.forEach((name, i) => $("nav").append(el("button", { type: "button", role: "tab", "data-view": name, onclick: () => open({ view: name, slot: null }) }, `${i + 1} ${name}`)));
DATA.runs.forEach((each, at) => $("#run").append(el("option", { value: at, title: each.name }, `${each.holds ? "✓" : "✗"} ${each.name.split("/").pop()}`)));
$("#run").addEventListener("change", (event) => open({ run: Number(event.target.value), slot: null, step: null }));
$("#theme").addEventListener("click", () => theme(document.documentElement.dataset.theme !== "dark"));
addEventListener("keydown", (event) => {
  if (event.target.matches("input, select")) { if (event.key === "Escape") event.target.blur(); return; }
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (/^[1-6]$/.test(event.key)) open({ view: VIEWS[Number(event.key) - 1], slot: null });
  if (event.key === "s" && $("#beside")) $("#beside").click();
  if (event.key === "t") theme(document.documentElement.dataset.theme !== "dark");
  if (event.key === "/") { event.preventDefault(); if (!$("#filter")) open({ view: "Slots", slot: null }); $("#filter").focus(); }
  if (event.key === "[" || event.key === "]") {
    const all = differing(); if (!all.length) return;
    const at = all.indexOf(state.slot), next = event.key === "]" ? at + 1 : at < 0 ? all.length - 1 : at - 1;
    openSlot(all[(next + all.length) % all.length]);
  }
});
const start = location.hash.slice(1).split("/");
if (DATA.runs[Number(start[0])] && DRAW[start[1]]) Object.assign(state, { run: Number(start[0]), view: start[1], slot: start[2] && run().slots[Number(start[2])] ? Number(start[2]) : null });
theme(matchMedia("(prefers-color-scheme: dark)").matches);

/* -- frame --------------------------------------------------------------------------------------------------------- */
const DRAW = { Summary: summary, Error: errors, Slots: slots, Graph: graph, Drift: drift, Artefacts: artefacts };
const HELD = {
  Summary: () => true,
  Error: (each) => each.steps.length,
  Slots: (each) => each.slots.length,
  Graph: (each) => each.network.sides.some((side) => side.operators.length) || each.network.cut,
  Drift: (each) => each.drift.length,
  Artefacts: (each) => each.artefacts.length,
};
/* A view without content is not offered. */
const offered = (name) => Boolean(HELD[name](run()));
function draw() {
  if (!offered(state.view)) Object.assign(state, { view: "Summary", slot: null });
  $("nav").replaceChildren(...VIEWS.filter(offered).map(tab));
  $("#run").value = String(state.run);
  view.setAttribute("aria-labelledby", `tab-${state.view}`);
  placed.length = 0;
  view.replaceChildren(
    ...DRAW[state.view]()
      .flat()
      .filter((part) => part !== null && part !== undefined),
  );
  placed.splice(0).forEach((action) => action());
  view.scrollTop = 0;
  scrollTo(0, 0);
  const grid = $(".grid", view);
  if (grid) grid.focus({ preventScroll: true });
  remember();
}
function tab(name) {
  const go = () => open({ view: name, slot: null });
  const [selected, label] = [String(name === state.view), `${VIEWS.indexOf(name) + 1} ${name}`];
  return el(
    "button",
    {
      type: "button",
      role: "tab",
      id: `tab-${name}`,
      tabindex: name === state.view ? 0 : -1,
      "data-view": name,
      "aria-controls": "view",
      "aria-selected": selected,
      onclick: go,
    },
    label,
  );
}
/* Arrow keys choose a tab, as the role asks. */
$("nav").addEventListener("keydown", (event) => {
  const names = VIEWS.filter(offered);
  const at = names.indexOf(state.view);
  const next = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: names.length - 1 }[event.key];
  if (next === undefined) return;
  event.preventDefault();
  event.stopPropagation();
  open({ view: names[(next + names.length) % names.length], slot: null });
  $(`#tab-${state.view}`).focus();
});
/* The address leads back to what is shown. */
function remember() {
  const last = state.view === "Graph" ? state.step : state.slot;
  location.replace(`#${state.run}/${state.view}${last !== null ? `/${last}` : ""}`);
}
function theme(dark) {
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  draw();
}
DATA.runs.forEach((each, at) =>
  $("#run").append(
    el("option", { value: at, title: each.name }, `${each.holds ? "✓" : "✗"} ${each.name.split("/").pop()}`),
  ),
);
$("#run").addEventListener("change", (event) => openRun(Number(event.target.value)));
$("#theme").addEventListener("click", () => theme(document.documentElement.dataset.theme !== "dark"));
addEventListener("keydown", (event) => {
  if (event.target.matches("input, select")) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const asked = /^[1-6]$/.test(event.key) && VIEWS[Number(event.key) - 1];
  if (asked && offered(asked)) open({ view: asked, slot: null });
  if (event.key === "s" && $("#beside")) $("#beside").click();
  if (event.key === "t") theme(document.documentElement.dataset.theme !== "dark");
  if (event.key === "/") {
    event.preventDefault();
    if (!$("#filter")) open({ view: "Slots", slot: null });
    if ($("#filter")) $("#filter").focus();
  }
  if (event.key === "[" || event.key === "]") {
    const all = differing();
    if (!all.length) return;
    const at = all.indexOf(state.slot),
      next = event.key === "]" ? at + 1 : at < 0 ? all.length - 1 : at - 1;
    openSlot(all[(next + all.length) % all.length]);
  }
});
const start = location.hash.slice(1).split("/");
if (DATA.runs[Number(start[0])] && DRAW[start[1]]) {
  Object.assign(state, { run: Number(start[0]), view: start[1] });
  const [last, kept] = start[1] === "Graph" ? ["step", run().steps] : ["slot", run().slots];
  if (start[2] && kept[Number(start[2])]) state[last] = Number(start[2]);
}
theme(matchMedia("(prefers-color-scheme: dark)").matches);

/* -- table of slots ------------------------------------------------------------------------------------------------ */
const SHOWN = [
  "iteration",
  "graph",
  "operator",
  "slot",
  "dtype",
  "shape",
  "verdict",
  "max_abs",
  "max_rel",
  "noise",
  "max_ulp",
];
function chosen() {
  const words = state.filter.toLowerCase().split(/\s+/).filter(Boolean),
    names = ["operator", "slot", "type", "dtype", "verdict", "source", "reason"].map(column);
  let rows = run()
    .slots.map((_, at) => at)
    .filter((at) => {
      const verdict = cell(at, "verdict");
      if (
        state.verdict === "not identical"
          ? verdict === "identical"
          : state.verdict !== "all" && verdict !== state.verdict
      )
        return false;
      const text = words.length
        ? `${names.map((name) => run().slots[at][name] || "").join(" ")} ${cell(at, "found_as") || ""}`.toLowerCase()
        : "";
      return words.every((word) => text.includes(word));
    });
  if (state.sort) {
    const at = column(state.sort),
      sign = state.descending ? -1 : 1;
    const key = (row) => {
      const value = run().slots[row][at];
      const n = number(value);
      return value === null || value === undefined
        ? null
        : typeof n === "number" && !Number.isNaN(n) && typeof value !== "object"
          ? n
          : String(value);
    };
    const keys = new Map(rows.map((row) => [row, key(row)]));
    rows = rows.sort((a, b) => {
      const one = keys.get(a),
        other = keys.get(b);
      return one === other ? a - b : one === null ? 1 : other === null ? -1 : (one < other ? -1 : 1) * sign;
    });
  }
  return rows;
}
function slots() {
  if (state.slot !== null) return slotPage(state.slot);
  if (!run().slots.length) return [...cut(), el("p", {}, "The page has no slots of this run.")];
  const body = el("div", { style: { position: "relative" } }),
    head = el("div", { class: "head" }),
    count = el("span", { class: "dim" });
  const grid = el("div", { class: "grid", tabindex: 0, role: "grid", "aria-label": "slots" }, head, body);
  let rows = [];
  SHOWN.forEach((name) =>
    head.append(
      el(
        "button",
        {
          type: "button",
          "data-sort": name,
          onclick: () => {
            state.descending =
              state.sort === name
                ? !state.descending
                : !["iteration", "graph", "operator", "slot", "dtype", "shape", "verdict"].includes(name);
            state.sort = name;
            fill();
          },
        },
        name,
      ),
    ),
  );
  function paint() {
    const from = Math.max(0, Math.floor(grid.scrollTop / ROW) - 5),
      to = Math.min(rows.length, from + Math.ceil(grid.clientHeight / ROW) + 10);
    body.replaceChildren(
      ...rows.slice(from, to).map((slot, i) =>
        el(
          "div",
          {
            class: "row",
            role: "row",
            style: { top: `${(from + i) * ROW}px` },
            "aria-selected": String(from + i === state.row),
            onclick: () => openSlot(slot),
          },
          SHOWN.map((name) =>
            el(
              "span",
              {
                class:
                  name === "operator" ? "tail" : name === "verdict" && !HOLDING.includes(cell(slot, name)) ? "bad" : "",
                title: shown(cell(slot, name)),
              },
              name === "operator"
                ? el("bdi", {}, shown(cell(slot, name)))
                : (name === "iteration" && cell(slot, "rank") ? `r${cell(slot, "rank")} · ` : "") +
                    shown(cell(slot, name)),
            ),
          ),
        ),
      ),
    );
  }
  function fill() {
    rows = chosen();
    state.row = Math.min(state.row, Math.max(0, rows.length - 1));
    body.style.height = `${rows.length * ROW}px`;
    count.textContent = `${rows.length} of ${run().slots.length} slots`;
    head.querySelectorAll("button").forEach((button) => {
      const name = button.dataset.sort;
      button.setAttribute("aria-sort", state.sort === name ? (state.descending ? "descending" : "ascending") : "none");
      button.textContent = name + (state.sort === name ? (state.descending ? " ↓" : " ↑") : "");
    });
    paint();
  }
  const filter = el("input", {
    id: "filter",
    type: "search",
    placeholder: "operator, type, dtype, source ...",
    value: state.filter,
    "aria-label": "filter",
    oninput: (event) => {
      state.filter = event.target.value;
      grid.scrollTop = 0;
      fill();
    },
  });
  const verdict = el(
    "select",
    {
      "aria-label": "verdict",
      onchange: (event) => {
        state.verdict = event.target.value;
        grid.scrollTop = 0;
        fill();
      },
    },
    ["not identical", "all", ...Object.keys(run().counts)].map((name) =>
      el("option", { value: name, selected: name === state.verdict }, name),
    ),
  );
  grid.addEventListener("scroll", paint);
  grid.addEventListener("keydown", (event) => {
    const by = { ArrowDown: 1, ArrowUp: -1, PageDown: 20, PageUp: -20, Home: -1e9, End: 1e9 }[event.key];
    if (by) {
      event.preventDefault();
      state.row = Math.max(0, Math.min(rows.length - 1, state.row + by));
      const top = state.row * ROW;
      if (top < grid.scrollTop) grid.scrollTop = top;
      else if (top > grid.scrollTop + grid.clientHeight - 3 * ROW) grid.scrollTop = top - grid.clientHeight + 3 * ROW;
      paint();
    }
    if (event.key === "Enter" && rows.length) openSlot(rows[state.row]);
  });
  if (!run().slots.some((_, at) => cell(at, "verdict") !== "identical") && state.verdict === "not identical") {
    state.verdict = "all";
    verdict.value = "all";
  }
  later(fill);
  return [el("div", { class: "tools" }, filter, verdict, count), grid];
}

/* -- artefacts ----------------------------------------------------------------------------------------------------- */
const STATES = { identical: "good", differs: "bad", missing: "bad", new: "bad" };
const bytes = (count) =>
  count === null
    ? "-"
    : count < 1024
      ? `${count} B`
      : count < 1 << 20
        ? `${(count / 1024).toFixed(1)} kB`
        : `${(count / (1 << 20)).toFixed(1)} MB`;
function artefacts() {
  const all = run().artefacts;
  if (!all.length)
    return [
      ...cut(),
      el("p", {}, "The runs hold no texts (graphs, execution orders, what the Running Data Recorder wrote)."),
    ];
  const groups = [
    ["What the Running Data Recorder wrote", all.filter((each) => each.recorder)],
    ["Other texts of the run: graphs, execution orders, what a mode watched", all.filter((each) => !each.recorder)],
  ];
  const count = (state) => all.filter((each) => each.state === state).length;
  const box = el("div", {}),
    pick = el(
      "select",
      {
        id: "states",
        "aria-label": "which artefacts",
        onchange: (event) => {
          state.texts = event.target.value;
          fill();
        },
      },
      ["all", "not identical", ...Object.keys(STATES)].map((name) =>
        el("option", { value: name, selected: name === state.texts }, name),
      ),
    );
  const find = el("input", {
    id: "filter",
    type: "search",
    placeholder: "name or kind ...",
    value: state.named,
    "aria-label": "filter artefacts",
    oninput: (event) => {
      state.named = event.target.value;
      fill();
    },
  });
  const beside = el(
    "button",
    {
      type: "button",
      id: "beside",
      "aria-pressed": String(state.beside),
      onclick: (event) => {
        state.beside = !state.beside;
        event.target.setAttribute("aria-pressed", String(state.beside));
        fill();
      },
    },
    "side by side (s)",
  );
  function fill() {
    let left = 2; // so many differences are open at first
    box.replaceChildren(
      ...groups.flatMap(([title, group]) => {
        const rows = group.filter(
          (each) =>
            (state.texts === "all" ||
              (state.texts === "not identical" ? each.state !== "identical" : each.state === state.texts)) &&
            `${each.name} ${each.kind}`.toLowerCase().includes(state.named.toLowerCase()),
        );
        return rows.length
          ? [
              el("h2", {}, title),
              el(
                "div",
                { class: "texts" },
                rows.map((each) =>
                  artefact(each, each.state === "differs" && each.hunks && each.hunks.length > 0 && left-- > 0),
                ),
              ),
            ]
          : [];
      }),
    );
    if (!box.children.length) box.append(el("p", { class: "dim" }, "none of these"));
  }
  fill();
  return [
    ...cut(),
    el(
      "div",
      { class: "tools" },
      find,
      pick,
      beside,
      el(
        "span",
        { class: "dim" },
        Object.keys(STATES)
          .map((name) => `${count(name)} ${name}`)
          .join(" · "),
      ),
    ),
    box,
  ];
}
function artefact(each, opened) {
  const sizes =
    each.bytes[0] === each.bytes[1] ? bytes(each.bytes[0]) : `${bytes(each.bytes[0])} → ${bytes(each.bytes[1])}`;
  const made = el(
    "details",
    { open: opened },
    el(
      "summary",
      {},
      el("span", { class: `state ${STATES[each.state]}` }, each.state),
      el("span", { class: "mono" }, each.name),
      el("span", { class: "dim" }, each.kind),
      el("span", { class: "dim mono" }, sizes),
      each.removed + each.added > 0
        ? el(
            "span",
            { class: "mono" },
            el("span", { class: "del" }, `−${each.removed}`),
            " ",
            el("span", { class: "add" }, `+${each.added}`),
          )
        : el("span", {}),
    ),
  );
  const show = () => {
    if (made.open && made.children.length === 1) made.append(...difference(each));
  };
  made.addEventListener("toggle", show);
  show();
  return made;
}
function difference(each) {
  const parts = [];
  if (each.same_as !== undefined) {
    const other = run().artefacts[each.same_as];
    parts.push(el("p", {}, `Differs in the same lines as ${other.name}:`));
    each = { ...each, hunks: other.hunks, cut: other.cut, lines: other.lines };
  }
  if (each.state === "identical") parts.push(el("p", { class: "dim" }, "the same bytes on both sides"));
  if (each.state === "missing") parts.push(el("p", {}, "Only the expected side has it; it begins:"));
  if (each.state === "new") parts.push(el("p", {}, "Only the found side has it; it begins:"));
  const hunks = each.hunks || [],
    only = each.state !== "differs";
  let at = 1;
  hunks.forEach(([old, now, lines]) => {
    const equal = old - at;
    at = old + lines.filter(([tag]) => tag !== "+").length;
    parts.push(
      el(
        "details",
        { class: "hunk", open: true },
        el(
          "summary",
          { class: "dim mono" },
          `${equal > 0 ? `… ${equal} equal line${equal > 1 ? "s" : ""} … ` : ""}@@ line ${old}${now !== old ? ` → ${now}` : ""} @@`,
        ),
        state.beside && !only ? besideTable(old, now, lines) : unified(old, now, lines),
      ),
    );
  });
  const rest =
    each.state === "differs" && each.lines && each.lines[0] !== null && hunks.length && !each.cut
      ? each.lines[0] - at + 1
      : 0;
  if (rest > 0) parts.push(el("p", { class: "dim mono" }, `… ${rest} equal line${rest > 1 ? "s" : ""} …`));
  if (each.cut) parts.push(el("p", { class: "bad" }, each.cut));
  if (each.normalised)
    parts.push(el("p", { class: "dim" }, `Compared without what differs from run to run: ${each.normalised}.`));
  if (!each.counts)
    parts.push(el("p", { class: "dim" }, "It describes the run: a difference here is no failure by itself."));
  return parts;
}
function pairsOf(lines) {
  const rows = [];
  let old = [],
    now = [];
  const flush = () => {
    for (let i = 0; i < Math.max(old.length, now.length); i++) rows.push([old[i], now[i]]);
    old = [];
    now = [];
  };
  lines.forEach(([tag, text]) => {
    if (tag === "-") {
      if (now.length) flush();
      old.push(text);
    } else if (tag === "+") now.push(text);
    else {
      flush();
      rows.push([text, text, true]);
    }
  });
  flush();
  return rows;
}
function marked(text, other) {
  // The part in which two lines differ stands out.
  if (text === undefined) return [];
  if (other === undefined || text === other) return [text || " "];
  let head = 0,
    tail = 0;
  const short = Math.min(text.length, other.length);
  while (head < short && text[head] === other[head]) head++;
  while (tail < short - head && text[text.length - 1 - tail] === other[other.length - 1 - tail]) tail++;
  const middle = text.slice(head, text.length - tail);
  return [text.slice(0, head), middle ? el("mark", {}, middle) : "", text.slice(text.length - tail)];
}
function unified(old, now, lines) {
  const body = [];
  let before = [],
    after = [];
  const flush = () => {
    before.forEach((text, i) =>
      body.push(
        el(
          "tr",
          { class: "del" },
          el("td", { class: "no" }, String(old++)),
          el("td", { class: "no" }),
          el("td", { class: "tag" }, "−"),
          el("td", {}, marked(text, after[i])),
        ),
      ),
    );
    after.forEach((text, i) =>
      body.push(
        el(
          "tr",
          { class: "add" },
          el("td", { class: "no" }),
          el("td", { class: "no" }, String(now++)),
          el("td", { class: "tag" }, "+"),
          el("td", {}, marked(text, before[i])),
        ),
      ),
    );
    before = [];
    after = [];
  };
  lines.forEach(([tag, text]) => {
    if (tag === "-") {
      if (after.length) flush();
      before.push(text);
    } else if (tag === "+") after.push(text);
    else {
      flush();
      body.push(
        el(
          "tr",
          {},
          el("td", { class: "no" }, String(old++)),
          el("td", { class: "no" }, String(now++)),
          el("td", { class: "tag" }),
          el("td", {}, text || " "),
        ),
      );
    }
  });
  flush();
  return el("div", { class: "diff" }, el("table", {}, body));
}
function besideTable(old, now, lines) {
  return el(
    "div",
    { class: "diff" },
    el(
      "table",
      { class: "beside" },
      pairsOf(lines).map(([left, right, same]) =>
        el(
          "tr",
          {},
          el("td", { class: "no" }, left === undefined ? "" : String(old++)),
          el("td", { class: same || left === undefined ? "" : "del" }, same ? left || " " : marked(left, right)),
          el("td", { class: "no" }, right === undefined ? "" : String(now++)),
          el("td", { class: same || right === undefined ? "" : "add" }, same ? right || " " : marked(right, left)),
        ),
      ),
    ),
  );
}

/* -- summary: what differs, why, and how that is known ------------------------------------------------------------- */
const afterNumber = (verdict) => (verdict === "differs" ? "differing" : verdict);
function summary() {
  const parts = [...cut(), verdictLine(), ...firstScreen()];
  if (run().text) parts.push(el("h2", {}, "In words"), el("pre", { class: "words" }, run().text));
  if (DATA.runs.length > 1) parts.push(runsTable());
  parts.push(...rolesTable());
  if (run().steps.some((step) => step.role !== "agrees"))
    parts.push(el("h2", {}, "Error along the execution order"), errorCanvas(180));
  parts.push(...textsLine());
  const notes = [`expected ${run().expected}`, `found ${run().found}`, ...run().notes];
  parts.push(el("p", { class: "dim" }, notes.join(" · ")));
  return parts;
}
function verdictLine() {
  const counts = Object.entries(run().counts).filter(([, count]) => count);
  const badge = (verdict, count) =>
    el("span", { class: `count ${HOLDING.includes(verdict) ? "" : "bad"}` }, el("b", {}, String(count)), ` ${afterNumber(verdict)}`);
  return el(
    "div",
    { class: "verdict" },
    el("strong", { class: run().holds ? "good" : "bad" }, run().holds ? "✓ holds" : `✗ ${run().verdict}`),
    el("span", { class: "name" }, run().name),
    el(
      "span",
      { class: "counts" },
      counts.map(([verdict, count]) => badge(verdict, count)),
    ),
  );
}
/* What an explanation says; without one, what the comparison itself knows. */
function firstScreen() {
  const told = run().explanation;
  if (!told) return run().first === null ? [] : [el("div", { class: "card" }, knownOrigin())];
  const card = [];
  if (told.cause) card.push(...causeOf(told.cause));
  if (told.origin) card.push(...originOf(told));
  if (told.others.length)
    card.push(
      el(
        "ul",
        {},
        told.others.map((line) => el("li", {}, line)),
      ),
    );
  return card.length ? [el("div", { class: "card" }, card)] : [];
}
function causeOf(cause) {
  const parts = [
    el(
      "p",
      { class: "cause" },
      el("span", { class: `proof ${cause.proven ? "proven" : ""}` }, `Cause, ${cause.certainty}`),
      " ",
      el("strong", {}, cause.text.replaceAll(" -> ", " → ")),
      cause.source ? el("span", { class: "dim" }, ` (${cause.source})`) : null,
    ),
  ];
  const changes = cause.changes.filter((change) => change.expected || change.found);
  if (changes.length) parts.push(changesTable(changes));
  return parts;
}
function changesTable(changes) {
  const row = (change) => [
    el("th", { scope: "row" }, change.name),
    el("td", { class: "mono" }, change.expected || "–"),
    el("td", { class: "arrow" }, "→"),
    el("td", { class: "mono" }, change.found || "–"),
  ];
  const head = ["name", "expected", "", "found"].map((name) => el(name ? "th" : "td", {}, name));
  return el(
    "table",
    { class: "plain changes" },
    el("tr", {}, head),
    changes.map((change) => el("tr", {}, row(change))),
  );
}
function originOf(told) {
  const origin = told.origin;
  const at = run().first;
  const name = at === null ? origin.operator : link(origin.operator, () => openStep(at));
  const what = origin.place === null ? origin.what : link(origin.what, () => openSlot(origin.place));
  const parts = [
    el("h2", {}, "First divergence"),
    el("p", { class: "where" }, el("strong", {}, name), el("br"), `iteration ${origin.slot[2]}, `, what),
  ];
  if (origin.found_as) parts.push(el("p", {}, "on the found side: ", el("strong", {}, origin.found_as)));
  if (origin.element) {
    const { index, expected, found } = origin.element;
    parts.push(values(index.length ? `at [${index.join(", ")}]` : "", expected, found));
  }
  const facts = [
    origin.element ? "" : origin.reason,
    origin.count ? `${origin.differing} of ${origin.count} elements differ` : "",
    origin.inputs,
    origin.before ?? "",
    origin.source ? `script: ${origin.source}` : "",
  ].filter(Boolean);
  if (facts.length) parts.push(el("p", {}, facts.join(" · ")));
  const rest = [
    `${told.after} operator${told.after === 1 ? " after it differs" : "s after it differ"}, too`,
    `${told.identical} of ${told.slots} slots are identical`,
  ];
  parts.push(el("p", { class: "dim" }, (told.after ? rest : rest.slice(1)).join(" · ")));
  return parts;
}
function knownOrigin() {
  const step = run().steps[run().first];
  const bad = step.slots.filter((slot) => !HOLDING.includes(cell(slot, "verdict")));
  const slot = bad.find((each) => cell(each, "slot").startsWith("output")) ?? bad[0];
  const parts = [
    el("h2", {}, "First divergence"),
    el(
      "p",
      { class: "where" },
      el(
        "strong",
        {},
        link(step.where[3], () => openStep(run().first)),
      ),
    ),
  ];
  if (slot !== undefined) {
    const named = `${cell(slot, "slot")} ${cell(slot, "dtype")} ${shown(cell(slot, "shape"))}`;
    parts.push(
      el(
        "p",
        {},
        `${stepTime(step)}, `,
        link(named, () => openSlot(slot)),
      ),
      worstOf(slot),
    );
    parts.push(el("p", {}, cell(slot, "reason")));
  }
  return [...parts.filter(Boolean), el("p", { class: "dim" }, run().roles[step.role])];
}
function textsLine() {
  const all = run().artefacts;
  if (!all.length) return [];
  const counts = Object.keys(STATES).map((name) => [all.filter((each) => each.state === name).length, name]);
  const said = counts.filter(([count]) => count).map(([count, name]) => `${count} ${afterNumber(name)}`);
  return [
    el(
      "p",
      {},
      link(`${all.length} texts`, () => open({ view: "Artefacts" })),
      `: ${said.join(", ")}`,
    ),
  ];
}
function runsTable() {
  const verdicts = Object.keys(run().counts).filter((name) => DATA.runs.some((each) => each.counts[name]));
  const rows = DATA.runs.map((each, at) =>
    el(
      "tr",
      { "aria-current": at === state.run ? "true" : null },
      el(
        "td",
        {},
        link(each.name, () => openRun(at)),
      ),
      el("td", { class: each.holds ? "good" : "bad" }, each.holds ? "holds" : each.verdict),
      verdicts.map((name) => el("td", { class: "number" }, String(each.counts[name]))),
    ),
  );
  const head = ["run", "verdict", ...verdicts].map((name, at) => el("th", { scope: "col", class: at > 1 ? "number" : null }, name));
  const title = el("h2", {}, `${DATA.runs.length} runs`);
  return el("div", {}, title, el("table", { class: "plain" }, el("tr", {}, head), rows));
}
function rolesTable() {
  const steps = run().steps;
  const places = (role) => steps.map((_, at) => at).filter((at) => steps[at].role === role);
  const rows = Object.entries(run().roles)
    .map(([role, meaning]) => [role, meaning, places(role)])
    .filter(([role, , found]) => found.length && role !== "agrees");
  if (!rows.length) return [];
  const some = (found) =>
    found
      .slice(0, 3)
      .flatMap((at, i) => [i ? ", " : "", link(steps[at].where[3].split("/").pop(), () => openStep(at))]);
  const row = ([role, meaning, found]) =>
    el(
      "tr",
      {},
      el("td", { class: `${role} whole` }, role),
      el("td", {}, String(found.length)),
      el("td", {}, meaning),
      el("td", {}, some(found), found.length > 3 ? " ..." : ""),
    );
  return [el("h2", {}, "How it spreads"), el("table", { class: "plain" }, rows.map(row))];
}

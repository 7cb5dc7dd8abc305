"use strict";
const DATA = JSON.parse(document.getElementById("data").textContent);
const VIEWS = ["Summary", "Error", "Slots", "Graph", "Drift", "Artefacts"];
const ROW = 22,
  NOISE_LOW = -10,
  NOISE_HIGH = 1;
const PEN = '11px "Liberation Sans", "DejaVu Sans", Arial, sans-serif';
const HOLDING = ["identical", "within tolerance", "statistics agree", "not compared, accepted"];
const state = {
  run: 0,
  view: "Summary",
  slot: null,
  step: null,
  operator: null,
  iteration: null,
  unfolded: null,
  sort: null,
  descending: false,
  filter: "",
  verdict: "not identical",
  row: 0,
  texts: "all",
  named: "",
  beside: false,
};
const $ = (selector, within) => (within || document).querySelector(selector);
const view = $("#view");
const cut = () => run().cut.map((text) => el("p", { class: "cut" }, text));
function drawing(canvas, width, tall) {
  const ratio = window.devicePixelRatio || 1;
  canvas.width = width * ratio;
  canvas.height = tall * ratio;
  canvas.style.height = `${tall}px`;
  const pen = canvas.getContext("2d");
  pen.scale(ratio, ratio);
  pen.font = PEN;
  return pen;
}

function el(tag, attributes, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    // Through the DOM: the page's policy forbids style attributes in a text.
    else if (name === "style") Object.assign(made.style, value);
    else if (value !== null && value !== undefined && value !== false)
      made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return made;
}
function svg(tag, attributes, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes || {}))
    if (name === "style") Object.assign(made.style, value);
    else made.setAttribute(name, value);
  made.append(...children);
  return made;
}
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
const run = () => DATA.runs[state.run];
const column = (name) => run().columns.indexOf(name);
const cell = (slot, name) => {
  const value = run().slots[slot][column(name)];
  return value === undefined ? null : value;
};
const number = (value) =>
  value === null || value === undefined
    ? null
    : typeof value === "string"
      ? Number(value.replace("inf", "Infinity"))
      : value;
function shown(value) {
  if (value === null || value === undefined) return "";
  if (typeof value === "number" && !Number.isInteger(value))
    return value !== 0 && (Math.abs(value) < 1e-3 || Math.abs(value) >= 1e6)
      ? value.toExponential(3)
      : String(Number(value.toPrecision(6)));
  return Array.isArray(value) ? `[${value.join(", ")}]` : String(value);
}
const stepName = (step) => `${stepTime(step)}, ${step.where[3]}${step.where[4] ? ` (${step.where[4]})` : ""}`;
const stepTime = (step) => `${step.where[0] ? `rank ${step.where[0]}, ` : ""}iteration ${step.where[2]}`;
const differing = () =>
  run()
    .slots.map((_, at) => at)
    .filter((at) => cell(at, "verdict") !== "identical");
function link(text, go) {
  return el(
    "a",
    {
      href: "#",
      onclick: (event) => {
        event.preventDefault();
        go();
      },
    },
    text,
  );
}
// What needs sizes runs once the elements are on the page.
const placed = [];
const later = (action) => placed.push(action);
function open(changes) {
  Object.assign(state, changes);
  draw();
}
const openRun = (at) => open({ run: at, slot: null, step: null, operator: null, iteration: null });
const openSlot = (slot) => open({ view: "Slots", slot });
const openStep = (step) => open({ view: "Graph", step, operator: null, iteration: null, slot: null });

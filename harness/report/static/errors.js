/* -- error along the execution order ------------------------------------------------------------------------------- */
const height = (value) =>
  value === null
    ? null
    : value === 0
      ? 0
      : Math.max(0.02, Math.min(1, (Math.log10(value) - NOISE_LOW) / (NOISE_HIGH - NOISE_LOW)));
function errorCanvas(pixels) {
  const canvas = el("canvas", {
    tabindex: 0,
    role: "img",
    "aria-label": "error of each operator's outputs along the execution order; arrow keys move, Enter opens",
  });
  const note = el(
    "p",
    { class: "dim mono" },
    "noise: root mean square error over root mean square of the expected values, " +
      "logarithmic, 1e-10 to 10; move over it, or use the arrow keys",
  );
  const steps = run().steps;
  let at = null;
  function paint() {
    const width = canvas.clientWidth || 1000,
      ratio = window.devicePixelRatio || 1,
      left = 44,
      inner = width - left - 6;
    canvas.width = width * ratio;
    canvas.height = pixels * ratio;
    canvas.style.height = `${pixels}px`;
    const pen = canvas.getContext("2d");
    pen.scale(ratio, ratio);
    pen.font = PEN;
    const y = (part) => pixels - 16 - part * (pixels - 28),
      x = (place) => left + (steps.length > 1 ? place / (steps.length - 1) : 0.5) * inner;
    for (let decade = NOISE_LOW; decade <= NOISE_HIGH; decade += 2) {
      const level = y((decade - NOISE_LOW) / (NOISE_HIGH - NOISE_LOW));
      pen.strokeStyle = colour("line");
      pen.beginPath();
      pen.moveTo(left, level);
      pen.lineTo(width, level);
      pen.stroke();
      pen.fillStyle = colour("dim");
      pen.fillText(`1e${decade}`, 4, level + 3);
    }
    let iteration = null,
      rank = null,
      free = 0;
    steps.forEach((step, place) => {
      if (step.where[2] !== iteration || step.where[0] !== rank) {
        const label = `${step.where[0] !== rank && step.where[0] ? `rank ${step.where[0]} ` : ""}it ${step.where[2]}`;
        iteration = step.where[2];
        rank = step.where[0];
        pen.fillStyle = colour("dim");
        if (place) {
          pen.fillRect(x(place), 4, 1, pixels - 20);
        }
        // Labels that would cover one another are left out.
        if (x(place) >= free) {
          pen.fillText(label, x(place) + 3, pixels - 4);
          free = x(place) + pen.measureText(label).width + 10;
        }
      }
      const noise = number(step.out),
        part = height(noise);
      if (step.role === "agrees" || part === null || part === 0) return;
      pen.fillStyle = colour({ new: "red", given: "violet", carried: "orange" }[step.role] || "blue");
      const size = step.role === "new" || step.role === "given" ? 3 : 2;
      pen.fillRect(x(place) - size / 2, y(part), size, y(0) - y(part) + 1);
    });
    if (at !== null) {
      pen.strokeStyle = colour("fore");
      pen.strokeRect(x(at) - 3, 3, 6, pixels - 18);
    }
  }
  function move(place) {
    at = Math.max(0, Math.min(steps.length - 1, place));
    note.textContent = `${stepName(steps[at])} · ${steps[at].role} · noise in ${shown(steps[at].in)}, out ${shown(steps[at].out)}`;
    paint();
  }
  const placeOf = (event) => {
    const box = canvas.getBoundingClientRect();
    return Math.round(((event.clientX - box.left - 44) / (box.width - 50)) * (steps.length - 1));
  };
  canvas.addEventListener("mousemove", (event) => move(placeOf(event)));
  canvas.addEventListener("click", (event) => {
    move(placeOf(event));
    openStep(at);
  });
  canvas.addEventListener("keydown", (event) => {
    const by = { ArrowLeft: -1, ArrowRight: 1, PageUp: -20, PageDown: 20 }[event.key];
    if (by) {
      event.preventDefault();
      move((at ?? run().first ?? 0) + (at === null ? 0 : by));
    }
    if (event.key === "Enter" && at !== null) openStep(at);
  });
  later(paint);
  return el("div", {}, canvas, note);
}
function errors() {
  if (!run().steps.length) return [...cut(), el("p", {}, "The page has no operators of this run.")];
  return [
    el("h2", {}, "Error along the execution order"),
    errorCanvas(Math.max(260, Math.round(innerHeight * 0.5))),
    ...rolesTable(),
  ];
}

/* -- one side's network as a picture that is zoomed, moved, folded ------------------------------------------------- */
/* side: of the run's network; look: how its operators look (see looksOf); choose(place): an operator was opened. */
function networkPicture(side, look, choose) {
  const root = cellsOf(side.operators.map(([graph, name]) => [graph, name]));
  const shown = [];
  leaves(root).forEach((box) => (shown[box.at] = box));
  const edges = [];
  for (let i = 0; i < side.edges.length; i += 2) edges.push([side.edges[i], side.edges[i + 1]]);
  const layer = svg("g", {}),
    label = `network of the ${look.title} side`;
  const frame = svg("svg", { class: "network", tabindex: 0, role: "group", "aria-label": label }, layer);
  let place = { x: 0, y: 0, scale: 1 };

  const isOpen = (box) => box === root || look.unfolded.has(box.key);
  function move(to) {
    place = to;
    layer.setAttribute("transform", `translate(${place.x} ${place.y}) scale(${place.scale})`);
  }
  function zoom(by, x = frame.clientWidth / 2, y = frame.clientHeight / 2) {
    const scale = Math.max(0.02, Math.min(4, place.scale * by)),
      ratio = scale / place.scale;
    move({ scale, x: x - (x - place.x) * ratio, y: y - (y - place.y) * ratio });
  }
  function fit() {
    const most = Math.min((frame.clientWidth - 16) / root.width, (frame.clientHeight - 16) / root.height, 1);
    const scale = Math.max(0.02, most);
    move({ scale, x: (frame.clientWidth - root.width * scale) / 2, y: (frame.clientHeight - root.height * scale) / 2 });
    return scale;
  }
  function centre(box, scale = place.scale) {
    const [x, y] = cornerOf(box);
    move({
      scale,
      x: frame.clientWidth / 2 - (x + box.width / 2) * scale,
      y: frame.clientHeight / 2 - (y + box.height / 2) * scale,
    });
  }
  function paint() {
    for (const box of cellsIn(root)) box.told = tellOf(box, look);
    const now = edges.map(([from, to]) => [from, to, look.flows(from, to)]);
    const flows = layOut(root, shown, now, isOpen);
    const cells = [],
      boxes = [];
    const draw = (box) => {
      const [x, y] = cornerOf(box);
      if (box.boxes && isOpen(box)) {
        cells.push(drawCell(box, x, y, look, toggle));
        box.boxes.forEach(draw);
      } else boxes.push(drawBox(box, x, y, look, box.boxes ? toggle : (each) => choose(each.at)));
    };
    root.boxes.forEach(draw);
    const focused = layer.contains(document.activeElement) ? document.activeElement.dataset.key : null;
    layer.replaceChildren(...cells, ...flows.map(drawFlow), ...boxes);
    if (focused) focus(focused);
  }
  function toggle(box) {
    const [x, y] = cornerOf(box);
    if (!look.unfolded.delete(box.key)) look.unfolded.add(box.key);
    look.repaint();
    // What was clicked stays where it is.
    const [now, then] = cornerOf(box);
    move({ ...place, x: place.x + (x - now) * place.scale, y: place.y + (y - then) * place.scale });
    focus(box.key);
  }
  function focus(key) {
    const same = [...layer.querySelectorAll("[data-key]")].find((each) => each.dataset.key === key);
    if (same) same.focus({ preventScroll: true });
  }
  /* Unfolds what it is in. */
  function reveal(at) {
    pathOf(shown[at])
      .slice(1, -1)
      .forEach((box) => look.unfolded.add(box.key));
  }
  dragging(frame, () => place, move, zoom);
  frame.addEventListener("keydown", (event) => {
    const by = { ArrowLeft: [60, 0], ArrowRight: [-60, 0], ArrowUp: [0, 60], ArrowDown: [0, -60] }[event.key];
    if (by) move({ ...place, x: place.x + by[0], y: place.y + by[1] });
    else if (event.key === "+" || event.key === "=") zoom(1.25);
    else if (event.key === "-") zoom(0.8);
    else if (event.key === "0") fit();
    else return;
    event.preventDefault();
  });
  function start(at) {
    if (fit() < 0.6) centre(at === null ? root.boxes[0] : shown[at], 0.9);
  }
  const all = () => [...cellsIn(root)].filter((box) => box.boxes && box !== root);
  return {
    frame,
    paint,
    fit,
    zoom,
    reveal,
    start,
    shown,
    all,
    centre: (at) => centre(shown[at], Math.max(0.7, place.scale)),
  };
}
function* cellsIn(box) {
  yield box;
  for (const each of box.boxes || []) yield* cellsIn(each);
}
/* What a box says: the role that tells most, the noise, the marks; of a cell, of all that is in it. */
function tellOf(box, look) {
  const tells = leaves(box).map((leaf) => look.tell(leaf.at));
  const told = {
    role: ROLES[Math.min(...tells.map((each) => ROLES.indexOf(each.role)))],
    noise: tells.reduce((most, each) => Math.max(most, each.noise || 0), 0),
    origin: tells.some((each) => each.origin),
    mark: tells.every((each) => each.mark) ? tells[0].mark : "",
    differing: tells.filter((each) => each.role !== "agrees" && each.role !== "cancelled").length,
  };
  if (box.boxes) box.note = `${tells.length} operators${told.differing ? `, ${told.differing} differ` : ""}`;
  else
    box.note = [look.type(box.at), told.mark, told.noise ? `noise ${shown(told.noise)}` : ""]
      .filter(Boolean)
      .join(" · ");
  if (told.origin) box.note = `★ ${box.note}`;
  return told;
}
function classesOf(box, look) {
  const chosen = !box.boxes && look.chosen() === box.at ? " chosen" : "";
  return `${box.told.role}${box.told.origin ? " origin" : ""}${box.told.mark ? " alone" : ""}${chosen}`;
}
function pressed(shape, act) {
  shape.addEventListener("click", act);
  shape.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    act();
  });
  return shape;
}
function text(x, y, words, kind) {
  const made = svg("text", { x, y, class: kind });
  made.textContent = words;
  return made;
}
function drawCell(box, x, y, look, toggle) {
  const { width, height } = box;
  const area = svg("rect", { x, y, width, height, rx: 6, class: `cell ${classesOf(box, look)}` });
  const head = svg("rect", { x, y, width, height: HEAD, rx: 6, class: "grip" });
  const name = text(x + 8, y + 15, `▾ ${box.name}${box.told.origin ? " ★" : ""}`, "name");
  const attributes = { role: "button", tabindex: 0, "data-key": box.key, "aria-expanded": "true" };
  const grip = svg("g", { ...attributes, "aria-label": `fold ${box.name}` }, head, name);
  return svg(
    "g",
    {},
    area,
    pressed(grip, () => toggle(box)),
  );
}
function drawBox(box, x, y, look, act) {
  const { width, height } = box;
  const shape = svg("rect", { x, y, width, height, rx: box.boxes ? 6 : 3, class: `box ${classesOf(box, look)}` });
  const part = noisePart(box.told.noise);
  if (part !== null) shape.style.setProperty("--much", `${Math.round(10 + 35 * part)}%`);
  const attributes = { role: "button", tabindex: 0, "data-key": box.key, class: box.boxes ? "folded" : "operator" };
  if (box.boxes) attributes["aria-expanded"] = "false";
  attributes["aria-label"] = `${box.boxes ? "unfold " : ""}${box.name}: ${box.told.role}, ${box.note}`;
  const name = text(x + 10, y + 17, (box.boxes ? "▸ " : "") + box.name, "name");
  return pressed(svg("g", attributes, shape, name, text(x + 10, y + 32, box.note, "note")), () => act(box));
}
const noisePart = (noise) => (noise ? height(noise) : null);
function drawFlow(flow) {
  const [x, y] = cornerOf(flow.from),
    [x2, y2] = cornerOf(flow.to),
    [cx, cy] = flow.cell.up ? cornerOf(flow.cell) : [0, 0];
  // What a later operator gives to one that stands higher goes up.
  const up = y2 + flow.to.height <= y;
  const [out, into, tip] = up ? [y, y2 + flow.to.height + 2, 6] : [y + flow.from.height, y2 - 2, -6];
  const bends = flow.bends.map(([bx, by]) => [cx + bx, cy + by]);
  const points = [[x + flow.from.width / 2, out], ...bends, [x2 + flow.to.width / 2, into]];
  let line = `M${points[0]}`;
  for (let i = 1; i < points.length; i++) {
    const [a, b] = [points[i - 1], points[i]],
      middle = (a[1] + b[1]) / 2;
    line += ` C${a[0]},${middle} ${b[0]},${middle} ${b}`;
  }
  const [tx, ty] = points[points.length - 1];
  return svg(
    "g",
    { class: `flow${flow.differs ? " differs" : ""}` },
    svg("path", { d: line }),
    svg("path", { class: "tip", d: `M${tx - 4},${ty + tip} L${tx},${ty - tip / 6} L${tx + 4},${ty + tip} z` }),
  );
}
/* Mouse, pen and fingers: drag moves, wheel and two fingers zoom. */
function dragging(frame, placeOf, move, zoom) {
  const down = new Map();
  let far = false;
  const spot = (event) => {
    const box = frame.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  const apart = ([a, b]) => Math.hypot(a[0] - b[0], a[1] - b[1]);
  frame.addEventListener("pointerdown", (event) => {
    if (!down.size) far = false;
    down.set(event.pointerId, spot(event));
  });
  frame.addEventListener("pointermove", (event) => {
    if (!down.has(event.pointerId)) return;
    const before = [...down.values()],
      [x, y] = down.get(event.pointerId),
      now = spot(event);
    if (!far && Math.hypot(now[0] - x, now[1] - y) < 4) return;
    if (!far) frame.setPointerCapture(event.pointerId);
    far = true;
    down.set(event.pointerId, now);
    if (down.size === 2) {
      const after = [...down.values()];
      zoom(apart(after) / Math.max(1, apart(before)), (after[0][0] + after[1][0]) / 2, (after[0][1] + after[1][1]) / 2);
    } else move({ ...placeOf(), x: placeOf().x + now[0] - x, y: placeOf().y + now[1] - y });
  });
  for (const name of ["pointerup", "pointercancel"])
    frame.addEventListener(name, (event) => down.delete(event.pointerId));
  // The end of a drag is no click on what lies there.
  frame.addEventListener("click", (event) => far && event.stopPropagation(), true);
  frame.addEventListener("wheel", (event) => {
    event.preventDefault();
    zoom(Math.exp(-event.deltaY * 0.0015), ...spot(event));
  });
}

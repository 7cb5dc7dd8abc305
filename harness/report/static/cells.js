/* -- the operators of a side as nested cells, laid out by dagre ---------------------------------------------------- */
// Boxes that are laid out at once: larger cells are split into stretches of the execution order.
const TOGETHER = 60;
// Operators of a network that is shown whole at first.
const WHOLE = 60;
// From the most to the least telling: what a folded cell is coloured by.
const ROLES = ["new", "given", "absent", "unknown", "carried", "cancelled", "agrees"];
const HEAD = 22,
  PAD = 10,
  TALL = 40;
const ruler = document.createElement("canvas").getContext("2d");
function wide(text, font) {
  ruler.font = font;
  return ruler.measureText(text).width;
}

/* Boxes by the parts of full names. Of each: key, name, up, boxes (of a cell) or at (place of an operator). */
function cellsOf(operators) {
  const graphs = new Set(operators.map(([graph]) => graph));
  const root = { key: "", name: "", up: null, boxes: [], known: new Map() };
  operators.forEach(([graph, name], at) => {
    const parts = name.split("/");
    if (graphs.size > 1) parts.unshift(`graph ${graph}`);
    let cell = root;
    for (const part of parts.slice(0, -1)) {
      const key = `${cell.key}/${part}`;
      if (!cell.known.has(part)) {
        cell.known.set(part, { key, name: part, up: cell, boxes: [], known: new Map() });
        cell.boxes.push(cell.known.get(part));
      }
      cell = cell.known.get(part);
    }
    cell.boxes.push({
      key: `${cell.key}/${parts[parts.length - 1]}#${at}`,
      name: parts[parts.length - 1],
      up: cell,
      at,
    });
  });
  return tidy(root);
}
/* Cells that hold one thing only are that thing, with a longer name; large ones are split. */
function tidy(cell) {
  cell.boxes = cell.boxes.map((box) => (box.boxes ? tidy(box) : box));
  if (cell.up !== null && cell.boxes.length === 1) {
    const only = cell.boxes[0];
    return Object.assign(only, { name: `${cell.name}/${only.name}`, up: cell.up });
  }
  while (cell.boxes.length > TOGETHER) {
    const size = Math.ceil(cell.boxes.length / Math.min(TOGETHER, Math.ceil(cell.boxes.length / TOGETHER)));
    const parts = [];
    for (let from = 0; from < cell.boxes.length; from += size)
      parts.push(stretch(cell, cell.boxes.slice(from, from + size)));
    cell.boxes = parts;
  }
  cell.boxes.forEach((box) => (box.up = cell));
  cell.size = cell.boxes.reduce((sum, box) => sum + (box.size || 1), 0);
  return cell;
}
function stretch(cell, boxes) {
  if (boxes.length === 1) return boxes[0];
  const [first, last] = [boxes[0], boxes[boxes.length - 1]].map((box) => box.name.split(" … ")[0]);
  const made = { key: `${first}…${boxes[0].key}`, name: `${first} … ${last}`, up: cell, boxes };
  boxes.forEach((box) => (box.up = made));
  made.size = boxes.reduce((sum, box) => sum + (box.size || 1), 0);
  return made;
}
function pathOf(box) {
  const path = [];
  for (let each = box; each; each = each.up) path.unshift(each);
  return path;
}
function leaves(box, found = []) {
  if (box.boxes) box.boxes.forEach((each) => leaves(each, found));
  else found.push(box);
  return found;
}

/* Sets x, y (within the cell), width and height of every box in sight; gives what flows between those boxes. */
function layOut(root, shown, edges, open) {
  const paths = new Map();
  const place = (box) => {
    paths.set(box, pathOf(box));
    return box;
  };
  const inSight = (leaf) => pathOf(leaf).find((box) => !box.boxes || !open(box));
  const ends = shown.map((leaf) => place(inSight(leaf)));
  const flows = new Map(),
    within = new Map();
  edges.forEach(([from, to, differs]) => {
    const [one, other] = [ends[from], ends[to]];
    if (one === other) return;
    const key = `${one.key}\n${other.key}`;
    if (flows.has(key)) {
      flows.get(key).differs ||= differs;
      return;
    }
    const [a, b] = [paths.get(one), paths.get(other)];
    let depth = 0;
    while (a[depth + 1] === b[depth + 1]) depth += 1;
    const flow = { from: one, to: other, differs, cell: a[depth], between: [a[depth + 1], b[depth + 1]] };
    flows.set(key, flow);
    if (!within.has(flow.cell)) within.set(flow.cell, []);
    within.get(flow.cell).push(flow);
  });
  arrange(root, within, open);
  return [...flows.values()];
}
function arrange(cell, within, open) {
  const graph = new dagre.graphlib.Graph();
  graph.setGraph({ rankdir: "TB", nodesep: 14, ranksep: 30, edgesep: 8 });
  graph.setDefaultEdgeLabel(() => ({}));
  const names = new Map();
  cell.boxes.forEach((box, i) => {
    names.set(box, String(i));
    if (box.boxes && open(box)) arrange(box, within, open);
    else Object.assign(box, { width: Math.max(110, boxWidth(box)), height: TALL });
    graph.setNode(String(i), { width: box.width, height: box.height });
  });
  const flows = within.get(cell) || [];
  flows.forEach(({ between: [from, to] }) => graph.setEdge(names.get(from), names.get(to)));
  // What nothing flows to or from stands in rows, in execution order.
  const alone = cell.boxes.filter((box) => !graph.nodeEdges(names.get(box)).length);
  const across = Math.ceil(Math.sqrt(alone.length));
  alone.slice(across).forEach((box, i) => graph.setEdge(names.get(alone[i]), names.get(box)));
  dagre.layout(graph);
  const sides = cell.boxes.map((box) => graph.node(names.get(box)));
  cell.boxes.forEach((box, i) => {
    box.x = sides[i].x - box.width / 2 + PAD;
    box.y = sides[i].y - box.height / 2 + HEAD + PAD;
  });
  flows.forEach((flow) => {
    const points = graph.edge(names.get(flow.between[0]), names.get(flow.between[1])).points || [];
    flow.bends = points.slice(1, -1).map((point) => [point.x + PAD, point.y + HEAD + PAD]);
  });
  const right = Math.max(...cell.boxes.map((box) => box.x + box.width)),
    low = Math.max(...cell.boxes.map((box) => box.y + box.height)),
    bends = flows.flatMap((flow) => flow.bends.map(([x]) => x));
  cell.width = Math.max(right, ...bends, cell.up ? wide(cell.name, BOLD) + 50 : 0) + PAD;
  cell.height = low + PAD;
}
const SANS = '"Liberation Sans", "DejaVu Sans", Arial, sans-serif';
const PLAIN = `11px ${SANS}`,
  BOLD = `bold 12px ${SANS}`;
function boxWidth(box) {
  return Math.max(wide(box.name, BOLD) + (box.boxes ? 18 : 0), wide(box.note || "", PLAIN)) + 24;
}
/* Where a box stands in the whole picture. */
function cornerOf(box) {
  let [x, y] = [0, 0];
  for (let each = box; each.up; each = each.up) {
    x += each.x;
    y += each.y;
  }
  return [x, y];
}

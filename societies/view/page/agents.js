// Draws agents: the network of who gave what to whom, a grid of cells, and a spread.
//
// Networks are laid out by d3-force. What is painted here may be painted on a canvas or into an SVG.
"use strict";

const SIDE = 360; // width of a picture of agents, in pixels
const NODE = 9; // numbers of a circle, see networks.py

const WIDTHS = 5; // of lines

let layouts = []; // by course: positions of the circles
let picked = -1; // circle that was clicked

const circles = (pane) => pane.numbers.nodes.length / NODE;
const circle = (pane, i) => pane.numbers.nodes.slice(NODE * i, NODE * (i + 1));
const tellsLives = () => Boolean(by("c-agent"));
const agent = () => (tellsLives() ? newest.agent : picked);

// Prepares a canvas for drawing, sharp on every screen; returns its context, or null if it is hidden.
function prepared(canvas, shown, height, title, label) {
  put(canvas, "hidden", !shown);
  put(canvas.parentElement, "hidden", !title);
  put(canvas.previousElementSibling, "textContent", title);
  if (!shown) return null;
  const scale = devicePixelRatio || 1;
  put(canvas, "width", Math.round(SIDE * scale));
  put(canvas, "height", Math.round(height * scale));
  put(canvas.style, "width", SIDE + "px");
  canvas.setAttribute("aria-label", title + ": " + label);
  const context = canvas.getContext("2d");
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.clearRect(0, 0, SIDE, height);
  context.font = "12px system-ui, sans-serif";
  context.fillStyle = ink();
  return context;
}

// --------------------------------------------------------------------------------------- network

// Returns the lines of a network: of pairs and weights, or of a table of all weights (`packed`).
function readLinks(pane) {
  const links = [], list = pane.numbers.links, count = circles(pane);
  const add = (pair, weight) => {
    const from = Math.floor(pair / count), to = pair % count;
    links.push({ from, to, weight, source: from, target: to });
  };
  if (list.length === count * count) list.forEach((weight, pair) => { if (weight) add(pair, weight); });
  else for (let i = 0; i < list.length; i += 2) add(list[i], list[i + 1]);
  return links;
}

// Returns a line for each pair of circles, whatever its direction: each is painted once.
function joined(links, count) {
  const lines = new Map();
  for (const { from, to, weight } of links) {
    const [a, b] = from < to ? [from, to] : [to, from], key = a * count + b, line = lines.get(key);
    if (line) line.weight += weight;
    else lines.set(key, { from: a, to: b, weight });
  }
  return [...lines.values()];
}

// Moves the circles: those of a community to one place of a ring, and from there apart.
function layout(pane, place) {
  const count = circles(pane), links = readLinks(pane);
  let nodes = layouts[place] && layouts[place].length === count ? layouts[place] : null;
  const fresh = !nodes;
  // The second course begins where the first one is, so that the eye can compare.
  if (fresh && place && layouts[0] && layouts[0].length === count) nodes = layouts[0].map(({ x, y }) => ({ x, y }));
  const group = Array.from({ length: count }, (_, i) => (pane.network.together ? 0 : circle(pane, i)[3]));
  const sizes = new Map();
  for (const one of group) sizes.set(one, (sizes.get(one) || 0) + 1);
  const several = [...sizes.keys()].filter((one) => sizes.get(one) > 1);
  const ring = several.length > 1 ? 112 : 0;
  const angle = (i) => (2 * Math.PI * several.indexOf(group[i])) / several.length;
  const at = (i, way) => SIDE / 2 + (several.includes(group[i]) ? ring * way(angle(i)) : 0);
  if (!nodes) {
    nodes = Array.from({ length: count }, (_, i) => {
      const turn = (2 * Math.PI * i) / count;
      return { x: at(i, Math.cos) + 60 * Math.cos(turn), y: at(i, Math.sin) + 60 * Math.sin(turn) };
    });
  }
  const most = links.reduce((best, one) => Math.max(best, one.weight), 1);
  const { together } = pane.network, pull = together ? 0.12 : 0.5;
  const forces = d3.forceSimulation(nodes).stop()
    .force("apart", d3.forceManyBody().strength(together ? -420 : -12))
    .force("touch", d3.forceCollide(together ? 18 : Math.min(11, 130 / Math.sqrt(count))))
    .force("x", d3.forceX((_, i) => at(i, Math.cos)).strength(pull))
    .force("y", d3.forceY((_, i) => at(i, Math.sin)).strength(pull));
  if (together) forces.force("links", d3.forceLink(links).distance(70).strength((one) => (0.25 * one.weight) / most));
  if (!fresh) forces.alpha(0.25);
  forces.tick(fresh ? 120 : 6);
  const inside = (number) => Math.min(SIDE - 14, Math.max(14, number));
  for (const one of nodes) [one.x, one.y] = [inside(one.x), inside(one.y)];
  layouts[place] = nodes;
  return { links, lines: joined(links, count), communities: several.length };
}

function drawNetwork(pane, place, box) {
  const canvas = box.querySelector(".network"), shown = Boolean(pane.numbers.nodes);
  if (shown) pane.laid = layout(pane, place);
  const found = shown && !pane.network.together ? `; communities: ${pane.laid.communities}` : "";
  const title = pane.network ? pane.network.title + found : "";
  const context = prepared(canvas, shown, SIDE, title, `${shown ? pane.laid.links.length : 0} lines`);
  const line = box.querySelector(".agent"), life = box.querySelector(".life");
  put(line, "hidden", !shown);
  put(life, "hidden", !pane.life);
  put(life, "textContent", pane.life || "");
  if (!context) return;
  paintNetwork(context, pane, place);
  tell(pane, line);
}

function paintNetwork(context, pane, place) {
  const nodes = layouts[place], { lines } = pane.laid;
  const most = lines.reduce((best, one) => Math.max(best, one.weight), 1);
  context.strokeStyle = ink();
  const widths = Array.from({ length: WIDTHS }, () => []); // lines of one width are one path
  for (const one of lines) widths[Math.min(WIDTHS - 1, Math.floor((WIDTHS * one.weight) / most))].push(one);
  widths.forEach((list, i) => {
    if (!list.length) return;
    const share = (i + 0.5) / WIDTHS;
    context.globalAlpha = 0.12 + 0.5 * share;
    context.lineWidth = 0.5 + 3 * share;
    context.beginPath();
    for (const { from, to } of list) {
      context.moveTo(nodes[from].x, nodes[from].y);
      context.lineTo(nodes[to].x, nodes[to].y);
    }
    context.stroke();
  });
  const largest = Math.max(1, ...nodes.map((_, i) => circle(pane, i)[0]));
  const radius = pane.network.together ? 16 : Math.min(10, 120 / Math.sqrt(nodes.length));
  nodes.forEach((node, i) => {
    const [size, colour, living] = circle(pane, i);
    context.globalAlpha = living ? 1 : 0.15;
    context.beginPath();
    context.arc(node.x, node.y, radius * (0.3 + 0.7 * Math.sqrt(Math.max(0, size) / largest)), 0, 2 * Math.PI);
    context.fillStyle = NODES[colour % NODES.length];
    context.fill();
    context.globalAlpha = 1;
    if (i === agent()) {
      context.lineWidth = 2.5;
      context.strokeStyle = ink();
      context.stroke();
    }
    if (pane.network.together) {
      context.fillStyle = ink();
      context.fillText(String(colour), node.x + 9, node.y - 7);
    }
  });
}

function pick(event, place) {
  const box = event.target.getBoundingClientRect(), scale = SIDE / box.width;
  const [x, y] = [(event.clientX - box.left) * scale, (event.clientY - box.top) * scale];
  const distance = (one) => Math.hypot(one.x - x, one.y - y);
  const near = layouts[place].reduce((best, one, i) => (distance(one) < distance(layouts[place][best]) ? i : best), 0);
  picked = distance(layouts[place][near]) < 20 ? near : -1;
  if (tellsLives() && !newest.panes[place].network.together) act({ change: "agent", value: picked });
  else drawScene();
}

function tell(pane, line) {
  const { links } = pane.laid, together = pane.network.together;
  const i = together ? picked : agent();
  if (i < 0 || i >= circles(pane)) {
    return put(line, "textContent", together ? "Click a circle to read about its agents." : "Click a circle to read about the agent.");
  }
  const [size, colour, living, community, members, given, takers, taken, givers] = circle(pane, i);
  const gave = links.filter((one) => one.from === i), got = links.filter((one) => one.to === i);
  const names = (list, end) => [...list].sort((a, b) => b.weight - a.weight).slice(0, 3).map((one) => one[end]).join(", ") || "none";
  const who = together ? `${members} agents of colour ${colour}` : `Agent ${i} of community ${community}` + (living ? "" : ", which was removed");
  put(line, "textContent", `${who}: size ${words(size)}, colour ${colour}. Gave ${words(given)} to ` +
    `${takers} others (most to ${names(gave, "to")}) and got ${words(taken)} from ${givers} (most from ${names(got, "from")}).` +
    (newest.recorded ? ` societies trace with the configuration of this file tells its life: --agent ${i} --days 1:${newest.tick}.` : ""));
}

// ------------------------------------------------------------------------------- grid and spread

const gridHeight = (pane) => (SIDE * Math.ceil(pane.numbers.grid.length / pane.grid.columns)) / pane.grid.columns;

function drawGrid(pane, canvas) {
  const shown = Boolean(pane.numbers.grid);
  const [low, high] = shown ? gridRange(pane) : [];
  const title = shown ? `${pane.grid.title}: from ${words(low)} (blue) to ${words(high)} (orange)` : "";
  const context = prepared(canvas, shown, shown ? gridHeight(pane) : 1, title, shown ? `rows of ${pane.grid.columns} cells` : "");
  if (context) paintGrid(context, pane);
}

// Returns the least and the largest number of the cells.
function gridRange(pane) {
  let low = Infinity, high = -Infinity;
  for (const one of pane.numbers.grid) [low, high] = [Math.min(low, one), Math.max(high, one)];
  return [low, high];
}

function paintGrid(context, pane) {
  const cells = pane.numbers.grid, { columns } = pane.grid, side = SIDE / columns, [low, high] = gridRange(pane);
  cells.forEach((value, i) => {
    const share = high > low ? (value - low) / (high - low) : 0;
    context.fillStyle = `hsl(${210 - 170 * share}, 75%, ${dark.matches ? 18 + 50 * share : 92 - 50 * share}%)`;
    context.fillRect((i % columns) * side, Math.floor(i / columns) * side, side + 0.5, side + 0.5);
  });
}

const SPREAD_HEIGHT = 150;

function drawSpread(pane, place, canvas) {
  const sorted = pane.numbers.spread, shown = Boolean(pane.spread);
  const unit = shown && pane.spread.unit !== "1" ? ` (${pane.spread.unit})` : "";
  const some = shown && sorted && sorted.length;
  const context = prepared(canvas, shown, SPREAD_HEIGHT, shown ? "Spread: " + pane.spread.meaning + unit : "",
    some ? `least ${words(sorted[0])}, median ${words(sorted[sorted.length >> 1])}, most ${words(sorted.at(-1))}` : "no numbers");
  if (context && some) paintSpread(context, pane, place);
}

// Paints the histogram on the left, and on the right the Lorenz curve, if no number is negative.
function paintSpread(context, pane, place) {
  const sorted = pane.numbers.spread, width = SIDE;
  const bins = 20, low = Math.min(0, sorted[0]), high = sorted.at(-1) > low ? sorted.at(-1) : low + 1;
  const counts = Array(bins).fill(0);
  for (const one of sorted) counts[Math.min(bins - 1, Math.floor((bins * (one - low)) / (high - low)))] += 1;
  const tallest = Math.max(...counts), half = width / 2 - 14;
  context.fillStyle = COLOURS[place];
  counts.forEach((count, i) => {
    const tall = (95 * count) / tallest;
    context.fillRect(6 + (half / bins) * i, 125 - tall, half / bins - 1, tall);
  });
  context.fillStyle = ink();
  context.fillText(brief(low), 4, 142);
  context.fillText(brief(high), half - 34, 142);
  const total = sorted.reduce((a, b) => a + b, 0);
  if (sorted[0] < 0 || total <= 0) return;
  const left = width / 2 + 20, side = width / 2 - 30;
  context.strokeStyle = faint();
  context.lineWidth = 1;
  context.beginPath();
  context.moveTo(left, 125);
  context.lineTo(left + side, 125 - 105);
  context.stroke();
  context.strokeStyle = COLOURS[place];
  context.lineWidth = 2;
  context.beginPath();
  context.moveTo(left, 125);
  let sum = 0, weighted = 0;
  sorted.forEach((one, i) => {
    sum += one;
    weighted += (2 * i + 1 - sorted.length) * one;
    context.lineTo(left + (side * (i + 1)) / sorted.length, 125 - (105 * sum) / total);
  });
  context.stroke();
  context.fillText(`Lorenz curve, Gini ${Number((weighted / (sorted.length * total)).toPrecision(3))}`, left - 16, 142);
}

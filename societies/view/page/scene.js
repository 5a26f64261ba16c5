// Draws the scene of a run: its series, networks, grids and spreads, of one course or of two.
//
// A message has the rows of the series that this page lacks, and the numbers of one tick. Charts are
// drawn by uPlot, networks are laid out by d3-force; both are in libraries/.
"use strict";

const COLOURS = ["#0072b2", "#d55e00"]; // of the courses: first, second; distinct for all eyes
const NODES = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#999999"];
const KINDS = { mean: 0, low: 1, high: 2, own: 3 };

const dark = matchMedia("(prefers-color-scheme: dark)");
const ink = () => (dark.matches ? "#e6e6e6" : "#222222");
const faint = () => (dark.matches ? "#444444" : "#dddddd");

let newest = null; // the newest scene, with the series of each course
let courses = []; // by place: { rows, columns, data }
let charts = new Map(); // by name of a series
let chosen = null; // names of the series that are drawn
let layouts = []; // by place: positions of the nodes
let agent = null; // number of the node that was clicked

// ------------------------------------------------------------------------------------- receiving

function readScene(header, buffer, offset) {
  const columns = header.names.length;
  header.panes.forEach((pane, place) => {
    const numbers = {};
    for (const [name, shape] of pane.parts) {
      const length = shape.reduce((a, b) => a * b, 1);
      numbers[name] = new Float32Array(buffer.slice(offset, offset + 4 * length));
      offset += 4 * length;
    }
    const rows = pane.from + numbers.series.length / (4 * columns);
    const course = courses[place] || { data: new Float32Array(0) };
    const data = new Float32Array(4 * columns * rows);
    data.set(course.data.subarray(0, 4 * columns * pane.from));
    data.set(numbers.series, 4 * columns * pane.from);
    courses[place] = { rows, columns, data };
    pane.numbers = numbers;
  });
  courses.length = header.panes.length;
  newest = header;
}

// Returns a series of a course: an array with a value for each tick, null where there is none.
function values(place, column, kind) {
  const { rows, columns, data } = courses[place];
  return Array.from({ length: rows }, (_, row) => {
    const value = data[4 * columns * row + columns * KINDS[kind] + column];
    return Number.isFinite(value) ? value : null;
  });
}

// --------------------------------------------------------------------------------------- drawing

function drawScene() {
  const { names } = newest;
  by("scene").hidden = false;
  document.querySelector("figure").hidden = true;
  if (!chosen) {
    chosen = newest.first.length ? newest.first.filter((one) => names.includes(one)) : names.slice(0, 6);
    listSeries();
  }
  write("when", newest.caption);
  const slider = by("c-tick");
  for (const one of [slider, by("n-tick")]) {
    if (one && one !== document.activeElement) put(one, "value", String(newest.tick));
  }
  for (const name of [...charts.keys()]) if (!chosen.includes(name)) removeChart(name);
  chosen.forEach(drawChart);
  drawFacts();
  newest.panes.forEach((pane, place) => {
    const box = panel(place);
    drawNetwork(pane, place, box.querySelector(".network"));
    drawGrid(pane, box.querySelector(".grid"));
    drawSpread(pane, place, box.querySelector(".spread"));
  });
  for (const extra of [...by("panes").children].slice(newest.panes.length)) extra.remove();
}

function listSeries() {
  const list = by("names");
  newest.names.forEach((name, place) => {
    const box = make("input", { type: "checkbox", checked: chosen.includes(name), id: "s-" + name });
    box.onchange = () => {
      chosen = newest.names.filter((one) => by("s-" + one).checked);
      drawScene();
    };
    const label = make("label", { title: newest.meanings[place] });
    label.append(box, " " + name);
    list.append(label);
  });
}

const words = (number) => (number === null || number === undefined ? "none" : Number(number.toPrecision(4)).toString());

function options(name, column, two, width) {
  const unit = newest.units[column] === "1" ? "" : ` (${newest.units[column]})`;
  const many = newest.copies > 1;
  const line = (label, colour, extra) => ({ label, stroke: colour, width: 1.5, points: { show: false }, ...extra });
  const series = [{ label: newest.clock }];
  const bands = [];
  for (let place = 0; place < (two ? 2 : 1); place++) {
    const colour = COLOURS[place], suffix = two ? [" without", " with"][place] : "";
    if (many) {
      const at = series.length;
      series.push(line("90 % below" + suffix, "transparent"), line("10 % below" + suffix, "transparent"));
      bands.push({ series: [at, at + 1], fill: colour + "22" });
      series.push(line("mean" + suffix, colour), line("shown" + suffix, colour, { width: 0.8, dash: [4, 3] }));
    } else series.push(line(name + suffix, colour, place ? { dash: [6, 3] } : {}));
  }
  const axis = { stroke: ink, grid: { stroke: faint, width: 1 }, ticks: { stroke: faint } };
  return {
    title: name.replaceAll("_", " ") + unit, width, height: 170, series, bands, legend: { show: false },
    cursor: { sync: { key: "ticks" }, drag: { x: false, y: false } },
    scales: { x: { time: false, range: [1, Math.max(newest.ticks, 2)] } },
    axes: [axis, { ...axis, size: 58 }],
  };
}

function drawChart(name) {
  const column = newest.names.indexOf(name), two = newest.panes.length === 2;
  const rows = Math.max(...courses.map((one) => one.rows));
  const data = [Array.from({ length: rows }, (_, row) => row + 1)];
  const fill = (list) => list.concat(Array(rows - list.length).fill(null));
  const kinds = newest.copies > 1 ? ["high", "low", "mean", "own"] : ["own"];
  courses.forEach((_, place) => {
    for (const kind of kinds) data.push(fill(values(place, column, kind)));
  });
  const form = two + "/" + newest.copies;
  let chart = charts.get(name);
  if (!chart || chart.form !== form) {
    removeChart(name);
    const box = make("div", { className: "chart", id: "chart-" + name });
    box.setAttribute("role", "img");
    const width = Math.max(240, Math.floor(by("charts").clientWidth / Math.max(1, Math.floor(by("charts").clientWidth / 330))) - 12);
    chart = { form, box, plot: new uPlot(options(name, column, two, width), data, box) };
    if (two) {
      const strip = options(name, column, false, width);
      strip.title = "difference";
      strip.height = 110;
      strip.series = [{}, { label: "difference", stroke: ink(), width: 1.2, points: { show: false } }];
      strip.bands = [];
      chart.strip = new uPlot(strip, [[], []], box);
    }
    by("charts").append(box);
    charts.set(name, chart);
  } else chart.plot.setData(data);
  const kind = newest.copies > 1 ? "mean" : "own";
  if (two) {
    const [left, right] = [values(0, column, kind), values(1, column, kind)];
    const length = Math.min(left.length, right.length);
    const gap = Array.from({ length }, (_, i) => (left[i] === null || right[i] === null ? null : right[i] - left[i]));
    chart.strip.setData([data[0].slice(0, length), gap]);
  }
  const last = courses.map((_, place) => words(values(place, column, kind).at(-1)));
  chart.box.setAttribute("aria-label", `${name}, ${newest.clock} ${rows}: ${last.join(" and ")}`);
}

function removeChart(name) {
  const chart = charts.get(name);
  if (!chart) return;
  chart.plot.destroy();
  if (chart.strip) chart.strip.destroy();
  chart.box.remove();
  charts.delete(name);
}

function drawFacts() {
  const { panes, clock } = newest;
  let text = "";
  if (panes.length === 2) {
    text = "Blue: without the change. Orange, dashed: with it. ";
    text += newest.parted ? `The two part on ${clock} ${newest.parted}.` : "The two are the same so far, to the last bit.";
  }
  write("parted", text);
  by("changes").replaceChildren(...panes.flatMap((pane, place) =>
    pane.changes.map(([tick, key, value]) => make("li", {
      textContent: `${panes.length === 2 ? ["without: ", "with: "][place] : ""}after ${clock} ${tick}: ${key} = ${value}`,
    }))));
  by("unchanged").hidden = newest.recorded || panes.some((pane) => pane.changes.length);
  by("changed").hidden = newest.recorded;
  document.body.dataset.tick = newest.tick;
  document.body.dataset.hash = panes.at(-1).sha256;
}

// Returns the part of the page of a course, made if it is missing.
function panel(place) {
  const all = by("panes").children;
  if (!all[place]) {
    const box = make("section", { className: "pane" });
    box.append(make("h2", {}), make("p", { className: "hash" }));
    for (const name of ["network", "grid", "spread"]) {
      const canvas = make("canvas", { className: name });
      canvas.setAttribute("role", "img");
      box.append(make("p", { className: name + "-title" }), canvas);
      if (name === "network") box.append(make("p", { className: "agent" }));
    }
    box.querySelector(".network").onclick = (event) => pick(event, place);
    by("panes").append(box);
  }
  const box = all[place], two = newest.panes.length === 2;
  put(box.querySelector("h2"), "textContent", two ? ["Without the change", "With the change"][place] : "Agents");
  put(box.querySelector(".hash"), "textContent",
    newest.recorded ? "" : `State after ${newest.clock} ${newest.tick}: ${newest.panes[place].sha256.slice(0, 16)}`);
  return box;
}

// Prepares a canvas for drawing, sharp on every screen; returns its context, or null if it is hidden.
function prepared(canvas, shown, width, height, title, label) {
  canvas.hidden = canvas.previousElementSibling.hidden = !shown;
  if (!shown) return null;
  const scale = devicePixelRatio || 1;
  put(canvas, "width", Math.round(width * scale));
  put(canvas, "height", Math.round(height * scale));
  put(canvas.style, "width", width + "px");
  put(canvas.style, "height", height + "px");
  put(canvas.previousElementSibling, "textContent", title);
  canvas.setAttribute("aria-label", title + ": " + label);
  const context = canvas.getContext("2d");
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.clearRect(0, 0, width, height);
  context.font = "12px system-ui, sans-serif";
  context.fillStyle = ink();
  return context;
}

// --------------------------------------------------------------------------------------- network

const SIDE = 360;

function layout(pane, place) {
  const count = pane.numbers.nodes.length / 3;
  const links = [];
  for (let i = 0; i < pane.numbers.links.length; i += 3) {
    const [source, target, weight] = pane.numbers.links.slice(i, i + 3);
    links.push({ source, target, weight });
  }
  let nodes = layouts[place] && layouts[place].length === count ? layouts[place] : null;
  const fresh = !nodes;
  // The second course begins where the first one is, so that the eye can compare.
  if (fresh && place && layouts[0] && layouts[0].length === count) nodes = layouts[0].map(({ x, y }) => ({ x, y }));
  if (!nodes) {
    nodes = Array.from({ length: count }, (_, i) => {
      const angle = (2 * Math.PI * i) / count;
      return { x: SIDE / 2 + 120 * Math.cos(angle), y: SIDE / 2 + 120 * Math.sin(angle) };
    });
  }
  const most = Math.max(1, ...links.map((one) => one.weight));
  const forces = d3.forceSimulation(nodes).stop()
    .force("links", d3.forceLink(links).distance(90).strength((one) => (0.25 * one.weight) / most))
    .force("apart", d3.forceManyBody().strength(-420))
    .force("x", d3.forceX(SIDE / 2).strength(0.12)).force("y", d3.forceY(SIDE / 2).strength(0.12));
  if (!fresh) forces.alpha(0.25);
  forces.tick(fresh ? 120 : 6);
  layouts[place] = nodes;
  return [nodes, links, most];
}

function drawNetwork(pane, place, canvas) {
  const shown = Boolean(pane.numbers.nodes);
  const context = prepared(canvas, shown, SIDE, SIDE, pane.network, `${shown ? pane.numbers.links.length / 3 : 0} links`);
  put(canvas.parentElement.querySelector(".agent"), "hidden", !shown);
  if (!context) return;
  const [nodes, links, most] = layout(pane, place);
  const inside = (number) => Math.min(SIDE - 12, Math.max(12, number));
  for (const one of nodes) [one.x, one.y] = [inside(one.x), inside(one.y)];
  context.strokeStyle = ink();
  for (const { source, target, weight } of links) {
    context.globalAlpha = 0.12 + 0.5 * (weight / most);
    context.lineWidth = 0.5 + 3 * (weight / most);
    context.beginPath();
    context.moveTo(source.x, source.y);
    context.lineTo(target.x, target.y);
    context.stroke();
  }
  const largest = Math.max(1, ...nodes.map((_, i) => pane.numbers.nodes[3 * i]));
  nodes.forEach((node, i) => {
    const [size, colour, alive] = pane.numbers.nodes.slice(3 * i, 3 * i + 3);
    context.globalAlpha = alive ? 1 : 0.15;
    context.beginPath();
    context.arc(node.x, node.y, 4 + 8 * Math.sqrt(Math.max(0, size) / largest), 0, 7);
    context.fillStyle = NODES[colour % NODES.length];
    context.fill();
    if (i === agent) {
      context.lineWidth = 2.5;
      context.strokeStyle = ink();
      context.stroke();
    }
  });
  context.globalAlpha = 1;
  tell(pane, canvas.parentElement.querySelector(".agent"), links);
}

function pick(event, place) {
  const box = event.target.getBoundingClientRect();
  const [x, y] = [event.clientX - box.left, event.clientY - box.top];
  const distance = (one) => Math.hypot(one.x - x, one.y - y);
  const near = layouts[place].reduce((best, one, i) => (distance(one) < distance(layouts[place][best]) ? i : best), 0);
  agent = distance(layouts[place][near]) < 20 ? near : null;
  drawScene();
}

function tell(pane, line, links) {
  if (agent === null) return put(line, "textContent", "Click a circle to read about the agent.");
  const [size, colour] = pane.numbers.nodes.slice(3 * agent, 3 * agent + 2);
  const gave = links.filter((one) => one.source.index === agent), got = links.filter((one) => one.target.index === agent);
  const sum = (list) => words(list.reduce((total, one) => total + one.weight, 0));
  const names = (list, end) => [...list].sort((a, b) => b.weight - a.weight).slice(0, 3).map((one) => one[end].index).join(", ") || "no agent";
  put(line, "textContent", `Agent ${agent}: holds ${words(size)}, colour ${colour}. In the last week it gave ${sum(gave)} to ` +
    `${gave.length} others (most to ${names(gave, "target")}) and got ${sum(got)} from ${got.length} (most from ${names(got, "source")}).`);
}

// ------------------------------------------------------------------------------- grid and spread

function drawGrid(pane, canvas) {
  const cells = pane.numbers.grid;
  const shown = Boolean(cells);
  const columns = shown ? pane.grid.columns : 1, rows = shown ? Math.ceil(cells.length / columns) : 1;
  const context = prepared(canvas, shown, SIDE, (SIDE * rows) / columns, shown ? pane.grid.title : "", `${rows} rows of ${columns} cells`);
  if (!context) return;
  const low = Math.min(...cells), high = Math.max(...cells), side = SIDE / columns;
  cells.forEach((value, i) => {
    const share = high > low ? (value - low) / (high - low) : 0;
    context.fillStyle = `hsl(${210 - 170 * share} 75% ${dark.matches ? 18 + 50 * share : 92 - 50 * share}%)`;
    context.fillRect((i % columns) * side, Math.floor(i / columns) * side, side + 0.5, side + 0.5);
  });
}

// Draws the histogram on the left, and on the right the Lorenz curve, if no number is negative.
function drawSpread(pane, place, canvas) {
  const sorted = pane.numbers.spread;
  const width = SIDE, height = 150;
  const shown = Boolean(sorted && sorted.length);
  const unit = pane.spread && pane.spread.unit !== "1" ? ` (${pane.spread.unit})` : "";
  const context = prepared(canvas, shown, width, height, shown ? "Spread over agents: " + pane.spread.meaning + unit : "",
    shown ? `least ${words(sorted[0])}, median ${words(sorted[sorted.length >> 1])}, most ${words(sorted.at(-1))}` : "");
  if (!context) return;
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
  context.fillText(words(low), 4, 142);
  context.fillText(words(high), half - 24, 142);
  const total = sorted.reduce((a, b) => a + b, 0);
  if (sorted[0] < 0 || total <= 0) return;
  const left = width / 2 + 20, side = width / 2 - 30;
  context.strokeStyle = faint();
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
  context.lineWidth = 1;
  context.fillText(`Lorenz curve, Gini ${words(weighted / (sorted.length * total))}`, left - 6, 142);
}

// --------------------------------------------------------------------------- pictures and keys

// Saves all that is drawn as one picture.
function savePicture() {
  const drawn = [...document.querySelectorAll("#scene canvas")].filter((one) => !one.hidden && one.width > 1);
  const top = by("scene").getBoundingClientRect(), scale = devicePixelRatio || 1;
  const whole = make("canvas", { width: top.width * scale, height: top.height * scale });
  const context = whole.getContext("2d");
  context.fillStyle = dark.matches ? "#121212" : "#ffffff";
  context.fillRect(0, 0, whole.width, whole.height);
  for (const one of drawn) {
    const box = one.getBoundingClientRect();
    context.drawImage(one, (box.x - top.x) * scale, (box.y - top.y) * scale);
  }
  context.fillStyle = ink();
  context.font = `bold ${13 * scale}px system-ui, sans-serif`;
  for (const one of document.querySelectorAll(".u-title, #when, #parted, .pane h2")) {
    const box = one.getBoundingClientRect();
    context.fillText(one.textContent, (box.x - top.x) * scale, (box.y - top.y + 13) * scale, box.width * scale);
  }
  const link = make("a", { href: whole.toDataURL("image/png"), download: `${newest.clock}-${newest.tick}.png` });
  link.click();
}

by("save").addEventListener("click", (event) => {
  if (!newest) return;
  event.preventDefault();
  savePicture();
});

// Space plays or pauses, the right arrow goes on by one tick, wherever no control has the focus.
document.addEventListener("keydown", (event) => {
  if (!newest || event.target !== document.body) return;
  const button = { " ": "c-play", ArrowRight: "c-one" }[event.key];
  if (!button) return;
  event.preventDefault();
  by(button).click();
});

dark.onchange = () => { for (const name of [...charts.keys()]) removeChart(name); if (newest) drawScene(); };

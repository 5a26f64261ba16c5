// Draws the series of a run with uPlot: a chart for each series, a line for each of its columns.
"use strict";

const KINDS = { mean: 0, low: 1, high: 2, own: 3 };
const MORE = 8; // columns of a series from which on a legend would hide the chart

let charts = new Map(); // by name of a series
let chosen = null; // names of the series that are drawn
let listed = ""; // names of all series, as they are listed

const words = (number) => (number === null || number === undefined ? "none" : Number(number.toPrecision(4)).toString());

const compact = new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 3 });
const brief = (number) => compact.format(number);
const exact = new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 5 });
function label(number) {
  if (number && Math.abs(number) < 1e-4) return Number(number.toPrecision(6)).toExponential();
  return number === null ? "" : exact.format(number);
}

// Returns a column of a course: an array with a value for each tick, null where there is none.
function values(place, name, kind) {
  const { rows, kinds, data, index, lines, found } = courses[place];
  const column = index.get(name), key = name + "/" + kind;
  if (!found.has(key)) found.set(key, []);
  const list = found.get(key);
  if (column === undefined) return Array(rows).fill(null);
  for (let row = list.length; row < rows; row++) {
    const value = data[lines.length * (kinds * row + (kinds > 1 ? KINDS[kind] : 0)) + column];
    list.push(Number.isFinite(value) ? value : null);
  }
  return list;
}

// Returns the names of all series, and the columns of one.
const allSeries = () => [...new Set(courses.flatMap((one) => one.lines.map((line) => line.series)))];
const columnsOf = (name) => {
  const known = new Map(courses.flatMap((one) => one.lines.filter((line) => line.series === name).map((line) => [line.name, line])));
  return [...known.values()];
};

function drawCharts() {
  const names = allSeries();
  const available = (list) => list.filter((one) => names.includes(one)), others = listed !== names.join();
  if (others && chosen && chosen.length && !available(chosen).length) chosen = null; // a file of another workload
  if (!chosen) chosen = newest.first.length ? available(newest.first) : names.slice(0, 6);
  if (others) listSeries(names);
  for (const name of [...charts.keys()]) if (!chosen.includes(name)) removeChart(name);
  for (const name of chosen) if (names.includes(name)) drawChart(name);
}

function listSeries(names) {
  listed = names.join();
  by("names").replaceChildren(...names.map((name) => {
    const box = make("input", { type: "checkbox", checked: chosen.includes(name), id: "s-" + name });
    box.onchange = () => {
      chosen = allSeries().filter((one) => by("s-" + one).checked);
      drawScene();
    };
    const line = make("label", { title: columnsOf(name)[0].meaning });
    line.append(box, " " + name.replaceAll("_", " "));
    return line;
  }));
}

// Returns the lines of a chart: column, course, kind, label, colour, dash; and its bands.
function plan(name) {
  const columns = columnsOf(name), two = courses.length === 2, many = newest.copies > 1;
  const lines = [], bands = [];
  courses.forEach((_, place) => columns.forEach((column, i) => {
    const alone = columns.length === 1;
    const colour = alone ? COLOURS[place] : NODES[i % NODES.length];
    const suffix = two ? [" without", " with"][place] : "";
    const short = column.name.replace(name + "_", "") + suffix;
    const dash = place ? [6, 3] : i >= NODES.length ? [2, 2] : null;
    const add = (kind, text, more) => lines.push({ column: column.name, place, kind, label: text, colour, dash, width: 1.5, ...more });
    if (many && alone) {
      bands.push({ series: [lines.length + 1, lines.length + 2], fill: colour + "22" });
      add("high", "90 % below" + suffix, { colour: "transparent" });
      add("low", "10 % below" + suffix, { colour: "transparent" });
      add("mean", "mean" + suffix);
      add("own", "shown" + suffix, { width: 0.8, dash: [4, 3] });
    } else add(many ? "mean" : "own", short);
  }));
  const legend = columns.length > 1 && columns.length <= MORE;
  return { lines, bands, legend: legend ? columns.map((one) => one.name.replace(name + "_", "")) : [] };
}

function chartWidth() {
  const whole = by("charts").clientWidth;
  return Math.max(200, Math.floor(whole / Math.max(1, Math.floor(whole / 330))) - 12);
}

// Returns the last tick that charts show: a few at first, and all of the run in the end.
function horizon() {
  const rows = Math.max(...courses.map((one) => one.rows));
  let last = 25;
  while (last < rows) last *= 2;
  return Math.max(2, Math.min(last, newest.ticks));
}

// Returns the names of the lines of a chart, each after a square of its colour.
function legendOf(names) {
  const list = make("p", { className: "legend" });
  names.forEach((name, i) => {
    const square = make("i", { textContent: "\u25a0" });
    square.style.color = NODES[i % NODES.length];
    const item = make("span");
    item.append(square, name);
    list.append(item);
  });
  return list;
}

function options(title, height, lines, bands) {
  const axis = { stroke: ink, grid: { stroke: faint, width: 1 }, ticks: { stroke: faint } };
  const drawn = lines.map(({ label: name, colour, dash, width }) => ({ label: name, stroke: colour, dash, width, points: { show: (plot) => plot.data[0].length === 1 } }));
  return {
    title, width: chartWidth(), height, series: [{ label: newest.clock }, ...drawn], bands,
    legend: { show: false }, cursor: { sync: { key: "ticks" }, drag: { x: false, y: false } },
    scales: { x: { time: false, range: () => [1, horizon()] } },
    axes: [axis, { ...axis, size: 62, space: height < 150 ? 18 : 30, values: (_, splits) => splits.map(label) }],
  };
}

function drawChart(name) {
  const { lines, bands, legend } = plan(name), two = courses.length === 2;
  const form = lines.map((one) => one.label).join() + two;
  let chart = charts.get(name);
  if (chart && chart.form === form && skipped(chart.box)) return;
  const rows = Math.max(...courses.map((one) => one.rows));
  const days = Array.from({ length: rows }, (_, row) => row + 1);
  const padded = (list) => (list.length < rows ? list.concat(Array(rows - list.length).fill(null)) : list);
  const data = [days, ...lines.map((one) => padded(values(one.place, one.column, one.kind)))];
  if (!chart || chart.form !== form) {
    removeChart(name);
    const box = make("div", { className: "chart", id: "chart-" + name });
    box.setAttribute("role", "img");
    box.style.width = chartWidth() + "px";
    const { unit, meaning } = columnsOf(name)[0];
    box.title = meaning;
    const title = name.replaceAll("_", " ") + (unit === "1" ? "" : ` (${unit})`);
    chart = { form, box, lines, bands, plot: new uPlot(options(title, 170, lines, bands), data, box), title };
    if (legend.length) box.append(legendOf(legend));
    if (two) {
      const all = columnsOf(name);
      const gaps = all.map((column, i) => ({
        label: column.name, colour: all.length > 1 ? NODES[i % NODES.length] : ink(), width: 1.2,
      }));
      chart.gaps = gaps;
      chart.strip = new uPlot(options("difference", 120, gaps, []), [[], ...gaps.map(() => [])], box);
    }
    by("charts").append(box);
    looking.observe(box);
    charts.set(name, chart);
  } else chart.plot.setData(data);
  const kind = newest.copies > 1 ? "mean" : "own";
  if (two) {
    const gaps = chart.gaps.map(({ label: column }) => {
      const [left, right] = [values(0, column, kind), values(1, column, kind)];
      const length = Math.min(left.length, right.length);
      return Array.from({ length }, (_, i) => (left[i] === null || right[i] === null ? null : right[i] - left[i]));
    });
    chart.strip.setData([days.slice(0, gaps[0].length), ...gaps]);
  }
  const last = lines.filter((one) => one.kind === kind).map((one) => {
    const list = values(one.place, one.column, kind);
    return (lines.length > 1 ? one.label + " " : "") + words(list[list.length - 1]);
  });
  chart.box.setAttribute("aria-label", `${chart.title}, ${newest.clock} ${rows}: ${last.join(", ")}`);
}

function removeChart(name) {
  const chart = charts.get(name);
  if (!chart) return;
  chart.plot.destroy();
  if (chart.strip) chart.strip.destroy();
  removed(chart.box);
  charts.delete(name);
}

function removeCharts() {
  for (const name of [...charts.keys()]) removeChart(name);
}

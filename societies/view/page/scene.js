// Shows the scene of a run: its series, networks, grids and spreads, of one course or of two.
//
// A message has the rows of the series that this page lacks, and the numbers of one tick. charts.js
// and agents.js draw them; saving.js saves them.
"use strict";

const COLOURS = ["#0072b2", "#d55e00"]; // of the courses: first, second; distinct for all eyes
const NODES = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#999999"];

const dark = matchMedia("(prefers-color-scheme: dark)");
const ink = () => (dark.matches ? "#e6e6e6" : "#222222");
const faint = () => (dark.matches ? "#444444" : "#dddddd");

let newest = null; // the newest scene
let courses = []; // by place: { rows, kinds, lines, index, data, found }
let marks = []; // times and ticks of the pictures of the last `LATELY` milliseconds, while it plays
const LATELY = 3000;

// While a run plays, charts and panes are drawn only where they are on the screen, or soon are.
let everything = false; // whether all are drawn, because they are saved
const onScreen = new Set();
const looking = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) {
    if (isIntersecting) onScreen.add(target);
    else onScreen.delete(target);
  }
  if (newest && newest.playing && entries.some((one) => one.isIntersecting)) drawScene();
}, { rootMargin: "100px" });
const skipped = (element) => newest.playing && !everything && !onScreen.has(element);

function removed(element) {
  looking.unobserve(element);
  onScreen.delete(element);
  element.remove();
}

// Takes a message into the series: `data` has room for more rows, `found` what `values` has read.
function readScene(header, buffer, offset) {
  header.panes.forEach((pane, place) => {
    const numbers = {};
    for (const [name, shape] of pane.parts) {
      const length = shape.reduce((a, b) => a * b, 1);
      numbers[name] = new Float32Array(buffer.slice(offset, offset + 4 * length));
      offset += 4 * length;
    }
    if (pane.lines) {
      const index = new Map(pane.lines.map((line, i) => [line.name, i]));
      courses[place] = { rows: 0, kinds: 1, lines: pane.lines, index, data: new Float32Array(0), found: new Map() };
    }
    const course = courses[place], [, [, kinds]] = pane.parts.find(([name]) => name === "series");
    course.kinds = kinds; // one for each of charts.js, or the only one if they are all the same
    const width = kinds * course.lines.length;
    course.rows = pane.from + numbers.series.length / width;
    if (course.data.length < width * course.rows) {
      const data = new Float32Array(2 * width * course.rows);
      data.set(course.data.subarray(0, width * pane.from));
      course.data = data;
    }
    course.data.set(numbers.series, width * pane.from);
    for (const list of course.found.values()) list.length = Math.min(list.length, pane.from);
    delete numbers.series;
    pane.numbers = numbers;
  });
  courses.length = header.panes.length;
  newest = header;
}

function drawScene(all = false) {
  everything = all || Boolean(film);
  by("scene").hidden = false;
  document.querySelector("figure").hidden = true;
  for (const one of document.querySelectorAll(".of-scene")) one.hidden = false;
  write("when", newest.caption);
  for (const one of [by("c-tick"), by("n-tick")]) {
    if (one && one !== document.activeElement) put(one, "value", String(newest.tick));
  }
  showValue();
  namePlay();
  drawCharts();
  drawFacts();
  newest.panes.forEach((pane, place) => {
    const before = by("panes").children.length, box = panel(place);
    if (place < before && skipped(box)) return;
    drawNetwork(pane, place, box);
    drawGrid(pane, box.querySelector(".grid"));
    drawSpread(pane, place, box.querySelector(".spread"));
  });
  for (const extra of [...by("panes").children].slice(newest.panes.length)) removed(extra);
  record();
}

// Names the button by what it does, which at the last tick is to play again.
function namePlay() {
  if (newest && by("c-play")) put(by("c-play"), "textContent", newest.playing ? "Pause" : "Play");
}

function drawFacts() {
  const { panes, clock } = newest;
  let text = "";
  if (panes.length === 2) {
    text = "Blue: without the change. Orange, dashed: with it. ";
    const [one, other] = panes.map((pane) => pane.sha256);
    if (newest.parted) text += `The two part on ${clock} ${newest.parted}.`;
    else if (one === other) text += "The two are the same so far, to the last bit.";
    else text += "No series differs so far, though the states do.";
  }
  write("parted", text);
  const now = [speed(), living()].filter(Boolean);
  write("now", now.length ? `, ${now.join(", ")}.` : "");
  list("changes", happenings());
  const any = by("changes").children.length > 0;
  by("changed").hidden = newest.recorded && !any;
  by("unchanged").hidden = newest.recorded || any;
  write("unchanged", by("c-key") ? "None. Move the slider of a key, and what follows changes."
    : "None: no key of this configuration can change during a run.");
  list("warnings", [...new Set(panes.flatMap((pane) => pane.warnings))].map((text) => "warning: " + text));
  by("warnings").hidden = !by("warnings").children.length;
  document.body.dataset.tick = newest.tick;
  document.body.dataset.hash = panes.at(-1).sha256;
}

function list(id, texts) {
  const shown = Array.from(by(id).children, (one) => one.textContent);
  if (shown.join("\n") !== texts.join("\n")) by(id).replaceChildren(...texts.map((textContent) => make("li", { textContent })));
}

// Returns what happens on the way: what both courses have is listed once.
function happenings() {
  const { panes, clock } = newest, found = new Map();
  panes.forEach((pane, place) => pane.happenings.forEach(([tick, text, here]) => {
    const when = tick ? `after ${clock} ${tick}` : `before the first ${clock}`;
    const line = `${when}: ${text}${here ? "" : " (of the configuration)"}`;
    found.set(line, { tick, of: [...(found.get(line)?.of || []), place] });
  }));
  const side = (of) => (panes.length < 2 ? "" : of.length > 1 ? "both: " : ["without: ", "with: "][of[0]]);
  return [...found].sort(([, a], [, b]) => a.tick - b.tick).map(([line, { of }]) => side(of) + line);
}

// Shows in the slider the value that the next tick has, if the user has not changed it.
function showValue() {
  const current = known.seq === seq && known.state === newest.state && newest.key === by("c-key")?.value;
  if (current) setInput("value", newest.panes.at(-1).value);
}

// Returns how many agents are alive at the tick that is shown, in each course.
function living() {
  if (!newest.living || !newest.tick) return "";
  const counts = newest.panes.map((_, place) => values(place, newest.living, "own")[newest.tick - 1]);
  return `${[...new Set(counts.map(words))].join(" and ")} agents alive`;
}

// Returns how many ticks a second were computed or replayed lately, while a run plays.
function speed() {
  const time = performance.now(), { tick, playing } = newest;
  if (!playing || (marks.length && marks.at(-1).tick > tick)) marks = [];
  if (!playing) return "";
  marks = [...marks.filter((one, i) => time - one.time < LATELY || i === marks.length - 1), { time, tick }];
  const rate = (1000 * (tick - marks[0].tick)) / (time - marks[0].time);
  return marks.length > 1 ? `at ${Number(rate.toPrecision(2))} a second` : "";
}

// Returns the part of the page of a course, made if it is missing.
function panel(place) {
  const all = by("panes").children;
  if (!all[place]) {
    const box = make("section", { className: "pane" });
    const views = make("div", { className: "views" });
    box.append(make("h2", {}), make("p", { className: "hash" }), make("p", { className: "value" }), views);
    for (const name of ["network", "grid", "spread"]) {
      const canvas = make("canvas", { className: name });
      canvas.setAttribute("role", "img");
      const view = make("div", { className: "view" });
      view.append(make("p", { className: name + "-title" }), canvas);
      views.append(view);
      if (name === "network") {
        const life = make("pre", { className: "life", tabIndex: 0 });
        life.setAttribute("role", "region");
        life.setAttribute("aria-label", "Life of the agent");
        view.append(make("p", { className: "agent" }), life);
      }
    }
    box.querySelector(".network").onclick = (event) => pick(event, place);
    by("panes").append(box);
    looking.observe(box);
  }
  const box = all[place], two = newest.panes.length === 2;
  box.classList.toggle("alone", !two);
  const { sha256 } = newest.panes[place];
  put(box.querySelector("h2"), "textContent", two ? ["Without the change", "With the change"][place] : "Agents");
  put(box.querySelector(".hash"), "textContent", newest.recorded ? "" : sha256
    ? `State after ${newest.clock} ${newest.tick}: ${sha256.slice(0, 16)}` : "The hash of the state is shown when the run is paused.");
  const { value } = newest.panes[place];
  put(box.querySelector(".value"), "textContent", two && value != null ? `${newest.key} = ${value} from the next ${newest.clock} on` : "");
  return box;
}

// Space plays or pauses, the arrows go a tick forward or back, wherever no control has the focus.
document.addEventListener("keydown", (event) => {
  if (!newest || event.target !== document.body) return;
  const button = { " ": "c-play", ArrowRight: "c-one" }[event.key], back = event.key === "ArrowLeft";
  if (!button && !back) return;
  event.preventDefault();
  if (button) by(button).click();
  else if (newest.tick) act({ change: "tick", value: newest.tick - 1 });
});

function again() {
  removeCharts();
  if (newest) drawScene();
}

dark.onchange = again;
let wide = innerWidth;
addEventListener("resize", () => {
  if (wide !== innerWidth) again(); // a telephone that hides its address bar changes the height
  wide = innerWidth;
});

// Saves what is drawn of a run: as PNG, as SVG, or as a video of the ticks that are shown.
"use strict";

const TITLES = ".u-title, .legend > *, #when, #now, #parted, .pane h2, .pane .value, .hash, .network-title, .grid-title, .spread-title";
const paper = () => (dark.matches ? "#121212" : "#ffffff");

let film = null; // the video that is recorded: { canvas, recorder, parts, ending }
const WRITTEN = 1000; // milliseconds without new bytes after which a video that ends has all pictures
const LATE = 30000; // milliseconds after which it ends without the others

function download(address, kind) {
  make("a", { href: address, download: `${newest.clock}-${newest.tick}.${kind}` }).click();
}

function downloadBlob(blob, kind) {
  const address = URL.createObjectURL(blob);
  download(address, kind);
  setTimeout(() => URL.revokeObjectURL(address), 60000);
}

const visible = (one) => one.offsetParent !== null && one.getBoundingClientRect().width > 1;

// Paints all that is drawn on one canvas, with `scale` of its pixels for one of the page.
function compose(canvas, scale) {
  const top = by("scene").getBoundingClientRect(), context = canvas.getContext("2d");
  context.fillStyle = paper();
  context.fillRect(0, 0, canvas.width, canvas.height);
  for (const one of document.querySelectorAll("#scene canvas")) {
    if (!visible(one)) continue;
    const box = one.getBoundingClientRect();
    context.drawImage(one, (box.x - top.x) * scale, (box.y - top.y) * scale, box.width * scale, box.height * scale);
  }
  for (const { text, x, y, width, size, weight, colour } of lettering(top)) {
    context.fillStyle = colour;
    context.font = `${weight} ${size * scale}px system-ui, sans-serif`;
    context.fillText(text, x * scale, y * scale, width * scale);
  }
}

// Returns the texts around the pictures line by line, each with its place, width, font and colour.
function lettering(top) {
  const lines = [], range = document.createRange();
  for (const element of document.querySelectorAll(TITLES)) {
    if (!visible(element)) continue;
    const nodes = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
    while (nodes.nextNode()) {
      const node = nodes.currentNode, style = getComputedStyle(node.parentElement);
      let line = null;
      for (const { 0: word, index } of node.data.matchAll(/\S+/g)) {
        range.setStart(node, index);
        range.setEnd(node, index + word.length);
        const box = range.getBoundingClientRect(), x = box.x - top.x, y = box.y - top.y + 0.8 * box.height;
        if (line && Math.abs(line.y - y) < 1) Object.assign(line, { text: `${line.text} ${word}`, width: x + box.width - line.x });
        else lines.push(line = { text: word, x, y, width: box.width, size: parseFloat(style.fontSize), weight: style.fontWeight, colour: style.color });
      }
    }
  }
  return lines;
}

function savePng() {
  drawScene(true);
  const { width, height } = by("scene").getBoundingClientRect(), scale = devicePixelRatio || 1;
  const whole = make("canvas", { width: width * scale, height: height * scale });
  compose(whole, scale);
  download(whole.toDataURL("image/png"), "png");
}

// ------------------------------------------------------------------------------------------- SVG

const quoted = (text) => String(text).replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
const short = (number) => Number(number.toFixed(2));

// What agents.js and `paintChart` need of a canvas, written as SVG.
class Svg {
  constructor() {
    Object.assign(this, { parts: [], path: "", dash: [], globalAlpha: 1, lineWidth: 1, fillStyle: "", strokeStyle: "" });
  }
  beginPath() { this.path = ""; }
  moveTo(x, y) { this.path += `M${short(x)} ${short(y)}`; }
  lineTo(x, y) { this.path += `L${short(x)} ${short(y)}`; }
  arc(x, y, r) { // a whole circle
    const half = `A${short(r)} ${short(r)} 0 1 0`;
    this.path += `M${short(x - r)} ${short(y)}${half} ${short(x + r)} ${short(y)}${half} ${short(x - r)} ${short(y)}`;
  }
  setLineDash(dash) { this.dash = dash; }
  stroke() {
    this.parts.push(`<path d="${this.path}" fill="none" stroke="${this.strokeStyle}" stroke-width="${short(this.lineWidth)}"` +
      ` opacity="${short(this.globalAlpha)}"${this.dash.length ? ` stroke-dasharray="${this.dash.join(" ")}"` : ""}/>`);
  }
  fill() { this.parts.push(`<path d="${this.path}" fill="${this.fillStyle}" opacity="${short(this.globalAlpha)}"/>`); }
  fillRect(x, y, width, height) {
    this.parts.push(`<rect x="${short(x)}" y="${short(y)}" width="${short(width)}" height="${short(height)}" fill="${this.fillStyle}"/>`);
  }
  fillText(text, x, y, size = 12, weight = 400) {
    this.parts.push(`<text x="${short(x)}" y="${short(y)}" fill="${this.fillStyle}" font-size="${size}" font-weight="${weight}">${quoted(text)}</text>`);
  }
  at(x, y, paint) {
    this.parts.push(`<g transform="translate(${short(x)} ${short(y)})">`);
    paint(this);
    this.parts.push("</g>");
  }
}

// Paints a chart of uPlot: its axes, bands and lines.
function paintChart(context, plot, lines, bands) {
  const scale = devicePixelRatio || 1;
  const [left, top, width, height] = ["left", "top", "width", "height"].map((one) => plot.bbox[one] / scale);
  const x = (value) => left + plot.valToPos(value, "x"), y = (value) => top + plot.valToPos(value, "y");
  const line = (points) => {
    context.beginPath();
    let up = true; // the pen, where there is no number
    for (const [a, b] of points) {
      if (b === null || b === undefined) up = true;
      else {
        if (up) context.moveTo(x(a), y(b));
        else context.lineTo(x(a), y(b));
        up = false;
      }
    }
  };
  Object.assign(context, { fillStyle: ink(), strokeStyle: faint(), lineWidth: 1, globalAlpha: 1 });
  context.setLineDash([]);
  plot.axes.forEach((axis, side) => (axis._splits || []).forEach((split, i) => {
    const [a, b] = side ? [left, y(split)] : [x(split), top];
    context.beginPath();
    context.moveTo(a, b);
    context.lineTo(side ? left + width : a, side ? b : top + height);
    context.stroke();
    const text = String((axis._values || [])[i] ?? "");
    context.fillText(text, side ? left - 6.5 * text.length - 4 : a - 3 * text.length, side ? b + 4 : top + height + 16);
  }));
  const [days, ...columns] = plot.data;
  for (const { series: [high, low], fill } of bands) {
    const points = days.map((day, i) => [day, plot.data[high][i], plot.data[low][i]]).filter((one) => one[1] !== null && one[2] !== null);
    if (!points.length) continue;
    line([...points.map((one) => [one[0], one[1]]), ...points.reverse().map((one) => [one[0], one[2]])]);
    context.fillStyle = fill;
    context.fill();
  }
  lines.forEach((one, i) => {
    if (one.colour === "transparent") return;
    line(days.map((day, k) => [day, columns[i][k]]));
    Object.assign(context, { strokeStyle: one.colour, lineWidth: one.width });
    context.setLineDash(one.dash || []);
    context.stroke();
  });
  context.setLineDash([]);
}

function svgOfScene() {
  drawScene(true);
  const top = by("scene").getBoundingClientRect(), svg = new Svg();
  const place = (element, paint) => {
    const box = element.getBoundingClientRect();
    svg.at(box.x - top.x, box.y - top.y, paint);
  };
  for (const chart of charts.values()) {
    place(chart.plot.root.querySelector(".u-wrap"), (one) => paintChart(one, chart.plot, chart.lines, chart.bands));
    if (chart.strip) place(chart.strip.root.querySelector(".u-wrap"), (one) => paintChart(one, chart.strip, chart.gaps, []));
  }
  newest.panes.forEach((pane, i) => {
    const box = by("panes").children[i];
    const paints = [["network", pane.numbers.nodes, paintNetwork], ["grid", pane.numbers.grid, paintGrid],
      ["spread", pane.numbers.spread && pane.numbers.spread.length, paintSpread]];
    for (const [name, shown, paint] of paints) if (shown) place(box.querySelector("." + name), (one) => paint(one, pane, i));
  });
  for (const { text, x, y, size, weight, colour } of lettering(top)) {
    svg.fillStyle = colour;
    svg.fillText(text, x, y, size, weight);
  }
  const [width, height] = [Math.ceil(top.width), Math.ceil(top.height)];
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" ` +
    `font-family="system-ui, sans-serif"><title>${quoted(document.title + ", " + newest.caption)}</title>` +
    `<rect width="100%" height="100%" fill="${paper()}"/>${svg.parts.join("")}</svg>`;
}

// ----------------------------------------------------------------------------------------- video

// Begins a video of what is shown from now on, or ends and saves it.
function recordVideo() {
  if (film) {
    if (!film.ending) finishVideo(film, performance.now(), 0);
    return;
  }
  const kind = ["video/webm;codecs=vp8", "video/webm", "video/mp4"].find((one) => window.MediaRecorder && MediaRecorder.isTypeSupported(one));
  if (!kind) {
    write("error", "this browser records no videos; save pictures, or use another browser");
    return;
  }
  const { width, height } = by("scene").getBoundingClientRect();
  const canvas = make("canvas", { width: 2 * Math.floor(width / 2), height: 2 * Math.floor(height / 2) });
  compose(canvas, 1);
  const recorder = new MediaRecorder(canvas.captureStream(), { mimeType: kind, videoBitsPerSecond: 4e6 }), parts = [];
  recorder.ondataavailable = (event) => parts.push(event.data);
  recorder.onstop = () => {
    film = null;
    write("video", "Record video");
    const blob = new Blob(parts, { type: kind.split(";")[0] });
    if (blob.size < 100) write("error", "the video has no picture: record for longer");
    else downloadBlob(blob, blob.type.slice(6));
  };
  film = { canvas, recorder, parts, ending: false };
  recorder.start(1000);
  write("video", "End and save video");
}

// Stops the recorder when it has written all pictures: those on which it still works would be lost.
function finishVideo(one, began, before) {
  const size = one.parts.reduce((sum, part) => sum + part.size, 0);
  if ((size > 100 && size === before) || performance.now() - began > LATE) {
    one.recorder.stop();
    return;
  }
  one.ending = true;
  write("video", "Saving the video ...");
  one.recorder.requestData();
  setTimeout(finishVideo, WRITTEN, one, began, size);
}

// Adds what is drawn now to the video.
function record() {
  if (film && !film.ending) compose(film.canvas, 1);
}

by("save").addEventListener("click", (event) => {
  if (!newest) return;
  event.preventDefault();
  savePng();
});
by("svg").onclick = () => downloadBlob(new Blob([svgOfScene()], { type: "image/svg+xml" }), "svg");
by("video").onclick = recordVideo;

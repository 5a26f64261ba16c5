// Shows the frames of the server, and sends the events of the mouse and of the controls.
//
// Each message of the page has a number. News of the server name the last message that they take
// into account. If that is not the last one sent, the controls of the page are newer and are not
// changed. A frame is acknowledged when it is drawn, which the browser does once per refresh and
// only while the page is visible; until then the server sends no other frame.
"use strict";

const by = (id) => document.getElementById(id);

// Sets a property only if its value differs: setting it again would make the browser redraw.
function put(object, name, value) {
  if (object[name] !== value) object[name] = value;
}

const write = (id, text) => put(by(id), "textContent", text);
const canvas = by("picture"), context = canvas.getContext("2d", { alpha: false });
const RETRY = 1000; // milliseconds from a lost connection to the next attempt
const BUSY = 500; // milliseconds after which the page says that the newest state is not shown yet
const SLOW = 2000; // milliseconds without a picture after which it says so while a run plays
const SMALLEST = 640; // pixels of the screen to which a smaller picture is enlarged

let socket = null, seq = 0, controlling = false;
const small = document.createElement("canvas"); // a preview, before it is enlarged
let waiting = null, drawn = 0, times = [], count = 0;
let drag = null, drags = 0, takes = { drag: "", wheel: "" };
let known = { seq: -1, state: -1 }; // of the newest state
let shown = -1, whole = false; // of the picture
let structure = "", inputs = new Map(), since = 0, latest = 0; // times

// ------------------------------------------------------------------------------------ connection

function connect() {
  const secure = location.protocol === "https:" ? "wss:" : "ws:";
  const address = new URL("socket" + location.search, location.href);
  address.protocol = secure;
  let opened = false;
  socket = new WebSocket(address);
  socket.binaryType = "arraybuffer";
  socket.onopen = () => { opened = true; seq = drawn = 0; shown = -1; waiting = null; };
  socket.onmessage = (message) => {
    if (typeof message.data === "string") inform(JSON.parse(message.data));
    else receive(message.data);
  };
  socket.onclose = async (event) => {
    controlling = false;
    drag = null;
    enable();
    say("lost", "connection lost; trying again" + (event.reason ? ": " + event.reason : ""));
    if (!opened) await explain();
    setTimeout(connect, RETRY);
  };
}

// Shows why the server refuses the connection, if it answers at all.
async function explain() {
  try {
    const answer = await fetch("configuration.yaml" + location.search);
    if (answer.status === 403) say("lost", (await answer.text()).trim());
    else say("lost", "the server answers, but no WebSocket reaches it: open the page without a proxy, or through ssh -L; trying again");
  } catch { /* it does not answer */ }
}

function send(message) {
  if (socket && socket.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message));
}

function act(message) {
  if (!controlling) return;
  send({ seq: ++seq, ...message });
  compare();
}

function say(kind, text) {
  write("status", text);
  put(by("status").dataset, "kind", kind);
  put(document.body, "className", kind);
}

// ---------------------------------------------------------------------------------------- frames

function receive(buffer) {
  const length = new DataView(buffer).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  const first = waiting === null;
  if (header.scene) readScene(header, buffer, 4 + length);
  waiting = { ...header, socket, data: new Uint8Array(buffer, 4 + length) };
  if (first) requestAnimationFrame(draw);
}

async function draw() {
  const frame = waiting;
  waiting = null;
  if (frame === null || frame.socket !== socket) return;
  try {
    if (frame.scene) showScene(frame);
    else await paint(frame);
  } catch (error) { // for instance if the picture is too large for a canvas
    write("error", "this browser cannot show the picture: " + error.message);
  }
  send({ shown: frame.number });
}

async function paint(frame) {
  let picture = null;
  if (frame.webp) picture = await createImageBitmap(new Blob([frame.data], { type: "image/webp" }));
  if (frame.number > drawn) { // a newer frame may have been drawn during the decoding
    const [height, width] = frame.size; // of the whole picture; a preview has fewer pixels
    if (canvas.width !== width || canvas.height !== height) {
      [canvas.width, canvas.height] = [width, height];
      fit();
    }
    if (!picture) {
      const { buffer, byteOffset, byteLength } = frame.data;
      const pixels = new Uint8ClampedArray(buffer, byteOffset, byteLength);
      const data = new ImageData(pixels, frame.width, frame.height);
      if (frame.whole) context.putImageData(data, 0, 0);
      else {
        put(small, "width", frame.width);
        put(small, "height", frame.height);
        small.getContext("2d", { alpha: false }).putImageData(data, 0, 0);
        picture = small;
      }
    }
    if (picture) context.drawImage(picture, 0, 0, width, height);
    drawn = frame.number;
    write("caption", frame.caption);
    document.body.dataset.shown = ++count;
    document.body.dataset.whole = frame.whole;
    [shown, whole] = [frame.state, frame.whole];
    compare();
    times.push(performance.now());
  }
}

// Draws the newest scene, which has all that this frame has.
function showScene(frame) {
  drawScene();
  drawn = frame.number;
  document.body.dataset.shown = ++count;
  [shown, whole] = [frame.state, true];
  compare();
  times.push(latest = performance.now());
}

// Records whether the picture shows the newest state, and whether it also has all pixels.
function compare() {
  const newest = known.seq === seq && known.state === shown;
  put(document.body.dataset, "newest", String(newest));
  put(document.body.dataset, "current", String(newest && whole));
}

function rate() {
  const now = performance.now();
  times = times.filter((time) => now - time < 1000);
  write("rate", times.length > 1 ? times.length + " frames/s" : "");
  const failed = known.error && known.seq === seq; // then no picture of this state follows
  if (failed || known.state === shown || !socket || socket.readyState !== WebSocket.OPEN) since = now;
  const slow = newest && newest.playing && !failed && now - latest > SLOW;
  write("busy", now - since > BUSY || slow ? "computing ..." : "");
}

// Enlarges a small picture by a whole factor; a large one gets at most the width of the page.
function fit() {
  const factor = Math.max(1, Math.floor(SMALLEST / Math.max(canvas.width, canvas.height)));
  canvas.style.width = canvas.width * factor + "px";
  canvas.style.imageRendering = factor > 1 ? "pixelated" : "auto";
}

// -------------------------------------------------------------------------------------- controls

function inform(news) {
  known = news;
  compare();
  controlling = news.controlling;
  write("title", news.title);
  put(document, "title", news.title);
  write("error", news.error);
  const watching = news.viewers - 1;
  if (!controlling) say("watching", "watching: another window controls");
  else say("controlling", watching ? "controlling; " + watching + " watching" : "connected");
  const mouse = news.controls.find((one) => one.kind === "mouse");
  takes = { drag: mouse ? mouse.drag : "", wheel: mouse ? mouse.wheel : "" };
  canvas.classList.toggle("dragged", controlling && takes.drag !== "");
  const does = ["drag", "wheel"].filter((name) => takes[name]);
  write("mouse", does.map((name) => name + ": " + takes[name]).join("; "));
  const controls = news.controls.filter((one) => one.kind !== "mouse");
  const wanted = JSON.stringify(controls.map(({ value, ...rest }) => rest));
  if (wanted !== structure && !by("controls").querySelector("[type=range]:active")) {
    build(controls); // not while a slider is dragged, which would lose the mouse
    structure = wanted;
  }
  enable();
  if (news.seq < seq) return; // the news do not contain later changes made on this page
  // A scene of the state says which tick is shown; the state, from which one it began to play.
  const visible = newest && (newest.playing || known.state === shown);
  for (const one of controls) setInput(one.name, visible && one.name === "tick" ? newest.tick : one.value);
}

// Shows a value in the inputs of a control, except in the one in which the user types. A slider
// whose range ends before the value says it to those who do not see the number next to it.
function setInput(name, value) {
  for (const input of inputs.get(name) || []) {
    if (!input.dataset.typing) put(input, "value", String(value));
    if (input.type === "range") put(input, "ariaValueText", String(value));
  }
}

function enable() {
  put(by("controls"), "disabled", !controlling);
}

function build(controls) {
  const legend = by("controls").querySelector("legend"), focused = document.activeElement.id;
  by("controls").replaceChildren(legend);
  inputs = new Map();
  let row = null;
  for (const one of controls) {
    if (one.kind === "button") {
      if (!row) by("controls").append(row = make("p", { className: "row" }));
      const button = make("button", { type: "button", textContent: one.label, id: "c-" + one.name });
      button.onclick = () => act({ press: one.name });
      row.append(button);
      continue;
    }
    row = null;
    by("controls").append(one.kind === "slider" ? slider(one) : choice(one));
  }
  namePlay();
  if (by("controls").contains(by(focused))) by(focused).focus();
}

function make(name, properties) {
  return Object.assign(document.createElement(name), properties);
}

function slider(one) {
  const range = { min: one.least, max: one.most, step: one.step };
  const bar = make("input", { type: "range", id: "c-" + one.name, ...range, value: one.value });
  const typed = one.limits ? { step: one.step } : range;
  const box = make("input", { type: "number", id: "n-" + one.name, ...typed, value: one.value });
  box.ariaLabel = one.label;
  bar.onchange = () => setTimeout(() => inform(known)); // with what waited for the end of the drag
  bar.oninput = () => { bar.ariaValueText = box.value = bar.value; act({ change: one.name, value: Number(bar.value) }); };
  box.onfocus = box.oninput = () => { box.dataset.typing = true; };
  box.onblur = () => {
    delete box.dataset.typing;
    setTimeout(() => inform(known));
  };
  box.onchange = () => {
    delete box.dataset.typing;
    if (box.value === "") return;
    bar.value = box.value;
    act({ change: one.name, value: Number(box.value) });
  };
  inputs.set(one.name, [bar, box]);
  const label = make("label", { className: "slider" });
  const short = (number) => {
    const round = Number(number.toPrecision(4));
    return String(Math.abs(round) < 1e6 ? round : round.toExponential()).replace("e+", "e");
  };
  let limits = `${short(one.least)} to ${short(one.most)}`;
  if (one.limits && String(one.limits) !== String([one.least, one.most])) {
    limits += `; as a number ${short(one.limits[0])} to ${short(one.limits[1])}`;
  }
  const text = one.label.endsWith(")") ? `${one.label.slice(0, -1)}; ${limits})` : `${one.label} (${limits})`;
  label.append(make("span", { textContent: text }), bar, box);
  return label;
}

function choice(one) {
  const select = make("select", { id: "c-" + one.name });
  for (const word of one.options) select.append(new Option(word, word));
  select.value = one.value;
  select.onchange = () => act({ change: one.name, value: select.value });
  inputs.set(one.name, [select]);
  const label = make("label", { className: "choice" });
  label.append(make("span", { textContent: one.label }), select);
  return label;
}

// ----------------------------------------------------------------------------------------- mouse

function place(event) {
  const box = canvas.getBoundingClientRect();
  const x = (event.clientX - box.left) * canvas.width / box.width;
  return [x, (event.clientY - box.top) * canvas.height / box.height];
}

function dragged(event) {
  const [x, y] = place(event);
  act({ drag: { id: drag.id, x: drag.x, y: drag.y, dx: x - drag.x, dy: y - drag.y } });
}

canvas.onpointerdown = (event) => {
  if (event.button !== 0 || !controlling || !takes.drag) return;
  const [x, y] = place(event);
  drag = { id: ++drags, pointer: event.pointerId, x, y };
  canvas.setPointerCapture(event.pointerId);
  dragged(event);
};
canvas.onpointermove = (event) => {
  if (drag && event.pointerId === drag.pointer) dragged(event);
};
canvas.onpointerup = canvas.onpointercancel = (event) => {
  if (!drag || event.pointerId !== drag.pointer) return;
  if (event.type === "pointerup") dragged(event);
  drag = null;
};
canvas.addEventListener("wheel", (event) => {
  if (!controlling || !takes.wheel) return;
  event.preventDefault();
  // wheelDeltaY is 120 per notch in every browser; the unit of deltaY differs.
  const turns = event.wheelDeltaY ? event.wheelDeltaY / 120 : -Math.sign(event.deltaY);
  if (turns) act({ wheel: turns });
}, { passive: false });

// ----------------------------------------------------------------------------------------- files

by("save").href = "picture.png" + location.search;
by("copy").onclick = async () => {
  let text;
  try {
    const answer = await fetch("configuration.yaml" + location.search);
    text = await answer.text();
    if (!answer.ok) throw new Error(text.trim());
  } catch (error) {
    write("error", "no configuration: " + error.message);
    return;
  }
  by("text").value = text;
  by("keep").href = "data:text/yaml;charset=utf-8," + encodeURIComponent(text);
  by("yaml").showModal();
  by("text").select();
  try {
    await navigator.clipboard.writeText(text);
    write("copied", "Copied. As a file, this is what societies run takes:");
  } catch { // browsers allow this only on this machine and over https
    write("copied", "Copy this into a file, which societies run takes:");
  }
};
by("panel").onsubmit = (event) => event.preventDefault();

setInterval(rate, 250);
addEventListener("DOMContentLoaded", connect); // when all scripts have run

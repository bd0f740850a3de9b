// A picture of tools and of what joins them. Where everything lies the page says; here it is drawn, scrolled, enlarged, and chosen from.
// Strangers' texts (names of tools, of fields) become text nodes and attributes only, never markup.

const SVG = "http://www.w3.org/2000/svg";
const STEPS = [0.4, 0.55, 0.75, 1, 1.3, 1.7];

export default function (component) {
  const root = component.parentElement.querySelector(".footpath-graph");
  root.picture ??= new Picture(root);
  root.picture.update(component.data, component.setTriggerValue);
}

class Picture {
  constructor(root) {
    this.root = root;
    this.scroller = root.querySelector(".scroller");
    this.svg = root.querySelector("svg");
    this.zoom = 1;
    this.drawn = "";
    this.drag();
    this.svg.addEventListener("keydown", (event) => this.key(event));
  }

  update(data, tell) {
    this.tell = tell;
    const colours = getComputedStyle(this.root).color.match(/\d+/g) || [0, 0, 0];
    this.root.classList.toggle("dark", Number(colours[0]) + Number(colours[1]) + Number(colours[2]) > 380);
    const whole = JSON.stringify(data);
    if (whole === this.drawn) return;
    const focused = this.svg.contains(document.activeElement) ? document.activeElement.dataset.id : "";
    const elsewhere = !this.data || this.data.name !== data.name;
    this.drawn = whole;
    this.data = data;
    this.buttons();
    this.draw();
    if (elsewhere) this.begin();
    if (focused) this.nodes.get(focused)?.focus({ preventScroll: true });
  }

  buttons() {
    const bar = this.root.querySelector(".tools");
    bar.setAttribute("aria-label", this.data.words.view);
    const make = (sign, name, act) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = sign;
      button.setAttribute("aria-label", name);
      button.title = name;
      button.addEventListener("click", act);
      return button;
    };
    bar.replaceChildren(
      make("−", this.data.words.smaller, () => this.step(-1)),
      make("+", this.data.words.larger, () => this.step(1)),
      make("⤢", this.data.words.fit, () => this.size(this.fitting())));
  }

  draw() {
    const { width, height, nodes, edges, label } = this.data;
    this.svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.svg.setAttribute("aria-label", label);
    const arrow = make("marker", { id: "footpath-arrow", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 8, markerHeight: 8, markerUnits: "userSpaceOnUse", orient: "auto" });
    arrow.append(make("path", { d: "M0 0 L8 4 L0 8 z" }));
    const held = make("defs", {});
    held.append(arrow);
    this.nodes = new Map();
    this.svg.replaceChildren(held, ...edges.map((edge) => this.edge(edge)), ...nodes.map((node) => this.node(node)));
    const first = nodes.find((node) => node.look.includes("chosen")) || nodes.find((node) => node.look.includes("centre")) || nodes[0];
    if (first) this.nodes.get(first.id).setAttribute("tabindex", "0");
    this.size(this.zoom);
  }

  edge(edge) {
    const group = make("g", { class: `edge ${edge.look}`, "aria-hidden": "true" });
    const line = make("path", { class: "line", d: edge.path, "stroke-width": edge.width, "marker-end": "url(#footpath-arrow)" });
    const words = make("text", { x: edge.x, y: edge.y + 4 });
    words.textContent = edge.text;
    const told = make("title", {});
    told.textContent = edge.label;
    group.append(told, line, make("path", { class: "reach", d: edge.path }), words);
    group.addEventListener("click", () => this.choose(edge.id));
    group.ends = [edge.source, edge.target];
    return group;
  }

  node(node) {
    const group = make("g", { class: `node ${node.look}`, role: "button", tabindex: "-1", "aria-label": node.label, transform: `translate(${node.x} ${node.y})` });
    group.dataset.id = node.id;
    if (node.look.includes("chosen")) group.setAttribute("aria-current", "true");
    const told = make("title", {});
    told.textContent = node.label;
    const title = make("text", { class: "title", x: 10, y: 19 });
    title.textContent = node.title;
    const note = make("text", { class: "note", x: 10, y: 36 });
    note.textContent = node.note;
    group.append(told, make("rect", { width: this.data.box[0], height: this.data.box[1], rx: 7 }), title, note);
    group.addEventListener("click", () => this.choose(node.id));
    for (const [event, on] of [["pointerenter", true], ["focus", true], ["pointerleave", false], ["blur", false]])
      group.addEventListener(event, () => this.aim(node.id, on));
    this.nodes.set(node.id, group);
    return group;
  }

  aim(id, on) {
    this.svg.classList.toggle("aimed", on);
    for (const edge of this.svg.querySelectorAll(".edge")) edge.classList.toggle("hot", on && edge.ends.includes(id));
  }

  choose(id) {
    if (!this.moved) this.tell("chosen", id);
  }

  // Arrow keys go to the nearest box on that side.
  key(event) {
    const here = this.data.nodes.find((node) => node.id === event.target.dataset?.id);
    if (!here) return;
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      this.tell("chosen", here.id);
      return;
    }
    const way = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] }[event.key];
    if (!way) return;
    event.preventDefault();
    let best = null;
    for (const node of this.data.nodes) {
      const [x, y] = [node.x - here.x, node.y - here.y];
      const along = x * way[0] + y * way[1];
      const aside = Math.abs(x * way[1]) + Math.abs(y * way[0]);
      if (along > 1 && (!best || along + 2 * aside < best.far)) best = { far: along + 2 * aside, node };
    }
    if (!best) return;
    this.nodes.get(here.id).setAttribute("tabindex", "-1");
    const next = this.nodes.get(best.node.id);
    next.setAttribute("tabindex", "0");
    next.focus({ preventScroll: true });
    next.scrollIntoView({ block: "nearest", inline: "nearest" });
  }

  begin() {
    this.size(Math.min(1, Math.max(0.75, this.fitting())));
    const at = this.data.start;
    const { clientWidth, clientHeight } = this.scroller;
    this.scroller.scrollLeft = at[0] * this.zoom - clientWidth / 2;
    this.scroller.scrollTop = at[1] * this.zoom - clientHeight / 2;
  }

  fitting() {
    return Math.max(0.3, Math.min(1, (this.scroller.clientWidth - 2) / this.data.width));
  }

  step(way) {
    const next = way > 0 ? STEPS.find((one) => one > this.zoom + 0.01) : STEPS.findLast((one) => one < this.zoom - 0.01);
    if (next) this.size(next);
  }

  size(zoom) {
    const { scrollLeft, scrollTop, clientWidth, clientHeight } = this.scroller;
    const [x, y] = [(scrollLeft + clientWidth / 2) / this.zoom, (scrollTop + clientHeight / 2) / this.zoom];
    this.zoom = zoom;
    this.svg.setAttribute("width", this.data.width * zoom);
    this.svg.setAttribute("height", this.data.height * zoom);
    this.scroller.scrollLeft = x * zoom - clientWidth / 2;
    this.scroller.scrollTop = y * zoom - clientHeight / 2;
  }

  // Where there is a mouse, the picture is pulled; a finger scrolls it by itself.
  drag() {
    let from = null;
    this.scroller.addEventListener("pointerdown", (event) => {
      this.moved = false;
      if (event.pointerType === "mouse" && event.button === 0) from = [event.clientX + this.scroller.scrollLeft, event.clientY + this.scroller.scrollTop];
    });
    addEventListener("pointermove", (event) => {
      if (!from) return;
      const [x, y] = [from[0] - event.clientX, from[1] - event.clientY];
      if (Math.abs(x - this.scroller.scrollLeft) + Math.abs(y - this.scroller.scrollTop) > 4) {
        this.moved = true;
        this.scroller.classList.add("held");
      }
      if (this.moved) this.scroller.scrollTo(x, y);
    });
    addEventListener("pointerup", () => { from = null; this.scroller.classList.remove("held"); });
  }
}

function make(name, attributes) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

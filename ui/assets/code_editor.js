// A text area over its own highlighted copy. It knows no rule of programs: what is wrong with a text, and where, the server says.
// Strangers' texts (names of tools, complaints, values) become text nodes only, never markup.

const PAUSE = 600;
const MOST_OFFERED = 8;
const KEYWORDS = new Set(
  ("False None True and as assert async await break continue def del elif else except finally for from if import in is lambda not or pass " +
    "raise return try while").split(" "));
const TOKEN =
  /(#[^\n]*)|((?:[rbfuRBFU]{0,2})(?:"""[\s\S]*?(?:"""|$)|'''[\s\S]*?(?:'''|$)|"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?))|(\b\d[\d_]*(?:\.\d+)?(?:[eE][+-]?\d+)?\b)|([\p{L}_][\p{L}\p{N}_]*)/gu;

export default function (component) {
  const root = component.parentElement.querySelector(".footpath-code");
  root.editor ??= new Editor(root);
  root.editor.update(component.data, component.setStateValue);
}

class Editor {
  constructor(root) {
    this.root = root;
    this.scroller = root.querySelector(".scroller");
    this.copy = root.querySelector("pre");
    this.field = root.querySelector("textarea");
    this.list = root.querySelector(".offers");
    this.complaints = root.querySelector(".complaints");
    this.data = null;
    this.tabs = true;
    this.offered = [];
    this.chosen = 0;
    this.field.addEventListener("input", () => this.typed());
    this.field.addEventListener("keydown", (event) => this.key(event));
    this.field.addEventListener("focus", () => { this.tabs = true; });
    this.field.addEventListener("blur", () => { this.close(); this.send(); });
  }

  // What the server said last. The text itself is taken over only where another one was put in its place there (`revision`), so that an answer
  // to an older text never takes away what was typed since.
  update(data, keep) {
    const before = this.data;
    this.data = data;
    this.keep = keep;
    this.words = new Set(data.words.map((word) => word.name));
    this.field.setAttribute("aria-label", data.label);
    this.field.setAttribute("aria-description", data.hint);
    if (!before || before.revision !== data.revision) {
      clearTimeout(this.timer);
      this.field.value = this.sent = data.text;
    }
    if (before && data.insert.number !== before.insert.number) this.insert(data.insert.text, data.insert.line);
    this.draw();
    this.tell();
  }

  typed() {
    this.draw();
    this.offer();
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.send(), PAUSE);
  }

  send() {
    clearTimeout(this.timer);
    if (this.field.value !== this.sent) {
      this.sent = this.field.value;
      this.keep("text", this.sent);
    }
  }

  // A whole line goes below the one that the cursor is on, above the last one, which is the answer; anything else to the cursor.
  insert(text, line) {
    const value = this.field.value;
    if (line) {
      const lines = value.split("\n");
      let at = value.slice(0, this.field.selectionStart).split("\n").length - 1;
      const last = value.trimEnd().split("\n").length - 1;
      if (value.trim() && at >= last) at = last - 1;
      const indent = at >= 0 ? /^\s*/.exec(lines[at])[0] + (/:\s*$/.test(lines[at]) ? "    " : "") : "";
      lines.splice(at + 1, 0, indent + text);
      const start = lines.slice(0, at + 1).join("\n").length + (at >= 0 ? 1 : 0);
      this.field.value = lines.join("\n");
      this.field.setSelectionRange(start, start + indent.length + text.length);
    } else {
      this.field.setRangeText(text, this.field.selectionStart, this.field.selectionEnd, "end");
    }
    this.draw();
    this.send();
  }

  draw() {
    const bad = new Set(this.data.complaints.map((one) => one.line));
    const lines = this.field.value.split("\n");
    const drawn = this.tokens().map((parts, at) => {
      const line = element("div", bad.has(at + 1) ? "line bad" : "line");
      const code = element("span", "code");
      code.append(...parts);
      line.append(code);
      const note = this.data.notes[at + 1];
      if (note && this.field.value === this.data.noted) line.append(element("span", "note", note));
      return line;
    });
    this.copy.replaceChildren(...drawn.slice(0, lines.length));
    const colours = getComputedStyle(this.root).color.match(/\d+/g) || [0, 0, 0];
    this.root.classList.toggle("dark", Number(colours[0]) + Number(colours[1]) + Number(colours[2]) > 380);
  }

  tokens() {
    const lines = [[]];
    const put = (text, kind) => {
      text.split("\n").forEach((part, at) => {
        if (at) lines.push([]);
        if (part) lines.at(-1).push(kind ? element("span", kind, part) : document.createTextNode(part));
      });
    };
    const text = this.field.value;
    let done = 0;
    for (const found of text.matchAll(TOKEN)) {
      const kind = found[1] ? "c" : found[2] ? "s" : found[3] ? "n" : KEYWORDS.has(found[4]) ? "k" : this.words.has(found[4]) ? "f" : "";
      put(text.slice(done, found.index), "");
      put(found[0], kind);
      done = found.index + found[0].length;
    }
    put(text.slice(done), "");
    return lines;
  }

  tell() {
    this.field.setAttribute("aria-invalid", this.data.complaints.length ? "true" : "false");
    this.complaints.replaceChildren(...this.data.complaints.map((one) => {
      const item = document.createElement("li");
      const go = element("button", "", one.line ? this.data.at_line.replace(/\{(\w+)\}/g, (_, name) => one[name]) : one.message);
      go.type = "button";
      go.addEventListener("click", () => this.go(one.line, one.column));
      item.append(go);
      return item;
    }));
  }

  go(line, column) {
    const before = this.field.value.split("\n").slice(0, Math.max(0, line - 1)).join("\n").length;
    const at = before + (line > 1 ? 1 : 0) + Math.max(0, column - 1);
    this.field.focus();
    this.field.setSelectionRange(at, at);
  }

  key(event) {
    if (!this.list.hidden && this.chooses(event)) return;
    if (event.key === "Escape") {
      this.tabs = false;
    } else if (event.key === "Tab" && this.tabs && !event.ctrlKey && !event.altKey && !event.metaKey) {
      event.preventDefault();
      this.indent(event.shiftKey);
    } else if (event.key === "Enter" && !event.isComposing && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      const line = this.field.value.slice(0, this.field.selectionStart).split("\n").at(-1);
      this.put("\n" + /^\s*/.exec(line)[0] + (/:\s*(#.*)?$/.test(line) ? "    " : ""));
    }
  }

  indent(back) {
    const { value, selectionStart, selectionEnd } = this.field;
    const from = value.lastIndexOf("\n", selectionStart - 1) + 1;
    if (!back && selectionStart === selectionEnd) return this.put("    ");
    const lines = value.slice(from, selectionEnd).split("\n");
    const moved = lines.map((line) => (back ? line.replace(/^ {1,4}/, "") : "    " + line)).join("\n");
    this.field.setSelectionRange(from, selectionEnd);
    this.put(moved);
    if (lines.length > 1) this.field.setSelectionRange(from, from + moved.length);
  }

  // As if it were typed, so that it can be undone.
  put(text) {
    if (!(text && document.execCommand("insertText", false, text))) {
      this.field.setRangeText(text, this.field.selectionStart, this.field.selectionEnd, "end");
      this.typed();
    }
  }

  offer() {
    const before = this.field.value.slice(0, this.field.selectionStart);
    const begun = /(?:^|[^\p{L}\p{N}_.])([\p{L}_][\p{L}\p{N}_]+)$/u.exec(before);
    this.begun = begun && before.split("\n").at(-1).indexOf("#") < 0 ? begun[1] : "";
    const part = this.begun.toLowerCase();
    this.offered = this.begun
      ? this.data.words.filter((word) => word.name.toLowerCase().includes(part) && word.name !== this.begun).slice(0, MOST_OFFERED)
      : [];
    this.chosen = 0;
    this.list.hidden = !this.offered.length;
    this.place();
    this.choices();
  }

  place() {
    const before = this.field.value.slice(0, this.field.selectionStart).split("\n");
    const style = getComputedStyle(this.field);
    const pen = (this.pen ??= document.createElement("canvas").getContext("2d"));
    pen.font = style.font;
    const down = parseFloat(style.paddingTop) + before.length * parseFloat(style.lineHeight) - this.scroller.scrollTop;
    const right = parseFloat(style.paddingLeft) + pen.measureText(before.at(-1)).width - this.scroller.scrollLeft;
    this.list.style.top = `${Math.min(down, this.scroller.clientHeight)}px`;
    this.list.style.left = `${Math.min(right, this.scroller.clientWidth / 2)}px`;
  }

  choices() {
    this.list.replaceChildren(...this.offered.map((word, at) => {
      const item = element("li", "", word.about);
      item.setAttribute("role", "option");
      item.setAttribute("aria-selected", at === this.chosen ? "true" : "false");
      item.addEventListener("mousedown", (event) => { event.preventDefault(); this.take(word); });
      return item;
    }));
  }

  chooses(event) {
    const moves = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (moves) {
      this.chosen = (this.chosen + moves + this.offered.length) % this.offered.length;
      this.choices();
    } else if (event.key === "Tab" || event.key === "Enter") {
      this.take(this.offered[this.chosen]);
    } else if (event.key === "Escape") {
      this.close();
    } else {
      return false;
    }
    event.preventDefault();
    return true;
  }

  take(word) {
    this.field.setSelectionRange(this.field.selectionStart - this.begun.length, this.field.selectionEnd);
    this.put(word.insert);
    this.close();
  }

  close() {
    this.list.hidden = true;
    this.offered = [];
  }
}

function element(name, kind, text) {
  const made = document.createElement(name);
  if (kind) made.className = kind;
  if (text !== undefined) made.textContent = text;
  return made;
}

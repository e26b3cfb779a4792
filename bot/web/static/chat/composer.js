// The message field: it grows, sends with Enter, and completes commands and names.

import { byId, el } from "./dom.js";

const TALLEST = 220; // pixels, before it scrolls

export class Composer {
  // source(): {commands, people}; send(text): a promise, true when the text was taken
  constructor({ source, send }) {
    this.source = source;
    this.send = send;
    this.text = byId("text");
    this.list = byId("completion");
    this.found = [];
    this.active = 0;
    this.unsent = []; // queued messages; the first is being sent
    this.text.addEventListener("input", () => this.changed());
    this.text.addEventListener("keydown", (event) => this.key(event));
    this.text.addEventListener("blur", () => setTimeout(() => { if (document.activeElement !== this.text) this.close(); }, 150));
    byId("composer").addEventListener("submit", (event) => { event.preventDefault(); this.submit(); });
  }

  set(text) {
    this.text.value = text;
    this.changed();
    this.text.focus();
  }

  // Messages are sent one after another. A failed one returns to the field, before newer text.
  async submit() {
    const text = this.text.value.trim();
    if (!text) return;
    this.unsent.push(text);
    this.set(""); // at once, so that people can keep typing
    if (this.unsent.length > 1) return;
    while (this.unsent.length && await this.send(this.unsent[0])) this.unsent.shift();
    if (this.unsent.length) this.set([...this.unsent.splice(0), this.text.value].filter(Boolean).join("\n"));
  }

  changed() {
    this.text.style.height = "auto";
    this.text.style.height = `${Math.min(this.text.scrollHeight + 2, TALLEST)}px`;
    this.complete();
  }

  complete() {
    const before = this.text.value.slice(0, this.text.selectionStart);
    const { commands, people } = this.source();
    const slash = /^\s*(?:@footnote\s+)?\/([a-z]*)$/i.exec(before);
    const at = /(?:^|\s)@([\p{L}\p{N}_.-]*)$/u.exec(before);
    if (slash) this.found = commands.filter((item) => item.name.startsWith(slash[1].toLowerCase())).map((item) => (
      { insert: `/${item.name} `, from: before.lastIndexOf("/"), label: `/${item.name} ${item.usage}`, help: item.help }));
    else if (at) this.found = people.filter((name) => name.toLowerCase().startsWith(at[1].toLowerCase())).map((name) => (
      { insert: `@${name} `, from: before.lastIndexOf("@"), label: `@${name}`, help: "" }));
    else this.found = [];
    this.active = 0;
    this.draw();
  }

  draw() {
    const open = this.found.length > 0;
    this.list.hidden = !open;
    this.list.replaceChildren(...this.found.map((item, index) => el("li", { role: "option", id: `option-${index}`,
      "aria-selected": String(index === this.active),
      onpointerdown: (event) => { event.preventDefault(); this.take(item); } },
    el("code", {}, item.label), el("span", {}, item.help))));
    if (open) {
      this.text.setAttribute("aria-activedescendant", `option-${this.active}`);
      this.list.children[this.active].scrollIntoView({ block: "nearest" });
    } else this.text.removeAttribute("aria-activedescendant");
  }

  take(item) {
    const rest = this.text.value.slice(this.text.selectionStart).replace(/^\s/, "");
    const start = this.text.value.slice(0, item.from) + item.insert;
    this.text.value = start + rest;
    this.text.setSelectionRange(start.length, start.length);
    this.close();
    this.text.focus();
  }

  close() { this.found = []; this.draw(); }

  key(event) {
    if (event.isComposing) return;
    if (this.found.length) {
      const move = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      const item = this.found[this.active];
      if (move) this.active = (this.active + move + this.found.length) % this.found.length;
      else if (event.key === "Escape") this.found = [];
      else if (event.key === "Tab" || (event.key === "Enter" && !this.text.value.includes(item.insert.trim()))) {
        event.preventDefault();
        this.take(item);
        return;
      } else if (event.key !== "Enter") return;
      if (event.key !== "Enter") { event.preventDefault(); this.draw(); return; }
    }
    if (event.key === "Enter" && !event.shiftKey) { event.preventDefault(); this.close(); this.submit(); }
  }
}

// Building elements: text always goes in as text.

export const byId = (id) => document.getElementById(id);

// el("a", { href: "/x", class: "y", onclick: f }, "text", node, ...)
export function el(name, attributes = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else node.setAttribute(key, value === true ? "" : value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

// A line drawing of 24 by 24, for people who see; its button carries the name.
export function icon(path, kind = "") {
  const name = "http://www.w3.org/2000/svg";
  const drawing = document.createElementNS(name, "svg");
  for (const [key, value] of [["viewBox", "0 0 24 24"], ["class", `icon ${kind}`], ["aria-hidden", "true"]]) drawing.setAttribute(key, value);
  drawing.append(document.createElementNS(name, "path"));
  drawing.firstChild.setAttribute("d", path);
  return drawing;
}

// HTML that the service made safe (bot/web/render.py); nothing else may come here.
export function fromSafeHtml(name, attributes, html) {
  const node = el(name, attributes);
  node.innerHTML = html;
  return node;
}

// Make the children of `list` those nodes, moving only what has to move, so that focus and hover stay.
export function arrange(list, nodes) {
  nodes.forEach((node, index) => {
    if (list.children[index] !== node) list.insertBefore(node, list.children[index] || null);
  });
  while (list.children.length > nodes.length) list.lastElementChild.remove();
}

export function clock(iso) {
  const moment = new Date(iso);
  const today = new Date().toDateString() === moment.toDateString();
  const time = moment.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
  return today ? time : `${moment.toLocaleDateString([], { day: "numeric", month: "short" })}, ${time}`;
}

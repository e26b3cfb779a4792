// Helpers that build elements; text is always inserted as text.

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

// A decorative icon of 24 by 24; its button has the label.
export function icon(path, kind = "") {
  const name = "http://www.w3.org/2000/svg";
  const drawing = document.createElementNS(name, "svg");
  for (const [key, value] of [["viewBox", "0 0 24 24"], ["class", `icon ${kind}`], ["aria-hidden", "true"]]) drawing.setAttribute(key, value);
  drawing.append(document.createElementNS(name, "path"));
  drawing.firstChild.setAttribute("d", path);
  return drawing;
}

// Only for HTML that the service sanitised (bot/web/render.py).
export function fromSafeHtml(name, attributes, html) {
  const node = el(name, attributes);
  node.innerHTML = html;
  return node;
}

// Replace the children of `list`, moving as few nodes as possible to keep focus and hover.
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

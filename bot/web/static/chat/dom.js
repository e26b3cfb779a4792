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

// A decorative icon of icons.svg; its button has the label.
export function icon(name, kind = "") {
  const space = "http://www.w3.org/2000/svg";
  const drawing = document.createElementNS(space, "svg");
  drawing.setAttribute("class", `icon ${kind}`);
  drawing.setAttribute("aria-hidden", "true");
  const use = document.createElementNS(space, "use");
  use.setAttribute("href", `${document.body.dataset.icons}#${name}`);
  drawing.append(use);
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

// Only one menu (details.menu) is open; a click elsewhere and Escape close it.
export function closeMenus(except = null) {
  for (const menu of document.querySelectorAll("details.menu[open]")) if (menu !== except) menu.open = false;
}
document.addEventListener("click", (event) => closeMenus(event.target.closest("details.menu > summary")?.parentElement));
document.addEventListener("keydown", (event) => {
  const open = event.key === "Escape" && document.querySelector("details.menu[open]");
  if (!open) return;
  event.stopImmediatePropagation(); // the source beside it stays open
  open.open = false;
  open.querySelector("summary").focus();
});

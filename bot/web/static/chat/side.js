// The column of channels and threads.

import { arrange, byId, clock, el } from "./dom.js";

export function drawSide(home, { channel, thread, reading }, actions) {
  const channels = home.channels.includes(channel) ? home.channels : [...home.channels, channel];
  arrange(byId("channels"), channels.map((name) => el("li", {},
    el("a", { href: actions.address(name, ""), onclick: actions.follow,
      "aria-current": name === channel && !thread && !reading ? "page" : null }, `#${name}`))));
  const rows = home.threads.map((item) => el("li", {},
    el("a", { href: actions.address(item.channel, item.thread), onclick: actions.follow, title: item.title,
      "aria-current": item.channel === channel && item.thread === thread ? "page" : null },
    el("span", { class: "row-title" }, item.title),
    el("span", { class: "row-place" }, `#${item.channel} · ${clock(item.at)}`))));
  arrange(byId("threads"), rows.length ? rows : [el("li", { class: "none" }, "No threads yet. Ask a question.")]);
}

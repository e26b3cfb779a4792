// One dialog for names, titles and "are you sure?".

import { byId } from "./dom.js";

// With a label it asks for a text and gives it; without, it gives "" for yes. null: no.
export function ask({ title, text = "", label = null, value = "", yes }) {
  const dialog = byId("ask");
  const input = byId("ask-input");
  byId("ask-title").textContent = title;
  byId("ask-text").textContent = text;
  byId("ask-label").textContent = label || "";
  byId("ask-yes").textContent = yes;
  input.hidden = label === null;
  input.required = label !== null;
  input.value = value;
  dialog.returnValue = "no";
  dialog.showModal();
  if (label !== null) input.select();
  return new Promise((resolve) => {
    const answer = (event) => {
      if (event?.key !== "Enter") return;
      event.preventDefault(); // else the first button, which is "Cancel", would be pressed
      byId("ask-yes").click();
    };
    input.addEventListener("keydown", answer);
    dialog.addEventListener("close", () => {
      input.removeEventListener("keydown", answer);
      resolve(dialog.returnValue === "yes" ? input.value.trim() : null);
    }, { once: true });
  });
}

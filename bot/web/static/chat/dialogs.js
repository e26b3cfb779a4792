// One dialog for names, titles and "are you sure?".

import { byId } from "./dom.js";

// Returns the entered text if there is a label, else "" for yes; null for no.
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
      event.preventDefault(); // otherwise Enter presses the first button, "Cancel"
      byId("ask-yes").click();
    };
    input.addEventListener("keydown", answer);
    dialog.addEventListener("close", () => {
      input.removeEventListener("keydown", answer);
      resolve(dialog.returnValue === "yes" ? input.value.trim() : null);
    }, { once: true });
  });
}

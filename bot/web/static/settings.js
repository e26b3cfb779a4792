// The browser's own settings: colours at a click, and whether single letters are keys (chat/side.js heeds it).
const KEYS = "footnote.keys";
const look = document.querySelector(".look");
look.querySelector("button").hidden = true;
look.addEventListener("change", () => look.requestSubmit());

const letters = document.getElementById("letters");
if (letters) {
  letters.checked = localStorage.getItem(KEYS) !== "off";
  letters.addEventListener("change", () => {
    const value = letters.checked ? "on" : "off";
    localStorage.setItem(KEYS, value);
    document.body.dataset.keys = value;
    document.getElementById("keys-on").checked = letters.checked;
  });
}

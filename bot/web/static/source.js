// A source, on its own page or in the side pane: copy buttons, failed images, the marked place in view.
const SHOWN_MS = 2000; // of "Copied"

/** Make a source inside `root` work. */
export function prepare(root) {
  for (const button of root.querySelectorAll("[data-copy], [data-copy-link]")) prepareCopy(button);
  for (const image of root.querySelectorAll(".paper img")) prepareImage(image);
  for (const text of root.querySelectorAll(".pane .text")) reveal(text, text.querySelector("mark"));
}

function prepareCopy(button) {
  button.hidden = !navigator.clipboard;
  const label = button.querySelector("span") ?? button;
  const said = label.textContent;
  button.addEventListener("click", async () => {
    const { copy, copyLink } = button.dataset;
    await navigator.clipboard.writeText(copy ?? new URL(copyLink, location.href).href);
    label.textContent = "Copied";
    setTimeout(() => (label.textContent = said), SHOWN_MS);
  });
}

function prepareImage(image) {
  const remove = () => {
    image.closest(".pictured")?.classList.remove("pictured");
    image.closest(".printed, .pane-desk")?.remove();
  };
  if (image.complete && image.naturalWidth === 0) remove();
  image.addEventListener("error", remove);
}

// Scrolls only the box, never the page around it.
function reveal(box, part) {
  if (!part) return;
  let scroller = box;
  while (scroller && scroller.scrollHeight <= scroller.clientHeight) scroller = scroller.parentElement;
  if (!scroller || !scroller.closest(".pane")) return;
  scroller.scrollTop += part.getBoundingClientRect().top - scroller.getBoundingClientRect().top - scroller.clientHeight / 3;
}

// On its own page, arrow keys turn pages.
document.addEventListener("keydown", (event) => {
  if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
  if (event.target.closest("input, textarea, select, .text table, pre, #pane")) return;
  const wanted = { ArrowLeft: "prev", ArrowRight: "next" }[event.key];
  const link = wanted && document.querySelector(`.turn a[rel="${wanted}"]`);
  if (link) link.click();
});

const viewer = document.querySelector(".viewer");
if (viewer) prepare(viewer);

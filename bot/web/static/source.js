// A source, on its own page or in the side pane: copy buttons, failed images, the marked place in view.
const SHOWN_MS = 2000; // of "Copied"
const LARGEST = 4; // times the width of its desk
const STEP = 1.4; // between two sizes of a page
const NARROW = 400; // pixels: on a narrower desk, a page begins at its cited part
const MARGIN = 0.04; // of a page, on both sides of its cited part

/** Make a source inside `root` work. */
export function prepare(root) {
  for (const button of root.querySelectorAll("[data-copy], [data-copy-link]")) prepareCopy(button);
  for (const image of root.querySelectorAll(".paper img")) prepareImage(image);
  for (const desk of root.querySelectorAll(".pane-desk")) prepareDesk(desk);
  for (const text of root.querySelectorAll(".pane-source .text")) reveal(text, text.querySelector("mark"));
  for (const note of root.querySelectorAll("[data-later]")) markLater(note);
}

// On a scanned page, the words are found only now: the page is read once more, which takes seconds.
async function markLater(note) {
  const unknown = note.textContent;
  const paper = note.closest(".printed, .pane-print").querySelector(".paper");
  note.textContent = "Looking for the passage on this page …";
  const boxes = await fetchBoxes(note.dataset.later);
  if (!boxes) return (note.textContent = unknown);
  note.textContent = "Marked on the scanned page.";
  paper.querySelector("img").alt += " with the cited passage marked";
  paper.append(document.adoptNode(boxes));
  paper.dispatchEvent(new Event("marked"));
}

async function fetchBoxes(address) {
  try {
    const response = await fetch(address);
    return response.ok && new DOMParser().parseFromString(await response.text(), "text/html").querySelector(".boxes");
  } catch (error) {
    return null;
  }
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
    image.closest(".printed, .pane-print")?.remove();
  };
  if (image.complete && image.naturalWidth === 0) remove();
  image.addEventListener("error", remove);
}

// The printed page on its desk: its size, and its cited part in view.
function prepareDesk(desk) {
  const paper = desk.querySelector(".paper");
  const image = paper.querySelector("img");
  const places = () => [...paper.querySelectorAll(".boxes rect")].map((box) => box.getBoundingClientRect());
  let size = 1;
  const resize = (wanted) => {
    size = Math.min(Math.max(wanted, whole()), LARGEST);
    paper.style.width = `${100 * size}%`;
    show();
  };
  const inner = () => [desk.clientWidth, desk.clientHeight].map((side) => side - 2 * parseFloat(getComputedStyle(desk).paddingTop));
  const whole = () => {
    const [width, height] = inner();
    const ratio = image.naturalWidth ? image.naturalHeight / image.naturalWidth : 297 / 210;
    return Math.min(1, height / (width * ratio));
  };
  const show = () => {
    const boxes = places();
    if (!boxes.length) return;
    const top = Math.min(...boxes.map((box) => box.top));
    const bottom = Math.max(...boxes.map((box) => box.bottom));
    const left = Math.min(...boxes.map((box) => box.left));
    const frame = desk.getBoundingClientRect();
    desk.scrollTop += Math.min(top - frame.top - 16, (top + bottom) / 2 - (frame.top + frame.bottom) / 2);
    desk.scrollLeft += left - frame.left - MARGIN * paper.offsetWidth;
  };
  const begin = () => {
    const boxes = places();
    if (desk.clientWidth > NARROW || !boxes.length) return resize(1);
    const page = paper.getBoundingClientRect();
    const width = Math.max(...boxes.map((box) => box.right)) - Math.min(...boxes.map((box) => box.left));
    resize(Math.max(1, 1 / (width / page.width + 2 * MARGIN)));
  };
  begin();
  image.addEventListener("load", begin, { once: true });
  paper.addEventListener("marked", begin);
  const zoom = desk.parentElement.querySelector(".pane-zoom");
  zoom.hidden = false;
  const changes = { in: () => resize(size * STEP), out: () => resize(size / STEP), whole: () => resize(whole()) };
  for (const button of zoom.querySelectorAll("[data-zoom]")) button.addEventListener("click", changes[button.dataset.zoom]);
}

// Scrolls only the box, never the page around it: the marked place to its upper third, and a cell into view.
function reveal(box, part) {
  if (!part) return;
  const [frame, place] = [box.getBoundingClientRect(), part.getBoundingClientRect()];
  box.scrollTop += place.top - frame.top - box.clientHeight / 3;
  if (place.right > frame.right) box.scrollLeft += place.left - frame.left - box.clientWidth / 3;
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

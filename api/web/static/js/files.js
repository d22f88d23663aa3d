// The page of documents: takes files in, and keeps the list current while some are being read.
import { postJson } from "./sending.js";
import { DropZone } from "./upload.js";

const EVERY_MS = 1200;
const AFTER_ERROR_MS = 5000;
const LIST = "[data-file-list]";

class FileZone extends DropZone {
  readable = /\.(pdf|docx|pptx|xlsx|csv|tsv|html?|md|markdown|txt|epub|png|jpe?g|gif|tiff?|webp|bmp)$/i;
  notReadable = ["No file in this folder can be read.", "PDF, Word, PowerPoint, Excel, CSV, HTML, Markdown, text, EPUB and images can."];

  finisher() {
    const chosen = this.form.querySelector("[data-bucket]").value;
    const name = this.form.querySelector("[data-new-bucket]").value.trim();
    const where = chosen === "new" ? { bucket: name || "Files" } : { bucket_id: chosen ? Number(chosen) : null };
    return (ids) => postJson("/api/v1/files", { uploads: ids, ...where });
  }

  arrived({ items }) {
    this.reset();
    const refused = items.filter((item) => item.outcome === "refused");
    if (refused.length) {
      const [first] = refused;
      const more = refused.length > 1 ? ` ${refused.length - 1} more were refused, too.` : "";
      this.fail(`${first.name || "A file"}: ${first.problem.message}${more}`, first.problem.hint);
    }
    refresh();
  }
}

let timer = 0;

async function refresh() {
  window.clearTimeout(timer);
  try {
    const answer = await fetch(window.location.href, { headers: { Accept: "text/html" } });
    if (!answer.ok || answer.redirected) throw new Error(`status ${answer.status}`);
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const fresh = page.querySelector(LIST);
    const shown = document.querySelector(LIST);
    // Whoever is typing or about to press a button is not disturbed.
    renewBuckets(page.querySelector("[data-bucket]"));
    if (fresh && !shown.contains(document.activeElement) && !shown.querySelector("details[open]")) shown.replaceWith(document.adoptNode(fresh));
    follow();
  } catch {
    timer = window.setTimeout(refresh, AFTER_ERROR_MS);
  }
}

/** The buckets there are now; a new one that was just filled is chosen, or what was before. */
function renewBuckets(fresh) {
  const shown = document.querySelector("[data-bucket]");
  const name = document.querySelector("[data-new-bucket]");
  if (!fresh || document.activeElement === shown) return;
  const made = shown.value === "new" && [...fresh.options].find((option) => option.text === name.value.trim());
  const before = made ? made.value : shown.value;
  shown.replaceChildren(...fresh.options);
  if ([...shown.options].some((option) => option.value === before)) shown.value = before;
  if (made) name.value = "";
  shown.dispatchEvent(new Event("change"));
}

function follow() {
  if (document.querySelector(`${LIST}[data-moving]`)) timer = window.setTimeout(refresh, EVERY_MS);
}

for (const form of document.querySelectorAll("[data-file-upload]")) {
  new FileZone(form);
  const bucket = form.querySelector("[data-bucket]");
  const name = form.querySelector("[data-new-bucket]");
  const show = () => { name.closest("label").hidden = bucket.value !== "new"; };
  bucket.addEventListener("change", () => { show(); if (bucket.value === "new" && document.activeElement === bucket) name.focus(); });
  show();
}
follow();

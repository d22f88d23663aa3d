// Keeps an import's report current while something moves.
import { number, size } from "./format.js";

const EVERY_MS = 1000;
const RESTING = new Set(["failed", "cancelled"]); // nothing moves any more; a paused one may be resumed elsewhere
const AFTER_ERROR_MS = 4000;
const page = document.querySelector("[data-report]");
// A reload must not cut off the way to another page.
let leaving = false;
window.addEventListener("beforeunload", () => { leaving = true; });

function put(selector, text) {
  for (const place of page.querySelectorAll(selector)) if (place.textContent !== text) place.textContent = text;
}

function bar(selector, done, total) {
  const progress = page.querySelector(selector);
  if (!progress) return;
  progress.max = Math.max(total, 1);
  progress.value = done;
}

function show(report) {
  for (const [name, count] of Object.entries(report.totals)) put(`[data-total="${CSS.escape(name)}"]`, number(count));
  put("[data-messages]", number(report.messages_new));
  put("[data-bytes-done]", size(report.bytes_done));
  put("[data-bytes-total]", size(report.bytes_total));
  put("[data-dense]", number(report.index.dense));
  put("[data-passages]", number(report.index.passages));
  bar("[data-progress]", report.bytes_done, report.bytes_total);
  bar("[data-index-progress]", report.index.dense, report.index.passages);
}

async function ask() {
  const answer = await fetch(`/api/v1/imports/${page.dataset.report}?items=0`, { headers: { Accept: "application/json" } });
  if (answer.status === 401 && !leaving) window.location.reload();
  if (!answer.ok) throw new Error(`status ${answer.status}`);
  return answer.json();
}

async function watch() {
  try {
    const report = await ask();
    show(report);
    const complete = report.index.dense >= report.index.passages;
    if (leaving) return;
    if (report.state !== page.dataset.state) {
      window.location.reload();
      return;
    }
    page.querySelector("[data-meaning]")?.classList.toggle("is-ready", complete && report.index.passages > 0);
    if (RESTING.has(report.state) || (report.state === "readable" && complete)) return;
    window.setTimeout(watch, EVERY_MS);
  } catch {
    window.setTimeout(watch, AFTER_ERROR_MS);
  }
}

if (!RESTING.has(page.dataset.state)) window.setTimeout(watch, EVERY_MS);

// Keeps the progress of reading conversations again current, and says when it is done.
import { number } from "./format.js";

const EVERY_MS = 1000;
const AFTER_ERROR_MS = 4000;
const card = document.querySelector("[data-reread]");
let total = 0;

function put(selector, text) {
  const place = card.querySelector(selector);
  if (place.textContent !== text) place.textContent = text;
}

function show(job) {
  total = job.total_units || total;
  const progress = card.querySelector("[data-reread-progress]");
  progress.max = Math.max(total, 1);
  progress.value = job.done_units;
  if (total) put("[data-reread-amount]", `${number(job.done_units)} of ${number(total)}`);
}

async function watch() {
  try {
    const answer = await fetch("/api/v1/reparse", { headers: { Accept: "application/json" } });
    if (!answer.ok) throw new Error(`status ${answer.status}`);
    const state = await answer.json();
    if (state.job) {
      show(state.job);
      window.setTimeout(watch, EVERY_MS);
    } else if (state.outdated) {
      window.location.reload(); // it ended early; the page offers it again
    } else {
      show({ done_units: total, total_units: total });
      put("[data-reread-title]", "Everything is read by this version now");
      card.querySelector("p").hidden = true;
    }
  } catch {
    window.setTimeout(watch, AFTER_ERROR_MS);
  }
}

watch();

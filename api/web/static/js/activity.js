// Keeps the Activity page current: asks for the page again and swaps its live parts.
const MOVING_MS = 1500;
const RESTING_MS = 10_000;
const page = document.querySelector("[data-activity]");

function isBusy(part) {
  return part.contains(document.activeElement) || part.querySelector("form[data-sent]");
}

function swap(fresh) {
  for (const part of page.querySelectorAll("[data-live]")) {
    const next = fresh.querySelector(`[data-live="${CSS.escape(part.dataset.live)}"]`);
    if (!next || isBusy(part) || part.innerHTML === next.innerHTML) continue;
    part.replaceChildren(...next.childNodes);
    if (next.dataset.moving) part.dataset.moving = next.dataset.moving;
  }
}

async function watch() {
  let pause = RESTING_MS;
  if (!document.hidden) {
    try {
      const answer = await fetch("/activity", { headers: { Accept: "text/html" } });
      if (answer.redirected) window.location.reload(); // signed out meanwhile
      if (!answer.ok) throw new Error(`status ${answer.status}`);
      swap(new DOMParser().parseFromString(await answer.text(), "text/html"));
      pause = page.querySelector("[data-moving]").dataset.moving === "yes" ? MOVING_MS : RESTING_MS;
    } catch {
      pause = RESTING_MS;
    }
  }
  window.setTimeout(watch, pause);
}

window.setTimeout(watch, MOVING_MS);

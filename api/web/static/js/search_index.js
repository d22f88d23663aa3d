// Keeps the state of a change of models current while its vectors are made.
const PAUSE_MS = 2000;

async function watch() {
  const part = document.querySelector("[data-live]");
  if (part.dataset.live !== "moving") return;
  if (!document.hidden && !part.contains(document.activeElement)) {
    try {
      const answer = await fetch(window.location.pathname, { headers: { Accept: "text/html" } });
      if (answer.redirected) window.location.reload(); // signed out meanwhile
      if (answer.ok) {
        const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
        const next = fresh.querySelector("[data-live]");
        if (next.dataset.live !== "moving") {
          window.location.assign(window.location.pathname); // the rest of the page changes, too
          return;
        }
        part.replaceWith(next);
      }
    } catch {
      // The server is away for a moment; the next round asks again.
    }
  }
  window.setTimeout(watch, PAUSE_MS);
}

window.setTimeout(watch, PAUSE_MS);

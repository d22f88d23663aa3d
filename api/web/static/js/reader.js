// The reader: arriving at a message, copying links and code, and the outline at the side.

function targetId() {
  return window.location.hash.startsWith("#m-") ? window.location.hash.slice(1) : "";
}

// A message may stand on another page or branch; the server knows which.
function arrive() {
  const id = targetId();
  if (!id) return;
  const message = document.getElementById(id);
  if (!message) {
    const address = new URL(window.location.href);
    const wanted = id.slice(2);
    if (address.searchParams.get("at") === wanted && !address.searchParams.has("page")) return;
    address.searchParams.set("at", wanted);
    address.searchParams.delete("page");
    window.location.replace(address);
    return;
  }
  for (let fold = message.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
  message.scrollIntoView({ block: "start" });
  // Fonts that arrive late move the text.
  document.fonts.ready.then(() => message.scrollIntoView({ block: "start" }));
  message.focus({ preventScroll: true });
  document.querySelector(".is-arrived")?.classList.remove("is-arrived");
  message.classList.add("is-arrived");
}

async function copyLink(event, link) {
  event.preventDefault();
  const address = new URL(window.location.pathname + link.getAttribute("href"), window.location.href);
  history.replaceState(null, "", link.getAttribute("href"));
  const label = link.querySelector("[data-copy-label]");
  try {
    await navigator.clipboard.writeText(address.href);
    label.textContent = "Link copied";
  } catch {
    label.textContent = "Link is in the address bar";
  }
  window.setTimeout(() => { label.textContent = ""; }, 1800);
}

function dressCode(code) {
  const pre = code.parentElement;
  const language = [...code.classList].find((name) => name.startsWith("language-"))?.slice(9) ?? "";
  const head = document.createElement("div");
  head.className = "code-head";
  const name = document.createElement("span");
  name.textContent = language;
  const button = document.createElement("button");
  button.type = "button";
  button.dataset.copy = "";
  button.setAttribute("aria-label", "Copy code");
  const label = document.createElement("span");
  label.dataset.copyLabel = "";
  label.textContent = "Copy";
  button.append(label);
  head.append(name, button);
  pre.classList.add("code");
  pre.prepend(head);
  code.tabIndex = 0;
}

function followOutline() {
  const links = new Map([...document.querySelectorAll(".outline [data-outline]")].map((link) => [link.getAttribute("href").slice(1), link]));
  if (!links.size) return;
  const watcher = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      for (const link of links.values()) link.removeAttribute("aria-current");
      const link = links.get(entry.target.id);
      link.setAttribute("aria-current", "location");
      const box = link.closest(".outline");
      const offset = link.offsetTop; // inside the outline, which is positioned
      if (offset < box.scrollTop || offset > box.scrollTop + box.clientHeight - 60) box.scrollTop = offset - box.clientHeight / 2;
    }
  }, { rootMargin: "0px 0px -70% 0px" });
  for (const id of links.keys()) {
    const message = document.getElementById(id);
    if (message) watcher.observe(message);
  }
}

for (const code of document.querySelectorAll(".prose pre > code")) dressCode(code);
for (const fold of document.querySelectorAll(".outline-fold a")) fold.addEventListener("click", () => { fold.closest("details").open = false; });
document.addEventListener("click", (event) => {
  const link = event.target.closest("[data-copy-link]");
  if (link && !event.metaKey && !event.ctrlKey && !event.shiftKey) copyLink(event, link);
});
window.addEventListener("hashchange", arrive);
arrive();
followOutline();

// The drop zone: takes files, shows how they are sent, and goes to the import's report.
import { size } from "./format.js";
import { Sending, nameOf, postJson } from "./sending.js";

// What is sent of a folder: kinds that may hold chats, databases with their logs, and, as of Google
// AI Studio, files without an ending.
const READABLE = /\.(zip|tar|t?gz|json|jsonl|ndjson|zst|html?|md|csv|(vscdb|db)(-wal)?)$|^[^.]+$/i;
const HIDDEN = /\/\./; // inside the folder; the folder itself may be ~/.codex
const NAMES_SHOWN = 5;
const MOST_FILES = 1000;

/** What is dropped becomes one import; `files.js` makes documents of it. */
export class DropZone {
  readable = READABLE;
  notReadable = ["No file in this folder can be imported.", "Choose the folder that holds conversations.json, or the ZIP as it came."];

  constructor(form) {
    this.form = form;
    this.idle = form.querySelector("[data-idle]");
    this.busy = form.querySelector("[data-busy]");
    this.error = form.querySelector("[data-error]");
    this.progress = form.querySelector("[data-progress]");
    this.pauseButton = form.querySelector("[data-pause]");
    this.sending = null;
    const files = form.querySelector("[data-files]");
    const folder = form.querySelector("[data-folder]");
    files.addEventListener("change", () => this.send([...files.files]));
    folder.addEventListener("change", () => this.send([...folder.files], { fromFolder: true }));
    form.querySelector("[data-pick-folder]").addEventListener("click", () => folder.click());
    form.querySelector("[data-stop]").addEventListener("click", () => this.stop());
    this.pauseButton.addEventListener("click", () => this.pauseOrGoOn());
    form.addEventListener("submit", (event) => event.preventDefault());
    for (const name of ["dragenter", "dragover"]) form.addEventListener(name, (event) => this.over(event, true));
    form.addEventListener("dragleave", (event) => this.over(event, form.contains(event.relatedTarget)));
    form.addEventListener("drop", (event) => this.drop(event));
    // A file dropped beside the zone must not replace the page.
    for (const name of ["dragover", "drop"]) window.addEventListener(name, (event) => event.preventDefault());
    window.addEventListener("beforeunload", (event) => { if (this.sending?.isRunning) event.preventDefault(); });
    // Chosen while the page was still loading, before anything listened.
    if (files.files.length) this.send([...files.files]);
    else if (folder.files.length) this.send([...folder.files], { fromFolder: true });
  }

  over(event, isOver) {
    event.preventDefault();
    this.form.classList.toggle("is-over", isOver && !this.sending);
  }

  async drop(event) {
    this.over(event, false);
    const entries = [...event.dataTransfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
    if (!entries.some((entry) => entry.isDirectory)) {
      this.send([...event.dataTransfer.files]);
      return;
    }
    const files = [];
    for (const entry of entries) await collect(entry, files);
    this.send(files, { fromFolder: true });
  }

  send(files, { fromFolder = false } = {}) {
    if (this.sending) return;
    const wanted = fromFolder ? files.filter((file) => this.readable.test(file.name) && !HIDDEN.test(nameOf(file))) : files;
    if (!wanted.length) {
      if (files.length) this.fail(...this.notReadable);
      return;
    }
    if (wanted.length > MOST_FILES) {
      this.fail(`These are ${wanted.length} files; at most ${MOST_FILES} can be sent at once.`, "Pack the folder into a ZIP file and choose that.");
      return;
    }
    this.error.hidden = true;
    this.idle.hidden = true;
    const unfinished = document.querySelector("[data-unfinished]");
    if (unfinished) unfinished.hidden = true; // what it lists may be what is sent now
    this.busy.hidden = false;
    this.name(wanted);
    this.sending = new Sending(wanted, { finish: this.finisher() }, () => this.show());
    this.sending.start();
  }

  /** What is done with the ids of the files once they are on the server. */
  finisher() {
    const isTrial = this.form.querySelector("[data-trial]")?.checked ?? false;
    return async (ids) => (await postJson("/api/v1/imports", { uploads: ids, dry_run: isTrial })).id;
  }

  arrived(importId) {
    window.location.assign(`/imports/${encodeURIComponent(importId)}`);
  }

  pauseOrGoOn() {
    if (this.sending.state === "sending") this.sending.pause();
    else this.sending.start();
  }

  stop() {
    this.sending.stop();
    this.reset();
  }

  name(files) {
    const names = files.slice(0, NAMES_SHOWN).map((file) => file.name);
    if (files.length > NAMES_SHOWN) names.push(`and ${files.length - NAMES_SHOWN} more`);
    this.form.querySelector("[data-names]").replaceChildren(...names.map((name) => {
      const line = document.createElement("li");
      line.textContent = name;
      return line;
    }));
  }

  show() {
    const { state, sent, total, failure, imported } = this.sending;
    this.progress.max = Math.max(total, 1);
    this.progress.value = sent;
    this.put("[data-amount]", `${size(sent)} of ${size(total)}`);
    this.busy.dataset.state = state;
    this.pauseButton.hidden = state === "starting";
    this.pauseButton.textContent = { sending: "Pause", waiting: "Try now" }[state] ?? "Go on";
    if (state === "sending") this.tell("Uploading…", "");
    if (state === "starting") this.tell("Looking into it…", "");
    if (state === "paused") this.tell("Paused.", "What was sent stays on the server for a day. If you close this page, choose the same files again and the upload goes on.");
    if (state === "waiting") this.tell(failure.message || "The connection to the server is lost.", failure.hint || "Nothing is lost. The upload goes on by itself where it was as soon as the server answers.");
    if (state === "imported") this.arrived(imported);
    if (state === "failed") this.refused(failure);
  }

  tell(status, note) {
    this.put("[data-status]", status);
    this.put("[data-note]", note);
  }

  put(selector, text) {
    const place = this.form.querySelector(selector);
    if (place.textContent !== text) place.textContent = text;
  }

  refused(failure) {
    if (failure.status === 401) {
      window.location.assign(`/sign-in?next=${encodeURIComponent(window.location.pathname)}`);
      return;
    }
    this.fail(failure.message || "The server did not accept the upload.", failure.hint);
  }

  fail(message, hint) {
    this.reset();
    this.error.querySelector("[data-error-message]").textContent = message;
    this.error.querySelector("[data-error-hint]").textContent = hint;
    this.error.hidden = false;
  }

  reset() {
    this.sending = null;
    this.busy.hidden = true;
    this.idle.hidden = false;
    for (const input of this.form.querySelectorAll('input[type="file"]')) input.value = "";
  }
}

async function collect(entry, files) {
  if (entry.isFile) {
    const file = await new Promise((resolve, reject) => entry.file(resolve, reject));
    file.path = entry.fullPath.replace(/^\//, "");
    files.push(file);
    return;
  }
  const reader = entry.createReader();
  for (;;) {
    const batch = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (!batch.length) return;
    for (const child of batch) await collect(child, files);
  }
}

for (const form of document.querySelectorAll("[data-upload]")) new DropZone(form);

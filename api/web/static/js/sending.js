// Sends chosen files and starts one import over them, or whatever else is to be done with them. Large files go in chunks by the tus protocol
// and go on after a broken connection, a reload or a restart of the server; small ones go many at
// a time.
import "./vendor/tus.min.js";
import { csrfToken } from "./format.js";

const { tus } = window;
const CHUNK_BYTES = 16 * 2 ** 20;
const SMALL_BYTES = 2 ** 20;
const BATCH_FILES = 250;
const AT_A_TIME = 3;
const TRY_AGAIN_MS = [1000, 2000, 4000, 8000, 15000, 30000];
const STALLED_MS = 30000;
const UPLOADS = "/api/v1/uploads";
// Answers that another try may change: the upload is held by the connection that broke, stands
// elsewhere, or was given up and begins anew.
const PASSING = new Set([0, 404, 408, 409, 410, 423, 429]);

/** Why something was not sent. `isFinal`: trying again would change nothing. */
export class Failure extends Error {
  constructor(status, { message = "", hint = "", isFinal = !PASSING.has(status) && status < 500 } = {}) {
    super(message);
    Object.assign(this, { status, hint, isFinal });
  }

  static answered(status, body) {
    try {
      const { detail, hint } = JSON.parse(body);
      return new Failure(status, { message: detail, hint });
    } catch {
      return new Failure(status);
    }
  }
}

/** One upload of all `files` together, to be paused, taken up again and stopped. */
export class Sending {
  #parts;
  #files;
  #finish;
  #listener;
  #run = 0; // what an earlier run still reports is ignored
  #tries = 0;
  #timer = 0;
  #watch = 0;
  #moved = 0; // when the last byte went

  /** `finish(ids)` is called once all files are on the server; what it gives is `imported`.
   * `listener()` is told of every change of `state`, `sent`, `failure` and `imported`. */
  constructor(files, { finish }, listener) {
    this.#files = files;
    this.#finish = finish;
    this.#parts = partsOf(files);
    this.#listener = listener;
    this.total = files.reduce((sum, file) => sum + file.size, 0);
    this.state = "sending"; // sending | waiting | paused | starting | imported | failed
    this.failure = null;
    this.imported = null;
    window.addEventListener("online", this.#online);
  }

  get sent() {
    return this.#parts.reduce((sum, part) => sum + part.sent, 0);
  }

  get isRunning() {
    return this.state === "sending" || this.state === "waiting" || this.state === "starting";
  }

  async start() {
    const run = this.#begin();
    const queue = this.#parts.filter((part) => !part.ids);
    const lane = async () => {
      for (let part = queue.shift(); part && run === this.#run; part = queue.shift()) await part.send(() => this.#note(run));
    };
    try {
      await Promise.all(Array.from({ length: AT_A_TIME }, lane));
      if (run !== this.#run) return;
      this.#change("starting");
      const ids = new Map(this.#parts.flatMap((part) => part.files.map((file, place) => [file, part.ids[place]])));
      this.imported = await finished(this.#finish, this.#files.map((file) => ids.get(file)));
      await Promise.all(this.#parts.map((part) => part.forget()));
      this.#end("imported");
    } catch (failure) {
      if (run === this.#run) await this.#broke(failure);
    }
  }

  pause() {
    this.#halt();
    this.#change("paused");
  }

  /** Gives everything up, on the server too. */
  stop() {
    this.#halt();
    for (const part of this.#parts) part.discard();
    window.removeEventListener("online", this.#online);
  }

  #online = () => {
    if (this.state === "waiting") this.start();
  };

  #begin() {
    window.clearTimeout(this.#timer);
    this.#moved = Date.now();
    window.clearInterval(this.#watch);
    this.#watch = window.setInterval(() => this.#lookForStall(), 1000);
    this.#run += 1;
    this.#change("sending");
    return this.#run;
  }

  #halt() {
    this.#run += 1;
    window.clearTimeout(this.#timer);
    window.clearInterval(this.#watch);
    for (const part of this.#parts) part.halt();
  }

  #note(run) {
    if (run !== this.#run) return;
    this.#moved = Date.now();
    this.#tries = 0;
    this.#listener();
  }

  #change(state) {
    this.state = state;
    this.#listener();
  }

  #end(state) {
    this.#halt();
    window.removeEventListener("online", this.#online);
    this.#change(state);
  }

  #lookForStall() {
    if (this.state === "sending" && Date.now() - this.#moved > STALLED_MS) this.#broke(new Failure(0));
  }

  async #broke(cause) {
    this.#halt();
    const run = this.#run;
    this.failure = cause instanceof Failure ? cause : new Failure(0, { message: String(cause), isFinal: true });
    const gone = this.failure.isFinal ? null : await firstUnreadable(this.#files, this.failure);
    if (run !== this.#run) return; // paused or stopped meanwhile
    if (gone) {
      this.failure = new Failure(0, {
        message: `${gone.name} was moved, changed or deleted while it was sent.`,
        hint: "Choose it again.",
        isFinal: true,
      });
    }
    if (this.failure.isFinal) {
      this.#end("failed");
      return;
    }
    const delay = TRY_AGAIN_MS[Math.min(this.#tries, TRY_AGAIN_MS.length - 1)];
    this.#tries += 1;
    this.#timer = window.setTimeout(() => this.start(), delay);
    this.#change("waiting");
  }
}

function partsOf(files) {
  const parts = [];
  let batch = [];
  let bytes = 0;
  const close = () => {
    if (batch.length) parts.push(new Batch(batch));
    batch = [];
    bytes = 0;
  };
  for (const file of files) {
    if (file.size > SMALL_BYTES) {
      parts.push(new Large(file));
      continue;
    }
    if (batch.length >= BATCH_FILES || bytes + file.size > CHUNK_BYTES) close();
    batch.push(file);
    bytes += file.size;
  }
  close();
  return parts;
}

/** The file's path inside the folder that was chosen, or its name. */
export const nameOf = (file) => file.path || file.webkitRelativePath || file.name;

/** A file that goes by the tus protocol. */
class Large {
  #settle;
  #upload;
  #looked = false;
  #key;
  ids = null; // once it is on the server whole
  sent = 0;

  constructor(file) {
    this.files = [file];
    this.#key = ["backread", nameOf(file), file.size, file.lastModified].join("|");
    this.#upload = new tus.Upload(file, {
      endpoint: UPLOADS,
      chunkSize: CHUNK_BYTES,
      retryDelays: null, // `Sending` says when, for all files together
      metadata: { filename: nameOf(file) },
      headers: { "X-CSRF-Token": csrfToken(), Accept: "application/json" },
      fingerprint: async () => this.#key,
      // Without this, a server that only restarts would make the client begin from nothing.
      onAfterResponse: (request, response) => {
        const status = response.getStatus();
        if (status >= 400 && status !== 404 && status !== 410) throw Failure.answered(status, response.getBody());
      },
      onProgress: (sent) => {
        this.sent = sent;
        this.#settle.note();
      },
      onSuccess: () => this.#settle.resolve(),
      onError: (error) => this.#settle.reject(reasonOf(error)),
    });
  }

  async send(note) {
    if (!this.#looked) {
      this.#looked = true;
      const known = await this.#upload.findPreviousUploads();
      if (known.length) this.#upload.resumeFromPreviousUpload(known.at(-1));
    }
    await new Promise((resolve, reject) => {
      this.#settle = { resolve, reject, note };
      this.#upload.start();
    });
    this.ids = [this.#upload.url.split("/").pop()];
    this.sent = this.files[0].size;
    note();
  }

  halt() {
    if (!this.ids) this.#upload.abort();
  }

  discard() {
    this.#upload.abort(true).catch(() => {}); // what cannot be removed now is after a day
  }

  async forget() {
    const { urlStorage } = tus.defaultOptions;
    const known = await urlStorage.findUploadsByFingerprint(this.#key);
    await Promise.all(known.map((each) => urlStorage.removeUpload(each.urlStorageKey)));
  }
}

function reasonOf(error) {
  if (error.causingError instanceof Failure) return error.causingError;
  const response = error.originalResponse;
  return response ? Failure.answered(response.getStatus(), response.getBody()) : new Failure(0);
}

/** Small files that go together, each whole. */
class Batch {
  #request = null;
  ids = null;
  sent = 0;

  constructor(files) {
    this.files = files;
  }

  async send(note) {
    const size = this.files.reduce((sum, file) => sum + file.size, 0);
    const form = new FormData();
    for (const file of this.files) form.append("files", file, nameOf(file));
    const request = post(`${UPLOADS}/batch`, form, "", (part) => {
      this.sent = Math.round(size * part);
      note();
    });
    this.#request = request;
    this.ids = (await request.answer).ids;
    this.sent = size;
    note();
  }

  halt() {
    if (this.ids) return;
    this.#request?.abort();
    this.sent = 0;
  }

  discard() {
    const headers = { "X-CSRF-Token": csrfToken(), "Tus-Resumable": "1.0.0" };
    for (const id of this.ids ?? []) fetch(`${UPLOADS}/${id}`, { method: "DELETE", headers }).catch(() => {});
  }

  async forget() {}
}

async function finished(finish, ids) {
  try {
    return await finish(ids);
  } catch (failure) {
    failure.isFinal ||= failure.status >= 400 && failure.status < 500;
    throw failure;
  }
}

/** Sends JSON and gives the answer's. Throws a Failure. */
export const postJson = (url, value) => post(url, JSON.stringify(value), "application/json").answer;

/** XMLHttpRequest, because fetch does not tell how much of a body has been sent. */
function post(url, body, type, onPart = () => {}) {
  const request = new XMLHttpRequest();
  const answer = new Promise((resolve, reject) => {
    request.open("POST", url);
    request.setRequestHeader("X-CSRF-Token", csrfToken());
    request.setRequestHeader("Accept", "application/json");
    if (type) request.setRequestHeader("Content-Type", type);
    request.upload.addEventListener("progress", (event) => onPart(event.loaded / Math.max(event.total, 1)));
    request.addEventListener("error", () => reject(new Failure(0)));
    request.addEventListener("load", () => {
      if (request.status >= 200 && request.status < 300) resolve(JSON.parse(request.responseText));
      else reject(Failure.answered(request.status, request.responseText));
    });
    request.send(body);
  });
  return { answer, abort: () => request.abort() };
}

/** A file that cannot be read any more looks like a broken connection to the browser. */
async function firstUnreadable(files, failure) {
  if (failure.status !== 0) return null;
  for (const file of files) {
    try {
      await file.slice(0, 1).arrayBuffer();
    } catch {
      return file;
    }
  }
  return null;
}

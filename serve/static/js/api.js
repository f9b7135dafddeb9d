// The server's API: calls, event streams that resume, uploads with progress. Errors are problems with a remedy.

import { t } from "./i18n.js";
import { inWords } from "./problem.js";

/** What went wrong, as the server said it, or in the words of this page where it could not be reached. */
export class Problem extends Error {
  constructor(status, body) {
    super(body.title || t("api.wrong"));
    this.status = status;
    this.code = body.code || "";
    this.remedy = body.remedy || "";
    this.key = body.key || "";
    this.values = body.values || {};
  }

  /** One sentence, then the remedy, in the language of the page; the message is as the server wrote it. */
  get sentence() {
    return inWords({ ...this, title: this.message });
  }
}

const UNREACHED = { title: t("api.unreached"), remedy: t("api.unreached.do"), code: "unreached" };

const CUT = { title: t("api.cut"), remedy: t("api.cut.do"), code: "cut" };

async function problemOf(response) {
  let body = {};
  try {
    body = await response.json();
    if (body.error) body = { title: body.error.message, code: body.error.code }; // under /v1
  } catch {
    body = { title: t("api.answered", { status: String(response.status) }) };
  }
  const problem = new Problem(response.status, body);
  if (response.status === 401) document.dispatchEvent(new CustomEvent("ragweave:locked", { detail: problem }));
  return problem;
}

const AGAIN = 500; // milliseconds after which what only reads is tried once more

async function reach(path, options, again = (options.method || "GET") === "GET") {
  try {
    return await fetch(path, { credentials: "same-origin", redirect: "error", ...options });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    if (!again) throw new Problem(0, UNREACHED);
    await new Promise((go) => setTimeout(go, AGAIN));
    return reach(path, options, false);
  }
}

let copied = false; // whether the last answer was a copy that this browser kept

function noticeCopy(is) {
  if (is || copied) document.dispatchEvent(new CustomEvent("ragweave:copy", { detail: is }));
  copied = is;
}

const asJson = (body, headers = {}) => ({ body: JSON.stringify(body), headers: { ...headers, "Content-Type": "application/json" } });

/** Call the API; returns the JSON it answers, or null where it answers nothing. */
export async function call(method, path, body, options = {}) {
  const sent = body === undefined ? {} : asJson(body);
  const response = await reach(path, { method, ...sent, ...options });
  noticeCopy(response.headers.has("X-Ragweave-Copy"));
  if (!response.ok) throw await problemOf(response);
  return response.status === 204 ? null : response.json();
}

/** Fetch a file; returns the response, or throws the problem. */
export async function fetchFile(path, options = {}) {
  const response = await reach(path, options);
  if (!response.ok) throw await problemOf(response);
  return response;
}

/**
 * Follow a stream of events to its `end`; where the connection breaks, go on behind the last event.
 * @param {string} path address of the stream, or of what begins one if it is sent a body
 * @param {{body?: () => Promise<object>, signal?: AbortSignal, onlost?: (lost: boolean) => void}} options `onlost` hears of breaks and returns
 */
export async function* follow(path, { body, signal, onlost = () => {} } = {}) {
  let last = 0;
  let wait = 500;
  for (;;) {
    try {
      const headers = { Accept: "text/event-stream", ...(last ? { "Last-Event-ID": String(last) } : {}) };
      // What is begun is not taken back: it goes on, whoever listens.
      const response = await reach(path, body ? { method: "POST", ...asJson(await body(), headers) } : { headers, signal });
      if (!response.ok) throw await problemOf(response);
      if (body) path = response.headers.get("Content-Location");
      body = null;
      if (signal?.aborted) return;
      onlost(false);
      for await (const event of events(response.body, signal)) {
        last = Number(event.id) || last;
        wait = 500;
        const told_ = JSON.parse(event.data);
        yield told_;
        if (told_.type === "end") return;
      }
    } catch (error) {
      if (body) throw error;
      if (error.name === "AbortError" || signal?.aborted) return;
      if (error instanceof Problem && error.status >= 400 && error.status !== 429 && error.status !== 503) throw error;
    }
    if (signal?.aborted) return;
    onlost(true);
    await new Promise((go) => setTimeout(go, wait));
    if (signal?.aborted) return;
    wait = Math.min(wait * 2, 10_000);
  }
}

/** Read server-sent events out of a body. */
export async function* events(body, signal) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  signal?.addEventListener("abort", () => reader.cancel().catch(() => {}));
  let buffer = "";
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      buffer += value.replaceAll("\r", "");
      let end = buffer.indexOf("\n\n");
      while (end >= 0) {
        const event = { id: "", data: [] };
        for (const line of buffer.slice(0, end).split("\n")) {
          const [name, text] = [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1).replace(/^ /, "")];
          if (name === "data") event.data.push(text);
          if (name === "id") event.id = text;
        }
        buffer = buffer.slice(end + 2);
        if (event.data.length) yield { id: event.id, data: event.data.join("\n") };
        end = buffer.indexOf("\n\n");
      }
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

/** Remove sources from a library, as many in a request as the server takes: each request writes its catalog anew. */
export async function removeSources(gone, library) {
  for (let at = 0; at < gone.length; at += 100) {
    const ids = gone.slice(at, at + 100).map(({ id }) => ["ids", id]);
    await call("DELETE", `/api/sources?${new URLSearchParams([["library", library], ...ids])}`);
  }
}

/** Send files `into` a library, as its members of a form; `progress` hears the share that has been sent, in [0, 1]. */
export function upload(files, into, progress, signal) {
  return new Promise((resolve, reject) => {
    const form = new FormData();
    for (const [name, value] of Object.entries(into)) form.append(name, value);
    for (const file of files) form.append("files", file, file.name);
    const request = new XMLHttpRequest();
    request.open("POST", "/api/upload");
    request.responseType = "json";
    let begun = false;
    request.upload.onprogress = (event) => {
      begun = true;
      if (event.lengthComputable) progress(event.loaded / event.total);
    };
    // A server that refuses a large upload hangs up while it is still being sent.
    signal.addEventListener("abort", () => request.abort());
    request.onabort = () => reject(new Problem(0, { title: t("api.unsent") }));
    request.onerror = () => reject(new Problem(0, begun ? CUT : UNREACHED));
    request.onload = () => {
      const body = request.response || {};
      if (request.status < 300) resolve(body);
      else reject(new Problem(request.status, body));
    };
    request.send(form);
  });
}

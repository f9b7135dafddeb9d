// Files dropped or chosen: sent with progress, indexed while one watches, each with its own error.

import { call, follow, removeSources, upload } from "./api.js";
import { fill, h, iconButton, toast } from "./dom.js";
import { known, t } from "./i18n.js";
import { icon } from "./icons.js";
import { secondsLeft } from "./left.js";
import { recallHere, rememberHere } from "./prefs.js";
import { inWords } from "./problem.js";
import { loadLibraries, ring, state } from "./state.js";
import { lasted, unnumbered } from "./words.js";

const MOST = 500;
const TOLD_AGAIN = 500; // milliseconds in which what was told before comes once more
const watched = new Set(); // jobs that this tab shows or has shown
let sending = 0;
let loader = ""; // of the files that are being chosen

const picker = h("input", { type: "file", multiple: true, hidden: true, "aria-label": t("upload.files") });
picker.id = "picker";
const folder = h("input", { type: "file", webkitdirectory: true, hidden: true, "aria-label": t("add.folder") });
folder.id = "folder-picker";
const tray = h("section.tray", { hidden: true, "aria-label": t("upload.tray") });
let over = null;

/** Exports of chats and notes that the server loads. */
export const LOADERS = ["slack", "whatsapp", "telegram", "evernote", "notion"];

/** Let the reader choose files. */
export const pickFiles = () => pickExport("");

/** Let the reader choose exports of a kind. */
export function pickExport(kind) {
  loader = kind;
  picker.value = "";
  picker.click();
}

/** Let the reader choose a folder; hidden files in it stay where they are. */
export function pickFolder() {
  folder.value = "";
  folder.click();
}

/** Name a library by its id, which stays when it is renamed; one that is not there yet by its name. */
const into = ({ id, name }) => (id ? { library_id: id } : { library: name });

/** Have the server fetch a page or a file of the web, and index it. */
export async function fetchAddress(url) {
  const { job, library, files } = await call("POST", "/api/fetch", { ...into(state.library), url });
  remembered(job, library, files);
}

/** Take files that are dropped anywhere on the page. */
export function watchDrops() {
  document.body.append(picker, folder, tray);
  // What this tab watched before it was loaded anew.
  for (const { job, library, names } of recallHere("jobs", [])) watch(job, new Board(library, names));
  showJobs();
  picker.addEventListener("change", () => send([...picker.files], state.library, loader));
  folder.addEventListener("change", () => send([...folder.files].filter((file) => !/(^|\/)\./.test(file.webkitRelativePath))));
  const carries = (event) => event.dataTransfer?.types.includes("Files");
  let depth = 0;
  document.addEventListener("dragenter", (event) => {
    if (!carries(event)) return;
    depth += 1;
    over ??= document.body.appendChild(h("div.dropover", {}, icon("upload"), h("p", { text: t("upload.into", { library: state.library.name }) })));
  });
  document.addEventListener("dragleave", (event) => {
    if (!carries(event)) return;
    depth -= 1;
    if (depth <= 0) clear();
  });
  document.addEventListener("dragover", (event) => carries(event) && event.preventDefault());
  document.addEventListener("drop", async (event) => {
    if (!carries(event)) return;
    event.preventDefault();
    clear();
    // The entries must be taken before anything is awaited.
    const entries = [...event.dataTransfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
    const plain = [...event.dataTransfer.files];
    send(entries.length ? await walk(entries) : plain);
  });
  function clear() {
    depth = 0;
    over?.remove();
    over = null;
  }
}

/** Show what is being indexed for this reader, whichever tab it was sent from. */
export async function showJobs() {
  const { jobs } = await call("GET", "/api/jobs").catch(() => ({ jobs: [] }));
  for (const { job, library, files } of sending ? [] : jobs) if (!watched.has(job)) watch(job, new Board(library, files));
}

/** Every file below some entries, up to a limit; hidden files stay where they are. */
async function walk(entries) {
  const found = [];
  for (const entry of entries) {
    if (found.length > MOST) break;
    if (entry.name.startsWith(".")) continue;
    if (entry.isFile) {
      found.push(await new Promise((resolve, reject) => entry.file(resolve, reject)));
    } else {
      const reader = entry.createReader();
      for (;;) {
        const some_ = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
        if (!some_.length) break;
        found.push(...(await walk(some_)));
      }
    }
  }
  return found;
}

/** Send files to a library, the chosen one unless another is named, by a loader or without, and show what becomes of each. */
export async function send(files, library = state.library, by = "") {
  if (!files.length) return;
  if (files.length > MOST) {
    toast(t("upload.many", { n: files.length }), { bad: true });
    return;
  }
  const names = files.map((file) => file.name);
  const board = new Board(library.name, names);
  const stop = new AbortController();
  board.stop = () => stop.abort();
  board.again = (left) => send(left, library, by);
  board.files = files.map((file) => [file.name, file]);
  sending += 1;
  try {
    const answer = await upload(files, { ...into(library), ...(by && { loader: by }) }, (share) => board.sent(share), stop.signal);
    board.named(files, answer);
    remembered(answer.job, answer.library, [...board.rows.keys()], board);
  } catch (error) {
    board.fail(error.sentence || String(error.message));
    if (error.status === 404) loadLibraries().catch(() => {}); // the library is gone
  } finally {
    sending -= 1;
  }
}

/** Follow an indexing that is shown again after a reload. */
function remembered(job, library, names, board = new Board(library, names)) {
  rememberHere("jobs", [...recallHere("jobs", []), { job, library, names }]);
  watch(job, board);
}

let soon = 0;

/** Show what a library holds now: while files are indexed, one after the other is done. */
function changed() {
  clearTimeout(soon);
  soon = setTimeout(() => loadLibraries().catch(() => {}), 300);
}

/** Follow an indexing from its first event to its end. */
async function watch(job, board) {
  watched.add(job);
  const address = `/api/jobs/${encodeURIComponent(job)}`;
  board.stop = () => call("POST", `${address}/cancel`, {}).catch((error) => toast(error.sentence, { bad: true }));
  try {
    for await (const event of follow(`${address}/events`)) {
      board.apply(event);
      if (event.type === "ready" || event.type === "done") changed();
    }
  } catch (error) {
    board.fail(error.status === 404 ? t("upload.restarted") : error.sentence || String(error.message));
  } finally {
    rememberHere("jobs", recallHere("jobs", []).filter((kept) => kept.job !== job));
    await loadLibraries().catch(() => {});
    ring("sources");
  }
}

/** What becomes of the files of one upload. */
class Board {
  constructor(library, names) {
    this.library = library;
    this.rows = new Map();
    this.files = []; // those that this tab has, to be sent again, each behind its name here
    this.newer = new Map(); // of each file whose name another content had before, that name
    this.before = new Set(); // files that were over before this tab looked
    this.pictures = new Map(); // of each file, how many wait
    this.far = new Map(); // of each recording, the share of each stage that is done
    this.stop = () => {};
    this.cancel = h("button.button.small", { type: "button", text: t("cancel"), on: { click: () => this.stop() } });
    this.head = h("h2", { text: t("upload.sending", { n: names.length, library }), dir: "auto" });
    this.bar = h("progress", { max: "1", value: "0", "aria-label": t("upload.sent") });
    this.ready = h("p.fine", { hidden: true, role: "status" });
    this.list = h("ul", { role: "list" });
    this.status = h("p.unseen", { role: "status" });
    this.close = iconButton(icon("close"), t("close"), () => {
      this.element.remove();
      tray.hidden = !tray.childElementCount;
    }, "bare.small");
    this.element = h("div.board", {}, h("div.board-head", {}, this.head, this.cancel, this.close), this.bar, this.ready, this.list, this.status);
    this.begin(names);
    tray.hidden = false;
    tray.append(this.element);
  }

  begin(names) {
    this.rows.clear();
    fill(this.list);
    for (const name of names) this.set(name, "wait", t("upload.waiting"));
  }

  /** Name the files as the server does, which may have cleaned a name or numbered it: its events tell of those names. */
  named(files, { kept_as, refused }) {
    const reasons = refused.values();
    this.files = files.map((file, n) => [kept_as[n] ?? reasons.next().value.file, file]);
    const alone = (name) => files.filter((file) => file.name === name).length === 1; // in a folder it may be another one
    this.newer = new Map(this.files.filter(([name, file]) => name !== file.name && unnumbered(name) === file.name && alone(file.name)).map(([name, file]) => [name, file.name]));
    this.begin(this.files.map(([name]) => name));
  }

  /** Tell that a file can be asked; where an earlier one of its name can be as well, offer to remove that. */
  done(name) {
    const before = this.newer.get(name);
    if (!before) return this.set(name, "good", t("upload.ready"));
    const only = h("button.button.small", { type: "button", text: t("upload.earlier.remove"), on: { click: () => removeEarlier() } });
    const removeEarlier = async () => {
      only.disabled = true;
      try {
        const { sources } = await call("GET", `/api/sources?library=${encodeURIComponent(this.library)}`);
        await removeSources(sources.filter((s) => s.uploaded && s.name !== name && unnumbered(s.name) === before), this.library);
        this.set(name, "good", t("upload.ready"));
        await loadLibraries();
        ring("sources");
      } catch (error) {
        only.disabled = false;
        toast(error.sentence || String(error.message), { bad: true });
      }
    };
    this.set(name, "good", t("upload.earlier"));
    this.rows.get(name).append(only);
  }

  set(name, kind, text) {
    let row = this.rows.get(name);
    if (!row) {
      row = h("li");
      this.rows.set(name, row);
      this.list.append(row);
    }
    row.className = kind;
    const sign = kind === "busy" ? h("span.spin") : icon(kind === "good" ? "check" : kind === "bad" ? "alert" : "file");
    fill(row, sign, h("span.words", {}, h("span.name", { text: name, dir: "auto" }), h("span.state.fine", { text, dir: "auto" })));
    if (kind === "bad") this.list.prepend(row);
  }

  /** Tell how far a stage of a recording has come, or that it waits; of another file, how many pictures were read. */
  perceived({ file, stage, done, total }) {
    if (stage === "picture") {
      const all = this.pictures.get(file) || 0;
      if (all) this.far.set(file, new Map([[stage, Math.min(1, done / all)]]));
      if (all) this.set(file, "busy", t("upload.pictures", { done: Math.min(done, all), total: all }));
      return;
    }
    const far = this.far.get(file) || this.far.set(file, new Map()).get(file);
    far.set(stage, total ? Math.min(1, done / total) : 0);
    const open = [...far].filter(([, share]) => share < 1);
    const works = open.some(([, share]) => share) || open.length < far.size;
    const state = ([name, share]) => (share ? t(`upload.${name}`, { share: Math.round(100 * share) }) : t(`upload.${name}.wait`));
    if (open.length) this.set(file, works ? "busy" : "wait", open.map(state).join(" · "));
  }

  /** Tell that a file, or the pictures of a text that is stored, are read when all texts are. */
  later({ file, stage, total, items }) {
    if (stage === "picture") this.pictures.set(file, total);
    this.set(file, "wait", items ? t("upload.later.pictures", { n: total }) : t("upload.later"));
  }

  /** Tell that what is stored can be asked while the rest is read. */
  asked(left) {
    this.ready.hidden = false;
    this.ready.textContent = t("upload.asked", { n: left });
  }

  sent(share) {
    this.bar.value = share;
    if (share >= 1) this.head.textContent = t("upload.indexing");
  }

  /** Tell how far it is; how long it takes is told by what this tab has seen. */
  advance() {
    const [total, over] = [this.rows.size, this.rows.size - this.open().length];
    const seen = performance.now() - (this.began ??= performance.now());
    const open = new Set(this.open());
    if (seen < TOLD_AGAIN) this.before = new Set([...this.rows.keys()].filter((name) => !open.has(name)));
    const sizes = new Map(this.files.map(([name, file]) => [name, file.size]));
    const file = (name) => ({ name, size: sizes.get(name), waits: this.far.has(name) || this.pictures.has(name) });
    const read = [...this.rows.keys()].filter((name) => !open.has(name) && !this.before.has(name));
    const left = secondsLeft(read.map(file), [...open].map(file), seen / 1000);
    const part = this.open().flatMap((name) => [...(this.far.get(name)?.values() ?? [])].map((share, _, all) => share / all.length));
    this.bar.value = part.reduce((sum, share) => sum + share, over) / total;
    this.bar.setAttribute("aria-label", t("upload.indexing"));
    this.head.textContent = [t("upload.of", { over, total }), left > 5 ? t("upload.left", { time: lasted(left) }) : ""].filter(Boolean).join(" · ");
  }

  /** The files that nothing became of yet. */
  open() {
    return [...this.rows].filter(([, row]) => row.className === "wait" || row.className === "busy").map(([name]) => name);
  }

  apply(event) {
    if (event.type === "staged") this.set(event.file, "busy", known(`upload.${event.stage}`, event.stage));
    else if (event.type === "done") this.done(event.file);
    else if (event.type === "unchanged") this.set(event.file, "good", t("upload.there"));
    else if (event.type === "linked") this.set(event.file, "good", t("upload.same"));
    else if (event.type === "failed" || event.type === "skipped") this.set(event.file, "bad", event.reason);
    else if (event.type === "perceived") this.perceived(event);
    else if (event.type === "later") this.later(event);
    else if (event.type === "ready") this.asked(event.total);
    else if (event.type === "waiting") this.head.textContent = t("upload.queue");
    else if (event.type === "error") this.fail(inWords(event.problem));
    else if (event.type === "end") this.end(event.status === "done" ? "" : t(event.status === "cancelled" ? "upload.stopped" : "upload.unfinished"));
    if (["started", "staged", "later", "perceived", "done", "unchanged", "linked", "failed", "skipped"].includes(event.type)) this.advance();
  }

  verdict() {
    const bad = [...this.rows.values()].filter((row) => row.classList.contains("bad")).length;
    const good = this.rows.size - bad;
    const files = t("upload.done", { n: good });
    return bad ? t("upload.partly", { files, n: bad }) : files;
  }

  fail(sentence) {
    this.list.before(h("p.wrong", { role: "alert", text: sentence }));
    this.over(t("upload.unfinished"));
  }

  /** What nothing became of can be sent again, as long as this tab has it; without a text the files are counted. */
  over(text) {
    this.bar.hidden = this.cancel.hidden = this.ready.hidden = true;
    const open = this.open();
    for (const name of open) this.set(name, "bad", t("upload.not"));
    const files = this.files.filter(([name]) => open.includes(name)).map(([, file]) => file);
    const again = () => (this.close.click(), this.again(files));
    if (files.length) this.cancel.after(h("button.button.small", { type: "button", text: t("page.retry"), on: { click: again } }));
    this.head.textContent = text || this.verdict();
  }

  end(text) {
    this.over(text);
    this.status.textContent = this.head.textContent;
    if (!this.element.querySelector(".bad, .wrong, li .button")) setTimeout(() => this.close.click(), 6000);
  }
}

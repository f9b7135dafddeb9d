// The conversation on screen: its turns, the run that is answering, and its way through reloads and lost connections.

import { call, follow, Problem } from "./api.js";
import { newAskedFiles, sentAskedFiles, showAskedFiles } from "./asked_files.js";
import { confirm } from "./dialog.js";
import { fill, h, toast } from "./dom.js";
import { t } from "./i18n.js";
import { closePanel } from "./panel.js";
import { asData } from "./pictures.js";
import { loadLibraries, loadThreads, ring, runContext, setRunning, state, useLibrary } from "./state.js";
import { Turn } from "./turn.js";
import { welcome } from "./welcome.js";

const MARGIN = 28; // pixels above a question that is scrolled to
const LISTED = 1000; // milliseconds after which the list tells of a run that is still under way: the answer comes first
const main = () => document.getElementById("main");
let column = h("div.column");
let turns = [];
let run = null; // {id, thread, turn, stop: AbortController} of the answer under way in this conversation
let shown = 0; // grows with each conversation shown, so that late replies to an earlier one are dropped
let atEnd = true;

/** Show an empty conversation. */
export function fresh() {
  leave();
  state.thread = null;
  turns = [];
  column = h("div.column");
  showAskedFiles([]);
  fill(main(), welcome());
  ring("thread");
}

/** Show a kept conversation; with an answer under way, its events are followed from the first. What is edited stays. */
export async function open(id, { quiet = false } = {}) {
  const same = state.thread === id;
  leave();
  const mine = shown;
  state.thread = id;
  ring("thread");
  let kept;
  try {
    kept = await call("GET", `/api/threads/${encodeURIComponent(id)}`);
  } catch (error) {
    if (!quiet) toast(error.sentence, { bad: true });
    if (error instanceof Problem && error.status === 404) window.location.hash = "#/";
    return;
  }
  if (mine !== shown) return;
  useLibrary(kept.library);
  showAskedFiles(kept.files || []);
  const edited = turns.filter((turn) => same && turn.place && turn.asking.words() !== null);
  turns = [];
  column = h("div.column");
  fill(main(), column);
  for (const row of kept.turns) {
    const base = `/api/threads/${encodeURIComponent(id)}/turns/${row.n}/pictures`;
    const turn = add(row.question, Array.from({ length: row.pictures }, (_, n) => `${base}/${n + 1}`));
    turn.place = { thread: id, turn: row.n };
    turn.run = row.run;
    if (row.status === "running" || row.status === "waiting") {
      run = { id: row.run, thread: id, turn, stop: new AbortController() };
      setRunning(id, true);
      watch(run, false, { path: `/api/runs/${encodeURIComponent(row.run)}/events` });
    } else turn.restore(row);
  }
  if (!kept.turns.length) fill(main(), welcome());
  toEnd(true);
  for (const { run: of, asking } of edited) {
    const turn = turns.find((one) => one.run === of); // another one may have its number by now
    if (turn) turn.asking.write(asking.words(), document.activeElement === document.body);
    else hold(asking.words());
  }
}

/** Put words whose turn is gone where the next question is written. */
function hold(words) {
  const field = document.getElementById("question");
  field.value = [field.value, words].filter(Boolean).join("\n");
  field.dispatchEvent(new Event("input"));
  field.focus();
}

/** Ask in the conversation on screen, with knobs of this question alone; tells whether the server took it. */
export async function ask(question, pictures = [], knobs = {}) {
  return (await put(question, pictures, knobs)) === null;
}

/** Ask, also in place of a turn and of all below it; resolves to null once the server took it, else to why it did not. */
async function put(question, pictures, knobs, replaced = null) {
  if (run) return undefined;
  const seen = turns.filter((turn) => turn.run).at(-1)?.run;
  const replaces = replaced ? { replaces: replaced.place.turn, seen } : {};
  if (replaced) for (const gone of turns.splice(turns.indexOf(replaced))) gone.element.remove();
  if (!turns.length) fill(main(), column);
  const turn = add(question, pictures);
  const context = { ...runContext(), ...knobs };
  toEnd(true);
  // What was pressed may be gone: the focus goes to where the next question is written.
  if (document.activeElement === document.body && window.matchMedia("(pointer: fine)").matches) document.getElementById("question").focus();
  const here = state.thread;
  run = { id: null, thread: here, turn, stop: new AbortController(), wanted: false };
  ring("running");
  const place = here ? { thread: here } : { library: state.library.name };
  return new Promise((taken) => watch(run, true, {
    path: "/api/ask",
    body: async () => {
      const sent = pictures.length ? { pictures: await Promise.all(pictures.map(asData)) } : {};
      const files = await newAskedFiles();
      if (files.length) sent.files = files;
      return { question, ...sent, ...place, ...replaces, graph: state.graph, context };
    },
    taken,
  }));
}

/** Stop the answer under way. */
export async function stop() {
  if (!run) return;
  if (!run.id) {
    run.wanted = true;
    return;
  }
  try {
    await call("POST", `/api/runs/${encodeURIComponent(run.id)}/cancel`);
  } catch (error) {
    toast(error.sentence, { bad: true });
  }
}

/** Whether an answer is under way here. */
export const answering = () => run !== null;

/** The citations of the last answer. */
export const lastCitations = () => turns.at(-1)?.kept?.citations || [];

/** Look whether another tab has gone on with this conversation, or replaced something in it. */
export async function refresh() {
  if (run || !state.thread) return;
  try {
    const kept = await call("GET", `/api/threads/${encodeURIComponent(state.thread)}`);
    const runs = (rows) => rows.map((row) => row.run).join();
    if (!run && kept.id === state.thread && runs(kept.turns) !== runs(turns)) await open(kept.id, { quiet: true });
  } catch {
    // The next look will tell.
  }
}

function add(question, pictures) {
  const turn = new Turn(question, pictures, { again: (words, shown, knobs = {}) => ask(words, shown, { fresh: true, ...knobs }), replace: (gone, asked) => replace(gone, asked), consent: (agreed) => consent(turn, agreed) });
  turns.push(turn);
  column.append(turn.element);
  return turn;
}

/** Ask another question in place of one; the answers below it go as well, and whoever asks is told before. */
async function replace(gone, asked) {
  const below = turns.length - turns.indexOf(gone) - 1;
  if (run) return;
  if (below && !(await confirm(t("replace.ask"), t("replace.tell", { n: below }), t("replace")))) return;
  const at = turns.indexOf(gone);
  if (at < 0) return;
  const were = turns.slice(at);
  const here = shown;
  const refused = await put(asked, gone.pictures, {}, gone);
  if (!refused || here !== shown) return;
  // All stands as it did, with the words in their field.
  for (const turn of turns.splice(at)) turn.element.remove();
  for (const turn of were) column.append(turn.element);
  turns.push(...were);
  gone.asking.write(asked);
  toast(refused.sentence, { bad: true });
  await refresh();
  const there = turns.find((turn) => turn.run === gone.run);
  if (refused.code === "conversation_changed" && there && there !== turns.at(-1)) replace(there, asked);
}

/** Follow a run that is asked for with a body, or one that was begun before; `taken` hears whether the server took it. */
async function watch(asked, live, { path, body, taken = () => {} }) {
  const mine = shown;
  const { turn } = asked;
  try {
    for await (const event of follow(path, { body, signal: asked.stop.signal, onlost: lost })) {
      if (!asked.id) {
        began(asked, event);
        taken(null);
      }
      if (mine !== shown) return;
      turn.apply(event, true);
      keepUp();
    }
  } catch (error) {
    taken(error);
    if (mine !== shown) return;
    // The run is gone: the server was started anew. What it kept of the turn is the truth.
    if (error instanceof Problem && error.status === 404 && asked.id) turn.end("cancelled", live);
    else {
      if (error.status === 404) elsewhere(asked);
      turn.fail({ ...error, title: error.message });
      turn.end("failed", live);
    }
    if (!asked.id) toEnd(true);
  } finally {
    taken(null); // by a server that nobody listened to any more
    lost(false);
    if (run === asked) run = null;
    if (asked.id) setRunning(asked.thread, false);
    else ring("running");
    clearTimeout(asked.listing);
    loadThreads().catch(() => {});
    // Read once, so that the service worker has it as well.
    if (asked.id && navigator.serviceWorker?.controller) call("GET", `/api/threads/${encodeURIComponent(asked.thread)}`).catch(() => {});
  }
}

/** What was asked is not there any more: the conversation was deleted elsewhere, or the library has another name. */
function elsewhere({ thread }) {
  loadLibraries().catch(() => {});
  if (!thread || thread !== state.thread) return;
  state.thread = null; // asked again, it begins a new one
  showAskedFiles([]); // they went with it
  window.history.replaceState(null, "", "#/");
  ring("thread");
}

/** The server has taken a question. */
function began(asked, { run: id, thread }) {
  const first = !asked.thread;
  const listing = setTimeout(() => loadThreads().catch(() => {}), LISTED);
  Object.assign(asked, { id, thread, listing });
  if (run !== asked) return; // whoever asked is elsewhere now
  sentAskedFiles();
  state.thread = thread;
  if (first) window.history.replaceState(null, "", `#/t/${thread}`);
  setRunning(thread, true);
  ring("thread");
  if (asked.wanted) stop();
}

async function consent(turn, agreed) {
  if (!run?.id || run.turn !== turn) return;
  try {
    await call("POST", `/api/runs/${encodeURIComponent(run.id)}/resume`, { consent: agreed });
  } catch (error) {
    if (error.status !== 409) toast(error.sentence, { bad: true });
  }
}

function leave() {
  shown += 1;
  run?.stop.abort();
  run = null;
  closePanel();
  ring("running");
}

/** Say, above the conversation, that the server cannot be reached now. */
export function lost(is, text = t("page.lost")) {
  const there = document.getElementById("offline");
  if (is && !there) {
    document.getElementById("bar").after(h("div.offline", { id: "offline", role: "status" }, h("span.spin"), h("span", { text })));
  }
  if (!is) there?.remove();
}

/** Show the end of a conversation that was built while the page was hidden. */
export const appear = () => turns.length && toEnd(false);

let due = false;

/** Bring the newest text into view with the next frame: once for all that came since the last one. */
function keepUp() {
  if (due) return;
  due = true;
  requestAnimationFrame(() => {
    due = false;
    toEnd(false);
  });
}

/** Keep the newest text in view, but not past its question, unless the reader has scrolled up. */
function toEnd(always) {
  const box = main();
  if (always) atEnd = true;
  const question = turns.at(-1)?.element.firstChild;
  const top = question ? question.offsetTop - box.offsetTop - MARGIN : 0;
  if (always || (atEnd && top > box.scrollTop)) box.scrollTop = top;
}

/** Notice when the reader scrolls away from the end. */
export function watchScroll() {
  const box = main();
  box.addEventListener("scroll", () => {
    atEnd = box.scrollHeight - box.scrollTop - box.clientHeight < 80;
  });
}

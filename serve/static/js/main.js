// The page: load what it needs, put it together, and follow the address.

import { call } from "./api.js";
import { labelOf } from "./cite.js";
import { buildComposer, focusQuestion } from "./composer.js";
import { answering, appear, fresh, lastCitations, lost, open, refresh, stop, watchScroll } from "./conversation.js";
import { h, fill, toast } from "./dom.js";
import { language, t } from "./i18n.js";
import { icon } from "./icons.js";
import { openLibraries } from "./libraries.js";
import { askForKey } from "./login.js";
import { closePanel, openAddress, openCitation } from "./panel.js";
import { recall } from "./prefs.js";
import { watchSelection } from "./selection.js";
import { openSettings } from "./settings.js";
import { openShortcuts, watchKeys } from "./shortcuts.js";
import { buildSide, foldOver, toSources } from "./side.js";
import { loadLibraries, loadThreads, state } from "./state.js";
import { nextTheme } from "./theme.js";
import { trusted } from "./trusted.js";
import { showJobs, watchDrops } from "./upload.js";

document.addEventListener("ragweave:locked", (event) => askForKey(event.detail));

const LOOK = 5000; // milliseconds between two looks for a server that is away
let looking = 0;

document.addEventListener("ragweave:copy", ({ detail: away }) => {
  lost(away, t("page.copy"));
  clearTimeout(looking);
  if (away) looking = setTimeout(() => loadThreads().catch(() => {}), LOOK);
});

async function start() {
  document.documentElement.lang = language;
  document.querySelector(".skip").textContent = t("page.skip");
  document.getElementById("side").setAttribute("aria-label", t("page.side"));
  const [me, form, graphs] = await Promise.all([call("GET", "/api/me"), call("GET", "/api/context"), call("GET", "/api/graphs"), loadLibraries()]);
  state.me = me;
  state.form = form;
  state.graphs = graphs.graphs;
  state.usualGraph = graphs.default;
  const kept = recall("graph");
  state.graph = state.graphs.some((g) => g.name === kept) ? kept : graphs.default;
  // A knob that this server does not know would be refused.
  const refused = (name) => !(name in form.schema.properties) || (name === "model" && !form.schema.properties.model.enum.includes(state.settings.model));
  for (const name of Object.keys(state.settings).filter(refused)) delete state.settings[name];
  buildSide();
  buildComposer();
  watchDrops();
  watchScroll();
  watchSelection();
  await Promise.all([loadThreads(), follow()]);
  document.getElementById("app").hidden = false;
  appear();
  focusIfKeys();
  watch();
  // What is opened from here on can be read again while the server is away.
  navigator.serviceWorker?.register(trusted("/sw.js")).catch(() => {});
}

/** Show what the address names: a conversation, a place to open, or nothing yet. */
async function follow() {
  const [, kind, first, rest] = window.location.hash.split("/");
  if (kind === "t" && first) {
    const id = decodeURIComponent(first);
    if (id !== state.thread) await open(id);
  } else if (kind === "open" && first && rest) {
    fresh();
    const [id, query] = rest.split("?");
    try {
      await openAddress(decodeURIComponent(first), decodeURIComponent(id), new URLSearchParams(query).get("chars"));
    } catch (error) {
      toast(error.status === 404 || !error.sentence ? t("page.link") : error.sentence, { bad: true });
    }
    return;
  } else {
    fresh();
  }
  focusIfKeys();
}

/** Put the cursor into the question, but not on a touch screen: its keyboard would cover the page. */
function focusIfKeys() {
  if (window.matchMedia("(pointer: fine)").matches && document.getElementById("panel").hidden) focusQuestion();
}

/** Begin a new conversation, also where the address already says so because the first question was refused. */
function begin() {
  if (window.location.hash.length > 2) window.location.hash = "#/";
  else follow();
}

function watch() {
  window.addEventListener("hashchange", follow);
  document.addEventListener("click", (event) => {
    if (!event.target.closest('a[href="#/"]')) return;
    event.preventDefault();
    begin();
  });
  document.addEventListener("visibilitychange", () => {
    if (document.visibilityState !== "visible") return;
    refresh();
    loadThreads().catch(() => {});
    loadLibraries().catch(() => {});
    showJobs();
  });
  const keys = {
    "/": focusQuestion,
    n: begin,
    l: openLibraries,
    f: toSources,
    s: openSettings,
    t: nextTheme,
    "?": openShortcuts,
  };
  const source = (n) => {
    const citation = lastCitations().find((c) => labelOf(c) === String(n));
    if (citation) openCitation(citation, document.activeElement);
  };
  watchKeys(keys, { stop: () => answering() && stop(), escape: () => closePanel() || foldOver(), source });
}

start().catch((error) => {
  if (error.status === 401) return;
  const again = h("button.button", { type: "button", on: { click: () => window.location.reload() } }, icon("again"), t("page.retry"));
  document.getElementById("app").hidden = true;
  document.body.append(h("div.door", {}, fill(h("div.login"), h("h1", { text: t("page.failed") }), h("p", { role: "alert", text: error.sentence || String(error) }), again)));
});

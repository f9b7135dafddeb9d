// What every part of the page looks at, and a bell that rings when it changes.

import { call } from "./api.js";
import { some } from "./words.js";
import { recall, recallHere, remember, rememberHere } from "./prefs.js";

export const state = {
  me: null,
  libraries: [],
  library: null, // the one asked, as {id, name, items}
  threads: [],
  thread: null, // id of the conversation on screen, or null for a new one
  running: new Set(), // ids of conversations that this tab sees being answered
  form: { schema: { properties: {} }, defaults: {} },
  graphs: [],
  graph: "agent",
  usualGraph: "agent",
  settings: recall("settings", {}), // knobs of a run that differ from the defaults
};

const bell = new EventTarget();

/** Ring for "libraries", "library", "threads", "thread", "running", "settings" or "sources". */
export function ring(what) {
  bell.dispatchEvent(new Event(what));
}

/** Call a function whenever one of these changes. */
export function on(whats, listener) {
  for (const what of whats.split(" ")) bell.addEventListener(what, listener);
}

/** Load the libraries and keep to the one that this tab was in, whatever its name is now. */
export async function loadLibraries(wanted = null) {
  const { libraries, default: usual } = await call("GET", "/api/libraries");
  state.libraries = libraries;
  const same = libraries.find((l) => l.id === state.library?.id);
  const names = [wanted, same?.name, recallHere("library"), state.library?.name, recall("library"), usual];
  const name = names.find((n) => libraries.some((l) => l.name === n));
  state.library = libraries.find((l) => l.name === name) || libraries[0] || { id: null, name: usual, items: {} };
  ring("libraries");
}

/** Ask another library from now on. */
export function useLibrary(name) {
  const found = state.libraries.find((l) => l.name === name);
  if (!found) return;
  state.library = found;
  remember("library", name);
  rememberHere("library", name);
  ring("library");
}

let asked = 0; // times that the conversations were asked for: an earlier list that comes later is an old one

/** Load the conversations. */
export async function loadThreads() {
  const mine = ++asked;
  const { threads } = await call("GET", "/api/threads");
  if (mine !== asked) return;
  state.threads = threads;
  ring("threads");
}

/** Mark a conversation as being answered, or not. */
export function setRunning(thread, running) {
  if (running) state.running.add(thread);
  else state.running.delete(thread);
  ring("running");
}

/** Keep a knob of the run; the default is not kept. */
export function setKnob(name, value) {
  const usual = state.form.defaults[name];
  if (JSON.stringify(value) === JSON.stringify(usual)) delete state.settings[name];
  else state.settings[name] = value;
  remember("settings", state.settings);
  ring("settings");
}

/** The value that a knob has now. */
export function knob(name) {
  return name in state.settings ? state.settings[name] : state.form.defaults[name];
}

/** Ids of the only sources to search in this library, in this tab; empty means all. */
export const onlySources = () => recallHere("only", {})[state.library?.id] || [];

/** Search only these sources of this library. */
export function setOnlySources(ids) {
  rememberHere("only", { ...recallHere("only", {}), [state.library.id]: ids });
  ring("settings");
}

/** The knobs that a run is asked with. */
export function runContext() {
  const only = onlySources();
  // A knob that an earlier version kept here is refused by this one.
  const known = Object.entries(state.settings).filter(([name]) => name in state.form.schema.properties);
  return { ...Object.fromEntries(known), ...(only.length ? { sources: only } : {}) };
}

/** What a library holds, in words: files first, then what is found in them; nothing where it is empty. */
export function holds(library) {
  const { paragraph = 0, image = 0, video = 0 } = library?.items || {};
  const rows = [[library?.files || 0, "file"], [paragraph, "passage"], [image, "picture"], [video, "recording"]];
  return rows.filter(([n]) => n).map(([n, noun]) => some(n, noun));
}

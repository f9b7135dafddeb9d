// The form that sets a model up on the server: one that is offered there, or one at an address. It is tried with one call, saved, and used at once.

import { call, events, fetchFile } from "./api.js";
import { openDialog } from "./dialog.js";
import { fill, h, uid } from "./dom.js";
import { t } from "./i18n.js";
import { inWords } from "./problem.js";
import { ring, state } from "./state.js";

const EXAMPLE = "http://127.0.0.1:11434/v1"; // where Ollama listens

/**
 * Open the form of a part.
 * @param {string} part as `ragweave setup` names it
 * @param {() => void} onsaved hears that another model is used now
 */
export async function openModelForm(part, onsaved) {
  const body = h("div", {}, h("p.fine", { text: t("opening") }));
  openDialog(t(`part.${part}`), [body], { classes: "wide" });
  try {
    fill(body, ...drawn(part, await call("GET", `/api/setup/${part}`), onsaved));
  } catch (error) {
    fill(body, h("p.wrong", { role: "alert", text: error.sentence || String(error.message) }));
  }
}

function drawn(part, form, onsaved) {
  const now = form.model && [form.model, form.host, form.key && t("models.key")].filter(Boolean).join(" · ");
  const head = [h("p", { text: now ? t("model.now", { model: now }) : t("model.none"), dir: "auto" })];
  if (form.fixed) return [...head, h("p.warned", { role: "note", text: t("model.fixed", { where: form.fixed }) })];
  const out = h("div.model-out", { role: "status" });
  const buttons = [];
  const go = (wanted) => setUp(part, wanted, out, buttons, onsaved);
  const button = (classes, text, click) => {
    const made = h(`button.button${classes}`, { type: click ? "button" : "submit", text, on: click ? { click } : {} });
    buttons.push(made);
    return made;
  };
  return [
    ...head,
    form.choices.length && h("h3", { text: t("model.offered") }),
    form.choices.length && h("ul.rows", { role: "list" }, ...form.choices.map((choice) => offer(choice, button, go))),
    form.served && h("h3", { text: t("model.at") }),
    form.served && address(part, form, button, go),
    form.own && h("div.choices", {}, button(".small", t("model.back"), () => go({ remove: true }))),
    out,
  ];
}

/** A model that is offered, and the button that takes it; without its packages, what to type first. */
function offer({ text, missing }, button, go) {
  const lacks = missing && h("span.fine", {}, `${t("model.lacks")} `, h("code", { text: missing }));
  const take = !missing && button(".small", t("model.take"), () => go({ choice: text }));
  take && take.setAttribute("aria-label", t("model.take.this", { text }));
  return h("li", {}, h("span.words", {}, h("span", { text, dir: "auto" }), lacks), take);
}

/** Address, key and model of a server; its models are listed once it is named. */
function address(part, form, button, go) {
  const field = (name, props) => h("input.field", { id: uid(name), autocomplete: "off", spellcheck: "false", ...props });
  const url = field("url", { type: "url", maxlength: "2000", inputmode: "url", value: form.url, placeholder: EXAMPLE });
  const key = field("key", { type: "password", maxlength: "4000", autocomplete: "new-password", placeholder: form.key ? t("model.key.kept") : "" });
  const model = field("model", { type: "text", maxlength: "500", required: true, dir: "auto", value: form.url ? form.model.replace(/^api:/, "") : "", placeholder: t("model.name.example") });
  const names = h("select.field", { id: uid("names"), hidden: true });
  const label = h("label", { for: model.id, text: t("model.name") });
  const wrong = h("p.wrong", { role: "alert" });
  names.addEventListener("change", () => (model.value = names.value));
  let asked = 0;
  /** Have the model chosen of a list, or written where there is none. */
  const choose = (listed) => {
    [names.hidden, model.hidden] = [!listed, listed];
    label.htmlFor = listed ? names.id : model.id;
  };
  const list = async () => {
    const mine = ++asked; // what was asked for an earlier address or key counts no more
    wrong.textContent = "";
    choose(false);
    if (!url.value.trim()) return;
    try {
      const found = await call("POST", `/api/setup/${part}/models`, { url: url.value.trim(), key: key.value.trim() });
      if (mine !== asked) return;
      url.value = found.url;
      if (!found.models.length) return;
      fill(names, ...found.models.map((name) => h("option", { value: name, text: name })));
      if (!found.models.includes(model.value)) model.value = found.models[0];
      names.value = model.value;
      choose(true);
    } catch (error) {
      if (mine === asked) wrong.textContent = error.sentence || String(error.message);
    }
  };
  url.addEventListener("change", list);
  key.addEventListener("change", list);
  const row = (label, input, tell) => [h("label", { for: input.id, text: label }), input, tell && h("p.fine", { text: tell })];
  const made = h(
    "form.way",
    {},
    ...row(t("model.address"), url, t("model.address.tell")),
    ...row(t("model.key"), key),
    label,
    model,
    names,
    wrong,
    h("div.choices", {}, button(".small", t("model.list"), list), button(".primary", t("model.save"))),
  );
  made.addEventListener("submit", (event) => {
    event.preventDefault();
    go({ model: model.value.trim(), url: url.value.trim(), key: key.value.trim() });
  });
  return made;
}

/** Have the server try a model and save it, and tell line by line how that goes. */
async function setUp(part, wanted, out, buttons, onsaved) {
  const line = (text, kind = "") => {
    const made = h("p", { class: kind, text, dir: "auto" });
    out.append(made);
    made.scrollIntoView({ block: "nearest" });
    return made;
  };
  fill(out);
  for (const button of buttons) button.disabled = true;
  const waiting = line(t("models.trying"), "fine");
  let progress = null;
  let exam = null;
  const hear = {
    told: ({ text }) => line(text),
    encoding: ({ library, done, total }) => ((progress ||= line("")).textContent = t("model.encoding", { library, share: Math.floor((100 * done) / Math.max(1, total)) })),
    again: ({ libraries }) => {
      out.append(...again(libraries, () => setUp(part, { ...wanted, again: true }, out, buttons, onsaved)));
      out.lastElementChild.scrollIntoView({ block: "nearest" });
    },
    saved: ({ model, after, minutes }) => {
      line(model ? t("model.saved", { model }) : t("model.removed"), "good");
      if (minutes) line(t("model.hears", { n: minutes }));
      else if (after) line(after);
      used().then(onsaved);
    },
    exam: ({ done, of }) => ((exam ||= line("", "fine")).textContent = t("model.exam", { done, of })),
    examined: ({ model, right, of, needs, passed }) => {
      exam.remove();
      if (passed) line(t("model.exam.passed", { model, right, of }), "good");
      else line(t("model.exam.failed", { model, right, of, needs }), "warned");
    },
    unexamined: ({ problem }) => {
      exam.remove();
      line(`${t("model.exam.later")} ${inWords(problem)}`, "warned");
    },
    error: ({ problem }) => line(inWords(problem), "wrong"),
  };
  try {
    const sent = { method: "POST", body: JSON.stringify(wanted), headers: { "Content-Type": "application/json", Accept: "text/event-stream" } };
    const response = await fetchFile(`/api/setup/${part}`, sent);
    for await (const event of events(response.body)) {
      const heard = JSON.parse(event.data);
      hear[heard.type]?.(heard);
    }
  } catch (error) {
    line(error.sentence || t("api.unreached"), "wrong");
  } finally {
    waiting.remove();
    for (const button of buttons) button.disabled = false;
  }
}

/** What a new encoder costs, before it is saved. */
function again(libraries, go) {
  const minutes = Math.max(1, Math.ceil(libraries.reduce((sum, { seconds }) => sum + seconds, 0) / 60));
  const rows = libraries.map(({ name, items }) => t("model.again.library", { library: name, n: items }));
  return [h("p", { text: t("model.again", { n: minutes }) }), h("p.fine", { text: rows.join(" · "), dir: "auto" }), h("div.choices", {}, h("button.button.primary", { type: "button", text: t("model.again.go"), on: { click: go } }))];
}

/** Take notice of what is used now. */
async function used() {
  [state.me, state.form] = await Promise.all([call("GET", "/api/me"), call("GET", "/api/context")]);
  ring("settings");
  ring("libraries");
}

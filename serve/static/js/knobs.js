// The settings of a run in words for people: name, and what it does. What is not here has the words of the server's schema.

export const KNOBS = {
  graph: ["Method", ""],
  web: ["Web search", "Whether to look on the web where your files do not answer. Nothing is sent without your consent, unless you choose “when needed”."],
  mind: ["Who decides", "The small mind that ships with Ragweave, or the language model that is set up."],
  corpora: ["Search only", "Nothing chosen: the question decides."],
  max_hops: ["Rounds of search", "More rounds find what has to be put together from several places, and take longer."],
  phrasings: ["Further phrasings", "In how many other ways a question is searched."],
  sentences: ["Longest answer, in sentences", "Of answers that are made from sentences of your sources."],
  recency: ["Prefer newer documents", ""],
  max_model_calls: ["Model calls at most", "How often one question may ask the language model."],
  route_by: ["Where to look is decided by", "Automatic: the small mind, which looks into every kind of source and weighs what it finds."],
  grade_by: ["What was found is judged by", ""],
  check_by: ["Sentences are checked by", "Automatic: the small check, and a language model, where one is set up, for what it doubts."],
  half_life: ["Days after which a document counts half", "Where newer documents are preferred. Empty: as the library says, or 7."],
  preset: ["Settings of a paper", "As its authors ran it; what you set besides wins."],
  expand_when: ["Search further phrasings", "Automatic: where the first look is weak."],
  top_k: ["Passages kept in a round", "Empty: 8."],
  rerank: ["Order by relevance", "Compare each passage with the question once more."],
  max_recalls: ["Passages from the model's memory", "How many it may write where the library holds nothing. They are marked as such."],
  videos: ["Only these recordings", "Names of files, or titles."],
  collection: ["Only this folder", "And what lies below it."],
  from_time: ["Recordings from this second on", ""],
  to_time: ["Recordings up to this second", ""],
  look: ["Look at pictures", "At those that were found, and at frames of recordings, where a vision model is set up."],
  answer_form: ["Form of the answer", ""],
  choices: ["Options to choose from", "For a multiple-choice question."],
  strict: ["Leave out what was not verified", "Of what a language model wrote."],
  max_tokens: ["Tokens at most", "Read and written, for one question; 0: no limit."],
  max_seconds: ["Seconds at most", "For one question; 0: no limit."],
  max_cost: ["Cost at most", "For one question, in the unit of your rates; 0: no limit."],
};

const COMMON = { auto: "automatic", small: "small mind", llm: "language model" };
const OWN = {
  web: { off: "never", ask: "ask me each time", auto: "when needed" },
  recency: { auto: "where the question asks for it", on: "always", off: "never" },
  expand_when: { always: "always", never: "never" },
  route_by: { checkpoint: "a trained model", hard: "its best guess alone", soft: "everywhere", unified: "one search over all" },
  grade_by: { checkpoint: "a trained model" },
  look: { off: "never" },
  check_by: { off: "nobody" },
  answer_form: { letter: "the letter of an option", short: "a few words", sentences: "full sentences" },
};

/** The word for a value of a setting. */
export const valueName = (knob, value) => OWN[knob]?.[value] ?? COMMON[value] ?? String(value).replaceAll("-", " ");

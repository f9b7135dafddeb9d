// LangServe's RemoteRunnable in JavaScript, of @langchain/core 0.3, the last that has it.
import { RemoteRunnable } from "langchain-core-js/runnables/remote";

const LIT = "When was the lamp of the lighthouse first lit?";
const agent = new RemoteRunnable({ url: `${process.argv[2]}/langserve/agent` });
const first = await agent.invoke({ question: LIT });
let last;
for await (const event of await agent.stream({ question: LIT })) last = event;
const history = [{ role: "user", content: LIT }, { role: "assistant", content: first.content }];
const second = await agent.invoke({ question: "How often does the ferry sail?", history });
console.log(JSON.stringify({
  chat: first.content,
  stream: last.content,
  citations: first.citations.map((c) => c.open.href).join(" ") + first.sentences[0].content,
  "follow-up": second.content,
}));

// LangServe's RemoteRunnable in JavaScript, of @langchain/core 0.3, the last that has it.
import { RunnableLambda } from "langchain-core-js/runnables";
import { RemoteRunnable } from "langchain-core-js/runnables/remote";

const LIT = "When was the lamp of the lighthouse first lit?";
const agent = new RemoteRunnable({ url: `${process.argv[2]}/langserve/agent` });
const first = await agent.invoke({ question: LIT });
let last;
for await (const event of await agent.stream({ question: LIT })) last = event;
const history = [{ role: "user", content: LIT }, { role: "assistant", content: first.content }];
const second = await agent.invoke({ question: "How often does the ferry sail?", history });
const chain = RunnableLambda.from((question) => ({ question })).pipe(agent).pipe((answer) => answer.content);
const ferry = { configurable: { thread_id: "js" } };
await agent.invoke({ question: "Tell me about the ferry." }, ferry);
const withPart = (text, part) => ({ messages: [{ role: "user", content: [{ type: "text", text }, part] }] });
const kiln = Buffer.from("# The kiln\n\nThe kiln of Rook was fired in 1911 by Rosa.\n").toString("base64");
const file = { type: "file", file: { filename: "kiln.md", file_data: kiln } };
const picture = { type: "image_url", image_url: { url: process.argv[3] } };
console.log(JSON.stringify({
  chat: first.content,
  stream: last.content,
  citations: first.citations.map((c) => c.open.href).join(" ") + first.sentences[0].content,
  file: (await agent.invoke(withPart("Who fired the kiln of Rook?", file))).content,
  picture: (await agent.invoke(withPart(LIT, picture))).content,
  "chat in a chain": await chain.invoke(LIT),
  "follow-up of a thread": (await agent.invoke({ question: "How often does it sail?" }, ferry)).content,
  "follow-up": second.content,
}));

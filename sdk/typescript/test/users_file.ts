/* What a user's own file may look like: checked with `tsc --strict` against the built declarations, never run. */
import Anthropic from "@anthropic-ai/sdk";
import { betaMemoryTool } from "@anthropic-ai/sdk/helpers/beta/memory";
import { Neve, NeveConflict, NeveError, type Appended, type Hits, type Message, type Prompt } from "@neve/sdk";
import { memoryHandlers } from "@neve/sdk/memory-tool";
import OpenAI from "openai";

const neve = new Neve({ apiKey: "nv_…", baseUrl: "http://127.0.0.1:8787", timeouts: { recall: 300 }, onError: (error: NeveError) => console.error(error.code) });
const user = neve.user("ada");
const s = user.session("s1", { title: "Moving", metadata: { channel: "web" }, userMeta: { timezone: "Europe/Lisbon" } });

export async function claude(said: string): Promise<string> {
  const client = new Anthropic();
  const answer = await client.messages.create({ model: "claude-sonnet-5", max_tokens: 1024, ...(await s.turn(said)) });
  const kept: Appended = await s.append(answer);
  const { cacheRead, hitRate, degraded } = await s.usage(answer);
  const first: number = kept.kept + cacheRead + hitRate + degraded.length;
  return `${first}`;
}

export async function gpt(said: string): Promise<string | null> {
  const client = new OpenAI();
  const prompt: Prompt<"openai"> = await s.turn(said, { format: "openai", system: "You bake.", maxBreakpoints: 2 });
  const answer = await client.chat.completions.create({ model: "gpt-5", ...prompt });
  await s.append(answer);
  const again = await s.context("And tomorrow?", { format: "openai_responses", timeoutMs: 500 });
  await client.responses.create({ model: "gpt-5", ...again.request });
  return answer.choices[0]?.message.content ?? null;
}

export async function rest(): Promise<void> {
  const hits: Hits = await s.recall("Where do I live?", { limit: 3, mode: "tool", filters: { kind: "fact" } });
  const texts: string[] = hits.map((hit) => hit.text);
  const pack = await s.pack();
  const messages: Message[] = [{ role: "user", content: `${pack.text}${hits.text}${texts.join()}` }];
  await s.edit("message-1", messages);
  await s.branch(12);
  await s.stop("half an ans");
  await s.regenerate();
  const { token } = await user.token({ scopes: ["chat", "self"], ttlS: 60 });
  new Neve({ apiKey: token });
  for await (const memory of user.memories({ kind: "fact" })) await user.forget(memory);
  const listed = await user.forget({ tags: ["drinks"], writtenBy: "model" });
  const job = listed.confirm ? await user.forget({ confirm: listed.confirm }) : undefined;
  console.log(job?.status, (await user.callTool("remember", { text: "Likes tea." }, { toolUseId: "1" })).content);
  const found = await neve.raw.recall("ada", { query: "city" });
  const page = await neve.raw.listMemories("ada", { limit: 10 });
  await neve.raw.putDocument("ada", { text: "# A" }, { query: { path: "/notes/a.md" }, ifMatch: 3 });
  try {
    await user.remember(found.hits[0]?.text ?? page.memories[0]?.text ?? "", { kind: "note" });
  } catch (error) {
    if (!(error instanceof NeveConflict)) throw error;
    const seconds: number | undefined = error.retryAfter;
    console.log(error.code, error.errors.map(({ field }) => field), error.requestId, seconds);
  }
  betaMemoryTool(memoryHandlers(neve, "ada"), { cache_control: { type: "ephemeral" } });
  await s.end({ outcome: "SUCCESS" });
  await s.delete();
  await neve.close();
}

// What must not compile:
// @ts-expect-error a number is no id
neve.user(1);
// @ts-expect-error there is no such format
void s.turn("hi", { format: "cohere" });
// @ts-expect-error a recall has a limit, no k
void s.recall("hi", { k: 3 });
// @ts-expect-error a query is needed
void neve.raw.recall("ada", {});
// @ts-expect-error there is no such operation
void neve.raw.forgetEverything();

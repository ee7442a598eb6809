import type { ContextOptions, Session } from "@neve/sdk";
import type { LanguageModelMiddleware } from "ai";
import { answerOf, collected, idOf, said, type Answer, type Message } from "./messages.js";

export type MemoryOptions = Pick<ContextOptions<"ai_sdk">, "budgetProfile" | "instructions" | "taskState" | "timeoutMs"> & {
  /** `none`: the pack alone. Default `auto`: what is recalled about the user's message, too. */
  retrieval?: "auto" | "none";
};

/** What memory did for a call of the model: `providerMetadata.neve` of its result. */
export interface MemoryState {
  /** Neve could not be asked: the prompt has the last pack, or none. */
  stale: boolean;
  /** Codes of what is missing; empty when all is well. */
  degraded: string[];
  promptId?: string;
}

/** What one turn of the user adds to each of its prompts, byte by byte the same. */
interface Memory extends MemoryState {
  pack: string;
  recalled: { type: "text"; text: string }[];
}

interface Turn {
  /** Of the user's last message alone, and with all that was said before it. */
  user: string;
  whole: string;
  memory: Promise<Memory>;
  /** Messages that were handed over already, by id. */
  known: Set<string>;
  answered: boolean;
  used: { input: number; cacheRead: number; cacheWrite: number; output: number; model: string } | undefined;
}

interface Step {
  turn: Turn;
  /** Results of tools that are new in this step. */
  results: Message[];
}

const MARK = { anthropic: { cacheControl: { type: "ephemeral" } } };
/** Of a request to Anthropic. */
const MOST_MARKS = 4;
const UNANSWERABLE = "validation_failed";
/** A session's turn outlives the middleware: one is often made for each request. */
const TURNS = new WeakMap<Session, Turn>();

/** Makes the middleware that gives a model the memory of `session`'s user, and appends what both say to `session`:
 * `wrapLanguageModel({ model, middleware: neveMemory(neve.user("ada").session("s1")) })`. For ai 6 and ai 7.
 *
 * The pack stands behind the caller's system message, what is recalled in the user's last message; both are fetched once a turn of
 * the user, and are the same bytes in each step of its tool loop. Unless the client is `strict`, no call fails because memory does. */
export function neveMemory(session: Session, options: MemoryOptions = {}): LanguageModelMiddleware {
  const steps = new WeakMap<object, Step>();

  async function turnOf(messages: Message[]): Promise<Step | undefined> {
    const at = messages.findLastIndex(({ role }) => role === "user");
    const before = TURNS.get(session);
    if (at < 0 && !before) return undefined; // nobody has said anything
    const goesOn = at < messages.length - 1;
    const [user, whole] = await Promise.all([idOf(messages[at]), idOf(messages.slice(0, at + 1))]);
    const lastAnswer = messages.findLastIndex(({ role }) => role === "assistant");
    const fresh = await Promise.all(
      messages.flatMap((message, n) => (n <= lastAnswer ? [] : [named(message, n === at ? whole : idOf(message.role === "user" ? messages.slice(0, n + 1) : message))])),
    );
    // A caller that shortens what a step is sent may leave out what the turn began with.
    const same = before !== undefined && (at < 0 || (goesOn ? before.user === user : before.whole === whole));
    if (same && !(before.answered && !goesOn)) {
      return { turn: before, results: fresh.filter(({ id, role }) => role !== "user" && !before.known.has(id!)) };
    }
    if (before) void reported(before).catch(() => undefined);
    const turn: Turn = {
      user,
      whole,
      memory: (same ? again(whole) : asked(fresh, goesOn ? undefined : whole)).then(memoryOf),
      known: new Set(fresh.map(({ id }) => id!)),
      answered: false,
      used: undefined,
    };
    TURNS.set(session, turn);
    turn.memory.catch(() => TURNS.delete(session)); // the next attempt asks again
    return { turn, results: [] };
  }

  const compile = { ...options, format: "ai_sdk" as const, images: "none" as const, maxBreakpoints: 0 };

  async function asked(fresh: Message[], user: string | undefined) {
    const prompt = fresh.length ? await session.turn(fresh, compile) : await session.context(undefined, compile);
    if (!user || session.kept || !prompt.degraded.includes(UNANSWERABLE)) return prompt;
    session.drop(); // another process knows what was answered
    return again(user);
  }

  /** The user's message was answered before: another answer is asked for. */
  async function again(user: string) {
    await session.branch(user);
    return session.context(undefined, compile);
  }

  async function kept({ turn, results }: Step, answer: Answer, modelId: string): Promise<MemoryState> {
    const { stale, degraded, promptId } = await turn.memory;
    const found = new Set(degraded);
    const said: Message[] = answer.content.length ? [{ role: "assistant", id: crypto.randomUUID(), content: answer.content }] : [];
    for (const { id } of results) turn.known.add(id!);
    const calls = answer.whole ? [session.append([...results, ...said])] : [session.append(results), session.stop(said)];
    for (const code of (await Promise.all(calls)).flatMap(({ degraded }) => degraded)) found.add(code);
    const used = (turn.used ??= { input: 0, cacheRead: 0, cacheWrite: 0, output: 0, model: modelId });
    for (const name of ["input", "cacheRead", "cacheWrite", "output"] as const) used[name] += answer.used?.[name] ?? 0;
    if (!answer.goesOn) {
      turn.answered = true;
      for (const code of await reported(turn)) found.add(code);
    }
    return { stale, degraded: [...found], ...(promptId && { promptId }) };
  }

  /** Tells what the provider's cache did, once a turn, whatever the number of its steps. */
  async function reported(turn: Turn): Promise<string[]> {
    const { used } = turn;
    turn.used = undefined;
    const { promptId } = await turn.memory.catch((): Partial<Memory> => ({}));
    if (!used || !promptId || !(used.input + used.output)) return [];
    const usage = { inputTokens: used.input, outputTokens: used.output, inputTokenDetails: { cacheReadTokens: used.cacheRead, cacheWriteTokens: used.cacheWrite } };
    return (await session.usage({ usage }, { promptId, model: used.model })).degraded;
  }

  return {
    specificationVersion: "v3",

    async transformParams({ params }: any): Promise<any> {
      const step = await turnOf(said(params.prompt));
      if (!step) return params;
      const transformed = { ...params, prompt: injected(params, await step.turn.memory) };
      steps.set(transformed, step);
      return transformed;
    },

    async wrapGenerate({ doGenerate, params, model }: any): Promise<any> {
      const step = steps.get(params);
      const result = await doGenerate();
      if (!step) return result;
      const neve = await kept(step, answerOf(result), result.response?.modelId ?? model.modelId);
      return { ...result, providerMetadata: { ...result.providerMetadata, neve } };
    },

    async wrapStream({ doStream, params, model }: any): Promise<any> {
      const step = steps.get(params);
      const result = await doStream();
      if (!step) return result;
      const collecting = collected();
      return { ...result, stream: watched(result.stream, collecting.take, (whole) => kept(step, collecting.answer(whole), collecting.modelId() ?? model.modelId)) };
    },
  } as LanguageModelMiddleware;
}

function named(message: Message, id: string | Promise<string>): Promise<Message> {
  return Promise.resolve(id).then((id) => ({ ...message, id }));
}

function memoryOf({ request, promptId, stale, degraded }: Awaited<ReturnType<Session["turn"]>> | any): Memory {
  const { instructions = "", messages } = request;
  const pack = typeof instructions === "string" ? instructions : instructions.map(({ content }: Message) => content).join("\n\n");
  const last = messages.findLast(({ role }: Message) => role === "user")?.content;
  // Neve escapes its own tags in what users say.
  const recalled = stale || !Array.isArray(last) ? [] : last.filter(({ type, text }: any) => type === "text" && text.startsWith("<neve-"));
  return { pack, recalled, promptId, stale, degraded };
}

/** The prompt with the pack behind the system messages at its beginning, and what was recalled in front of what the user says. Marked
 * is the pack; what was said before, and what the tools have answered so far, where the caller does not mark messages itself. */
function injected({ prompt, tools }: { prompt: any[]; tools?: unknown }, { pack, recalled }: Memory): any[] {
  const at = prompt.findLastIndex(({ role }) => role === "user");
  const first = prompt.findIndex(({ role }) => role !== "system");
  const sent = [...prompt];
  if (recalled.length && at >= 0) sent[at] = { ...sent[at], content: [...recalled, ...sent[at].content] };
  const own = marksOf(prompt.slice(first)) > 0;
  let left = MOST_MARKS - marksOf([prompt, tools]);
  const marked = (message: any): any => {
    const { providerOptions } = message;
    return left-- > 0 ? { ...message, providerOptions: { ...providerOptions, anthropic: { ...MARK.anthropic, ...providerOptions?.anthropic } } } : message;
  };
  const system = pack ? [marked({ role: "system", content: pack })] : [];
  if (!own && at > first) sent[at - 1] = marked(sent[at - 1]);
  if (!own && at < sent.length - 1) sent[sent.length - 1] = marked(sent.at(-1));
  sent.splice(first, 0, ...system);
  return sent;
}

function marksOf(value: unknown): number {
  return (JSON.stringify(value, (name, one) => (name === "data" ? undefined : one)) ?? "").split('"cacheControl":').length - 1;
}

/** The same stream. `done` is asked behind its last part but one, `finish`, which carries what it returns; or when the stream ends in
 * another way, by an error or because nobody reads on. */
function watched(stream: ReadableStream<any>, take: (part: any) => void, done: (whole: boolean) => Promise<MemoryState>): ReadableStream<any> {
  const reader = stream.getReader();
  let over = false;
  const end = async (whole: boolean): Promise<MemoryState | undefined> => {
    if (over) return undefined;
    over = true;
    return done(whole);
  };
  return new ReadableStream({
    async pull(controller) {
      try {
        const { done: ended, value } = await reader.read();
        if (ended) {
          await end(false);
          return controller.close();
        }
        take(value);
        if (value.type !== "finish") return controller.enqueue(value);
        controller.enqueue({ ...value, providerMetadata: { ...value.providerMetadata, neve: await end(true) } });
      } catch (error) {
        await end(false);
        controller.error(error);
      }
    },
    async cancel(reason) {
      await reader.cancel(reason);
      await end(false);
    },
  });
}

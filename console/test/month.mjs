/* A month of one person's conversations, as a chat backend would have sent it, on a server with test controls: what was
 * said, what each prompt cost, corrections, documents, nights, and another user who wanted to be forgotten. */
import assert from "node:assert/strict";

export const MIRA = "mira";
const ERASED = "tomas";
/** The conversation that goes through the month. */
export const LONG = "studio-plans";
const DAY_MS = 86_400_000;
const MODEL = "claude-sonnet-4-6";
/** Tools and instructions of the product that asks: in front of everything else, the same every time. */
const TOOLS_TOKENS = 7_400;

const PREFIX = {
  version: "1.2.0",
  identity: "You are the assistant of a small pottery studio. You know the people, the kilns and the glazes of the house, you plan its weeks with it, and you say when you do not know something.",
  capabilities: "You can look up flights and suppliers, keep the calendar of the studio, and search what was said before.",
  boundaries: "You never order or cancel anything without a plain yes. You give no medical advice.",
};

/** Days ago, hour, conversation, title, and turns of what was said and what was answered. */
const TALKS = [
  [30, 9, LONG, "Plans for the studio", [
    ["Hi! I'm Mira, I run a small pottery studio in Porto with my friend Tomás.", "Nice to meet you, Mira. What can I help you with?"],
    ["Mostly planning. I prefer short answers, I read them between two kiln loads.", "Short it is."],
    ["I'm vegetarian and I'm allergic to hazelnuts.", "Noted: vegetarian, no hazelnuts."],
    ["The spring market is on the 14th and I need forty tea bowls for it.", "Forty bowls for the market. Shall we count backwards from there?"]]],
  [28, 18, "first-weekend", "A weekend in Lisbon", [
    ["My sister Ana lives in Kyoto and teaches the tea ceremony there. She visits me this weekend.", "How lovely. What are your plans?"],
    ["I booked a table at a vegetarian place in Lisbon because Ana does not eat fish.", "A good choice."],
    ["We also want to see the tile museum on Sunday.", "It is open from ten on Sundays."]]],
  [26, 11, LONG, "", [
    ["I decided to glaze the market bowls in celadon because the white sold badly last year.", "Celadon for the market, then."],
    ["My kiln holds 24 bowls at a time, so I need two firings.", "Two firings: the 6th and the 9th would leave room for one that fails."],
    ["I fire at 1240 degrees with a slow cooling.", "1240 with a slow cooling, noted."]]],
  [23, 18, "kyoto-trip", "A trip to Kyoto", [
    ["I'm planning to visit Ana for three weeks in the spring. I always take the window seat when I fly.", "Window seat. Let me see what there is from Porto."],
    ["I decided on Helsinki because the layover in Istanbul is too long for me.", "Helsinki then. I can hold it for a day."],
    ["I need to be back before the glaze workshop, it starts on Saturday morning at ten and I teach it with Tomás.", "Understood, back before the workshop."]]],
  [20, 10, LONG, "", [
    ["The first firing went well, I lost only two bowls.", "Twenty-two good ones, then. Eighteen to go."],
    ["I want to hire an apprentice for the summer, two days a week.", "Shall I write the notice for the ceramics school?"],
    ["Yes, and I want somebody who has worked with porcelain before.", "Porcelain experience: added to the notice."]]],
  [17, 8, "kiln", "The old kiln", [
    ["My old kiln keeps failing above 1200 degrees, so I booked the technician for next Thursday.", "I hope it is only the thermocouple."],
    ["The technician is called Rui and he charges 60 euros an hour.", "Rui, 60 euros an hour."]]],
  [15, 16, LONG, "", [
    ["Marta from the ceramics school wrote, she would start in June.", "That sounds like your apprentice."],
    ["I like her work because she throws very thin porcelain.", "Shall I ask her for a trial day?"],
    ["Yes please, on a Wednesday. Wednesdays are quiet.", "A Wednesday it is."]]],
  [12, 11, "studio-glaze", "A new glaze", [
    ["I finally finished the celadon series! I want celadon on all tea bowls from now on.", "Congratulations on the series!"],
    ["I use wood ash from the bakery next door for it.", "That is a fine story for the market, too."]]],
  [9, 9, LONG, "", [
    ["The market was great, I sold 36 of the 40 bowls.", "Thirty-six! What did people say about the celadon?"],
    ["They loved it. A café in Braga ordered thirty cups for September.", "Thirty cups for Braga in September, noted."],
    ["The café is called Jardim and the owner is Inês.", "Inês of the café Jardim."]]],
  [6, 14, LONG, "", [
    ["Marta had her trial day and I decided to hire her because she also repairs wheels.", "Welcome, Marta! From June on, two days a week?"],
    ["Yes, Tuesdays and Wednesdays.", "Tuesdays and Wednesdays."]]],
  [4, 20, "changes", "Two corrections", [
    ["Correction: the glaze workshop starts at two in the afternoon, not at ten. Tomás moved it.", "The workshop starts at two now."],
    ["I'm no longer vegetarian, I became vegan after the holidays.", "Vegan from now on, hazelnuts still excluded."],
    ["I bought the flight to Kyoto via Helsinki, it leaves in three weeks.", "Wonderful. Ana will be happy."]]],
  [2, 10, LONG, "", [
    ["The new kiln arrives on Monday, it holds 40 bowls.", "Forty at a time: one firing for the next market."],
    ["Please remind me to tell Rui that the old one can go.", "I will, on Monday."]]],
  [0, -2, LONG, "", [
    ["What was the temperature that I fire celadon at?", "1240 degrees, with a slow cooling."],
    ["And when does the glaze workshop start?", "At two in the afternoon: Tomás moved it from ten."]]],
];

/** When a compaction changes the pack in the middle of a talk, whose cache is warm. */
const NEW_PACKS = [20, 9, 2];
/** The days before these nights. */
const NIGHTS = [15, 6];

const DOCUMENTS = [
  ["/studio/celadon", "# Celadon\n\nFired at 1240 degrees, cooled slowly. Wood ash from the bakery, two sieves.\n\nOn all tea bowls.", "How the studio makes its celadon"],
  ["/studio/people", "# People\n\nMira and Tomás run the studio. Marta comes on Tuesdays and Wednesdays from June on. Rui repairs kilns.", "Who is who in the studio"],
];
const QUESTIONS = ["What does her relative in Japan do?", "Does she eat meat?", "Why not fly via Istanbul?", '"celadon" firing temperature', "When does the glaze workshop start?", "Who is the new apprentice?"];

/** Gives the ids of what a page about one thing is opened with. */
export async function month(served) {
  const { control } = served;
  const settle = () => control("drain", { timeout_s: 90 });
  const at = (days, hour) => (hour < 0 ? new Date(Date.now() + hour * 3_600_000) : new Date(new Date(Date.now() - days * DAY_MS).setUTCHours(hour, 12, 0, 0)));
  const on = (user) => (method, path, body, headers) => served.api(method, `/users/${user}${path}`, body, headers);
  const mira = on(MIRA);

  await control("clock", { now: at(31, 8).toISOString() });
  await served.api("PATCH", "/policy", { chat_model: MODEL, static_prefix: PREFIX, timezone: "Europe/Lisbon", recall_limit: 6, write_tools: "propose", reflection_min_rows: 5, retention_days: 365, compaction_trigger: 260, session_reflection_trigger: 200 });
  const cached = new Map();
  for (const [days, hour, session, title, turns] of TALKS) {
    const began = at(days, hour);
    await control("clock", { now: began.toISOString() });
    await mira("POST", "/sessions", { session_id: session, ...(title && { title }), user_meta: { name: "Mira", timezone: "Europe/Lisbon" } });
    for (const [turn, [said, answered]] of turns.entries()) {
      const now = new Date(+began + turn * 95_000);
      await control("clock", { now: now.toISOString() });
      const { prompt_id, report } = await mira("POST", "/context", { session_id: session, message: said });
      await mira("POST", "/usage", { prompt_id, usage: provider(cached, session, report, now) });
      await mira("POST", `/sessions/${session}/events`, { events: [
        { event_type: "user_message", content: said },
        { event_type: "assistant_response", content: answered },
      ] });
      if (!turn && NEW_PACKS.includes(days)) await mira("POST", `/sessions/${LONG}/compact`, { reason: "manual", wait: true });
    }
    await mira("POST", `/sessions/${session}/observe`, { wait: false });
    await settle();
    if (session !== LONG) await mira("POST", `/sessions/${session}/end`, {});
    await settle();
    if (days) await control("clock", { now: at(days - 1, 3).toISOString() });
    // The tenant was made today and has no nights from before: what a person asks for does the same.
    if (NIGHTS.includes(days)) await served.api("POST", "/admin/reflect", {});
    if (days) await control("run", { worker: "sweep" });
    await settle();
  }
  await control("clock", { now: at(1, 12).toISOString() });
  for (const [path, text, summary] of DOCUMENTS) await mira("PUT", `/documents?path=${encodeURIComponent(path)}`, { text, summary });
  const by_hand = await mira("POST", "/memories", { text: "Mira's studio opens from ten to six, closed on Mondays.", kind: "fact", category: "BIOGRAPHY", importance: 4, tags: ["studio"] });
  await mira("POST", `/memories/${by_hand.id}/evolve`, { text: "Mira's studio opens from eleven to seven, closed on Mondays.", reason: "summer hours" });
  for (const text of ["Mira's birthday is on 3 May.", "Mira wants to sell bowls in Japan."]) await mira("POST", "/tools/remember", { arguments: { text }, session_id: LONG });
  await settle();
  const recalls = [];
  for (const [n, query] of QUESTIONS.entries()) recalls.push(await mira("POST", "/recall", { query, session_id: "kyoto-trip", mode: n % 2 ? "prompt" : "tool" }));
  const [sister] = (await mira("GET", "/memories?kind=fact&limit=200")).memories.filter(({ text }) => text.includes("sister"));
  await mira("POST", `/memories/${sister.id}/evolve`, { text: "User's sister Ana lives in Osaka and teaches the tea ceremony there", reason: "Ana moved." });
  const receipt = await erased(on(ERASED), served, control, settle);
  await mira("POST", "/export", {});
  await served.api("PUT", "/webhooks/crm", { url: "https://hooks.example.com/neve", types: ["memory.written", "erasure.done"] });
  await settle();
  await unfinished(on("ines"), control, settle);
  await control("clock", {});
  return { receipt, memory: sister.id, recall: recalls[0].recall_id };
}

/** Somebody else, who is gone at the end: 16 minutes pass between the two looks of an erasure. */
async function erased(tomas, served, control, settle) {
  await tomas("POST", "/sessions", { session_id: "hello" });
  await tomas("POST", "/sessions/hello/events", { events: [
    { event_type: "user_message", content: "I'm Tomás and I teach the glaze workshop. I drink tea only." },
    { event_type: "assistant_response", content: "Hello Tomás." },
  ] });
  await tomas("POST", "/sessions/hello/observe", { wait: false });
  await settle();
  const { id } = await tomas("DELETE", "");
  for (let looks = 0; (await served.api("GET", `/admin/jobs/${id}`)).status !== "done"; looks++) {
    assert.ok(looks < 5, "the erasure does not end");
    await settle();
    await control("clock", { advance_s: 1_000 });
    await control("run", { worker: "sweep" });
    await settle();
  }
  return id;
}

/** Of a third one an export was taken back, with words that were taken back, and something is under way. */
async function unfinished(ines, control, settle) {
  await ines("POST", "/sessions", { session_id: "cups", title: "Cups for Jardim" });
  const say = (content) => ines("POST", "/sessions/cups/events", { events: [{ event_type: "user_message", content }, { event_type: "assistant_response", content: "Noted." }] });
  await say("I run the café Jardim in Braga and I ordered thirty cups from Mira.");
  await say("My neighbour told me that he moves out.");
  await ines("POST", "/sessions/cups/observe", { wait: false });
  await settle();
  await ines("POST", "/export");
  await settle();
  await ines("POST", "/sessions/cups/events/retract", { from_seq: 3, to_seq: 4, reason: "deleted" });
  await settle();
  for (const worker of ["jobs", "extract"]) await control("pause", { worker });
  await ines("POST", "/export");
  await say("I want the cups by the tenth of September.");
}

/** What a provider with a cache of five minutes would say of the prompt. */
function provider(cached, session, report, now) {
  const stable = TOOLS_TOKENS + report.stable_prefix_tokens;
  const all = TOOLS_TOKENS + report.used;
  const before = cached.get(session);
  const warm = before && now - before.at < 300_000;
  const read = warm ? (before.pack === report.pack_version ? Math.min(before.tokens, stable) : TOOLS_TOKENS) : 0;
  cached.set(session, { at: +now, tokens: stable, pack: report.pack_version });
  return { input: Math.max(0, all - stable), cache_read: read, cache_write: Math.max(0, stable - read), output: 60 + (all % 90) };
}

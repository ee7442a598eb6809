/** In words, why a candidate was dropped, or why a memory was none. */
const WORDS: Record<string, string> = {
  returned: "It was among the hits",
  in_pack: "The pack says it already",
  in_history: "The conversation in the prompt says it already",
  excluded: "The caller left it out by its id",
  below_threshold: "Too far from the question in meaning",
  changed_since_indexed: "It was changed after it was indexed",
  repeats_another: "Another hit says the same",
  lent_to_its_utterances: "What was said stands in its place",
  over_tokens: "No room left for its tokens",
  over_k: "Behind the number of hits that was asked for",
  no_longer_holds: "What it says was replaced since",
  not_confirmed: "What it says waits for a decision",
  rejected: "A person rejected what it says",
  off_topic: "The message has nothing to do with any of it",
  says_nothing: "It says nothing by itself",
  gone: "It is deleted",
  taken_back: "It was taken back",
  not_yet_visible: "It could not be seen yet",
  filtered: "A filter of the call kept it out",
  unreadable: "Its row cannot be read",
  not_found: "Neither leg found it among its best",
  not_searched: "Nothing was searched: no leg completed",
  not_looked_for: "There was nothing to look for in the message",
  never_recall: "It is set to be never recalled",
  status: "Its status kept it out",
  validity: "It did not hold at that time",
  other_session: "It is told in its own session only",
  scope: "It is outside the scope that was searched",
  not_there_yet: "It was written after this recall",
  unknown: "There is no such memory, or it is deleted",
  not_kept: "The ledger does not keep what would tell",
};
export const words = (reason: string) => WORDS[reason] ?? reason.replaceAll("_", " ");

/** `vector:embed_timeout` as words. */
export const flag = (degraded: string) => degraded.replaceAll("_", " ").replace(":", ": ");

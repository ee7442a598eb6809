/** Tokens of one answer, in Neve's four numbers. */
export interface Tokens {
  /** Of the prompt, neither read from the cache nor written to it. */
  input: number;
  cacheRead: number;
  cacheWrite: number;
  output: number;
}

/** Reads a provider's usage object: of Anthropic, OpenAI (both APIs), the AI SDK or Gemini. */
export function tokensOf(usage: any): Tokens {
  const first = (...values: unknown[]): number => (values.find((value) => typeof value === "number") as number | undefined) ?? 0;
  const details = usage?.prompt_tokens_details ?? usage?.input_tokens_details ?? usage?.inputTokenDetails;
  const cacheRead = first(usage?.cache_read_input_tokens, details?.cached_tokens, details?.cacheReadTokens, usage?.cachedInputTokens, usage?.cachedContentTokenCount);
  const cacheWrite = first(usage?.cache_creation_input_tokens, details?.cache_write_tokens, details?.cacheWriteTokens);
  const output = first(usage?.completion_tokens, usage?.output_tokens, usage?.outputTokens, usage?.candidatesTokenCount);
  const anthropic = "cache_read_input_tokens" in (usage ?? {});
  const all = first(usage?.prompt_tokens, usage?.input_tokens, usage?.inputTokens, usage?.promptTokenCount);
  return { input: anthropic ? all : Math.max(all - cacheRead - cacheWrite, 0), cacheRead, cacheWrite, output };
}

/* Forgetting one memory or many, and what a model's calls of Neve's tools are answered with. */
import { snake } from "./wire.js";

const WRITERS = ["remember", "correct", "forget"];

export function forget(raw: any, userId: string, which: any, { cascade = true, purgePacks = true, timeoutMs }: any = {}): Promise<any> {
  const options = { timeoutMs, span: "delete_memory" };
  const id = typeof which === "string" ? which : which.id;
  if (id) return raw.deleteMemory(userId, id, { cascade, purge_packs: purgePacks }, options);
  const { query, sessions, events, confirm, purgePacks: purge_packs, ...filters } = which;
  const named = Object.keys(filters).length ? { filters: snake(filters) } : {};
  return raw.forgetMemories(userId, { query, sessions, events, confirm, purge_packs, ...named }, options);
}

export function callTool(raw: any, userId: string, name: string, args: object, { sessionId, toolUseId, timeoutMs }: any = {}): Promise<any> {
  const call = `call_${name}`.replace(/_(\w)/g, (_, letter) => letter.toUpperCase());
  const body = { arguments: args, session_id: sessionId, tool_use_id: WRITERS.includes(name) ? toolUseId : undefined };
  return raw[call](userId, body, { timeoutMs });
}

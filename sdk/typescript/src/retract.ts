import type { Raw } from "./operations.js";

export interface Retraction {
  reason: "edited" | "branched";
  /** Only what follows the message. */
  behind: boolean;
  timeoutMs: number;
}

/** Takes back from a message on: seqs, an id, or the user's last message. @returns false where there is no such message. @throws NeveError */
export async function retract(raw: Raw, { userId, id }: { userId: string; id: string }, which: number[] | number | string | undefined, how: Retraction): Promise<unknown> {
  const { reason, behind, timeoutMs } = how;
  const seqs = typeof which === "number" ? [which] : typeof which === "object" ? which : await looked();
  if (!seqs.length) return false;
  const from = behind ? Math.max(...seqs) + 1 : Math.min(...seqs);
  try {
    return await raw.retractEvents(userId, id, { from_seq: from, reason }, { timeoutMs, span: "delete_memory" });
  } catch (error) {
    if (behind && /from_seq/.test((error as Error).message)) return undefined; // nothing stands behind it
    throw error;
  }

  /** What another process has appended. */
  async function looked(): Promise<number[]> {
    for (let from: number | undefined; ; ) {
      const query = { order: "desc", retracted: false, limit: 200, ...(from && { from_seq: from }) };
      const page: any = await raw.listEvents(userId, id, query as any, { timeoutMs });
      const found = page.events.filter(({ client_id, event_type }: any) => (which ? client_id === which : event_type === "user_message"));
      if (found.length) return which ? found.map(({ seq }: any) => seq) : [found[0].seq];
      if (!(from = page.next_from_seq)) return [];
    }
  }
}

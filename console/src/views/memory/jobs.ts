/** Waits for the work that a call has queued. */
import { api, ours, type Schema } from "../../api.ts";

export type Job = Schema["JobOut"];
const EVERY_MS = 500;

export async function ended(job: Job): Promise<Job> {
  let now = job;
  while (now.status === "queued" || now.status === "running") {
    await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
    now = await api.get<Job>(ours`/jobs/${job.id}`);
  }
  return now;
}

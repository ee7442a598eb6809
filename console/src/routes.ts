/** The views, in the order of the navigation. A view that is not in the table is not on the page. */
import type { ComponentType } from "preact";
import { Prompt } from "./views/prompt/prompt.tsx";
import { Recalls } from "./views/recall/recalls.tsx";
import { Chat } from "./views/chat/chat.tsx";
import { Packs } from "./views/packs.tsx";
import { Conversation } from "./views/conversation.tsx";
import { Memories } from "./views/memories.tsx";
import { Inbox } from "./views/inbox.tsx";
import { OneMemory } from "./views/memory/life.tsx";
import { Export } from "./views/export/export.tsx";
import { Costs } from "./views/money.tsx";
import { PolicyView } from "./views/policy/policy.tsx";
import { Receipts } from "./views/export/receipt.tsx";
import { WorkView } from "./views/work.tsx";

export type Route = {
  /** First part of the hash: `#/memories`. What follows is the view's: `place.value.path[1]`. */
  path: string;
  /** In the navigation and as the heading. */
  name: string;
  /** What has to be chosen before there is anything to see; of `tenant` no user is. */
  of: "user" | "session" | "tenant";
  /** Of which the token needs one. */
  scopes: string[];
  View: ComponentType;
  /** Not in the navigation itself: the entry of this path is marked instead. */
  under?: string;
};

export const routes: Route[] = [
  // What the model is given.
  { path: "prompt", name: "Prompt", of: "session", scopes: ["chat"], View: Prompt },
  { path: "recall", name: "Recall", of: "user", scopes: ["chat"], View: Recalls },
  { path: "packs", name: "Packs", of: "session", scopes: ["chat"], View: Packs },
  { path: "chat", name: "Chat", of: "user", scopes: ["chat"], View: Chat },

  // What is remembered.
  { path: "memories", name: "Memories", of: "user", scopes: ["records"], View: Memories },
  { path: "memory", name: "One memory", of: "user", scopes: ["records"], View: OneMemory, under: "memories" },
  { path: "conversation", name: "Conversation", of: "session", scopes: ["chat"], View: Conversation },

  // What it costs, and what is at work.
  { path: "money", name: "Cost", of: "tenant", scopes: ["admin"], View: Costs },
  { path: "work", name: "Work", of: "tenant", scopes: ["admin"], View: WorkView },

  // What one may do with all of it.
  { path: "inbox", name: "Inbox", of: "user", scopes: ["records"], View: Inbox },
  { path: "policy", name: "Policy", of: "tenant", scopes: ["admin"], View: PolicyView },
  { path: "export", name: "Export and erase", of: "user", scopes: ["self", "admin"], View: Export },
  { path: "receipt", name: "Receipts", of: "tenant", scopes: ["admin"], View: Receipts },
];

export {
  NeveAuth,
  NeveBadRequest,
  NeveBufferFull,
  NeveConflict,
  NeveConnection,
  NeveError,
  NeveNotFound,
  NeveProtocol,
  NeveQuota,
  NeveTooLarge,
  NeveUnavailable,
  type FieldError,
} from "./errors.js";
export { Neve, type NeveOptions, type Timeouts } from "./neve.js";
export type { ToForget, Tool, User } from "./user.js";
export type { Appended, CallOptions, ContextOptions, Hit, Hits, Opening, Pack, RecallOptions, Session, Usage, Which } from "./session.js";
export type { Message, Said } from "./messages.js";
export type { Fate } from "./outbox.js";
export type { Format, Prompt, PromptInfo, Requests } from "./prompt.js";
export type { Raw } from "./operations.js";
export type { RawOptions } from "./raw.js";
export type { Schemas } from "./wire.js";

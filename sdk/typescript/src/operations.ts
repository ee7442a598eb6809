// Written by generate.mjs from docs/openapi.json: `npm run generate`.
import type { Body, Query, RawOptions, Result } from "./raw.js";

/** Operation, method (in capitals where it takes an Idempotency-Key; with ! where there is neither body nor query), path. */
export const TABLE = `appendEvents POST /users/*/sessions/*/events
appendMessages POST /users/*/sessions/*/messages
approveInboxItem POST /users/*/inbox/*/approve
callCorrect POST /users/*/tools/correct
callForget POST /users/*/tools/forget
callReadDocument post /users/*/tools/read_document
callRecallMemory post /users/*/tools/recall_memory
callRemember POST /users/*/tools/remember
callSearchConversation post /users/*/tools/search_conversation
callSearchKnowledge post /users/*/tools/search_knowledge
compactSession POST /users/*/sessions/*/compact
compileContext post /users/*/context
createKey POST /keys
createMemory POST /users/*/memories
createToken post /tokens
createUpload POST /users/*/uploads
createUserToken post /users/*/tokens
deleteDocuments DELETE /users/*/documents
deleteMemory DELETE /users/*/memories/*
deleteSession DELETE! /users/*/sessions/*
deleteWebhook DELETE! /webhooks/*
diffPackVersions get /users/*/pack/diff
drainEmbeddings POST /admin/embeddings/drain
editInboxItem POST /users/*/inbox/*/edit
endSession POST /users/*/sessions/*/end
eraseUser DELETE /users/*
evolveDocument POST /users/*/documents/evolve
evolveMemory POST /users/*/memories/*/evolve
exportUser POST! /users/*/export
forgetMemories POST /users/*/memories/forget
getDocument get /users/*/documents
health get! /health
importMemories POST /users/*/memories/import
listDeliveries get! /webhooks/*/deliveries
listDocumentVersions get /users/*/documents/versions
listDocuments get /users/*/documents/list
listEvents get /users/*/sessions/*/events
listInbox get /users/*/inbox
listKeys get /keys
listMemories get /users/*/memories
listPackVersions get /users/*/pack/versions
listRecalls get /users/*/recalls
listSessions get /users/*/sessions
listTools get /tools
listUsers get /users
listWebhooks get! /webhooks
markMemoriesUsed POST /users/*/memories/used
moveDocument POST /users/*/documents/move
observeSession POST /users/*/sessions/*/observe
openSession POST /users/*/sessions
patchPolicy PATCH /policy
putDocument PUT /users/*/documents
putWebhook PUT /webhooks/*
readAdminJob get! /admin/jobs/*
readFeed get /events
readJob get! /users/*/jobs/*
readMemory get! /users/*/memories/*
readPack get /users/*/pack
readPolicy get! /policy
readRecall get /users/*/recalls/*
readSession get! /users/*/sessions/*
readWebhook get! /webhooks/*
readWork get! /admin/work
recall post /users/*/recall
reflect POST /admin/reflect
rejectInboxItem POST /users/*/inbox/*/reject
reportUsage POST /users/*/usage
restoreDocument POST /users/*/documents/restore
retractEvents POST /users/*/sessions/*/events/retract
revokeKey DELETE! /keys/*
supersedeInboxItem POST /users/*/inbox/*/supersede
tenantUsage get /usage
testWebhook POST! /webhooks/*/test
traceMemory get! /users/*/memories/*/trace
turn POST /users/*/sessions/*/turn
updateMemory PATCH /users/*/memories/*
userStats get /users/*/stats
writePolicy PUT /policy`;

/** Every call of the API by its operationId: the ids of its path, its body or query, options. */
export interface Raw {
  /** Append events to a session's log: all of them or none. */
  appendEvents(userId: string, sessionId: string, body: Body<"appendEvents">, options?: RawOptions): Promise<Result<"appendEvents">>;
  /** Append a provider's messages as they are; opens the session when it is new. */
  appendMessages(userId: string, sessionId: string, body: Body<"appendMessages">, options?: RawOptions): Promise<Result<"appendMessages">>;
  /** Keep what waits. */
  approveInboxItem(userId: string, itemId: string, body?: Body<"approveInboxItem">, options?: RawOptions): Promise<Result<"approveInboxItem">>;
  /** The tool correct, called by a language model. */
  callCorrect(userId: string, body: Body<"callCorrect">, options?: RawOptions): Promise<Result<"callCorrect">>;
  /** The tool forget, called by a language model. */
  callForget(userId: string, body: Body<"callForget">, options?: RawOptions): Promise<Result<"callForget">>;
  /** The tool read_document, called by a language model. */
  callReadDocument(userId: string, body: Body<"callReadDocument">, options?: RawOptions): Promise<Result<"callReadDocument">>;
  /** The tool recall_memory, called by a language model. */
  callRecallMemory(userId: string, body: Body<"callRecallMemory">, options?: RawOptions): Promise<Result<"callRecallMemory">>;
  /** The tool remember, called by a language model. */
  callRemember(userId: string, body: Body<"callRemember">, options?: RawOptions): Promise<Result<"callRemember">>;
  /** The tool search_conversation, called by a language model. */
  callSearchConversation(userId: string, body: Body<"callSearchConversation">, options?: RawOptions): Promise<Result<"callSearchConversation">>;
  /** The tool search_knowledge, called by a language model. */
  callSearchKnowledge(userId: string, body: Body<"callSearchKnowledge">, options?: RawOptions): Promise<Result<"callSearchKnowledge">>;
  /** Summarise the middle of a session, move its horizon and rebuild its pack. */
  compactSession(userId: string, sessionId: string, body?: Body<"compactSession">, options?: RawOptions): Promise<Result<"compactSession">>;
  /** The whole prompt of one turn, within its budget and with what a provider can cache first. */
  compileContext(userId: string, body: Body<"compileContext">, options?: RawOptions): Promise<Result<"compileContext">>;
  /** A new API key; ten may be live at a time. */
  createKey(body: Body<"createKey">, options?: RawOptions): Promise<Result<"createKey">>;
  /** Keep one memory. */
  createMemory(userId: string, body: Body<"createMemory">, options?: RawOptions & { query?: Query<"createMemory"> }): Promise<Result<"createMemory">>;
  /** A token that stands for the API key, for an hour at most. */
  createToken(body: Body<"createToken">, options?: RawOptions): Promise<Result<"createToken">>;
  /** A pre-signed target for one image or one long text. */
  createUpload(userId: string, body: Body<"createUpload">, options?: RawOptions): Promise<Result<"createUpload">>;
  /** A token that is good for one user, for an hour at most. */
  createUserToken(userId: string, body: Body<"createUserToken">, options?: RawOptions): Promise<Result<"createUserToken">>;
  /** Delete one document, or those below a prefix, with all revisions. */
  deleteDocuments(userId: string, query?: Query<"deleteDocuments">, options?: RawOptions): Promise<Result<"deleteDocuments">>;
  /** Delete one memory for good. */
  deleteMemory(userId: string, memoryId: string, query?: Query<"deleteMemory">, options?: RawOptions): Promise<Result<"deleteMemory">>;
  /** Delete a session for good: its events, title and metadata, and what was made of them. */
  deleteSession(userId: string, sessionId: string, options?: RawOptions): Promise<Result<"deleteSession">>;
  /** Delete a webhook. What waits for it is not sent. */
  deleteWebhook(webhookId: string, options?: RawOptions): Promise<Result<"deleteWebhook">>;
  /** What changed between two versions of a session's pack. */
  diffPackVersions(userId: string, query: Query<"diffPackVersions">, options?: RawOptions): Promise<Result<"diffPackVersions">>;
  /** Index and embed everything that is pending. */
  drainEmbeddings(body?: Body<"drainEmbeddings">, options?: RawOptions): Promise<Result<"drainEmbeddings">>;
  /** Keep it in other words, or a document at another path. */
  editInboxItem(userId: string, itemId: string, body?: Body<"editInboxItem">, options?: RawOptions): Promise<Result<"editInboxItem">>;
  /** Close a session: it is observed to its end, compacted, and filed in documents and a summary. */
  endSession(userId: string, sessionId: string, body?: Body<"endSession">, options?: RawOptions): Promise<Result<"endSession">>;
  /** Erase a user and everything that is kept of them. */
  eraseUser(userId: string, query?: Query<"eraseUser">, options?: RawOptions): Promise<Result<"eraseUser">>;
  /** Put a new document in the place of an old one, which is superseded. */
  evolveDocument(userId: string, body: Body<"evolveDocument">, options?: RawOptions): Promise<Result<"evolveDocument">>;
  /** Put a statement in the place of a memory that no longer holds. */
  evolveMemory(userId: string, memoryId: string, body: Body<"evolveMemory">, options?: RawOptions): Promise<Result<"evolveMemory">>;
  /** Write everything that is kept of a user as JSON lines. */
  exportUser(userId: string, options?: RawOptions): Promise<Result<"exportUser">>;
  /** Forget memories by filters, by a query, or with the conversations they were made of. */
  forgetMemories(userId: string, body?: Body<"forgetMemories">, options?: RawOptions): Promise<Result<"forgetMemories">>;
  /** Read one document, whatever its status. */
  getDocument(userId: string, query: Query<"getDocument">, options?: RawOptions): Promise<Result<"getDocument">>;
  /** Whether the service can work, and with which models. */
  health(options?: RawOptions): Promise<Result<"health">>;
  /** Bring memories in with their ids and times. */
  importMemories(userId: string, body: Body<"importMemories">, options?: RawOptions): Promise<Result<"importMemories">>;
  /** Its last 200 attempts of the last 7 days, newest first. */
  listDeliveries(webhookId: string, options?: RawOptions): Promise<Result<"listDeliveries">>;
  /** List the revisions of a document. */
  listDocumentVersions(userId: string, query: Query<"listDocumentVersions">, options?: RawOptions): Promise<Result<"listDocumentVersions">>;
  /** List documents by path. */
  listDocuments(userId: string, query?: Query<"listDocuments">, options?: RawOptions): Promise<Result<"listDocuments">>;
  /** The log in seq order, or backwards. */
  listEvents(userId: string, sessionId: string, query?: Query<"listEvents">, options?: RawOptions): Promise<Result<"listEvents">>;
  /** What waits for a decision, oldest first. */
  listInbox(userId: string, query?: Query<"listInbox">, options?: RawOptions): Promise<Result<"listInbox">>;
  /** The tenant's API keys, revoked ones too, by their ids. */
  listKeys(query?: Query<"listKeys">, options?: RawOptions): Promise<Result<"listKeys">>;
  /** List a user's memories, oldest first. */
  listMemories(userId: string, query?: Query<"listMemories">, options?: RawOptions): Promise<Result<"listMemories">>;
  /** The versions a session's pack has had, newest first. */
  listPackVersions(userId: string, query: Query<"listPackVersions">, options?: RawOptions): Promise<Result<"listPackVersions">>;
  /** The user's recalls of the last 90 days, newest first. */
  listRecalls(userId: string, query?: Query<"listRecalls">, options?: RawOptions): Promise<Result<"listRecalls">>;
  /** The sessions of a user, by id. */
  listSessions(userId: string, query?: Query<"listSessions">, options?: RawOptions): Promise<Result<"listSessions">>;
  /** The schemas of the tools, as providers take them. */
  listTools(query?: Query<"listTools">, options?: RawOptions): Promise<Result<"listTools">>;
  /** The users that anything is kept of, by their ids. */
  listUsers(query?: Query<"listUsers">, options?: RawOptions): Promise<Result<"listUsers">>;
  /** The tenant's webhooks, by their ids; ten at most. */
  listWebhooks(options?: RawOptions): Promise<Result<"listWebhooks">>;
  /** Say which memories an answer cited. */
  markMemoriesUsed(userId: string, body: Body<"markMemoriesUsed">, options?: RawOptions): Promise<Result<"markMemoriesUsed">>;
  /** Move a document with its history, or all below a path. */
  moveDocument(userId: string, body: Body<"moveDocument">, options?: RawOptions): Promise<Result<"moveDocument">>;
  /** Turn the unobserved events of a session into memory now. */
  observeSession(userId: string, sessionId: string, body?: Body<"observeSession">, options?: RawOptions): Promise<Result<"observeSession">>;
  /** Open a session, or resume it, and fetch its pack. */
  openSession(userId: string, body?: Body<"openSession">, options?: RawOptions): Promise<Result<"openSession">>;
  /** Change some of the tenant's policy. */
  patchPolicy(body: Body<"patchPolicy">, options?: RawOptions): Promise<Result<"patchPolicy">>;
  /** Write a document, as JSON or as Markdown. */
  putDocument(userId: string, body: Body<"putDocument">, options: RawOptions & { query: Query<"putDocument"> }): Promise<Result<"putDocument">>;
  /** Have events sent to a URL, signed by the scheme of Standard Webhooks. */
  putWebhook(webhookId: string, body: Body<"putWebhook">, options?: RawOptions): Promise<Result<"putWebhook">>;
  /** Any job of the tenant. */
  readAdminJob(jobId: string, options?: RawOptions): Promise<Result<"readAdminJob">>;
  /** What has happened in the tenant's memory, at least once, in order per user, for 7 days. */
  readFeed(query?: Query<"readFeed">, options?: RawOptions): Promise<Result<"readFeed">>;
  /** A job of this user. */
  readJob(userId: string, jobId: string, options?: RawOptions): Promise<Result<"readJob">>;
  /** Read one memory, whatever its status. */
  readMemory(userId: string, memoryId: string, options?: RawOptions): Promise<Result<"readMemory">>;
  /** The session's pack: the same bytes until it is rebuilt. */
  readPack(userId: string, query?: Query<"readPack">, options?: RawOptions): Promise<Result<"readPack">>;
  /** The tenant's policy and the numbers in force. */
  readPolicy(options?: RawOptions): Promise<Result<"readPolicy">>;
  /** One recall with every candidate, its components, and why it was dropped; why a memory was none. */
  readRecall(userId: string, recallId: string, query?: Query<"readRecall">, options?: RawOptions): Promise<Result<"readRecall">>;
  /** One session. */
  readSession(userId: string, sessionId: string, options?: RawOptions): Promise<Result<"readSession">>;
  /** One webhook. */
  readWebhook(webhookId: string, options?: RawOptions): Promise<Result<"readWebhook">>;
  /** What goes on for the tenant: jobs, the last night, sessions that wait, webhooks that fail. */
  readWork(options?: RawOptions): Promise<Result<"readWork">>;
  /** Search everything that is not in the session's pack. */
  recall(userId: string, body: Body<"recall">, options?: RawOptions): Promise<Result<"recall">>;
  /** Condense older observations now. */
  reflect(body?: Body<"reflect">, options?: RawOptions): Promise<Result<"reflect">>;
  /** Keep nothing of it. */
  rejectInboxItem(userId: string, itemId: string, body?: Body<"rejectInboxItem">, options?: RawOptions): Promise<Result<"rejectInboxItem">>;
  /** What the tokens of a prompt were, as the model's answer says. */
  reportUsage(userId: string, body: Body<"reportUsage">, options?: RawOptions): Promise<Result<"reportUsage">>;
  /** Give a document the text, name, summary, tags and group of an earlier rev, as its next one. */
  restoreDocument(userId: string, body: Body<"restoreDocument">, options: RawOptions & { query: Query<"restoreDocument"> }): Promise<Result<"restoreDocument">>;
  /** Take events back: edited, deleted, or left for another branch. */
  retractEvents(userId: string, sessionId: string, body: Body<"retractEvents">, options?: RawOptions): Promise<Result<"retractEvents">>;
  /** Revoke an API key. */
  revokeKey(keyId: string, options?: RawOptions): Promise<Result<"revokeKey">>;
  /** Keep it in the place of what no longer holds, be it a memory or a document's text. */
  supersedeInboxItem(userId: string, itemId: string, body?: Body<"supersedeInboxItem">, options?: RawOptions): Promise<Result<"supersedeInboxItem">>;
  /** What the tenant's memory has cost in model calls and embeddings, and what was reported of its prompts. */
  tenantUsage(query?: Query<"tenantUsage">, options?: RawOptions): Promise<Result<"tenantUsage">>;
  /** Send it an event of the type `webhook.test` now, and say what became of that. */
  testWebhook(webhookId: string, options?: RawOptions): Promise<Result<"testWebhook">>;
  /** What a memory replaced, what replaced it, and which of the last 200 recalls and which packs had it. */
  traceMemory(userId: string, memoryId: string, options?: RawOptions): Promise<Result<"traceMemory">>;
  /** Append what was said, and answer with the next prompt or a recall, in one call. */
  turn(userId: string, sessionId: string, body?: Body<"turn">, options?: RawOptions): Promise<Result<"turn">>;
  /** Change one memory in place. */
  updateMemory(userId: string, memoryId: string, body?: Body<"updateMemory">, options?: RawOptions): Promise<Result<"updateMemory">>;
  /** What is kept of one user, counted from the rows. */
  userStats(userId: string, query?: Query<"userStats">, options?: RawOptions): Promise<Result<"userStats">>;
  /** Replace the tenant's policy. */
  writePolicy(body: Body<"writePolicy">, options?: RawOptions): Promise<Result<"writePolicy">>;
}

// Written by generate.mjs from docs/openapi.json: `npm run generate`.
export interface paths {
    "/v1/admin/embeddings/drain": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Index and embed everything that is pending.
         * @description Done when nothing of the tenant, or of the user, is unindexed or unembedded; running until then.
         */
        post: operations["drainEmbeddings"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/jobs/{job_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Any job of the tenant. */
        get: operations["readAdminJob"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/reflect": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Condense older observations now.
         * @description As the night does it, however few rows there are; with `dry_run`, what it would do.
         */
        post: operations["reflect"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/admin/work": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What goes on for the tenant: jobs, the last night, sessions that wait, webhooks that fail.
         * @description No word of anybody. Observations, ends of sessions and filings are not among the jobs; the sessions they are of are among those that wait.
         */
        get: operations["readWork"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What has happened in the tenant's memory, at least once, in order per user, for 7 days.
         * @description Ids and counts, no words. Ask with the `cursor` of the answer before: nothing is skipped, whoever writes meanwhile. A page may be short or empty where the filters let little through; its cursor goes on.
         */
        get: operations["readFeed"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/health": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Whether the service can work, and with which models. */
        get: operations["health"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The tenant's API keys, revoked ones too, by their ids.
         * @description Never a key's text, nor its hash.
         */
        get: operations["listKeys"];
        put?: never;
        /** A new API key; ten may be live at a time. */
        post: operations["createKey"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/keys/{key_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Revoke an API key.
         * @description The last key with the scope `admin` cannot be revoked. A repeat changes nothing.
         */
        delete: operations["revokeKey"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/policy": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The tenant's policy and the numbers in force. */
        get: operations["readPolicy"];
        /**
         * Replace the tenant's policy.
         * @description What is left out goes back to its default. Every process follows within 60 s.
         */
        put: operations["writePolicy"];
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        /**
         * Change some of the tenant's policy.
         * @description What is sent is merged into what was set, also within its objects; everything else stays. The whole is checked as if it had been sent to `writePolicy`, which alone takes a field back to its default.
         */
        patch: operations["patchPolicy"];
        trace?: never;
    };
    "/v1/tokens": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * A token that stands for the API key, for an hour at most.
         * @description For a console: it sees all users, with some of the scopes that the key has. It makes neither keys nor tokens, and ends with the API key that made it.
         */
        post: operations["createToken"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/tools": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The schemas of the tools, as providers take them. */
        get: operations["listTools"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/usage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What the tenant's memory has cost in model calls and embeddings, and what was reported of its prompts. */
        get: operations["tenantUsage"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/users": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The users that anything is kept of, by their ids.
         * @description Not those who were erased. One of the last second may be missing; a page may be short, its cursor goes on.
         */
        get: operations["listUsers"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/users/{user_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Erase a user and everything that is kept of them.
         * @description From the answer on writes are refused (409 `erasing`) and reads are empty. The job, read by `GET /v1/admin/jobs/{id}` or among the user's own, is done when every store was listed and found empty, some 16 minutes later; its result is the receipt. A repeat while it is under way answers with the same job.
         */
        delete: operations["eraseUser"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/users/{user_id}/context": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * The whole prompt of one turn, within its budget and with what a provider can cache first.
         * @description Static prefix, instructions, pack, history, and in the user's last message what was retrieved, the task, the session and the message. A memory failure is told in `degraded`, also a language model that gives no answer: `extract:queued`.
         */
        post: operations["compileContext"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/users/{user_id}/documents": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read one document, whatever its status. */
        get: operations["getDocument"];
        /**
         * Write a document, as JSON or as Markdown.
         * @description `If-Match`: only at that rev. `If-None-Match: *`: only where there is none.
         */
        put: operations["putDocument"];
        post?: never;
        /**
         * Delete one document, or those below a prefix, with all revisions.
         * @description Below a prefix at most 100 a call; `more` says whether to call again.
         */
        delete: operations["deleteDocuments"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/users/{user_id}/documents/evolve": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Put a new document in the place of an old one, which is superseded. */
        post: operations["evolveDocument"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/users/{user_id}/documents/list": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List documents by path.
         * @description Artifacts are listed below `/artifacts/` only.
         */
        get: operations["listDocuments"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/users/{user_id}/documents/move": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Move a document with its history, or all below a path.
         * @description With `prefix` in several steps, but not one where something is in the way of any: 409 names it.
         */
        post: operations["moveDocument"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/users/{user_id}/documents/restore": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Give a document the text, name, summary, tags and group of an earlier rev, as its next one. */
        post: operations["restoreDocument"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/users/{user_id}/documents/versions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List the revisions of a document. */
        get: operations["listDocumentVersions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/users/{user_id}/export": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Write everything that is kept of a user as JSON lines.
         * @description The result of the job, read by `GET /v1/admin/jobs/{id}`, or with the scope `self` among the user's own, has the parts of the export, each with an address that is good for 15 minutes. The parts are kept for a week; from then on it has `parts_removed_at`.
         */
        post: operations["exportUser"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/users/{user_id}/inbox": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What waits for a decision, oldest first. */
        get: operations["listInbox"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/users/{user_id}/inbox/{item_id}/approve": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Keep what waits.
         * @description A fact becomes active, as confirmed by the user; a document is changed if it is still at the rev it was read at. 409 when it was decided already.
         */
        post: operations["approveInboxItem"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/users/{user_id}/inbox/{item_id}/edit": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Keep it in other words, or a document at another path.
         * @description 409 when it was decided already.
         */
        post: operations["editInboxItem"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/users/{user_id}/inbox/{item_id}/reject": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Keep nothing of it.
         * @description 409 when it was decided already.
         */
        post: operations["rejectInboxItem"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/users/{user_id}/inbox/{item_id}/supersede": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Keep it in the place of what no longer holds, be it a memory or a document's text.
         * @description 409 when it was decided already.
         */
        post: operations["supersedeInboxItem"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/users/{user_id}/jobs/{job_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * A job of this user.
         * @description With the scope `self` alone an export or an erasure, and no other job. An export has the addresses of its parts for this scope only.
         */
        get: operations["readJob"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/users/{user_id}/memories": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** List a user's memories, oldest first. */
        get: operations["listMemories"];
        put?: never;
        /**
         * Keep one memory.
         * @description A fact goes through the storage decision, whose reasons are in the answer. 201 when a row was written, 200 when a fact was known already, or is not kept.
         */
        post: operations["createMemory"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/users/{user_id}/memories/{memory_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read one memory, whatever its status. */
        get: operations["readMemory"];
        put?: never;
        post?: never;
        /** Delete one memory for good. */
        delete: operations["deleteMemory"];
        options?: never;
        head?: never;
        /** Change one memory in place. */
        patch: operations["updateMemory"];
        trace?: never;
    };
    "/v1/users/{user_id}/memories/{memory_id}/evolve": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Put a statement in the place of a memory that no longer holds.
         * @description The old one becomes superseded and stays readable by its id. 409 when it is not active; of two at once one wins. A fact that states the new text already takes the place, and is the answer.
         */
        post: operations["evolveMemory"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/users/{user_id}/memories/{memory_id}/trace": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What a memory replaced, what replaced it, and which of the last 200 recalls and which packs had it. */
        get: operations["traceMemory"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/users/{user_id}/memories/forget": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Forget memories by filters, by a query, or with the conversations they were made of.
         * @description Without more a dry run: a count, the first texts and a `confirm`, with which a second call has exactly these forgotten, by one job. Its result is the receipt: `forgotten` counts, `moved` names what was changed since it was listed, and stays, `gone` what others deleted; `also_in`, `derived` and `in_packs` say where what they said may still stand.
         */
        post: operations["forgetMemories"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/users/{user_id}/memories/import": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Bring memories in with their ids and times.
         * @description A line that is not accepted is named in the answer, and the others go in; a repeat adds nothing. `next_line` says where to go on when there was no time for all.
         */
        post: operations["importMemories"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/users/{user_id}/memories/used": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Say which memories an answer cited. */
        post: operations["markMemoriesUsed"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/users/{user_id}/pack": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The session's pack: the same bytes until it is rebuilt. */
        get: operations["readPack"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/users/{user_id}/pack/diff": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** What changed between two versions of a session's pack. */
        get: operations["diffPackVersions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/users/{user_id}/pack/versions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The versions a session's pack has had, newest first. */
        get: operations["listPackVersions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/users/{user_id}/recall": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Search everything that is not in the session's pack. */
        post: operations["recall"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/users/{user_id}/recalls": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The user's recalls of the last 90 days, newest first. */
        get: operations["listRecalls"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/users/{user_id}/recalls/{recall_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One recall with every candidate, its components, and why it was dropped; why a memory was none. */
        get: operations["readRecall"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/users/{user_id}/sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The sessions of a user, by id. */
        get: operations["listSessions"];
        put?: never;
        /**
         * Open a session, or resume it, and fetch its pack.
         * @description The same `session_id` again gives the same session and the same pack version.
         */
        post: operations["openSession"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/users/{user_id}/sessions/{session_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One session. */
        get: operations["readSession"];
        put?: never;
        post?: never;
        /**
         * Delete a session for good: its events, title and metadata, and what was made of them.
         * @description It is no longer listed, and 404, once this is answered; a job erases the words. Its id is not given out again: what is appended to it later is 410 `session_deleted`. A repeat changes nothing. What a caller kept in it with `createMemory` stays.
         */
        delete: operations["deleteSession"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/users/{user_id}/sessions/{session_id}/compact": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Summarise the middle of a session, move its horizon and rebuild its pack. */
        post: operations["compactSession"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/users/{user_id}/sessions/{session_id}/end": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Close a session: it is observed to its end, compacted, and filed in documents and a summary.
         * @description One job for each state of the log, done when all of it is. A later append opens the session again.
         */
        post: operations["endSession"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/users/{user_id}/sessions/{session_id}/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The log in seq order, or backwards. */
        get: operations["listEvents"];
        put?: never;
        /**
         * Append events to a session's log: all of them or none.
         * @description What the policy's `pii` does not allow is taken out of them, in place.
         */
        post: operations["appendEvents"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/users/{user_id}/sessions/{session_id}/events/retract": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Take events back: edited, deleted, or left for another branch.
         * @description Prompts and recall are without them once this is answered; what was made of them follows by the job.
         */
        post: operations["retractEvents"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/users/{user_id}/sessions/{session_id}/messages": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Append a provider's messages as they are; opens the session when it is new.
         * @description Anthropic's, OpenAI's (chat and Responses) and the AI SDK's. The list may be the whole chat or only what is new: a message that the session has is not appended again. What the policy's `pii` does not allow is taken out.
         */
        post: operations["appendMessages"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/users/{user_id}/sessions/{session_id}/observe": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Turn the unobserved events of a session into memory now.
         * @description One job per session and last seq, shared with the automatic pass; done at once when nothing is new. With `dry_run` there is no job, and no answer is kept for an `Idempotency-Key`.
         */
        post: operations["observeSession"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/users/{user_id}/sessions/{session_id}/turn": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Append what was said, and answer with the next prompt or a recall, in one call.
         * @description Idempotent as an append: a repeat appends nothing and compiles anew. What was appended but not compiled is a 200 that says so in `degraded`; what was not appended is refused as an append is.
         */
        post: operations["turn"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/users/{user_id}/stats": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * What is kept of one user, counted from the rows.
         * @description The cost grows with the user's memories; not meant for every turn.
         */
        get: operations["userStats"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/users/{user_id}/tokens": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * A token that is good for one user, for an hour at most.
         * @description For a browser, or for the tools of a model: every other user is 404, and every call of the tenant 403. It ends with the API key that made it.
         */
        post: operations["createUserToken"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/users/{user_id}/tools/correct": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * The tool correct, called by a language model.
         * @description What holds takes the place of a memory, under the policy `write_tools`; 409 when that is superseded already.
         */
        post: operations["callCorrect"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/users/{user_id}/tools/forget": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * The tool forget, called by a language model.
         * @description Lists first: a `confirm` over exactly what it shows has it forgotten. Under `propose` a person confirms it, by `POST /memories/forget`.
         */
        post: operations["callForget"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/users/{user_id}/tools/read_document": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * The tool read_document, called by a language model.
         * @description Documents, and below `/artifacts/` what a compaction took out of the log. In pages of 4,000 tokens.
         */
        post: operations["callReadDocument"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/users/{user_id}/tools/recall_memory": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * The tool recall_memory, called by a language model.
         * @description The engine of `recall` with the time budget of a manual search.
         */
        post: operations["callRecallMemory"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/users/{user_id}/tools/remember": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * The tool remember, called by a language model.
         * @description A fact through the storage decision, under the policy `write_tools`: `on` keeps it, `propose` puts it into the inbox, `off` is 403.
         */
        post: operations["callRemember"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/users/{user_id}/tools/search_conversation": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * The tool search_conversation, called by a language model.
         * @description The five best messages of one session, those that a compaction covers included.
         */
        post: operations["callSearchConversation"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/users/{user_id}/tools/search_knowledge": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * The tool search_knowledge, called by a language model.
         * @description Documents and lasting facts, each in a line and with its path; never a whole text.
         */
        post: operations["callSearchKnowledge"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/users/{user_id}/uploads": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** A pre-signed target for one image or one long text. */
        post: operations["createUpload"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/users/{user_id}/usage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * What the tokens of a prompt were, as the model's answer says.
         * @description Once for each answer of a model. A prompt that is named by its `prompt_id` counts once; without one, every call without an `Idempotency-Key` counts. The sums are in `userStats`, `tenantUsage` and the session.
         */
        post: operations["reportUsage"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhooks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** The tenant's webhooks, by their ids; ten at most. */
        get: operations["listWebhooks"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhooks/{webhook_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** One webhook. */
        get: operations["readWebhook"];
        /**
         * Have events sent to a URL, signed by the scheme of Standard Webhooks.
         * @description Each event at least once, in order per user. What is not answered with 2xx within 10 s is sent again for 24 hours. A repeat changes nothing.
         */
        put: operations["putWebhook"];
        post?: never;
        /** Delete a webhook. What waits for it is not sent. */
        delete: operations["deleteWebhook"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhooks/{webhook_id}/deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Its last 200 attempts of the last 7 days, newest first. */
        get: operations["listDeliveries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhooks/{webhook_id}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Send it an event of the type `webhook.test` now, and say what became of that. */
        post: operations["testWebhook"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /** @description Further members are kept as they are. */
        AnswerData: {
            /**
             * @description What the model thought before it, as its provider's blocks; `content` may hold them as well.
             * @default []
             */
            thinking?: {
                [key: string]: unknown;
            }[];
        } & {
            [key: string]: unknown;
        };
        AnswerEvent: {
            /** @description The same id again returns the first seq; with other content it is a 409. */
            client_id?: string;
            content: string | (components["schemas"]["TextBlock"] | components["schemas"]["ImageBlock"] | components["schemas"]["ThinkingBlock"])[];
            /**
             * Format: date-time
             * @description When it was said; now when absent or more than a day ahead. RFC 3339 with an offset.
             */
            created_at?: string;
            /**
             * @default {
             *       "thinking": []
             *     }
             */
            event_data?: components["schemas"]["AnswerData"];
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            event_type: "assistant_response";
            /** @description Labels of the caller's own; nothing that is made of the event has them. */
            metadata?: {
                [key: string]: string;
            };
            /** @description The speaker. White space, line breaks included, becomes single spaces. */
            name?: string;
        };
        AppendBody: {
            /** @description In order. Each has at most 256 KiB as JSON in UTF-8 and 20 images, all together 48 images. */
            events: (components["schemas"]["MessageEvent"] | components["schemas"]["AnswerEvent"] | components["schemas"]["ToolCallEvent"] | components["schemas"]["ToolResultEvent"] | components["schemas"]["BoundaryEvent"] | components["schemas"]["NeutralEvent"])[];
        };
        AppendedMessagesOut: {
            /** @description `queued`: these events are a reason for one. */
            compaction: components["schemas"]["Queued"];
            /** @description Its job, when one was queued. */
            compaction_job_id?: string;
            /** @description The session was not there before. */
            created: boolean;
            degraded?: components["schemas"]["Degraded"];
            /** @description Parts that memory has no place for: kept as neutral events, or left out; `why` says which. */
            dropped: components["schemas"]["DroppedPart"][];
            last_seq: number;
            /** @description In the order of the request. */
            messages: components["schemas"]["MessageState"][];
            /** @description `queued`: a pass reads these events now. `waiting`: they completed a turn, which waits for more or for silence, as `observe_after` of the policy says. `none`: they completed none. */
            observation: components["schemas"]["Observation"];
            other_language?: components["schemas"]["OtherLanguage"];
            /** @description How many of each class of personal data were taken out; absent when none were. */
            redacted?: {
                [key: string]: number;
            };
            /**
             * @description Some were taken back since: `retracted_seqs`. They stay so.
             * @constant
             */
            retracted?: true;
            retracted_seqs?: number[];
            session_id: string;
        };
        AppendedOut: {
            /** @description `queued`: these events are a reason for one. */
            compaction: components["schemas"]["Queued"];
            /** @description Its job, when one was queued. */
            compaction_job_id?: string;
            degraded?: components["schemas"]["Degraded"];
            /** @description `queued`: a pass reads these events now. `waiting`: they completed a turn, which waits for more or for silence, as `observe_after` of the policy says. `none`: they completed none. */
            observation: components["schemas"]["Observation"];
            other_language?: components["schemas"]["OtherLanguage"];
            /** @description How many of each class of personal data were taken out of these events; absent when none were. */
            redacted?: {
                [key: string]: number;
            };
            /**
             * @description Some of the events were appended before and taken back since: `retracted_seqs`. They stay so.
             * @constant
             */
            retracted?: true;
            retracted_seqs?: number[];
            /** @description In the order of the request. */
            seqs: number[];
        };
        ApproveBody: Record<string, never>;
        AttemptOut: {
            delivered: boolean;
            duration_ms: number;
            /** @description Left out where it arrived. */
            failure?: components["schemas"]["DeliveryFailure"];
            /** @description Left out where there was no answer. */
            status?: number;
        };
        /** @constant */
        Audience: "session";
        /** @description Further members are kept as they are. */
        BoundaryData: {
            /**
             * @description A task is done, or the conversation turns to another topic.
             * @default task
             */
            kind?: components["schemas"]["BoundaryKind"];
        } & {
            [key: string]: unknown;
        };
        /** @description Asks for a compaction of what lies behind. */
        BoundaryEvent: {
            /** @description The same id again returns the first seq; with other content it is a 409. */
            client_id?: string;
            content: string | (components["schemas"]["TextBlock"] | components["schemas"]["ImageBlock"])[];
            /**
             * Format: date-time
             * @description When it was said; now when absent or more than a day ahead. RFC 3339 with an offset.
             */
            created_at?: string;
            /**
             * @default {
             *       "kind": "task"
             *     }
             */
            event_data?: components["schemas"]["BoundaryData"];
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            event_type: "task_boundary";
            /** @description Labels of the caller's own; nothing that is made of the event has them. */
            metadata?: {
                [key: string]: string;
            };
            /** @description The speaker. White space, line breaks included, becomes single spaces. */
            name?: string;
        };
        /** @enum {string} */
        BoundaryKind: "task" | "topic";
        BreakpointOut: {
            at: components["schemas"]["BreakpointPlace"];
            cacheable: boolean;
            marked: boolean;
            /** @description The fewest that the model's provider caches. */
            minimum: number;
            /** @description Of the prefix that ends there. */
            tokens: number;
            /** @description Why it is not marked. */
            why_not?: string;
        };
        /** @enum {string} */
        BreakpointPlace: "static" | "system" | "previous" | "history";
        BudgetOut: {
            /** @description Without the message where that has a number of its own. */
            history: number;
            input: number;
            /** @description The pack and what is retrieved. */
            memories: number;
            message?: number;
            output: number;
            pack?: number;
            profile: string;
            retrieved?: number;
            system: number;
            task: number;
            total: number;
        };
        /** @enum {string} */
        BudgetProfile: "compact_8k" | "window_200k" | "agentic";
        /** @description A cache breakpoint, as Anthropic takes it. */
        CacheControlBody: {
            ttl?: components["schemas"]["CacheTtl"];
            /** @constant */
            type: "ephemeral";
        };
        /** @enum {string} */
        CacheTtl: "5m" | "1h";
        /** @description A frozen pack version that holds the memory. */
        CarriedView: {
            built_at: string;
            layer: components["schemas"]["PackLayer"];
            pack_version: number;
            /** @description Of the memory, as that pack shows it. */
            rev: number;
            session_id: string;
            trigger: components["schemas"]["Trigger"];
        };
        /** @enum {string} */
        Category: "PERSON" | "PLACE" | "EVENT" | "PREFERENCE" | "BIOGRAPHY";
        /** @enum {string} */
        Certainty: "high" | "medium" | "low";
        ChangedEntry: {
            after: components["schemas"]["PackEntryOut"];
            before: components["schemas"]["PackEntryOut"];
            layer: components["schemas"]["PackLayer"];
        };
        /** @description ``also_in`` is there where the text is another one. */
        ChangedView: {
            /** @description The participants of its session who said it. */
            about?: string[];
            /** @description Where else what it said before may still stand: at most 50 places, the log first. */
            also_in?: components["schemas"]["CopyView"][];
            /** @description Whether everything was looked at, and everything found is named. */
            also_in_complete?: boolean;
            /** @description `session`: no other session is told of it. */
            audience?: components["schemas"]["Audience"];
            category?: string;
            confidence: number;
            created_at: string;
            embedding_model?: string;
            embedding_state: string;
            emotional_tone?: string;
            fingerprint: string;
            group?: string;
            /** @description Whether now is between the two: what does not hold is neither packed nor recalled. */
            holds: boolean;
            id: string;
            importance: number;
            judged?: components["schemas"]["JudgedView"];
            key_topics?: string[];
            kind: string;
            label?: string;
            last_accessed_at?: string;
            last_used_at: string;
            metadata?: {
                [key: string]: string;
            };
            /** @description Neither packed nor recalled, whatever its status. */
            never_recall: boolean;
            observed_at: string;
            observed_date?: string;
            occurrences: number;
            outcome?: string;
            passages?: components["schemas"]["PassageView"][];
            priority: string;
            provenance: components["schemas"]["ProvenanceView"];
            referenced_date?: string;
            relative_date?: string;
            rev: number;
            scope: string;
            session_id?: string;
            status: string;
            superseded_at?: string;
            superseded_by?: string;
            superseded_reason?: string;
            supersedes: string[];
            tags: string[];
            text: string;
            tier: string;
            time_of_day?: string;
            tokens: number;
            valid_from?: string;
            valid_until?: string;
            /** @description `model`: a model wrote it with a tool. */
            written_by?: components["schemas"]["WrittenBy"];
        };
        ChunkView: {
            n: number;
            text: string;
            /** @description By the estimate, whatever counter the policy names. */
            tokens: number;
        };
        CollapseOut: {
            at: string;
            cache_read: number;
            /** @description Tokens that the cache held after the report before. */
            expected: number;
            /** @description With another pack than the report before. */
            pack_version?: number;
            reason: components["schemas"]["CollapseReason"];
            trigger?: components["schemas"]["Trigger"];
        };
        /** @enum {string} */
        CollapseReason: "pack_changed" | "compacted" | "ttl_expired" | "prefix_changed" | "unknown";
        /** @description Reports in which the cache gave less than half of what it held, by reason. */
        CollapsesOut: {
            compacted: number;
            pack_changed: number;
            prefix_changed: number;
            ttl_expired: number;
            unknown: number;
        };
        CompactBody: {
            /** @default manual */
            reason?: components["schemas"]["CompactionReason"];
            /** @description How long the summary may be; the policy's when absent. */
            verbosity?: components["schemas"]["Verbosity"];
            /**
             * @description Poll up to 20 s for the end of the job.
             * @default false
             */
            wait?: boolean;
        };
        /** @enum {string} */
        CompactionReason: "tokens" | "task" | "topic" | "end" | "manual";
        CompileBody: {
            /** @description Default: the policy's. */
            budget_profile?: components["schemas"]["BudgetProfile"] | components["schemas"]["CustomBudget"];
            /**
             * @description The report only. Nothing is written.
             * @default false
             */
            dry_run?: boolean;
            /**
             * @description Whose arguments `request` holds.
             * @default anthropic
             */
            format?: components["schemas"]["PromptFormat"];
            /** @description Turns: at least so many are shown, and at most twice as many. */
            history_window?: number;
            /**
             * @description Of this prompt. `recent`: of what waits for an answer only, `none`: none; each other one is a line of text.
             * @default all
             */
            images?: components["schemas"]["ImagesShown"];
            /** @description Events whose images the provider has refused: `image_events` of the prompt that it would not take. This prompt and all later ones show a line of text in their place. */
            images_refused?: number[];
            /** @description Behind the static prefix. Another list is another prefix to the provider. */
            instructions?: string[];
            /**
             * @description Marks of what the provider is to cache, at most.
             * @default 4
             */
            max_breakpoints?: number;
            /** @description What the user says now: text or blocks. It is not stored. Where the log ends with it already, it is not repeated, and may be left out. */
            message?: string | (components["schemas"]["TextBlock"] | components["schemas"]["ImageBlock"])[];
            /**
             * @description `auto`: the 5 best passages, and on to 600 tokens. `tools`: the model is offered the search. `both`, `none`.
             * @default auto
             */
            retrieval?: components["schemas"]["Retrieval"];
            session_id: string;
            /** @description Text or text blocks, one block behind the static prefix. The same on every day: no date, time, e-mail address, id or placeholder. Another text is another prefix to the provider. */
            system?: string | components["schemas"]["SystemBlockBody"][];
            task_state?: string | components["schemas"]["TaskStateBody"];
            /** @description The caller's own, as the provider takes them (with `ai_sdk` by name). They stand in front of Neve's. Without any, a tool that the shown history calls is declared by a stand-in. */
            tools?: {
                [key: string]: components["schemas"]["JsonValue"];
            }[] | {
                [key: string]: components["schemas"]["JsonValue"];
            };
            /**
             * @description Also of a dry run `request`; and `parts`, where each part stands in it.
             * @default false
             */
            with_request?: boolean;
        };
        ComponentsView: {
            /** @description Absent for rows that are too new for the index. */
            bm25?: number;
            /** @description What it got to stand before an older statement that it takes back. */
            corrects?: number;
            /** @description With `rerank: deep`: how well it answers the question, by a model that read both. */
            deep?: number;
            /** @description RRF, with what memories lend, times prior. */
            final: number;
            importance: number;
            kind: number;
            /** @description Without rerank, of an utterance: how much more RRF a memory that was made from it has, and a hundredth of the memory's own. */
            lent?: number;
            /** @description With the policy's languages `multi`: 0.8 of the similarity and 0.2 of the share of the query's terms, which orders hits. */
            meaning?: number;
            /** @description Product of the three, at most 1.35. */
            prior: number;
            /** @description For having the words that a message quotes, in their order. */
            quoted?: number;
            rank_lex?: number;
            rank_vec?: number;
            recency: number;
            /** @description Log odds by the rerank stage, which orders hits when utterances are among them. */
            rerank?: number;
            rrf: number;
            /** @description Without rerank, of a memory among utterances: RRF of the leg that found the passage shown, where the other leg found another one. */
            shown_rrf?: number;
            /** @description The same for every model: 0.3 random, 0.9 paraphrase. */
            sim_cal?: number;
            /** @description Cosine, -1 to 1. */
            sim_raw?: number;
            /** @description For comparison; never used to order. */
            weighted_70_30: number;
        };
        ContextOut: {
            cold_start_ms?: number;
            degraded: components["schemas"]["Degraded"];
            elapsed_ms: number;
            format: components["schemas"]["PromptFormat"];
            memory_lag?: components["schemas"]["MemoryLagOut"];
            /** @description With `with_request`. */
            parts?: components["schemas"]["PartOut"][];
            /** @description What a report of its usage names. Ids and hashes are kept of it for seven days, and no words. */
            prompt_id?: string;
            /** @description In a round of tool calls that of the turn's first prompt. */
            recall_id?: string;
            report: components["schemas"]["ReportOut"];
            /** @description Arguments for the provider's call, less model and length of the answer. Absent from a dry run without `with_request`. */
            request?: {
                [key: string]: components["schemas"]["JsonValue"];
            };
            session?: components["schemas"]["SessionNote"];
            /** @description Names of tools in the request that the provider would not take as the log has them: what is sent, and what it stands for. */
            tool_names?: {
                [key: string]: string;
            };
            transparency: string[];
        };
        ConversationView: {
            /** @description Up to here it would be taken back; what is said later stays. */
            last_seq: number;
            session_id: string;
        };
        /** @enum {string} */
        CopyPlace: "events" | "summary" | "document" | "memory";
        /** @enum {string} */
        CopyReason: "same_words" | "same_events";
        /** @description Fields that do not apply are absent. */
        CopyView: {
            /** @description It says the same words, or it was made of the same events. */
            because: components["schemas"]["CopyReason"];
            /** @description Of a memory or a document. */
            id?: string;
            /** @description Of a document. */
            path?: string;
            /** @description The first event. */
            seq_from?: number;
            /** @description The last event. */
            seq_to?: number;
            /** @description Of events, and of a summary. */
            session_id?: string;
            /** @description Of a memory or a document. */
            status?: components["schemas"]["MemoryStatus"];
            /** @description `events` of the log, the `summary` that stands for them in prompts, a `document`, or a `memory`. */
            where: components["schemas"]["CopyPlace"];
        };
        CorrectArguments: {
            id: string;
            /** @description Why, for the trace. */
            reason: string;
            /** @description What holds now. */
            text: string;
        };
        CorrectBody: {
            arguments: components["schemas"]["CorrectArguments"];
            /** @description Where the tool was called. */
            session_id?: string;
            /** @description The provider's id of the call: a repeat in its session changes nothing. */
            tool_use_id?: string;
        };
        /** @description `is_error` alone does not say which one: a correction may be refused. */
        CorrectOrMistake: components["schemas"]["CorrectView"] | components["schemas"]["MistakeView"];
        CorrectView: {
            /** @description What belongs into the `tool_result`: nothing else has to be made of this answer. */
            content: string;
            /** @description The memory whose place it takes, or would take. */
            corrects: string;
            /** @description Of what holds now, or waits; absent where it is not kept. */
            id?: string;
            /** @description True: `content` says what did not work. */
            is_error: boolean;
            status?: string;
            written_by?: components["schemas"]["WrittenBy"];
        };
        /** @description The events that a compaction has summarised. */
        Covers: {
            from: number;
            to: number;
        };
        /**
         * @description A `fact` needs a `category`, a `session_summary` an `outcome` and a `session_id`; no other kind has those two
         *     fields.
         */
        CreateBody: {
            /** @description Of a fact: whose word it is; default human_edit. */
            by?: components["schemas"]["SaidBy"];
            category?: components["schemas"]["Category"];
            /**
             * @description Kept to six places.
             * @default 1
             */
            confidence?: number;
            emotional_tone?: string;
            group?: string;
            /** @default 3 */
            importance?: number;
            key_topics?: string[];
            /** @default manual */
            kind?: components["schemas"]["MemoryKind"];
            /** @description The caller's project or channel. */
            label?: string;
            /** @description Labels of the caller's own. */
            metadata?: {
                [key: string]: string;
            };
            /**
             * @description Listed, but neither packed nor recalled.
             * @default false
             */
            never_recall?: boolean;
            /**
             * Format: date-time
             * @description When it was said or true; default now.
             */
            observed_at?: string;
            outcome?: components["schemas"]["Outcome"];
            /** @description Default: high for manual, medium for others. */
            priority?: components["schemas"]["Priority"];
            /** @description Default: session with a session_id, else global. */
            scope?: components["schemas"]["MemoryScope"];
            /** @description Its session; without one the memory is global. */
            session_id?: string;
            tags?: string[];
            text: string;
            /**
             * Format: date-time
             * @description From when on it holds; default always.
             */
            valid_from?: string;
            /**
             * Format: date-time
             * @description Until when it holds, that moment not included; behind `valid_from`. Default always.
             */
            valid_until?: string;
        };
        CreateKeyBody: {
            label?: string;
            /** @description `documents`: calls of documents, and the tools that search and read them, alone. `tokens`: making access tokens of users. */
            scopes: components["schemas"]["KeyScope"][];
        };
        CreateTokenBody: {
            /** @description For whoever holds the token: it stands in it, and nowhere else. */
            label?: string;
            /** @description Some of those that the API key has. */
            scopes: components["schemas"]["TenantTokenScope"][];
            /**
             * @description Seconds until it ends.
             * @default 900
             */
            ttl_s?: number;
        };
        CreateUserTokenBody: {
            /** @description For whoever holds the token: it stands in it, and nowhere else. */
            label?: string;
            /** @description `self`: the user's own export and erasure, and their jobs. */
            scopes: components["schemas"]["UserTokenScope"][];
            /**
             * @description Seconds until it ends.
             * @default 900
             */
            ttl_s?: number;
        };
        /** @description The criteria that the storage decision looked at. */
        CriteriaView: {
            contradiction: components["schemas"]["FactRelation"];
            /** @description Whether it reaches the policy's minimum, or was to be remembered. */
            importance: boolean;
            /** @description Whether nothing that is kept says the same. */
            novelty: boolean;
            pii: components["schemas"]["PiiFinding"];
            /** @description Whether the source may state facts. */
            provenance: boolean;
        };
        /**
         * @description A budget of the caller's own. What the sections leave of the input goes to memories, history and task by need, in
         *     this order.
         */
        CustomBudget: {
            /** @description With the message. */
            history: number;
            /** @description The pack and what is retrieved. */
            memories: number;
            /** @description Kept free for the answer. */
            output: number;
            /** @description Tools, static prefix, boundaries, instructions. */
            system: number;
            /** @default 0 */
            task?: number;
            total: number;
        };
        /** @description What the answer had to do without, such as `vector:error`: docs/rules/degradation.md. */
        Degraded: string[];
        DeletedDocumentsView: {
            /** @description The paths of what was deleted. */
            deleted: string[];
            /** @description Whether documents are left below the prefix: call again. */
            more: boolean;
        };
        /** @description Name what went and where it still stands; with `dry_run` what would go, and nothing is gone. */
        DeletedView: {
            /** @description Where else what it said may still stand: at most 50 places, the log first. */
            also_in: components["schemas"]["CopyView"][];
            /** @description Whether everything was looked at, and everything found is named. */
            also_in_complete: boolean;
            /** @description What was made from it and went with it. */
            deleted_derived: string[];
            /** @description Reflections and copies that were made from it and are still there. */
            derived: string[];
            /** @constant */
            dry_run?: true;
            id: string;
            /** @description Frozen pack versions that still hold the text. */
            in_packs: components["schemas"]["PackVersionRef"][];
            /** @description False: of very many pack versions not all are named, or with `purge_packs` not all had time to go. The same call without an `Idempotency-Key` goes on, until it is true or 404. */
            packs_complete: boolean;
            /** @description Pack versions that held it and went with it. */
            purged_packs: components["schemas"]["PackVersionRef"][];
        };
        DeliveriesOut: {
            deliveries: components["schemas"]["DeliveryOut"][];
        };
        /** @enum {string} */
        DeliveryFailure: "status" | "timeout" | "name" | "address" | "connection" | "tls" | "resting";
        DeliveryOut: {
            /**
             * Format: date-time
             * @description RFC 3339 with an offset; kept in UTC with milliseconds.
             */
            at: string;
            attempt: number;
            duration_ms: number;
            event_id: string;
            /** @description `webhook.test` of a test. */
            event_type: string;
            /** @description Left out where it arrived. */
            failure?: components["schemas"]["DeliveryFailure"];
            /** @description `failed`: it is tried again. `given_up`: it is not, after 24 hours. `disabled`: the receiver wants nothing more. */
            outcome: components["schemas"]["DeliveryOutcome"];
            /** @description Left out where there was no answer. */
            status?: number;
        };
        /** @enum {string} */
        DeliveryOutcome: "delivered" | "failed" | "given_up" | "disabled";
        DocumentHeadView: {
            always_include: boolean;
            /** @description Of the text in UTF-8. Not of an artifact. */
            bytes?: number;
            created_at: string;
            editable: boolean;
            embedding_model?: string;
            embedding_state: string;
            /** @description When it was last drawn from a conversation. */
            extracted_at?: string;
            fingerprint: string;
            group?: string;
            /** @description Whether now is between the two: what does not hold is neither packed nor recalled. */
            holds: boolean;
            /** @description Stays when the document moves. An artifact has none. */
            id?: string;
            importance: number;
            include_priority: components["schemas"]["IncludePriority"];
            kind: string;
            name: string;
            path: string;
            prompt_hint?: string;
            prompt_label?: string;
            prompt_order?: number;
            provenance: components["schemas"]["ProvenanceView"];
            rev: number;
            seq?: number;
            /** @description Of an artifact: where a tool said it. */
            session_id?: string;
            source_id?: string;
            source_type?: string;
            status: string;
            summary: string;
            superseded_at?: string;
            superseded_by?: string;
            superseded_reason?: string;
            /** @description Paths. */
            supersedes: string[];
            tags: string[];
            tokens: number;
            /** @description When `rev` last moved. */
            updated_at?: string;
            valid_from?: string;
            valid_until?: string;
        };
        DocumentPage: {
            /** @description By path, without their texts. */
            documents: components["schemas"]["DocumentHeadView"][];
            next_cursor?: string;
        };
        /** @enum {string} */
        DocumentStatus: "active" | "resolved" | "inbox" | "archived";
        DocumentView: {
            always_include: boolean;
            /** @description Of the text in UTF-8. Not of an artifact. */
            bytes?: number;
            chunks?: components["schemas"]["ChunkView"][];
            /** @description Passages behind `chunks` for which the answer has no room: it has 6 MB. */
            chunks_left_out?: number;
            created_at: string;
            editable: boolean;
            embedding_model?: string;
            embedding_state: string;
            /** @description When it was last drawn from a conversation. */
            extracted_at?: string;
            fingerprint: string;
            group?: string;
            /** @description Whether now is between the two: what does not hold is neither packed nor recalled. */
            holds: boolean;
            /** @description Stays when the document moves. An artifact has none. */
            id?: string;
            importance: number;
            include_priority: components["schemas"]["IncludePriority"];
            kind: string;
            name: string;
            path: string;
            prompt_hint?: string;
            prompt_label?: string;
            prompt_order?: number;
            provenance: components["schemas"]["ProvenanceView"];
            rev: number;
            seq?: number;
            /** @description Of an artifact: where a tool said it. */
            session_id?: string;
            source_id?: string;
            source_type?: string;
            status: string;
            summary: string;
            superseded_at?: string;
            superseded_by?: string;
            superseded_reason?: string;
            /** @description Paths. */
            supersedes: string[];
            tags: string[];
            text: string;
            tokens: number;
            /** @description When `rev` last moved. */
            updated_at?: string;
            valid_from?: string;
            valid_until?: string;
        };
        DrainBody: {
            /** @description Only this user; all users of the tenant when absent. */
            user_id?: string;
            /**
             * @description As ``wait_s: 20``.
             * @default false
             */
            wait?: boolean;
            /** @description Seconds to wait until nothing is pending any more. */
            wait_s?: number;
        };
        DroppedPart: {
            /** @description Of the message in the list. */
            index: number;
            /** @description Where it stands in the message. */
            part: string;
            why: string;
        };
        /** @description The fate of a statement. Only a row that there is has an id; what is rejected has no text. */
        DryFactOut: {
            category?: components["schemas"]["Category"];
            decision: string;
            id?: string;
            reason: string;
            seq_from?: number;
            seq_to?: number;
            status?: components["schemas"]["MemoryStatus"];
            supersedes?: string[];
            text?: string;
            tokens?: number;
        };
        /** @description A new memory of a pass. */
        DryObservationOut: {
            about?: string[];
            priority: components["schemas"]["Priority"];
            seq_from?: number;
            seq_to?: number;
            text: string;
            tokens: number;
        };
        DryRunOut: {
            /** @description False: not all that is unobserved was looked at, `reason` says why. */
            complete: boolean;
            /**
             * @default true
             * @constant
             */
            dry_run: true;
            facts: components["schemas"]["DryFactOut"][];
            /** @description What it has cost, which is counted: calls and tokens of a model. */
            model?: {
                [key: string]: number;
            };
            observations: components["schemas"]["DryObservationOut"][];
            /** @description How far the session would be observed. */
            observed_seq: number;
            /** @description How often the observer was asked with success. */
            passes: number;
            reason?: string;
            /** @description Ids of memories that would be cited, or stated again. */
            reinforced: string[];
            /** @description Ids of memories that would be superseded. */
            superseded: string[];
            /** @description Of what would be new. */
            tokens: number;
        };
        /** @description The fields to edit, at least one. `path`: of a document; `category`, `importance`: of a fact. */
        EditBody: {
            category?: components["schemas"]["Category"];
            importance?: number;
            /** @description Where the document is to be. */
            path?: string;
            text?: string;
        };
        /** @enum {string} */
        EmbedCache: "hit" | "miss";
        EmbedderOut: {
            dimensions: number;
            model: string;
            reason?: string;
            /** @description `off`: keyword search only, by configuration. `loading`: the process has just started. */
            state: components["schemas"]["EmbedderState"];
        };
        /** @enum {string} */
        EmbedderState: "ready" | "loading" | "unavailable" | "off";
        /** @description Memories by embedding state; `vectors` are the stored (text, model) pairs, events included. */
        EmbeddingsOut: {
            failed: number;
            pending: number;
            ready: number;
            skipped: number;
            vectors: number;
        };
        EndBody: {
            /** @description How the conversation ended. */
            outcome?: components["schemas"]["Outcome"];
        };
        /** @enum {string} */
        EventImageType: "image/png" | "image/jpeg" | "image/gif" | "image/webp" | "image/*";
        /** @enum {string} */
        EventOrder: "asc" | "desc";
        EventOut: {
            /** @description A compaction has summarised it. */
            archived: boolean;
            artifact_path?: string;
            /** @description `session`: no other session is told of it. */
            audience?: components["schemas"]["Audience"];
            client_id?: string;
            /** @description Text, or blocks. Images and texts that Neve holds are named by `upload_id`, which a new event may use again. */
            content: string | {
                [key: string]: unknown;
            }[];
            created_at: string;
            /**
             * @description It was deleted, and nothing of what it said is kept any more.
             * @constant
             */
            erased?: true;
            event_data?: {
                [key: string]: unknown;
            };
            event_type: string;
            metadata?: {
                [key: string]: string;
            };
            name?: string;
            original_tokens: number;
            /** @description Who of the session's participants said it. */
            participant?: string;
            pruned: boolean;
            /** @description It was taken back: no prompt shows it and no recall finds it. */
            retracted: boolean;
            seq: number;
            /** @description The observer would not read it, or gave no usable answer; the passes went on without. */
            unobservable?: components["schemas"]["Unobservable"];
        };
        EventsPage: {
            events: components["schemas"]["EventOut"][];
            /** @description `from_seq` of the next page; absent on the last one. */
            next_from_seq?: number;
            /** @description Archived events that are gone for good, because the policy's `retention_days` are over. */
            removed?: components["schemas"]["RemovedOut"];
        };
        /**
         * @description A text by exactly one of `text`, `upload_id`. What was uploaded is read below `/artifacts/`, and the log, prompts
         *     and the observer hold a line that says where.
         */
        EventTextBlock: {
            text?: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "text";
            /** @description From `createUpload`, of `text/plain`. */
            upload_id?: string;
        };
        /** @description A new document in the place of an old one; what is not named is as in the old document. */
        EvolveDocumentBody: {
            /** @description In every pack. Always true below `/always-load/`. */
            always_include?: boolean;
            /** @description False: changed by people only, never by a model. */
            editable?: boolean;
            /** @description Empty: none. */
            group?: string;
            importance?: number;
            include_priority?: components["schemas"]["IncludePriority"];
            /** @description The caller's own; default `document`. */
            kind?: string;
            /** @description Default: the first heading, else the path's last segment; again when empty. */
            name?: string;
            /** @description Of the document that is superseded. */
            path: string;
            /** @description Empty: none. */
            prompt_hint?: string;
            /** @description What a prompt calls it. Empty: none. */
            prompt_label?: string;
            prompt_order?: number;
            reason: string;
            status?: components["schemas"]["DocumentStatus"];
            /** @description Default: the first lines; again when empty. */
            summary?: string;
            tags?: string[];
            text: string;
            /** @description Of the new one. */
            to: string;
            /** @description From when on it holds. Empty: always. */
            valid_from?: string | unknown | unknown;
            /** @description Until when it holds. Empty: always. */
            valid_until?: string | unknown | unknown;
        };
        /** @description A field that is absent is as it was, but for the times between which the old one held. */
        EvolveMemoryBody: {
            category?: components["schemas"]["Category"];
            importance?: number;
            priority?: components["schemas"]["Priority"];
            /** @description Why, for the trace. */
            reason: string;
            tags?: string[];
            /** @description What holds now. */
            text: string;
            /**
             * Format: date-time
             * @description From when on the new one holds; default always.
             */
            valid_from?: string;
            /**
             * Format: date-time
             * @description Until when the new one holds; default always.
             */
            valid_until?: string;
        };
        ExplainedRecallView: {
            /** @description The time that was asked about, where one was named. */
            as_of?: string;
            at: string;
            budget_ms: number;
            degraded: components["schemas"]["Degraded"];
            elapsed_ms: number;
            hits: components["schemas"]["RecordedHitView"][];
            id: string;
            legs: {
                [key: string]: components["schemas"]["LegView"];
            };
            limit: number;
            mode: components["schemas"]["RecallMode"];
            /** @description Keyed hash. The query itself is not kept. */
            query_hash: string;
            result_state: components["schemas"]["ResultState"];
            scope: components["schemas"]["RecallScope"];
            session_id?: string;
            why_not?: components["schemas"]["WhyNotView"];
        };
        /** @enum {string} */
        FactDecision: "stored" | "reinforced" | "superseded" | "inbox";
        /** @enum {string} */
        FactRelation: "not_checked" | "new" | "reinforces" | "updates" | "contradicts";
        /** @description The decisions on the statements of a text, with `split`: one for each. */
        FactsView: {
            facts: (components["schemas"]["FactView"] | components["schemas"]["RejectedFactView"])[];
        };
        /** @description The row of a fact, and why it is kept as it is. `reinforced`: it was there already. */
        FactView: {
            /** @description The participants of its session who said it. */
            about?: string[];
            /** @description `session`: no other session is told of it. */
            audience?: components["schemas"]["Audience"];
            category?: string;
            confidence: number;
            created_at: string;
            criteria: components["schemas"]["CriteriaView"];
            /** @description `superseded`: stored, in the place of what it corrects. */
            decision: components["schemas"]["FactDecision"];
            embedding_model?: string;
            embedding_state: string;
            emotional_tone?: string;
            fingerprint: string;
            group?: string;
            /** @description Whether now is between the two: what does not hold is neither packed nor recalled. */
            holds: boolean;
            id: string;
            importance: number;
            judged?: components["schemas"]["JudgedView"];
            key_topics?: string[];
            kind: string;
            label?: string;
            last_accessed_at?: string;
            last_used_at: string;
            metadata?: {
                [key: string]: string;
            };
            /** @description Neither packed nor recalled, whatever its status. */
            never_recall: boolean;
            observed_at: string;
            observed_date?: string;
            occurrences: number;
            outcome?: string;
            passages?: components["schemas"]["PassageView"][];
            priority: string;
            provenance: components["schemas"]["ProvenanceView"];
            reason: string;
            referenced_date?: string;
            relative_date?: string;
            rev: number;
            scope: string;
            session_id?: string;
            status: string;
            superseded_at?: string;
            superseded_by?: string;
            superseded_reason?: string;
            supersedes: string[];
            tags: string[];
            text: string;
            tier: string;
            time_of_day?: string;
            tokens: number;
            valid_from?: string;
            valid_until?: string;
            /** @description `model`: a model wrote it with a tool. */
            written_by?: components["schemas"]["WrittenBy"];
        };
        FailingWebhookOut: {
            /** @description Of the newest that failed. */
            at: string;
            disabled: boolean;
            /** @description Of the last 20 attempts. */
            failed: number;
            failure?: components["schemas"]["DeliveryFailure"];
            id: string;
            outcome: components["schemas"]["DeliveryOutcome"];
            status?: number;
        };
        FeedOut: {
            /** @description Where the next call goes on, also when there is nothing more by now. */
            cursor: string;
            events: components["schemas"]["OutgoingEventOut"][];
            /** @description Events behind `after` were removed before this call, or may have been: they are kept for 7 days. */
            missed: boolean;
            /** @description There is something behind it already. */
            more: boolean;
        };
        FieldProblem: {
            /** @description Where: `events[3].content`, `query.limit`, `path.user_id`, `header.If-Match`. */
            field: string;
            /** @description Why, for a person. */
            message: string;
        };
        /** @enum {string} */
        FilingAction: "create" | "update" | "append" | "move";
        FiltersBody: {
            /** @description Said by any of these participants. No document was. */
            about?: string[];
            /**
             * Format: date-time
             * @description Observed at this time or later.
             */
            after?: string;
            /**
             * Format: date-time
             * @description Observed before this time.
             */
            before?: string;
            category?: components["schemas"]["Category"];
            group?: string;
            kind?: components["schemas"]["HitKind"];
            /** @description All of them, with these values. No document has any. */
            metadata?: {
                [key: string]: string;
            };
            /** @description `/`, or a path; whole segments below it. */
            path_prefix?: string;
            /** @description All of them. */
            tags?: string[];
            tier?: components["schemas"]["Tier"];
        };
        ForgetArguments: {
            /** @description That of a list, at most an hour old. */
            confirm?: string;
            /**
             * @description Only list; false, with `id`: forget it in one call.
             * @default true
             */
            dry_run?: boolean;
            id?: string;
            /** @description What a recall finds for it, at most 20 memories. */
            query?: string;
        };
        /** @description `filters`, `query` or `sessions` list what would be forgotten; `confirm` has exactly that forgotten. */
        ForgetBody: {
            /** @description That of a list, at most an hour old. */
            confirm?: string;
            /**
             * @description Only list; false without `confirm`: list and forget what was found in one call.
             * @default true
             */
            dry_run?: boolean;
            /**
             * @description With `sessions`: the conversations themselves, too.
             * @default false
             */
            events?: boolean;
            filters?: components["schemas"]["MemoryFilters"];
            /**
             * @description Take the frozen pack versions that hold any of it away, too, when it is forgotten.
             * @default false
             */
            purge_packs?: boolean;
            /** @description What a recall in mode `tool` finds for it, at most 20 memories. */
            query?: string;
            /** @description What was made of these conversations and of no others, whatever its status. */
            sessions?: string[];
        };
        /** @description The list of what would be forgotten. Nothing is, yet. */
        ForgetListView: {
            /** @description False: there is more, which a further list has when this is forgotten. */
            complete: boolean;
            /** @description Has exactly these forgotten, as long as they are as they were listed. */
            confirm?: string;
            /** @description With `events`. */
            conversations?: components["schemas"]["ConversationView"][];
            /** @description Memories. */
            count: number;
            /** @description What the search for the `query` had to do without. */
            degraded?: components["schemas"]["Degraded"];
            dry_run: boolean;
            /** @description How long the `confirm` is good for. */
            expires_in_s?: number;
            /** @description The first 100 of them. */
            memories: components["schemas"]["ToForgetView"][];
        };
        /** @description `is_error` alone does not say which one: nobody may be able to look. */
        ForgetOrMistake: components["schemas"]["ForgetView"] | components["schemas"]["MistakeView"];
        ForgetToolBody: {
            arguments: components["schemas"]["ForgetArguments"];
            /** @description Where the tool was called. */
            session_id?: string;
            /** @description The provider's id of the call: a repeat in its session changes nothing. */
            tool_use_id?: string;
        };
        /** @description A list, or the job that forgets one. */
        ForgetView: {
            /** @description Has exactly these forgotten, as they were listed. */
            confirm?: string;
            /** @description What belongs into the `tool_result`: nothing else has to be made of this answer. */
            content: string;
            /** @description Memories that the list has. */
            count?: number;
            /** @description What the search had to do without. */
            degraded?: components["schemas"]["Degraded"];
            dry_run: boolean;
            /** @description How long the `confirm` is good for. */
            expires_in_s?: number;
            /** @description True: `content` says what did not work. */
            is_error: boolean;
            /** @description Of the job that forgets; its result is the receipt. */
            job_id?: string;
            /** @description The first 100 of them. */
            memories?: components["schemas"]["ToForgetView"][];
        };
        /** @description A list; of a call that forgets something, its job. */
        ForgottenOrListed: components["schemas"]["ForgetListView"] | components["schemas"]["JobOut"];
        /** @description `is_error` says which one. */
        FoundOrMistake: components["schemas"]["FoundView"] | components["schemas"]["MistakeView"];
        FoundView: {
            budget_ms: number;
            /** @description In the first answer of a process: what its start has cost. The budget began behind it. */
            cold_start_ms?: number;
            /** @description What belongs into the `tool_result`: nothing else has to be made of this answer. */
            content: string;
            debug?: {
                [key: string]: components["schemas"]["JsonValue"];
            };
            degraded: components["schemas"]["Degraded"];
            elapsed_ms: number;
            hits: components["schemas"]["HitView"][];
            /** @description Markdown for the prompt, labelled as candidates; empty without hits. */
            injection_text: string;
            /** @description True: `content` says what did not work. */
            is_error: boolean;
            legs: components["schemas"]["LegsView"];
            /** @description With `index:behind`: how much cannot be found yet. */
            memory_lag?: components["schemas"]["MemoryLagOut"];
            recall_id?: string;
            /** @description `none`: nothing is there. `not_searched`: nothing is known of what is there. */
            result_state: components["schemas"]["ResultState"];
            transparency: string[];
        };
        /** @description Another statement of the memory that a hit is. */
        FurtherStatementView: {
            n: number;
            seq_from?: number;
            seq_to?: number;
            text: string;
            /** @description Whose word it is. */
            trust: components["schemas"]["Trust"];
        };
        HealthOut: {
            embedder: components["schemas"]["EmbedderOut"];
            index: components["schemas"]["IndexOut"];
            languages: components["schemas"]["LanguagesOut"];
            /** @description The encoder of tenants whose policy says `languages: multi`; it is loaded when the first of them needs it. Absent where the stage's own serves them. */
            multi?: components["schemas"]["EmbedderOut"];
            /** @description Who observes: a language model, or `extractive` rules. */
            observer: string;
            status: components["schemas"]["HealthStatus"];
            table: components["schemas"]["StoreState"];
            /** @description What fails again and again, is full or is damaged. */
            troubles: components["schemas"]["TroubleOut"][];
            version: string;
        };
        /** @enum {string} */
        HealthStatus: "ok" | "loading" | "degraded";
        HistoryOut: {
            compaction: components["schemas"]["Queued"];
            /** @description One long message left no room for all of it: the next prompt has the turns again, and its epoch. */
            cut_for_message: boolean;
            epoch: number;
            /** @description This call cut the history or took its images out: a new epoch starts. */
            epoch_changed: boolean;
            /** @description `from` and `to`: events that are summarised or left out. */
            hidden?: {
                [key: string]: number;
            };
            /** @description That are shown. */
            turns: number;
        };
        /** @enum {string} */
        HitKind: "observation" | "reflection" | "fact" | "session_summary" | "note" | "manual" | "document" | "event";
        /** @description The matched part of the item, with its range of the session's log. */
        HitPassageView: {
            n: number;
            seq_from?: number;
            seq_to?: number;
        };
        HitProvenanceView: {
            by: string;
            model?: string;
            seq_from?: number;
            seq_to?: number;
            session_id?: string;
            /** @description Whose word the passage is. */
            trust: components["schemas"]["Trust"];
        };
        HitView: {
            /** @description The participants of its session who said it. */
            about?: string[];
            /** @description Of a memory, in mode `tool`: up to three other statements of it that hold terms of the query. */
            also?: components["schemas"]["FurtherStatementView"][];
            category?: string;
            components: components["schemas"]["ComponentsView"];
            created_at: string;
            group?: string;
            id: string;
            kind: string;
            metadata?: {
                [key: string]: string;
            };
            observed_at: string;
            passage: components["schemas"]["HitPassageView"];
            path?: string;
            provenance: components["schemas"]["HitProvenanceView"];
            rank: number;
            /** @description When else the same text was said or noted, newest first: of the items that were found, up to 20. */
            said_again?: string[];
            /** @description What the hits are ordered by: `rerank` where it ran, else `final`. */
            score: number;
            seq?: number;
            session_id?: string;
            source: components["schemas"]["Source"];
            speaker?: string;
            status: string;
            tags?: string[];
            /** @description The matched passage, and behind it the beginning of its item. */
            text: string;
            tier: string;
        };
        /** @description An image by exactly one of `data`, `url`, `upload_id`. Neve never fetches the URL. */
        ImageBlock: {
            /** @description The bytes in base64. */
            data?: string;
            /** @description `image/*`: of a `url` that does not say more. */
            media_type: components["schemas"]["EventImageType"];
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "image";
            /** @description From `createUpload`. */
            upload_id?: string;
            url?: string;
        };
        /** @description Counts of the prompt's images, those by `url` included. */
        ImagesOut: {
            /** @description A line of text stands in their place; `pruned` says of which events and why. Of what waits for an answer: `images:left_out`. */
            left_out: number;
            shown: number;
        };
        /** @enum {string} */
        ImagesShown: "all" | "recent" | "none";
        ImportLine: {
            about?: string[];
            /** @description `session`: told in its `session_id` alone. */
            audience?: components["schemas"]["Audience"];
            category?: components["schemas"]["Category"];
            /**
             * @description Kept to six places.
             * @default 1
             */
            confidence?: number;
            /**
             * Format: date-time
             * @description RFC 3339 with an offset; kept in UTC with milliseconds.
             */
            created_at?: string;
            emotional_tone?: string;
            group?: string;
            /** @description Its own. Without one it follows from the line, so that a repeat adds nothing. */
            id?: string;
            /** @default 3 */
            importance?: number;
            key_topics?: string[];
            /** @default manual */
            kind?: components["schemas"]["MemoryKind"];
            label?: string;
            /**
             * Format: date-time
             * @description RFC 3339 with an offset; kept in UTC with milliseconds.
             */
            last_used_at?: string;
            metadata?: {
                [key: string]: string;
            };
            /** @default false */
            never_recall?: boolean;
            /**
             * Format: date-time
             * @description RFC 3339 with an offset; kept in UTC with milliseconds.
             */
            observed_at?: string;
            /** @description Local to whoever said it; default the day in UTC. */
            observed_date?: string;
            /** @default 1 */
            occurrences?: number;
            outcome?: components["schemas"]["Outcome"];
            passages?: components["schemas"]["PassageLine"][];
            priority?: components["schemas"]["Priority"];
            provenance?: components["schemas"]["ProvenanceLine"];
            scope?: components["schemas"]["MemoryScope"];
            session_id?: string;
            /** @default active */
            status?: components["schemas"]["MemoryStatus"];
            /**
             * Format: date-time
             * @description RFC 3339 with an offset; kept in UTC with milliseconds.
             */
            superseded_at?: string;
            superseded_by?: string;
            superseded_reason?: string;
            supersedes?: string[];
            tags?: string[];
            text: string;
            time_of_day?: components["schemas"]["TimeOfDay"];
            /**
             * @default memory
             * @constant
             */
            type?: "memory";
            /**
             * Format: date-time
             * @description RFC 3339 with an offset; kept in UTC with milliseconds.
             */
            valid_from?: string;
            /**
             * Format: date-time
             * @description RFC 3339 with an offset; kept in UTC with milliseconds.
             */
            valid_until?: string;
            written_by?: components["schemas"]["WrittenBy"];
        };
        ImportView: {
            /** @description Further lines that were not accepted, whose reasons have no room in the answer. */
            also_rejected?: number[];
            /** @description Ids that were here already with another text, which stays. */
            conflicting: string[];
            imported: string[];
            /** @description Where to go on: there was no time for this line and those behind it, of which nothing is said here. Send them in another call. */
            next_line?: number;
            /** @description Lines that were not accepted; the others were. */
            rejected: components["schemas"]["RejectedLineView"][];
            /** @description Ids of facts that another memory here states, in these words or others. */
            repeated: string[];
            /** @description Lines of an export that are no memories, by type. */
            skipped: {
                [key: string]: number;
            };
            /** @description Ids that were here already with the same text. */
            unchanged: string[];
        };
        /** @description Exactly one of `memory` and `document`. */
        InboxItem: {
            created_at: string;
            document?: components["schemas"]["ProposalView"];
            id: string;
            memory?: components["schemas"]["MemoryView"];
            /** @description Why a person decides. */
            reason: string;
            session_id?: string;
            status: components["schemas"]["InboxStatus"];
        };
        InboxPage: {
            items: components["schemas"]["InboxItem"][];
            next_cursor?: string;
        };
        /** @enum {string} */
        InboxStatus: "inbox" | "approved" | "rejected";
        /** @enum {string} */
        IncludePriority: "high" | "normal" | "low";
        IndexOut: {
            dimensions?: number;
            /** @description False: the vectors are of another model and are not compared. */
            match?: boolean;
            model?: string;
            state: components["schemas"]["StoreState"];
        };
        JobOut: {
            created_at: string;
            /** @description Of a pass that has not ended: `extract:queued` while the language model gives no answer; of a call that asks for one: `observer:language`. */
            degraded?: components["schemas"]["Degraded"];
            finished_at?: string;
            id: string;
            kind: string;
            other_language?: components["schemas"]["OtherLanguage"];
            /** @description What was done, or why nothing was. */
            result?: {
                [key: string]: unknown;
            };
            session_id?: string;
            /** @description Of work on a session, when the job is read: from what was said to what can be found. */
            stages?: components["schemas"]["StageOut"][];
            status: components["schemas"]["JobStatus"];
            user_id?: string;
        };
        /** @enum {string} */
        JobStage: "analyse" | "extract" | "embed" | "upsert" | "ready";
        /** @enum {string} */
        JobStatus: "queued" | "running" | "done" | "failed";
        JsonValue: unknown;
        /** @description The reasons why a fact is kept as it is. */
        JudgedView: {
            criteria: components["schemas"]["CriteriaView"];
            reason: string;
            route: components["schemas"]["Plainness"];
            /** @description The memory that it reinforces or corrects. */
            target_id?: string;
            via: components["schemas"]["ProposedBy"];
        };
        /** @description A memory as it was written; of a fact with the decision; of a fact with `split` a list of them. */
        KeptView: components["schemas"]["FactView"] | components["schemas"]["RejectedFactView"] | components["schemas"]["FactsView"] | components["schemas"]["MemoryView"];
        KeyOut: {
            created_at: string;
            /** @description The key's text. Shown once: a repeat with the same `Idempotency-Key` names the key without it. */
            key?: string;
            key_id: string;
            label?: string;
            scopes: string[];
        };
        KeyPage: {
            keys: components["schemas"]["ListedKeyOut"][];
            next_cursor?: string;
        };
        /** @enum {string} */
        KeyScope: "chat" | "records" | "admin" | "documents" | "tokens";
        /** @description `is_error` says which one. */
        KnowledgeOrMistake: components["schemas"]["SearchKnowledgeView"] | components["schemas"]["MistakeView"];
        /** @description One document or memory, in a line: `read_document` has the text of a path. */
        KnowledgeView: {
            id: string;
            /** @description When the document last changed, or the memory was observed. */
            observed_at: string;
            /** @description Of a document. */
            path?: string;
            score: number;
            source: string;
            summary: string;
            tags: string[];
            /** @description The document's name, or the memory's beginning. */
            title: string;
        };
        /** @enum {string} */
        Languages: "en" | "multi";
        /** @description ISO 639-1 codes; `*` is any. */
        LanguagesOut: {
            /** @description Whose meaning the embedder knows. */
            meaning: string[];
            /** @description In which the observer recognises what to remember. */
            observer: string[];
            /** @description Whose inflections the keyword leg knows. Of others, words as written. */
            words: string[];
        };
        LayerEntry: {
            entry: components["schemas"]["PackEntryOut"];
            layer: components["schemas"]["PackLayer"];
        };
        /** @enum {string} */
        Leg: "lexical" | "vector";
        /** @description The place of a memory in one leg. Without a rank it was not found, or dropped before the ranking. */
        LegPlaceView: {
            depth: number;
            rank?: number;
            /** @description BM25 of the lexical leg, cosine of the vector leg. */
            score?: number;
            status: components["schemas"]["LegStatus"];
        };
        /** @enum {string} */
        LegStatus: "complete" | "skipped" | "error";
        LegsView: {
            lexical: components["schemas"]["LegView"];
            vector: components["schemas"]["LegView"];
        };
        LegView: {
            depth: number;
            embed_cache?: components["schemas"]["EmbedCache"];
            embed_ms?: number;
            /**
             * @description Its error is that it had no more time.
             * @constant
             */
            late?: true;
            ms: number;
            /** @description After the recall's own start. */
            started_ms: number;
            status: components["schemas"]["LegStatus"];
        };
        ListedKeyOut: {
            created_at: string;
            key_id: string;
            label?: string;
            /** @description In UTC; absent where no use is known. */
            last_used_day?: string;
            revoked_at?: string;
            scopes: components["schemas"]["KeyScope"][];
        };
        MemoriesOut: {
            kind: {
                [key: string]: number;
            };
            status: {
                [key: string]: number;
            };
            tier: {
                [key: string]: number;
            };
            total: number;
        };
        /**
         * @description The filters of the list of memories and those of a recall. A document has other calls, so that there is no
         *     `path_prefix`.
         */
        MemoryFilters: {
            /** @description Said by any of these participants. */
            about?: string[];
            /**
             * Format: date-time
             * @description Observed at this time or later.
             */
            after?: string;
            /**
             * Format: date-time
             * @description Observed before this time.
             */
            before?: string;
            category?: components["schemas"]["Category"];
            group?: string;
            kind?: components["schemas"]["MemoryKind"];
            /** @description All of them, with these values. */
            metadata?: {
                [key: string]: string;
            };
            never_recall?: boolean;
            scope?: components["schemas"]["MemoryScope"];
            session_id?: string;
            /** @description Default: active, resolved and inbox. */
            status?: components["schemas"]["MemoryStatus"];
            /** @description All of them. */
            tags?: string[];
            tier?: components["schemas"]["Tier"];
            /** @description `model`: what a model wrote with a tool. */
            written_by?: components["schemas"]["WrittenBy"];
        };
        /** @enum {string} */
        MemoryKind: "observation" | "reflection" | "fact" | "session_summary" | "note" | "manual";
        /** @description The lag of memory behind what was said. All zero: everything can be recalled, by words and by meaning. */
        MemoryLagOut: {
            /** @description true: not everything was counted, so each number may be larger. Else absent. */
            at_least?: boolean;
            /** @description Events whose words are not in the search index yet. */
            events: number;
            /** @description How long the oldest of all these has waited. */
            seconds: number;
            /** @description Events and memories that cannot be found by meaning yet. */
            unembedded: number;
            /** @description Those, and memories that are not in it as they are now. */
            unindexed: number;
            /** @description Events up to the last complete turn that no pass has read. */
            unobserved: number;
        };
        MemoryPage: {
            memories: components["schemas"]["MemoryView"][];
            next_cursor?: string;
        };
        /** @enum {string} */
        MemoryScope: "session" | "global";
        /** @enum {string} */
        MemoryStatus: "active" | "resolved" | "inbox" | "superseded" | "archived";
        /** @enum {string} */
        MemoryStatusChange: "active" | "resolved" | "archived";
        MemoryView: {
            /** @description The participants of its session who said it. */
            about?: string[];
            /** @description `session`: no other session is told of it. */
            audience?: components["schemas"]["Audience"];
            category?: string;
            confidence: number;
            created_at: string;
            embedding_model?: string;
            embedding_state: string;
            emotional_tone?: string;
            fingerprint: string;
            group?: string;
            /** @description Whether now is between the two: what does not hold is neither packed nor recalled. */
            holds: boolean;
            id: string;
            importance: number;
            judged?: components["schemas"]["JudgedView"];
            key_topics?: string[];
            kind: string;
            label?: string;
            last_accessed_at?: string;
            last_used_at: string;
            metadata?: {
                [key: string]: string;
            };
            /** @description Neither packed nor recalled, whatever its status. */
            never_recall: boolean;
            observed_at: string;
            observed_date?: string;
            occurrences: number;
            outcome?: string;
            passages?: components["schemas"]["PassageView"][];
            priority: string;
            provenance: components["schemas"]["ProvenanceView"];
            referenced_date?: string;
            relative_date?: string;
            rev: number;
            scope: string;
            session_id?: string;
            status: string;
            superseded_at?: string;
            superseded_by?: string;
            superseded_reason?: string;
            supersedes: string[];
            tags: string[];
            text: string;
            tier: string;
            time_of_day?: string;
            tokens: number;
            valid_from?: string;
            valid_until?: string;
            /** @description `model`: a model wrote it with a tool. */
            written_by?: components["schemas"]["WrittenBy"];
        };
        MessageEvent: {
            /** @description The same id again returns the first seq; with other content it is a 409. */
            client_id?: string;
            content: string | (components["schemas"]["EventTextBlock"] | components["schemas"]["ImageBlock"])[];
            /**
             * Format: date-time
             * @description When it was said; now when absent or more than a day ahead. RFC 3339 with an offset.
             */
            created_at?: string;
            event_data?: {
                [key: string]: unknown;
            };
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            event_type: "user_message";
            /** @description Labels of the caller's own; nothing that is made of the event has them. */
            metadata?: {
                [key: string]: string;
            };
            /** @description The speaker. White space, line breaks included, becomes single spaces. */
            name?: string;
            /** @description Who of the session's `participants` said it. */
            participant?: string;
        };
        /** @enum {string} */
        MessageFormat: "anthropic" | "openai" | "openai_responses" | "ai_sdk";
        /** @enum {string} */
        MessageOutcome: "appended" | "known" | "dropped";
        /** @description The whole chat, or its end, or what is new: what the session has already is not appended again. */
        MessagesBody: {
            /**
             * Format: date-time
             * @description When those were said that do not say it themselves.
             */
            created_at?: string;
            /** @description Whose messages these are; found for each when left out. */
            format?: components["schemas"]["MessageFormat"];
            /** @description In order; at most 48 events are new in one call. */
            messages: {
                [key: string]: unknown;
            }[];
            /** @description Of the session, when it is new. */
            metadata?: {
                [key: string]: string;
            };
            /** @description Of the session, when it is new. */
            participants?: components["schemas"]["ParticipantBody"][];
            /** @description Of the session, when it is new. */
            room?: boolean;
            /** @description Of the session, when it is new. */
            title?: string;
            /** @description Of the session, when it is new. */
            user_meta?: components["schemas"]["UserMeta"];
        };
        MessageState: {
            /** @description Its own, else made of what it says and how often that was said before. */
            id: string;
            /** @description Of its events in the log. */
            seqs: number[];
            /** @description `known`: the session has it already. `dropped`: it says nothing; see `dropped`. */
            state: components["schemas"]["MessageOutcome"];
        };
        /** @description The model's mistake. Nothing was looked for. */
        MistakeView: {
            /** @description A sentence for the model, which belongs into the `tool_result`. */
            content: string;
            /**
             * @default true
             * @constant
             */
            is_error: true;
        };
        /**
         * @description USD for a million tokens. ``input``: neither read from the cache nor written to it. ``cache_ttl_s``: how long the
         *     cache keeps a prompt that no call reads. The tokens of a prompt that has more than ``long_from`` cost ``long_input``
         *     times as much, and those of its answer ``long_output`` times as much. ``as_of``: when it was read.
         */
        ModelPrice: {
            as_of?: string;
            cache_read: number;
            /** @default 300 */
            cache_ttl_s?: number;
            cache_write: number;
            input: number;
            long_from?: number;
            /** @default 1 */
            long_input?: number;
            /** @default 1 */
            long_output?: number;
            output: number;
        };
        /** @description USD by the prices in force when it was reported. What is saved may be negative. */
        MoneyOut: {
            cost_usd: number;
            /** @description Against the same prompts without a cache. */
            saved_usd_no_cache: number;
            /** @description Against a pack that is rebuilt every turn: only what stands before it would have been read. */
            saved_usd_rebuilt_pack: number;
        };
        MoveBody: {
            /** @description A path must be 1 to 20 segments, each / and characters that are no control, format or line-breaking signs, none of them blank, . or .. alone, together at most 900 bytes in UTF-8. */
            path: string;
            /**
             * @description With everything below `path`, up to 2,000 documents, which come to stand below `to`.
             * @default false
             */
            prefix?: boolean;
            /** @description A path must be 1 to 20 segments, each / and characters that are no control, format or line-breaking signs, none of them blank, . or .. alone, together at most 900 bytes in UTF-8. */
            to: string;
        };
        MovedDocumentsView: {
            /** @description Whether some are left for want of time: call again. */
            more: boolean;
            /** @description By the paths where they were. */
            moved: components["schemas"]["MovedDocumentView"][];
        };
        MovedDocumentView: {
            id: string;
            /** @description Where it was. */
            path: string;
            rev: number;
            to: string;
        };
        /** @description The document; with `prefix` the list of those that were moved. */
        MovedView: components["schemas"]["DocumentView"] | components["schemas"]["MovedDocumentsView"];
        /**
         * @description Kept, paged, exported and given back as it is, and read by nothing else: never observed, indexed, recalled or
         *     shown in a prompt, and no part of a turn. `event_data` takes any JSON object.
         */
        NeutralEvent: {
            /** @description The same id again returns the first seq; with other content it is a 409. */
            client_id?: string;
            /** @default  */
            content?: string;
            /**
             * Format: date-time
             * @description When it was said; now when absent or more than a day ahead. RFC 3339 with an offset.
             */
            created_at?: string;
            event_data?: {
                [key: string]: unknown;
            };
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            event_type: "neutral";
            /** @description Labels of the caller's own; nothing that is made of the event has them. */
            metadata?: {
                [key: string]: string;
            };
            /** @description The speaker. White space, line breaks included, becomes single spaces. */
            name?: string;
        };
        /** @enum {string} */
        NightlyModel: "direct" | "batch";
        NightOut: {
            began: string;
            ended: number;
            failed: number;
            finished_at?: string;
            job_id: string;
            reason?: string;
            status: components["schemas"]["JobStatus"];
            /** @description Whose rows it condenses, as far as it has told them. */
            users: number;
        };
        /** @enum {string} */
        Observation: "queued" | "waiting" | "none";
        /**
         * @description Says when the observer reads what was said. A call of observe, a session's end, a compaction and another session
         *     of the user do not wait for it.
         */
        ObserveAfter: {
            /** @description Seconds without an event behind which fewer are read, too; the sweep looks every ten minutes. By default 600. */
            idle_s?: number;
            /** @description New tokens of complete turns that are read together; 0: after every turn. By default 2,000 where a language model observes, else 0. */
            tokens?: number;
        };
        ObserveBody: {
            /**
             * @description Say what a pass would write, and write nothing.
             * @default false
             */
            dry_run?: boolean;
            /**
             * @description Poll up to 20 s for the end of the job.
             * @default false
             */
            wait?: boolean;
        };
        /** @description `dry_run` says which one. */
        ObservedOut: components["schemas"]["DryRunOut"] | components["schemas"]["JobOut"];
        OpenedOut: {
            created: boolean;
            /** @description What is missing from the pack, and why; `extract:queued` while what was said waits for a language model that gives no answer. Absent when nothing is. */
            degraded?: components["schemas"]["Degraded"];
            elapsed_ms: number;
            pack: components["schemas"]["PackOut"];
            session: components["schemas"]["SessionOut"];
            /** @description Lines for the person at the screen. */
            transparency: string[];
        };
        OpenJobOut: {
            created_at: string;
            /** @description When the sweep sends it again, unless it has ended by then. */
            due_at?: string;
            id: string;
            kind: string;
            session_id?: string;
            status: components["schemas"]["JobStatus"];
            user_id?: string;
        };
        OpenSessionBody: {
            /** @description How long the pack may take; the policy's session start budget when absent. 0 or less: no pack. */
            budget_ms?: number;
            /** @description Labels of the caller's own; sent again, they take the place of those that are there. */
            metadata?: {
                [key: string]: string;
            };
            /** @description Who speaks beside an assistant; sent again, they join those who are there. What others than the user of the path say is told in no other session. */
            participants?: components["schemas"]["ParticipantBody"][];
            /** @description The user of the path is no person but a room: what is said in it is the room's. */
            room?: boolean;
            /** @description Repeat a call with the same id for the same session. */
            session_id?: string;
            title?: string;
            user_meta?: components["schemas"]["UserMeta"];
        };
        /** @description How many of the user's messages are not observed, because the observer does not know their language: `observer:language`. Search finds them all the same. */
        OtherLanguage: number;
        /** @enum {string} */
        Outcome: "SUCCESS" | "PARTIAL" | "INTERRUPTED";
        OutgoingEventOut: {
            /**
             * Format: date-time
             * @description RFC 3339 with an offset; kept in UTC with milliseconds.
             */
            at: string;
            /** @description Ids and counts, by type: docs/rules/events.md#types. */
            data: {
                [key: string]: unknown;
            };
            /** @description The same in every repeat. */
            id: string;
            /** @description The id of what changed: a memory, a session, a job, a proposal. */
            subject: string;
            tenant: string;
            type: components["schemas"]["OutgoingType"];
            /** @description Left out where it is about the tenant as a whole. */
            user_id?: string;
        };
        /** @enum {string} */
        OutgoingType: "memory.written" | "memory.superseded" | "memory.forgotten" | "pack.version" | "reflection.done" | "session.extracted" | "erasure.done" | "export.done" | "job.failed" | "inbox.waiting";
        PackChangeOut: {
            at: string;
            /** @description Tokens that were written because of it. */
            cache_writes: number;
            /** @description What they cost more than reading them. */
            cost_usd?: number;
            pack_version: number;
            /** @description Why that version was built. */
            trigger?: components["schemas"]["Trigger"];
        };
        /** @description Reports with another pack than the one before. */
        PackChangesOut: {
            /** @description Tokens that were written because of it. */
            cache_writes: number;
            /** @description What they cost more than reading them. */
            cost_usd?: number;
            count: number;
        };
        PackDiffOut: {
            added: components["schemas"]["LayerEntry"][];
            changed: components["schemas"]["ChangedEntry"][];
            removed: components["schemas"]["LayerEntry"][];
            /** @description Unified diff of the two texts. */
            unified: string;
            /** @description False: it is longer than an answer may be, and ends behind the last line that fits. */
            unified_complete: boolean;
        };
        PackEntryOut: {
            fingerprint: string;
            id: string;
            /** @description A memory's kind; `document`, or `excerpt` of one that is shown in part; `event` of what was just said in another conversation. */
            kind: string;
            /** @description Of a document. */
            path?: string;
            rev: number;
            /** @description In the text; 0 of a fact that another line of the pack says. */
            tokens: number;
        };
        /** @enum {string} */
        PackFormat: "json" | "text";
        /** @enum {string} */
        PackLayer: "always" | "profile" | "global" | "local";
        /** @description Items in the order they are rendered in. */
        PackLayersOut: {
            always: components["schemas"]["PackEntryOut"][];
            global: components["schemas"]["PackEntryOut"][];
            local: components["schemas"]["PackEntryOut"][];
            profile: components["schemas"]["PackEntryOut"][];
        };
        /**
         * @description A `ready` pack is a version and its JSON never changes: whether it is stale says `X-Neve-Degraded` alone.
         *     `preview` and `partial` have text but no version; `unavailable` has no text, so that the caller keeps its last
         *     pack.
         */
        PackOut: {
            also_left_out?: number;
            built_at?: string;
            degraded?: components["schemas"]["Degraded"];
            layers?: components["schemas"]["PackLayersOut"];
            left_out?: components["schemas"]["PackEntryOut"][];
            pack_version?: number;
            session_id?: string;
            sha256?: string;
            state: components["schemas"]["PackState"];
            text?: string;
            tokens?: number;
            trigger?: components["schemas"]["Trigger"];
        };
        /** @enum {string} */
        PackState: "ready" | "partial" | "unavailable" | "preview";
        PackVersionOut: {
            /** @description How many more had no room, whose names have none here. */
            also_left_out?: number;
            built_at: string;
            layers: components["schemas"]["PackLayersOut"];
            /** @description What had no room: documents of the always and profile layers, and observations and reflections of the session while these are waiting to be folded; and rows of any kind of a pack that would be too large for an answer. Recall finds them. */
            left_out?: components["schemas"]["PackEntryOut"][];
            pack_version: number;
            session_id: string;
            /** @description Of the text in UTF-8. */
            sha256: string;
            /** @description Of the text. */
            tokens: number;
            trigger: components["schemas"]["Trigger"];
        };
        PackVersionRef: {
            session_id: string;
            version: number;
        };
        PackVersions: {
            next_cursor?: string;
            versions: components["schemas"]["PackVersionOut"][];
        };
        /** @description `is_error` alone does not say which one: there may be no such document. */
        PageOrMistake: components["schemas"]["ReadDocumentView"] | components["schemas"]["MistakeView"];
        ParticipantBody: {
            /** @description By which events name them; unique in the session. */
            id: string;
            /** @description How prompts and memory call them. */
            name: string;
            /**
             * @description What they say from now on goes into the memory of their `user_id`, too.
             * @default false
             */
            share?: boolean;
            /** @description Their own user, where they have one; that of the path, or such an `id`: it is theirs. */
            user_id?: string;
        };
        ParticipantOut: {
            id: string;
            name: string;
            share: boolean;
            user_id?: string;
        };
        /** @description A part of the request, in its order. */
        PartOut: {
            /** @description JSON pointer into `request`: to the text that holds the part, or to the first of tools or history. */
            at?: string;
            end?: number;
            /** @description `tools`, `static`, `system`, `instructions`, `pack`, `history`, `updates`, `retrieved`, `task_state`, `session` or `message`. */
            name: string;
            /** @description Its place in that text, in characters. */
            start?: number;
            tokens: number;
        };
        PassageLine: {
            /** @description A position in the log. */
            seq_from?: number;
            /** @description A position in the log. */
            seq_to?: number;
            text: string;
            trust?: components["schemas"]["Trust"];
        };
        PassageView: {
            seq_from?: number;
            seq_to?: number;
            text: string;
            trust?: components["schemas"]["Trust"];
        };
        /** @enum {string} */
        PiiAction: "block" | "redact" | "allow";
        /**
         * @description The actions on each class of personal data that is found (docs/rules/privacy.md#classes). Names, places and
         *     relatives are what a memory of a person is made of: the gate does not look for them.
         */
        PiiActions: {
            /** @default allow */
            address?: components["schemas"]["PiiAction"];
            /** @default block */
            api_key?: components["schemas"]["PiiAction"];
            /** @default block */
            card_number?: components["schemas"]["PiiAction"];
            /** @default allow */
            email?: components["schemas"]["PiiAction"];
            /** @default allow */
            iban?: components["schemas"]["PiiAction"];
            /** @default redact */
            medical_record_number?: components["schemas"]["PiiAction"];
            /** @default block */
            password?: components["schemas"]["PiiAction"];
            /** @default allow */
            phone?: components["schemas"]["PiiAction"];
            /** @default block */
            ssn?: components["schemas"]["PiiAction"];
        };
        /** @enum {string} */
        PiiFinding: "clear" | "redacted" | "blocked";
        /** @enum {string} */
        Plainness: "high" | "medium" | "low";
        PlannedBatchOut: {
            ids: string[];
            tokens: number;
            user_id: string;
        };
        /** @description The numbers that the tenant set, as they are stored. The properties give the numbers in force. */
        Policy: {
            /** @description Tokens of the pack for documents that are always in it; 0.02 of the window. */
            always_budget?: number;
            /**
             * @description How a prompt and its pack are shared out.
             * @default agentic
             */
            budget_profile?: components["schemas"]["BudgetProfile"] | components["schemas"]["CustomBudget"];
            /** @description By model: from how many tokens on it caches, where the table is wrong. */
            cacheable_tokens?: {
                [key: string]: number;
            };
            /** @description The model that prompts are for, by its provider's name. */
            chat_model?: string;
            /** @description Tokens of turns at which a session is compacted; half of the window. */
            compaction_trigger?: number;
            /** @description Tokens of the pack for what holds in every session; 0.075 of the window. */
            global_budget?: number;
            /**
             * @description Whose meaning recall knows; a change makes every vector anew.
             * @default en
             */
            languages?: components["schemas"]["Languages"];
            /** @description Tokens of the pack for notes and facts of the session itself; 0.05 of the window. */
            local_rows_budget?: number;
            /**
             * @description Milliseconds of a search by a tool.
             * @default 10000
             */
            manual_search_budget_ms?: number;
            /**
             * @description A fact of less importance is kept only if somebody asked for it.
             * @default 2
             */
            min_importance?: number;
            /**
             * @description How nights, and filings of sessions that nobody ended, ask a model: at once, or in batches at half the price where its provider has them.
             * @default direct
             */
            nightly_model?: components["schemas"]["NightlyModel"];
            /** @description When the observer reads what was said; what waits is found by its words meanwhile. */
            observe_after?: components["schemas"]["ObserveAfter"];
            /**
             * @description Tokens that the observer may answer with.
             * @default 8000
             */
            observer_output_cap?: number;
            /**
             * @description Tokens of events that the observer reads at a time.
             * @default 35000
             */
            observer_transcript_cap?: number;
            /**
             * @description What is done with personal data that is found.
             * @default {
             *       "card_number": "block",
             *       "ssn": "block",
             *       "password": "block",
             *       "api_key": "block",
             *       "medical_record_number": "redact",
             *       "phone": "allow",
             *       "email": "allow",
             *       "iban": "allow",
             *       "address": "allow"
             *     }
             */
            pii?: components["schemas"]["PiiActions"];
            /** @description By model: what corrects the list prices or adds to them. */
            prices?: {
                [key: string]: components["schemas"]["ModelPrice"];
            };
            /**
             * @description Tokens of earlier memories that the observer is shown.
             * @default 4000
             */
            prior_memory_cap?: number;
            /** @description Tokens of the pack for the profile, people included; 0.025 of the window. */
            profile_budget?: number;
            /**
             * @description Milliseconds of a recall in a prompt.
             * @default 300
             */
            prompt_budget_ms?: number;
            /**
             * @description Share of a prompt's words that makes up for some similarity; 0 lets everything through.
             * @default 0.5
             */
            prompt_share?: number;
            /**
             * @description Hits of a recall in a prompt.
             * @default 5
             */
            recall_limit?: number;
            /**
             * @description Calibrated similarity below which a hit is no hit.
             * @default 0.7
             */
            recall_threshold?: number;
            /**
             * @description Hits of the tool `recall_memory`.
             * @default 8
             */
            recall_tool_limit?: number;
            /**
             * @description Days until a memory is old enough for a night.
             * @default 3
             */
            reflection_min_age_days?: number;
            /**
             * @description Memories that are worth a night's run.
             * @default 20
             */
            reflection_min_rows?: number;
            /**
             * @description Or so many tokens of them.
             * @default 8000
             */
            reflection_min_tokens?: number;
            /**
             * @description Who orders the hits again: nobody, a linear model, or for tools a model that reads them.
             * @default deep
             */
            rerank?: components["schemas"]["Rerank"];
            /** @description Days until an archived event is removed; without it never. */
            retention_days?: number;
            /**
             * @description `interactive`: facts that were not said plainly wait in the inbox.
             * @default auto
             */
            review_mode?: components["schemas"]["ReviewMode"];
            /** @description Tokens that a folding may leave; half of its trigger. */
            session_reflection_target?: number;
            /** @description Tokens at which a session's observations are folded; 0.325 of the window. */
            session_reflection_trigger?: number;
            /**
             * @description Milliseconds of the pack when a session is opened.
             * @default 500
             */
            session_start_budget_ms?: number;
            /** @description The part of every prompt that is the tenant's own. */
            static_prefix?: components["schemas"]["StaticPrefix"];
            /**
             * @description How long a summary is.
             * @default standard
             */
            summary_verbosity?: components["schemas"]["Verbosity"];
            /**
             * @description The IANA time zone whose 03:00 is the tenant's night.
             * @default UTC
             */
            timezone?: string;
            /**
             * @description How tokens are counted.
             * @default estimate
             */
            token_counter?: components["schemas"]["TokenCounter"];
            /**
             * @description Tokens of the effective context window; what is not set follows it.
             * @default 200000
             */
            window?: number;
            /**
             * @description What a model may write: nothing, proposals for the inbox, or memories.
             * @default off
             */
            write_tools?: components["schemas"]["WriteTools"];
        };
        PolicyChange: components["schemas"]["Policy"];
        PolicyOut: {
            /** @description Every number after defaults and ratios of `window`. */
            in_force: {
                [key: string]: unknown;
            };
            /** @description What was set, as it would be sent to set it again. */
            policy: {
                [key: string]: unknown;
            };
            /** @description The job that makes every vector anew because `languages` changed; until it is absent, recall works by keyword only. */
            reindex_job?: string;
            /** @description For `If-Match`. */
            rev: number;
        };
        /** @enum {string} */
        Priority: "high" | "medium" | "low";
        /** @description RFC 9457 problem details. */
        Problem: {
            /** @description Stable, for programs. */
            code: string;
            /** @description What happened this time. */
            detail: string;
            /** @description The fields at fault, where there are any. */
            errors?: components["schemas"]["FieldProblem"][];
            /** @description Also in `X-Request-Id`; quote it when asking for help. */
            request_id: string;
            /** @description The HTTP status. */
            status: number;
            /** @description What the code means, the same for every occurrence. */
            title: string;
            /** @description `urn:neve:problem:<code>`. */
            type: string;
        };
        /** @description The parts that a prompt is compiled from, of a session that is named elsewhere. */
        PromptBody: {
            /** @description Default: the policy's. */
            budget_profile?: components["schemas"]["BudgetProfile"] | components["schemas"]["CustomBudget"];
            /**
             * @description The report only. Nothing is written.
             * @default false
             */
            dry_run?: boolean;
            /**
             * @description Whose arguments `request` holds.
             * @default anthropic
             */
            format?: components["schemas"]["PromptFormat"];
            /** @description Turns: at least so many are shown, and at most twice as many. */
            history_window?: number;
            /**
             * @description Of this prompt. `recent`: of what waits for an answer only, `none`: none; each other one is a line of text.
             * @default all
             */
            images?: components["schemas"]["ImagesShown"];
            /** @description Events whose images the provider has refused: `image_events` of the prompt that it would not take. This prompt and all later ones show a line of text in their place. */
            images_refused?: number[];
            /** @description Behind the static prefix. Another list is another prefix to the provider. */
            instructions?: string[];
            /**
             * @description Marks of what the provider is to cache, at most.
             * @default 4
             */
            max_breakpoints?: number;
            /** @description What the user says now: text or blocks. It is not stored. Where the log ends with it already, it is not repeated, and may be left out. */
            message?: string | (components["schemas"]["TextBlock"] | components["schemas"]["ImageBlock"])[];
            /**
             * @description `auto`: the 5 best passages, and on to 600 tokens. `tools`: the model is offered the search. `both`, `none`.
             * @default auto
             */
            retrieval?: components["schemas"]["Retrieval"];
            /** @description Text or text blocks, one block behind the static prefix. The same on every day: no date, time, e-mail address, id or placeholder. Another text is another prefix to the provider. */
            system?: string | components["schemas"]["SystemBlockBody"][];
            task_state?: string | components["schemas"]["TaskStateBody"];
            /** @description The caller's own, as the provider takes them (with `ai_sdk` by name). They stand in front of Neve's. Without any, a tool that the shown history calls is declared by a stand-in. */
            tools?: {
                [key: string]: components["schemas"]["JsonValue"];
            }[] | {
                [key: string]: components["schemas"]["JsonValue"];
            };
            /**
             * @description Also of a dry run `request`; and `parts`, where each part stands in it.
             * @default false
             */
            with_request?: boolean;
        };
        /** @description Sums over the reports of prompts. */
        PromptCacheOut: {
            collapses: components["schemas"]["CollapsesOut"];
            /** @description The share of the prompts' tokens that the cache gave. */
            hit_rate?: number;
            /** @description Of the reports whose model has a price; absent when none has. */
            money?: components["schemas"]["MoneyOut"];
            pack_changes: components["schemas"]["PackChangesOut"];
            reports: number;
            tokens: components["schemas"]["TokensOut"];
            /** @description Reports of models without a price: in no sum of money. */
            unpriced_reports: number;
        };
        PromptDayOut: {
            /** @description UTC. */
            date: string;
            prompt_cache: components["schemas"]["PromptCacheOut"];
        };
        /** @enum {string} */
        PromptFormat: "anthropic" | "openai" | "openai_responses" | "ai_sdk" | "gemini";
        /**
         * @description A proposal: what the librarian would do to a document. `decided_path` and `rev`: of the document that came of
         *     it.
         */
        ProposalView: {
            action: components["schemas"]["FilingAction"];
            /** @description The rev that the text was made from. */
            base_rev?: number;
            certainty: components["schemas"]["Certainty"];
            decided_path?: string;
            importance: number;
            model: string;
            /** @description As it was proposed; a path that no document may have is changed with `edit`. */
            path: string;
            rev?: number;
            seqs: number[];
            tags: string[];
            text: string;
            title?: string;
            to_path?: string;
            trust: string;
        };
        /** @enum {string} */
        ProposedBy: "api" | "observer" | "librarian" | "model";
        /** @description The origin that an exported row names; ``by`` becomes ``import``, and so does ``trust`` unless it is lower. */
        ProvenanceLine: {
            by?: string;
            model?: string;
            /** @description A position in the log. */
            seq_from?: number;
            /** @description A position in the log. */
            seq_to?: number;
            session_id?: string;
            trust?: components["schemas"]["Trust"];
        };
        ProvenanceView: {
            by: string;
            model?: string;
            seq_from?: number;
            seq_to?: number;
            session_id?: string;
            /** @description Whose word it is at the least: that of its lowest passage, or of its lowest source. */
            trust: components["schemas"]["Trust"];
        };
        PrunedOut: {
            items: string[];
            section: string;
            why: string;
        };
        /** @description A document to write; the text alone may be sent as `text/markdown` instead. */
        PutBody: {
            /** @description In every pack. Always true below `/always-load/`. */
            always_include?: boolean;
            /** @description False: changed by people only, never by a model. */
            editable?: boolean;
            /** @description Empty: none. */
            group?: string;
            importance?: number;
            include_priority?: components["schemas"]["IncludePriority"];
            /** @description The caller's own; default `document`. */
            kind?: string;
            /** @description Default: the first heading, else the path's last segment; again when empty. */
            name?: string;
            /** @description Empty: none. */
            prompt_hint?: string;
            /** @description What a prompt calls it. Empty: none. */
            prompt_label?: string;
            prompt_order?: number;
            /** @description What it is called there: sent again, wherever to, it is the next rev. */
            source_id?: string;
            /** @description The outside system that it comes from. */
            source_type?: string;
            status?: components["schemas"]["DocumentStatus"];
            /** @description Default: the first lines; again when empty. */
            summary?: string;
            tags?: string[];
            /** @description Required for a new document. */
            text?: string;
            /** @description From when on it holds. Empty: always. */
            valid_from?: string | unknown | unknown;
            /** @description Until when it holds. Empty: always. */
            valid_until?: string | unknown | unknown;
        };
        /** @enum {string} */
        Queued: "queued" | "none";
        ReadDocumentArguments: {
            /**
             * @description In characters: the `next_offset` of the page before.
             * @default 0
             */
            offset?: number;
            /** @description A path must be 1 to 20 segments, each / and characters that are no control, format or line-breaking signs, none of them blank, . or .. alone, together at most 900 bytes in UTF-8. */
            path: string;
        };
        ReadDocumentBody: {
            arguments: components["schemas"]["ReadDocumentArguments"];
            /** @description Where the tool was called; it decides nothing. */
            session_id?: string;
        };
        ReadDocumentView: {
            /** @description Of the whole document. */
            characters?: number;
            /** @description What belongs into the `tool_result`: nothing else has to be made of this answer. */
            content: string;
            degraded?: components["schemas"]["Degraded"];
            /** @description False with `degraded`: nobody could look. */
            found: boolean;
            /** @description True: `content` says what did not work. */
            is_error: boolean;
            name?: string;
            /** @description Where the next page starts; absent behind the last one. */
            next_offset?: number;
            offset?: number;
            path: string;
            rev?: number;
            seq?: number;
            /** @description Of an artifact: where the tool was called that said it. */
            session_id?: string;
            tags?: string[];
            /** @description At most 4,000 tokens of it. */
            text?: string;
            /** @description Of the whole document. */
            tokens?: number;
        };
        RecallBody: {
            /**
             * Format: date-time
             * @description What was in force then, and said by then; default what holds now.
             */
            as_of?: string;
            /** @description 0 or less: overrun from the start. */
            budget_ms?: number;
            /** @default false */
            debug?: boolean;
            exclude_ids?: string[];
            filters?: components["schemas"]["FiltersBody"];
            /** @default false */
            include_inbox?: boolean;
            /** @default false */
            include_superseded?: boolean;
            legs?: components["schemas"]["Leg"][];
            /** @description Default: 5 in mode prompt, 8 in mode tool. */
            limit?: number;
            /** @default prompt */
            mode?: components["schemas"]["RecallMode"];
            /** @description The user's message or keywords: `"a phrase"` is required, `-word` excludes, `a OR b`. Of more than 1,200 bytes both ends are read, without operators. */
            query: string;
            /** @description What is compared by meaning; default `query`. */
            question?: string;
            /** @description Who orders the hits; default the policy's. `deep` is `linear` in the mode `prompt`. */
            rerank?: components["schemas"]["Rerank"];
            /**
             * @description `session` needs a session_id; `global` is all outside it.
             * @default all
             */
            scope?: components["schemas"]["RecallScope"];
            /** @description Where the message was said: what this session's pack holds is not repeated. */
            session_id?: string;
            sources?: components["schemas"]["Source"][];
            /** @description Least calibrated similarity; vector leg only. */
            threshold?: number;
        };
        RecallMemoryArguments: {
            /** @description Default 8. */
            limit?: number;
            query: string;
            /** @default all */
            scope?: components["schemas"]["RecallScope"];
        };
        RecallMemoryBody: {
            arguments: components["schemas"]["RecallMemoryArguments"];
            session_id?: string;
        };
        /** @enum {string} */
        RecallMode: "prompt" | "tool";
        RecallPage: {
            next_cursor?: string;
            recalls: components["schemas"]["RecallRecordView"][];
        };
        RecallRecordView: {
            /** @description The time that was asked about, where one was named. */
            as_of?: string;
            at: string;
            budget_ms: number;
            degraded: components["schemas"]["Degraded"];
            elapsed_ms: number;
            hits: components["schemas"]["RecordedHitView"][];
            id: string;
            legs: {
                [key: string]: components["schemas"]["LegView"];
            };
            limit: number;
            mode: components["schemas"]["RecallMode"];
            /** @description Keyed hash. The query itself is not kept. */
            query_hash: string;
            result_state: components["schemas"]["ResultState"];
            scope: components["schemas"]["RecallScope"];
            session_id?: string;
        };
        /** @enum {string} */
        RecallScope: "all" | "session" | "global";
        RecallView: {
            budget_ms: number;
            /** @description In the first answer of a process: what its start has cost. The budget began behind it. */
            cold_start_ms?: number;
            debug?: {
                [key: string]: components["schemas"]["JsonValue"];
            };
            degraded: components["schemas"]["Degraded"];
            elapsed_ms: number;
            hits: components["schemas"]["HitView"][];
            /** @description Markdown for the prompt, labelled as candidates; empty without hits. */
            injection_text: string;
            legs: components["schemas"]["LegsView"];
            /** @description With `index:behind`: how much cannot be found yet. */
            memory_lag?: components["schemas"]["MemoryLagOut"];
            recall_id?: string;
            /** @description `none`: nothing is there. `not_searched`: nothing is known of what is there. */
            result_state: components["schemas"]["ResultState"];
            transparency: string[];
        };
        /** @description A candidate. `outcome`: `returned`, or why it was dropped; then `found` holds its score by leg. */
        RecordedHitView: {
            components?: components["schemas"]["ComponentsView"];
            found?: {
                [key: string]: number;
            };
            id: string;
            outcome: string;
            rank?: number;
            /** @description The event before a short reply, which a prompt showed too. */
            reply_to?: string;
            score?: number;
        };
        ReflectBody: {
            /**
             * @description Say what would be condensed, and write nothing.
             * @default false
             */
            dry_run?: boolean;
            /** @description Instead of the policy's `reflection_min_age_days`. */
            min_age_days?: number;
            /** @description Only this user; all users of the tenant when absent. */
            user_id?: string;
        };
        /** @description `dry_run` says which one. */
        ReflectedOut: components["schemas"]["ReflectPlanOut"] | components["schemas"]["JobOut"];
        ReflectPlanOut: {
            /** @description What the model would be asked about together. */
            batches: components["schemas"]["PlannedBatchOut"][];
            /** @description False: there are more users than one call can look at. */
            complete: boolean;
            /**
             * @default true
             * @constant
             */
            dry_run: true;
            /** @description Ids of the rows that would be condensed, oldest first, by user. */
            eligible: string[];
            /** @description Users with so few rows that a night would wait for more. */
            not_worth: string[];
            /** @description How many users were looked at. */
            users: number;
        };
        RejectBody: Record<string, never>;
        /** @description A fact that is not kept. */
        RejectedFactView: {
            criteria: components["schemas"]["CriteriaView"];
            /** @constant */
            decision: "rejected";
            reason: string;
        };
        RejectedLineView: {
            /** @description Why, for a person. */
            detail: string;
            /** @description The fields at fault, where there are any. */
            errors?: components["schemas"]["FieldProblem"][];
            line: number;
        };
        RememberArguments: {
            /** @default BIOGRAPHY */
            category?: components["schemas"]["Category"];
            /** @default 3 */
            importance?: number;
            /** @description The user's message in the session that says it: then it is the user's word. */
            seq?: number;
            /** @description One statement about the user. */
            text: string;
        };
        RememberBody: {
            arguments: components["schemas"]["RememberArguments"];
            /** @description Where the tool was called. */
            session_id?: string;
            /** @description The provider's id of the call: a repeat in its session changes nothing. */
            tool_use_id?: string;
        };
        /** @description `is_error` alone does not say which one: a fact may be refused. */
        RememberOrMistake: components["schemas"]["RememberView"] | components["schemas"]["MistakeView"];
        RememberView: {
            /** @description What belongs into the `tool_result`: nothing else has to be made of this answer. */
            content: string;
            /** @description That of the storage decision. */
            decision: components["schemas"]["FactDecision"] | "rejected";
            /** @description Of the memory; absent where it is not kept. */
            id?: string;
            /** @description True: `content` says what did not work. */
            is_error: boolean;
            reason: string;
            status?: string;
            /** @description `user`: the message says all of it. */
            trust?: components["schemas"]["Trust"];
            /** @description Absent where somebody else wrote the memory. */
            written_by?: components["schemas"]["WrittenBy"];
        };
        RemovedOut: {
            seq_from: number;
            seq_to: number;
        };
        ReportedUsageOut: {
            collapse?: components["schemas"]["CollapseOut"];
            /** @description Of this prompt. */
            hit_rate?: number;
            /** @description Of this prompt; absent when the model has no price. */
            money?: components["schemas"]["MoneyOut"];
            pack_change?: components["schemas"]["PackChangeOut"];
            /** @description The session's sums, with this report. */
            session: components["schemas"]["PromptCacheOut"];
            /** @description Why there is no money. */
            unpriced?: string;
        };
        ReportOut: {
            breakpoints: components["schemas"]["BreakpointOut"][];
            budget: components["schemas"]["BudgetOut"];
            history?: components["schemas"]["HistoryOut"];
            /** @description The events whose images are shown: what `images_refused` takes. */
            image_events: number[];
            images: components["schemas"]["ImagesOut"];
            /** @description Tokens of the input. */
            limit: number;
            /** @description How many more had no room, whose names have none here. */
            pack_also_left_out?: number;
            /** @description Tokens of the items of `always`, `profile`, `global` and `local` in the pack. */
            pack_layers?: {
                [key: string]: number;
            };
            /** @description Paths of documents that had no room in `always` and `profile`, and ids of observations and reflections that had none in `local`; and ids of rows that had none in a pack that is as large as an answer. */
            pack_left_out?: string[];
            pack_version?: number;
            pct: number;
            /** @description Those are others than in the session's prompt before. */
            prefix_changed: boolean;
            /** @description Of tools, static prefix, the caller's `system` and instructions, where there are any. */
            prefix_sha256: {
                [key: string]: string;
            };
            /** @description In the order in which sections give way. */
            pruned: components["schemas"]["PrunedOut"][];
            /** @description By priority. */
            sections: components["schemas"]["SectionOut"][];
            /** @description Of everything before the user's last message; in a round of tool calls of its results, too. */
            stable_prefix_tokens: number;
            tiers: components["schemas"]["TiersOut"];
            used: number;
            /** @default 0.8 */
            warn_at: number;
            warning: boolean;
        };
        ReportUsageBody: {
            /** @description As the provider names it: its price is looked up by it. Required without `prompt_id`; with it the policy's `chat_model` unless said. */
            model?: string;
            /** @description Required without `prompt_id`: of the pack in the prompt; 0 for a prompt without one. */
            pack_version?: number;
            /** @description Of the parts that stand before the pack, by name: two reports that differ in a part that both name have another prefix. With `prompt_id` they are known. */
            prefix_sha256?: {
                [key: string]: string;
            };
            /** @description Of the prompt, as it was compiled. It says the session and the pack, and counts once. */
            prompt_id?: string;
            /** @description Required without `prompt_id`. */
            session_id?: string;
            /**
             * @description The provider's own object as it is: Anthropic's (input_tokens, cache_read_input_tokens, cache_creation_input_tokens, output_tokens), OpenAI's of chats (prompt_tokens, completion_tokens) and of responses (input_tokens, input_tokens_details, output_tokens), the AI SDK's (inputTokens, outputTokens), Gemini's (promptTokenCount, candidatesTokenCount), or input, cache_read, cache_write, output.
             * @example {
             *       "cache_creation_input_tokens": 0,
             *       "cache_read_input_tokens": 900,
             *       "input_tokens": 50,
             *       "output_tokens": 40
             *     }
             * @example {
             *       "completion_tokens": 40,
             *       "prompt_tokens": 950,
             *       "prompt_tokens_details": {
             *         "cached_tokens": 900
             *       }
             *     }
             * @example {
             *       "cache_read": 900,
             *       "cache_write": 0,
             *       "input": 50,
             *       "output": 40
             *     }
             */
            usage: {
                [key: string]: components["schemas"]["JsonValue"];
            };
        };
        /** @enum {string} */
        Rerank: "off" | "linear" | "deep";
        RestoreBody: {
            /** @description As which the document is to be again. */
            rev: number;
        };
        /** @enum {string} */
        ResultState: "found" | "none" | "not_searched";
        RetractBody: {
            /** @description The first event that is taken back. */
            from_seq: number;
            /** @description `edited` (regenerated answers, too) and `branched` keep the words in the log, marked; `deleted` erases them, and what was made of them, for good. */
            reason: components["schemas"]["RetractReason"];
            /** @description The last one; left out: to the end of the log as it is. A repeat of the call means the same end. */
            to_seq?: number;
        };
        RetractedOut: {
            /** @description The session's history goes on in this epoch, without the events. */
            epoch: number;
            from_seq: number;
            /** @description Of the job that sees to what was made of them. */
            job_id: string;
            to_seq: number;
        };
        /** @enum {string} */
        RetractReason: "edited" | "deleted" | "branched";
        /** @enum {string} */
        Retrieval: "auto" | "tools" | "both" | "none";
        /** @enum {string} */
        ReviewMode: "auto" | "interactive";
        /** @enum {string} */
        SaidBy: "user_stated" | "user_confirmed" | "human_edit" | "assistant" | "tool";
        /** @description A search, from a session that may be named elsewhere. */
        SearchBody: {
            /**
             * Format: date-time
             * @description What was in force then, and said by then; default what holds now.
             */
            as_of?: string;
            /** @description 0 or less: overrun from the start. */
            budget_ms?: number;
            /** @default false */
            debug?: boolean;
            exclude_ids?: string[];
            filters?: components["schemas"]["FiltersBody"];
            /** @default false */
            include_inbox?: boolean;
            /** @default false */
            include_superseded?: boolean;
            legs?: components["schemas"]["Leg"][];
            /** @description Default: 5 in mode prompt, 8 in mode tool. */
            limit?: number;
            /** @default prompt */
            mode?: components["schemas"]["RecallMode"];
            /** @description The user's message or keywords: `"a phrase"` is required, `-word` excludes, `a OR b`. Of more than 1,200 bytes both ends are read, without operators. */
            query: string;
            /** @description What is compared by meaning; default `query`. */
            question?: string;
            /** @description Who orders the hits; default the policy's. `deep` is `linear` in the mode `prompt`. */
            rerank?: components["schemas"]["Rerank"];
            /**
             * @description `session` needs a session_id; `global` is all outside it.
             * @default all
             */
            scope?: components["schemas"]["RecallScope"];
            sources?: components["schemas"]["Source"][];
            /** @description Least calibrated similarity; vector leg only. */
            threshold?: number;
        };
        SearchConversationArguments: {
            /** @description The id of the session to search; without one, that of the call. */
            conversation_id?: string;
            query: string;
        };
        SearchConversationBody: {
            arguments: components["schemas"]["SearchConversationArguments"];
            /** @description Where the tool was called. */
            session_id?: string;
        };
        SearchKnowledgeArguments: {
            /** @description `/`, or a path; whole segments below it. */
            path_filter?: string;
            query: string;
            /** @description All of them. */
            tags?: string[];
            /**
             * @description Default 5.
             * @default 5
             */
            top_k?: number;
        };
        SearchKnowledgeBody: {
            arguments: components["schemas"]["SearchKnowledgeArguments"];
            /** @description Where the tool was called. */
            session_id?: string;
        };
        SearchKnowledgeView: {
            /** @description What belongs into the `tool_result`: nothing else has to be made of this answer. */
            content: string;
            degraded: components["schemas"]["Degraded"];
            /** @description True: `content` says what did not work. */
            is_error: boolean;
            recall_id?: string;
            result_state: components["schemas"]["ResultState"];
            /** @description Best first. */
            results: components["schemas"]["KnowledgeView"][];
        };
        SectionOut: {
            granted: number;
            need: number;
            /** @description 1 to 6; 6 gives way first. */
            priority: number;
            section: string;
            used: number;
        };
        SessionDeletedOut: {
            id: string;
            /** @description Of the job that erases the events and what was made of them; absent where there were none. */
            job_id?: string;
        };
        SessionNote: {
            current_task?: string;
            suggested_continuation?: string;
            thread_title?: string;
        };
        SessionOut: {
            covers?: components["schemas"]["Covers"];
            current_task?: string;
            epoch: number;
            id: string;
            /** @description Utterances up to here are in the search index. */
            indexed_seq: number;
            last_event_at?: string;
            /** @description Seq of the newest event; 0 before the first. */
            last_seq: number;
            /** @description Of this session; in the answer to opening it, over all that its user has. */
            memory_lag: components["schemas"]["MemoryLagOut"];
            /** @description Absent without any. */
            metadata?: {
                [key: string]: string;
            };
            /** @description The marker: events up to here are memory by now. */
            observed_seq: number;
            /** @description What the caller said of it when it was ended. */
            outcome?: string;
            pack_version?: number;
            /** @description Absent without any. */
            participants?: components["schemas"]["ParticipantOut"][];
            /** @constant */
            room?: true;
            started_at: string;
            status: components["schemas"]["SessionStatus"];
            suggested_continuation?: string;
            /** @description What the observer would call the conversation. */
            thread_title?: string;
            title?: string;
            /** @description Sum of `original_tokens` over all events. */
            total_tokens: number;
            /** @description What was reported of its prompts; absent before the first report and in the answer to its opening. */
            usage?: components["schemas"]["SessionPromptsOut"];
            user_meta: {
                [key: string]: string;
            };
        };
        SessionPage: {
            next_cursor?: string;
            sessions: components["schemas"]["SessionOut"][];
        };
        /** @description Sums over the reports of a session's prompts, with the last 20 pack changes and collapses, oldest first. */
        SessionPromptsOut: {
            collapses: components["schemas"]["CollapsesOut"];
            /** @description The share of the prompts' tokens that the cache gave. */
            hit_rate?: number;
            last_collapses: components["schemas"]["CollapseOut"][];
            last_pack_changes: components["schemas"]["PackChangeOut"][];
            /** @description Of the reports whose model has a price; absent when none has. */
            money?: components["schemas"]["MoneyOut"];
            pack_changes: components["schemas"]["PackChangesOut"];
            reports: number;
            tokens: components["schemas"]["TokensOut"];
            /** @description Reports of models without a price: in no sum of money. */
            unpriced_reports: number;
        };
        /** @enum {string} */
        SessionStatus: "open" | "closed" | "extracted";
        ShortTermOut: {
            events: number;
            sessions: number;
        };
        /** @enum {string} */
        Source: "memory" | "document" | "event";
        StageOut: {
            stage: components["schemas"]["JobStage"];
            state: components["schemas"]["StageState"];
        };
        /** @enum {string} */
        StageState: "done" | "running" | "waiting" | "failed";
        /**
         * @description The texts that say who the assistant is, what it can do, what it must not; and the version that all three have
         *     together.
         */
        StaticPrefix: {
            /**
             * @description Safety and wellbeing. Never left out.
             * @default
             */
            boundaries?: string;
            /** @default  */
            capabilities?: string;
            /** @default  */
            identity?: string;
            /** @description Semantic: `1.2.0`. A changed text needs a higher one; else 409. */
            version: string;
        };
        StatsOut: {
            /** @description False: there is more than one call can count. Every number of rows is the least then. */
            complete: boolean;
            degraded?: components["schemas"]["Degraded"];
            embeddings: components["schemas"]["EmbeddingsOut"];
            episodic: components["schemas"]["TierOut"];
            memories: components["schemas"]["MemoriesOut"];
            /** @description Over all sessions and memories of the user. */
            memory_lag: components["schemas"]["MemoryLagOut"];
            other_language?: components["schemas"]["OtherLanguage"];
            prompt_cache: components["schemas"]["PromptCacheOut"];
            /** @description Days with reports, oldest first. */
            prompt_cache_days: components["schemas"]["PromptDayOut"][];
            semantic: components["schemas"]["TierOut"];
            short_term: components["schemas"]["ShortTermOut"];
            usage: components["schemas"]["UsageOut"];
            /**
             * @description A request's `task_state` lives as long as the request.
             * @constant
             */
            working: "per_request";
        };
        /** @enum {string} */
        StoreState: "ready" | "unavailable";
        /** @description A fact takes the place of `target_id`; a document's text is replaced, whatever its rev. */
        SupersedeBody: {
            /** @description Where the document is to be. */
            path?: string;
            /** @description For the trace. */
            reason?: string;
            /** @description The memory that no longer holds; the one it contradicts when absent. */
            target_id?: string;
            text?: string;
        };
        SurfacedView: {
            at: string;
            mode: string;
            rank: number;
            recall_id: string;
            score: number;
        };
        SystemBlockBody: {
            /** @description The caller's own mark. Neve sets one less of its own. */
            cache_control?: components["schemas"]["CacheControlBody"];
            text: string;
            /** @constant */
            type: "text";
        };
        /** @description Working memory of one step. Never stored. */
        TaskStateBody: {
            /** @default  */
            goal?: string;
            /** @default  */
            notes?: string;
            /** @description Oldest first. */
            observations?: string[];
            tool_outputs?: components["schemas"]["ToolOutputBody"][];
            variables?: {
                [key: string]: components["schemas"]["JsonValue"];
            };
        };
        /** @enum {string} */
        TenantTokenScope: "chat" | "records" | "admin" | "documents";
        TenantUsageOut: {
            /** @description False: there are more users than one call can add up. Every number is the least then, and the newest days were added up first. */
            complete: boolean;
            prompt_cache: components["schemas"]["PromptCacheOut"];
            /** @description Days with reports, oldest first. */
            prompt_cache_days: components["schemas"]["PromptDayOut"][];
            usage: components["schemas"]["UsageOut"];
            /** @description Users that have cost anything. */
            users: number;
        };
        TextBlock: {
            text: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "text";
        };
        /**
         * @description The thinking of a model, as its provider sent it. Kept as it is while the turn is open, shown to the model alone,
         *     and erased with the next `user_message`.
         */
        ThinkingBlock: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            type: "reasoning" | "redacted_thinking" | "thinking";
        } & {
            [key: string]: unknown;
        };
        /** @enum {string} */
        ThinkingType: "thinking" | "redacted_thinking" | "reasoning";
        /** @enum {string} */
        Tier: "semantic" | "episodic";
        TierOut: {
            active: number;
            memories: number;
        };
        /** @description Items of each memory tier that are in the prompt. */
        TiersOut: {
            episodic: number;
            semantic: number;
            /** @description Events of the log. */
            short_term: number;
            working: number;
        };
        /** @enum {string} */
        TimeOfDay: "morning" | "afternoon" | "evening" | "night";
        /** @description One memory, as it is now. */
        ToForgetView: {
            id: string;
            kind: string;
            rev: number;
            status: string;
            text: string;
        };
        /** @enum {string} */
        TokenCounter: "estimate" | "o200k_base";
        TokenOut: {
            /**
             * Format: date-time
             * @description RFC 3339 with an offset; kept in UTC with milliseconds.
             */
            expires_at: string;
            /** @description A JWT, sent as `Authorization: Bearer <token>`. It is kept nowhere. */
            token: string;
        };
        TokensOut: {
            cache_read: number;
            cache_write: number;
            input: number;
            output: number;
        };
        ToolCallData: {
            /** @description The call's arguments. */
            args?: unknown;
            name: string;
            /**
             * @description What the model thought before it, as its provider's blocks; `content` may hold them as well.
             * @default []
             */
            thinking?: {
                [key: string]: unknown;
            }[];
            tool_use_id: string;
        } & {
            [key: string]: unknown;
        };
        ToolCallEvent: {
            /** @description The same id again returns the first seq; with other content it is a 409. */
            client_id?: string;
            content: string | (components["schemas"]["TextBlock"] | components["schemas"]["ImageBlock"] | components["schemas"]["ThinkingBlock"])[];
            /**
             * Format: date-time
             * @description When it was said; now when absent or more than a day ahead. RFC 3339 with an offset.
             */
            created_at?: string;
            event_data: components["schemas"]["ToolCallData"];
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            event_type: "tool_call";
            /** @description Labels of the caller's own; nothing that is made of the event has them. */
            metadata?: {
                [key: string]: string;
            };
            /** @description The speaker. White space, line breaks included, becomes single spaces. */
            name?: string;
        };
        ToolOutputBody: {
            content: string;
            name: string;
        };
        ToolResultData: {
            /** @default false */
            is_error?: boolean;
            name: string;
            tool_use_id: string;
        } & {
            [key: string]: unknown;
        };
        ToolResultEvent: {
            /** @description The same id again returns the first seq; with other content it is a 409. */
            client_id?: string;
            content: string | (components["schemas"]["EventTextBlock"] | components["schemas"]["ImageBlock"])[];
            /**
             * Format: date-time
             * @description When it was said; now when absent or more than a day ahead. RFC 3339 with an offset.
             */
            created_at?: string;
            event_data: components["schemas"]["ToolResultData"];
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            event_type: "tool_result";
            /** @description Labels of the caller's own; nothing that is made of the event has them. */
            metadata?: {
                [key: string]: string;
            };
            /** @description The speaker. White space, line breaks included, becomes single spaces. */
            name?: string;
        };
        /** @description Ready for a provider's `tools`. The same bytes as long as `version` is the same. */
        ToolsView: {
            anthropic: {
                [key: string]: components["schemas"]["JsonValue"];
            }[];
            openai: {
                [key: string]: components["schemas"]["JsonValue"];
            }[];
            version: string;
        };
        TracedStatementView: {
            by: string;
            created_at: string;
            id: string;
            occurrences: number;
            status: string;
            superseded_at?: string;
            superseded_by?: string;
            superseded_reason?: string;
            supersedes: string[];
            text: string;
        };
        TraceView: {
            /** @description Every statement linked to it by supersession, itself included, oldest first; at most 100. */
            history: components["schemas"]["TracedStatementView"][];
            /** @description Those of them farthest from it, for which the answer has no room: it has 6 MB. */
            history_left_out?: number;
            memory_id: string;
            /** @description There are others, or may be: not all of the user's versions were looked at. */
            more_packs: boolean;
            /** @description Pack versions that hold it, the newest 20, newest first. */
            packs: components["schemas"]["CarriedView"][];
            /** @description The user's newest recalls, at most 200. */
            recalls_examined: number;
            /** @description In words, also when it was never recalled. */
            summary: string;
            /** @description Newest first. */
            surfaced: components["schemas"]["SurfacedView"][];
        };
        /** @enum {string} */
        Trigger: "initial" | "reflection" | "horizon";
        /** @enum {string} */
        TroubleKind: "failing" | "full" | "damaged" | "language";
        TroubleOut: {
            /** @description Of `language`: how many messages, since this trouble stands. */
            count?: number;
            /** @description `language`: messages of users are in languages that the `observer` does not know; the service is well. */
            kind: components["schemas"]["TroubleKind"];
            reason: string;
            /**
             * Format: date-time
             * @description RFC 3339 with an offset; kept in UTC with milliseconds.
             */
            since: string;
            /** @description A store (`table`, `queue`, `search`, `objects`), `search_large` (a user has more passages than are searched well without a search domain; the service is well), a leg (`lexical`, `vector`), `rerank` (the model that reads candidates again), the `observer`, the `workers` (one ran out of its time), or on one machine the dead letters of a queue (`index-dlq`). */
            what: string;
        };
        /** @enum {string} */
        Trust: "user" | "assistant" | "import" | "tool";
        /** @description `messages` or `events` or neither, then `compile` or `recall` or neither. */
        TurnBody: {
            /** @description The body of `compileContext`, of this session. */
            compile?: components["schemas"]["PromptBody"];
            /**
             * Format: date-time
             * @description As in `appendMessages`.
             */
            created_at?: string;
            /** @description As in `appendEvents`. */
            events?: (components["schemas"]["MessageEvent"] | components["schemas"]["AnswerEvent"] | components["schemas"]["ToolCallEvent"] | components["schemas"]["ToolResultEvent"] | components["schemas"]["BoundaryEvent"] | components["schemas"]["NeutralEvent"])[];
            /** @description As in `appendMessages`. */
            format?: components["schemas"]["MessageFormat"];
            /** @description As in `appendMessages`. */
            messages?: {
                [key: string]: unknown;
            }[];
            /** @description Of the session, when it is new. */
            metadata?: {
                [key: string]: string;
            };
            /** @description Of the session, when it is new. */
            participants?: components["schemas"]["ParticipantBody"][];
            /** @description The body of `recall`, from this session. */
            recall?: components["schemas"]["SearchBody"];
            /** @description Of the session, when it is new. */
            room?: boolean;
            /** @description Of the session, when it is new. */
            title?: string;
            /** @description Of the session, when it is new. */
            user_meta?: components["schemas"]["UserMeta"];
        };
        TurnOut: {
            /** @description What `appendMessages` or `appendEvents` answers; absent where nothing was sent to be appended. */
            appended?: components["schemas"]["AppendedMessagesOut"] | components["schemas"]["AppendedOut"];
            /** @description Of the prompt or the recall; `compile:<code>` or `recall:<code>` where there is none. */
            degraded: string[];
            /** @description Why there is none. What was appended is durable: ask for the prompt or the recall alone. */
            problem?: components["schemas"]["Problem"];
            /** @description What `compileContext` answers. */
            prompt?: components["schemas"]["ContextOut"];
            /** @description What `recall` answers. */
            recall?: components["schemas"]["RecallView"];
        };
        Unobservable: {
            reason: string;
        };
        /** @description The fields to change, at least one. A field that is absent stays as it is. */
        UpdateBody: {
            category?: components["schemas"]["Category"];
            /** @description Kept to six places. */
            confidence?: number;
            /** @description Empty: none. */
            emotional_tone?: string;
            /** @description Empty: none. */
            group?: string;
            importance?: number;
            key_topics?: string[];
            /** @description Empty: none. */
            label?: string;
            /** @description Takes the place of what is there; `{}` takes all of it away. */
            metadata?: {
                [key: string]: string;
            };
            /** @description Listed, but neither packed nor recalled. */
            never_recall?: boolean;
            outcome?: components["schemas"]["Outcome"];
            priority?: components["schemas"]["Priority"];
            status?: components["schemas"]["MemoryStatusChange"];
            tags?: string[];
            text?: string;
            /** @description From when on it holds. Empty: always. */
            valid_from?: string | unknown | unknown;
            /** @description Until when it holds. Empty: always. */
            valid_until?: string | unknown | unknown;
        };
        UploadBody: {
            media_type: components["schemas"]["UploadType"];
            /** @description Exactly how many bytes will be sent, at most 3932160, 4194304 of a text; then signed. */
            size?: number;
        };
        UploadOut: {
            expires_at: string;
            /** @description Send exactly these headers. */
            headers: {
                [key: string]: string;
            };
            /**
             * @default PUT
             * @constant
             */
            method: "PUT";
            upload_id: string;
            /** @description Send the bytes there once, without the API key. */
            url: string;
        };
        /** @enum {string} */
        UploadType: "image/png" | "image/jpeg" | "image/gif" | "image/webp" | "text/plain";
        /** @description Totals since the beginning. */
        UsageOut: {
            /** @description Texts that were sent to the embedder. */
            embedded_texts: number;
            /** @description Of the input: read in batches of nights, at half the price. */
            model_batch_input_tokens: number;
            /** @description Of the output: written in batches, at half the price. */
            model_batch_output_tokens: number;
            /** @description Of the input: read from the provider's cache, at its price. */
            model_cache_read_tokens: number;
            /** @description Of the input: written to the provider's cache. */
            model_cache_write_tokens: number;
            model_calls: number;
            model_input_tokens: number;
            model_output_tokens: number;
            /** @description Texts whose vector was there already. */
            reused_vectors: number;
        };
        UsedBody: {
            ids: string[];
        };
        UsedView: {
            unknown: string[];
            used: string[];
        };
        /** @description Facts that the pack and the observer should know about the user in this session. */
        UserMeta: {
            name?: string;
            /** @description How well the product knows the user. */
            stage?: components["schemas"]["UserStage"];
            /** @description IANA name; the days in prompts, summaries, documents and observations follow it. */
            timezone?: string;
        };
        UserOut: {
            /** @description When the first thing was kept of them; behind an erasure, the first since. */
            created_at: string;
            user_id: string;
        };
        UserPage: {
            next_cursor?: string;
            users: components["schemas"]["UserOut"][];
        };
        /** @enum {string} */
        UserStage: "NEW" | "DEVELOPING" | "COMFORTABLE" | "TRUSTED";
        /** @enum {string} */
        UserTokenScope: "chat" | "records" | "documents" | "self";
        /** @enum {string} */
        Verbosity: "brief" | "standard" | "detailed";
        VersionPage: {
            next_cursor?: string;
            /** @description Newest first, each as it was at its rev, without its text. */
            versions: components["schemas"]["DocumentHeadView"][];
        };
        WaitingSessionOut: {
            session_id: string;
            user_id: string;
        };
        WebhookBody: {
            /** @description `text`: events about a memory that is there bring its text in `data.text`. */
            include?: components["schemas"]["WebhookText"];
            /** @description `whsec_` and the base64 of 24 to 64 bytes. Left out: the one that there is stays, and a new webhook is given one. For 24 h behind a change the one before signs, too. */
            secret?: string;
            /** @description Which events it is sent. */
            types: components["schemas"]["OutgoingType"][];
            /** @description `https://` and a host with public addresses alone. Redirects are not followed. */
            url: string;
        };
        WebhookOut: {
            /**
             * Format: date-time
             * @description RFC 3339 with an offset; kept in UTC with milliseconds.
             */
            created_at: string;
            /**
             * Format: date-time
             * @description Since when it is sent nothing, because the receiver answered 410. `PUT` it to go on.
             */
            disabled_at?: string;
            id: string;
            include?: components["schemas"]["WebhookText"];
            /**
             * Format: date-time
             * @description Until then the secret before signs, too.
             */
            rotating_until?: string;
            /** @description The one that Neve made, in the answer that made it alone. */
            secret?: string;
            types: components["schemas"]["OutgoingType"][];
            url: string;
        };
        WebhooksOut: {
            webhooks: components["schemas"]["WebhookOut"][];
        };
        /** @constant */
        WebhookText: "text";
        /** @enum {string} */
        WhyNotSource: "recall" | "memory";
        WhyNotView: {
            /** @description What would not let it pass; with `not_kept` the filters whose values are not kept. */
            filters?: string[];
            /** @description It was among the hits: `reason` is `returned`. */
            found: boolean;
            id: string;
            legs: {
                [key: string]: components["schemas"]["LegPlaceView"];
            };
            rank?: number;
            /** @description `returned`; why the candidate was dropped; of what was none: `not_found`, `not_searched`, `not_looked_for`, `never_recall`, `status`, `validity`, `other_session`, `scope`, `excluded`, `filtered`, `not_there_yet`, `unknown`, or `not_kept`: the ledger does not say. */
            reason: string;
            score?: number;
            /** @description Calibrated. */
            similarity?: number;
            /** @description Of the memory now. */
            status?: components["schemas"]["MemoryStatus"];
            /** @description `recall`: what was true then. `memory`: its row, as it is now. Absent with `not_kept`. */
            told_by?: components["schemas"]["WhyNotSource"];
        };
        WorkOut: {
            /** @description Those that have not ended, newest first, at most 50. */
            jobs: components["schemas"]["OpenJobOut"][];
            /** @description How many of them are of each kind. */
            jobs_by_kind: {
                [key: string]: number;
            };
            /** @description False: there are more, or older ones that were not looked at. */
            jobs_complete: boolean;
            /** @description The last one that was begun, of the last two. */
            night?: components["schemas"]["NightOut"];
            /** @description Sessions with words that are not indexed or not observed yet, at most 50. */
            waiting: components["schemas"]["WaitingSessionOut"][];
            waiting_complete: boolean;
            /** @description Those of which one of the last 20 attempts failed. */
            webhooks: components["schemas"]["FailingWebhookOut"][];
        };
        /** @enum {string} */
        WriteTools: "off" | "propose" | "on";
        /** @constant */
        WrittenBy: "model";
    };
    responses: {
        /** @description `conflict`: Another write came first. */
        conflict: {
            headers: {
                "Retry-After": components["headers"]["Retry-After"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description `conflict`: Another write came first; `client_id_conflict`: The client_id was used for other content; `retracted`: The client_id is that of a deleted event; `idempotency_in_progress`: The first call with this Idempotency-Key is still running; `erasing`: The user is being erased. */
        "conflict.client_id_conflict.retracted.idempotency_in_progress.erasing": {
            headers: {
                "Retry-After": components["headers"]["Retry-After"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description `conflict`: Another write came first; `idempotency_in_progress`: The first call with this Idempotency-Key is still running. */
        "conflict.idempotency_in_progress": {
            headers: {
                "Retry-After": components["headers"]["Retry-After"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description `conflict`: Another write came first; `idempotency_in_progress`: The first call with this Idempotency-Key is still running; `erasing`: The user is being erased. */
        "conflict.idempotency_in_progress.erasing": {
            headers: {
                "Retry-After": components["headers"]["Retry-After"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description `conflict`: Another write came first; `idempotency_in_progress`: The first call with this Idempotency-Key is still running; `last_admin_key`: The last key with the scope admin cannot be revoked. */
        "conflict.idempotency_in_progress.last_admin_key": {
            headers: {
                "Retry-After": components["headers"]["Retry-After"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description `conflict`: Another write came first; `idempotency_in_progress`: The first call with this Idempotency-Key is still running; `static_prefix_version`: The static prefix changed without a higher version. */
        "conflict.idempotency_in_progress.static_prefix_version": {
            headers: {
                "Retry-After": components["headers"]["Retry-After"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description `conflict`: Another write came first; `idempotency_in_progress`: The first call with this Idempotency-Key is still running; `too_many_keys`: Ten API keys are live already. */
        "conflict.idempotency_in_progress.too_many_keys": {
            headers: {
                "Retry-After": components["headers"]["Retry-After"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description `conflict`: Another write came first; `idempotency_in_progress`: The first call with this Idempotency-Key is still running; `too_many_webhooks`: Ten webhooks are there already. */
        "conflict.idempotency_in_progress.too_many_webhooks": {
            headers: {
                "Retry-After": components["headers"]["Retry-After"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description `forbidden`: The API key or token lacks the scope for this call. */
        forbidden: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description `forbidden`: The API key or token lacks the scope for this call; `write_tools_off`: The policy lets no model write. */
        "forbidden.write_tools_off": {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description `head_too_large`: The request line and the headers are larger than 10,240 bytes. */
        head_too_large: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description `idempotency_in_progress`: The first call with this Idempotency-Key is still running. */
        idempotency_in_progress: {
            headers: {
                "Retry-After": components["headers"]["Retry-After"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description `internal`: Internal error. */
        internal: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description `job_not_found`: There is no such job. */
        job_not_found: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description `key_not_found`: There is no such API key. */
        key_not_found: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description `malformed_json`: The body is not well-formed JSON. */
        malformed_json: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description `payload_too_large`: The body is larger than 1 MiB. */
        payload_too_large: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description `payload_too_large`: The body is larger than 1 MiB; `event_too_large`: An event is larger than 256 KiB, or its uploaded text than 4 MiB; `image_too_large`: An image is larger than 3.75 MiB. */
        "payload_too_large.event_too_large.image_too_large": {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description `precondition_failed`: The If-Match precondition does not hold. */
        precondition_failed: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description `store_unavailable`: A store is unavailable. */
        store_unavailable: {
            headers: {
                "Retry-After": components["headers"]["Retry-After"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description `throttled`: Too many requests. */
        throttled: {
            headers: {
                "Retry-After": components["headers"]["Retry-After"];
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description `unauthorized`: The API key or token is missing, wrong, revoked or of another stage; `token_expired`: The access token has expired. */
        "unauthorized.token_expired": {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description `user_closed`: The user was erased and closed. */
        user_closed: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description `user_closed`: The user was erased and closed; `session_deleted`: The session was deleted. */
        "user_closed.session_deleted": {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description `user_not_found`: There is no such user for this access token. */
        user_not_found: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description `user_not_found`: There is no such user for this access token; `document_not_found`: There is no such document. */
        "user_not_found.document_not_found": {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description `user_not_found`: There is no such user for this access token; `job_not_found`: There is no such job. */
        "user_not_found.job_not_found": {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description `user_not_found`: There is no such user for this access token; `memory_not_found`: There is no such memory. */
        "user_not_found.memory_not_found": {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description `user_not_found`: There is no such user for this access token; `memory_not_found`: There is no such memory; `inbox_item_not_found`: There is no such inbox item. */
        "user_not_found.memory_not_found.inbox_item_not_found": {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description `user_not_found`: There is no such user for this access token; `recall_not_found`: There is no such recall. */
        "user_not_found.recall_not_found": {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description `user_not_found`: There is no such user for this access token; `session_not_found`: There is no such session. */
        "user_not_found.session_not_found": {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description `user_not_found`: There is no such user for this access token; `session_not_found`: There is no such session; `memory_not_found`: There is no such memory. */
        "user_not_found.session_not_found.memory_not_found": {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description `user_not_found`: There is no such user for this access token; `session_not_found`: There is no such session; `pack_version_not_found`: There is no such pack version. */
        "user_not_found.session_not_found.pack_version_not_found": {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description `user_not_found`: There is no such user for this access token; `session_not_found`: There is no such session; `pack_version_not_found`: There is no such pack version; `prompt_not_found`: There is no such prompt, or it is more than seven days old. */
        "user_not_found.session_not_found.pack_version_not_found.prompt_not_found": {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description `user_not_found`: There is no such user for this access token; `session_not_found`: There is no such session; `upload_not_found`: There is no such upload. */
        "user_not_found.session_not_found.upload_not_found": {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description `validation_failed`: The request cannot be accepted. */
        validation_failed: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description `validation_failed`: The request cannot be accepted; `budget_infeasible`: The required parts of the prompt exceed its budget; `profile_mismatch`: The stored pack does not fit the budget profile. */
        "validation_failed.budget_infeasible.profile_mismatch": {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description `validation_failed`: The request cannot be accepted; `budget_infeasible`: The required parts of the prompt exceed its budget; `profile_mismatch`: The stored pack does not fit the budget profile; `idempotency_mismatch`: The Idempotency-Key was used for another body. */
        "validation_failed.budget_infeasible.profile_mismatch.idempotency_mismatch": {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description `validation_failed`: The request cannot be accepted; `idempotency_mismatch`: The Idempotency-Key was used for another body. */
        "validation_failed.idempotency_mismatch": {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description `validation_failed`: The request cannot be accepted; `invalid_policy`: The policy cannot be accepted; `idempotency_mismatch`: The Idempotency-Key was used for another body. */
        "validation_failed.invalid_policy.idempotency_mismatch": {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description `validation_failed`: The request cannot be accepted; `pii_blocked`: The text contains data that the policy blocks; `idempotency_mismatch`: The Idempotency-Key was used for another body. */
        "validation_failed.pii_blocked.idempotency_mismatch": {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
        /** @description `webhook_not_found`: There is no such webhook. */
        webhook_not_found: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
    };
    parameters: never;
    requestBodies: never;
    headers: {
        /** @description Seconds. */
        "Retry-After": number;
        /** @description What the answer had to do without, by commas (`vector:error`). Absent when complete. */
        "X-Neve-Degraded": string;
        /** @description Quote it when asking for help. */
        "X-Request-Id": string;
    };
    pathItems: never;
}
export type AnswerData = components['schemas']['AnswerData'];
export type AnswerEvent = components['schemas']['AnswerEvent'];
export type AppendBody = components['schemas']['AppendBody'];
export type AppendedMessagesOut = components['schemas']['AppendedMessagesOut'];
export type AppendedOut = components['schemas']['AppendedOut'];
export type ApproveBody = components['schemas']['ApproveBody'];
export type AttemptOut = components['schemas']['AttemptOut'];
export type Audience = components['schemas']['Audience'];
export type BoundaryData = components['schemas']['BoundaryData'];
export type BoundaryEvent = components['schemas']['BoundaryEvent'];
export type BoundaryKind = components['schemas']['BoundaryKind'];
export type BreakpointOut = components['schemas']['BreakpointOut'];
export type BreakpointPlace = components['schemas']['BreakpointPlace'];
export type BudgetOut = components['schemas']['BudgetOut'];
export type BudgetProfile = components['schemas']['BudgetProfile'];
export type CacheControlBody = components['schemas']['CacheControlBody'];
export type CacheTtl = components['schemas']['CacheTtl'];
export type CarriedView = components['schemas']['CarriedView'];
export type Category = components['schemas']['Category'];
export type Certainty = components['schemas']['Certainty'];
export type ChangedEntry = components['schemas']['ChangedEntry'];
export type ChangedView = components['schemas']['ChangedView'];
export type ChunkView = components['schemas']['ChunkView'];
export type CollapseOut = components['schemas']['CollapseOut'];
export type CollapseReason = components['schemas']['CollapseReason'];
export type CollapsesOut = components['schemas']['CollapsesOut'];
export type CompactBody = components['schemas']['CompactBody'];
export type CompactionReason = components['schemas']['CompactionReason'];
export type CompileBody = components['schemas']['CompileBody'];
export type ComponentsView = components['schemas']['ComponentsView'];
export type ContextOut = components['schemas']['ContextOut'];
export type ConversationView = components['schemas']['ConversationView'];
export type CopyPlace = components['schemas']['CopyPlace'];
export type CopyReason = components['schemas']['CopyReason'];
export type CopyView = components['schemas']['CopyView'];
export type CorrectArguments = components['schemas']['CorrectArguments'];
export type CorrectBody = components['schemas']['CorrectBody'];
export type CorrectOrMistake = components['schemas']['CorrectOrMistake'];
export type CorrectView = components['schemas']['CorrectView'];
export type Covers = components['schemas']['Covers'];
export type CreateBody = components['schemas']['CreateBody'];
export type CreateKeyBody = components['schemas']['CreateKeyBody'];
export type CreateTokenBody = components['schemas']['CreateTokenBody'];
export type CreateUserTokenBody = components['schemas']['CreateUserTokenBody'];
export type CriteriaView = components['schemas']['CriteriaView'];
export type CustomBudget = components['schemas']['CustomBudget'];
export type Degraded = components['schemas']['Degraded'];
export type DeletedDocumentsView = components['schemas']['DeletedDocumentsView'];
export type DeletedView = components['schemas']['DeletedView'];
export type DeliveriesOut = components['schemas']['DeliveriesOut'];
export type DeliveryFailure = components['schemas']['DeliveryFailure'];
export type DeliveryOut = components['schemas']['DeliveryOut'];
export type DeliveryOutcome = components['schemas']['DeliveryOutcome'];
export type DocumentHeadView = components['schemas']['DocumentHeadView'];
export type DocumentPage = components['schemas']['DocumentPage'];
export type DocumentStatus = components['schemas']['DocumentStatus'];
export type DocumentView = components['schemas']['DocumentView'];
export type DrainBody = components['schemas']['DrainBody'];
export type DroppedPart = components['schemas']['DroppedPart'];
export type DryFactOut = components['schemas']['DryFactOut'];
export type DryObservationOut = components['schemas']['DryObservationOut'];
export type DryRunOut = components['schemas']['DryRunOut'];
export type EditBody = components['schemas']['EditBody'];
export type EmbedCache = components['schemas']['EmbedCache'];
export type EmbedderOut = components['schemas']['EmbedderOut'];
export type EmbedderState = components['schemas']['EmbedderState'];
export type EmbeddingsOut = components['schemas']['EmbeddingsOut'];
export type EndBody = components['schemas']['EndBody'];
export type EventImageType = components['schemas']['EventImageType'];
export type EventOrder = components['schemas']['EventOrder'];
export type EventOut = components['schemas']['EventOut'];
export type EventsPage = components['schemas']['EventsPage'];
export type EventTextBlock = components['schemas']['EventTextBlock'];
export type EvolveDocumentBody = components['schemas']['EvolveDocumentBody'];
export type EvolveMemoryBody = components['schemas']['EvolveMemoryBody'];
export type ExplainedRecallView = components['schemas']['ExplainedRecallView'];
export type FactDecision = components['schemas']['FactDecision'];
export type FactRelation = components['schemas']['FactRelation'];
export type FactsView = components['schemas']['FactsView'];
export type FactView = components['schemas']['FactView'];
export type FailingWebhookOut = components['schemas']['FailingWebhookOut'];
export type FeedOut = components['schemas']['FeedOut'];
export type FieldProblem = components['schemas']['FieldProblem'];
export type FilingAction = components['schemas']['FilingAction'];
export type FiltersBody = components['schemas']['FiltersBody'];
export type ForgetArguments = components['schemas']['ForgetArguments'];
export type ForgetBody = components['schemas']['ForgetBody'];
export type ForgetListView = components['schemas']['ForgetListView'];
export type ForgetOrMistake = components['schemas']['ForgetOrMistake'];
export type ForgetToolBody = components['schemas']['ForgetToolBody'];
export type ForgetView = components['schemas']['ForgetView'];
export type ForgottenOrListed = components['schemas']['ForgottenOrListed'];
export type FoundOrMistake = components['schemas']['FoundOrMistake'];
export type FoundView = components['schemas']['FoundView'];
export type FurtherStatementView = components['schemas']['FurtherStatementView'];
export type HealthOut = components['schemas']['HealthOut'];
export type HealthStatus = components['schemas']['HealthStatus'];
export type HistoryOut = components['schemas']['HistoryOut'];
export type HitKind = components['schemas']['HitKind'];
export type HitPassageView = components['schemas']['HitPassageView'];
export type HitProvenanceView = components['schemas']['HitProvenanceView'];
export type HitView = components['schemas']['HitView'];
export type ImageBlock = components['schemas']['ImageBlock'];
export type ImagesOut = components['schemas']['ImagesOut'];
export type ImagesShown = components['schemas']['ImagesShown'];
export type ImportLine = components['schemas']['ImportLine'];
export type ImportView = components['schemas']['ImportView'];
export type InboxItem = components['schemas']['InboxItem'];
export type InboxPage = components['schemas']['InboxPage'];
export type InboxStatus = components['schemas']['InboxStatus'];
export type IncludePriority = components['schemas']['IncludePriority'];
export type IndexOut = components['schemas']['IndexOut'];
export type JobOut = components['schemas']['JobOut'];
export type JobStage = components['schemas']['JobStage'];
export type JobStatus = components['schemas']['JobStatus'];
export type JsonValue = components['schemas']['JsonValue'];
export type JudgedView = components['schemas']['JudgedView'];
export type KeptView = components['schemas']['KeptView'];
export type KeyOut = components['schemas']['KeyOut'];
export type KeyPage = components['schemas']['KeyPage'];
export type KeyScope = components['schemas']['KeyScope'];
export type KnowledgeOrMistake = components['schemas']['KnowledgeOrMistake'];
export type KnowledgeView = components['schemas']['KnowledgeView'];
export type Languages = components['schemas']['Languages'];
export type LanguagesOut = components['schemas']['LanguagesOut'];
export type LayerEntry = components['schemas']['LayerEntry'];
export type Leg = components['schemas']['Leg'];
export type LegPlaceView = components['schemas']['LegPlaceView'];
export type LegStatus = components['schemas']['LegStatus'];
export type LegsView = components['schemas']['LegsView'];
export type LegView = components['schemas']['LegView'];
export type ListedKeyOut = components['schemas']['ListedKeyOut'];
export type MemoriesOut = components['schemas']['MemoriesOut'];
export type MemoryFilters = components['schemas']['MemoryFilters'];
export type MemoryKind = components['schemas']['MemoryKind'];
export type MemoryLagOut = components['schemas']['MemoryLagOut'];
export type MemoryPage = components['schemas']['MemoryPage'];
export type MemoryScope = components['schemas']['MemoryScope'];
export type MemoryStatus = components['schemas']['MemoryStatus'];
export type MemoryStatusChange = components['schemas']['MemoryStatusChange'];
export type MemoryView = components['schemas']['MemoryView'];
export type MessageEvent = components['schemas']['MessageEvent'];
export type MessageFormat = components['schemas']['MessageFormat'];
export type MessageOutcome = components['schemas']['MessageOutcome'];
export type MessagesBody = components['schemas']['MessagesBody'];
export type MessageState = components['schemas']['MessageState'];
export type MistakeView = components['schemas']['MistakeView'];
export type ModelPrice = components['schemas']['ModelPrice'];
export type MoneyOut = components['schemas']['MoneyOut'];
export type MoveBody = components['schemas']['MoveBody'];
export type MovedDocumentsView = components['schemas']['MovedDocumentsView'];
export type MovedDocumentView = components['schemas']['MovedDocumentView'];
export type MovedView = components['schemas']['MovedView'];
export type NeutralEvent = components['schemas']['NeutralEvent'];
export type NightlyModel = components['schemas']['NightlyModel'];
export type NightOut = components['schemas']['NightOut'];
export type Observation = components['schemas']['Observation'];
export type ObserveAfter = components['schemas']['ObserveAfter'];
export type ObserveBody = components['schemas']['ObserveBody'];
export type ObservedOut = components['schemas']['ObservedOut'];
export type OpenedOut = components['schemas']['OpenedOut'];
export type OpenJobOut = components['schemas']['OpenJobOut'];
export type OpenSessionBody = components['schemas']['OpenSessionBody'];
export type OtherLanguage = components['schemas']['OtherLanguage'];
export type Outcome = components['schemas']['Outcome'];
export type OutgoingEventOut = components['schemas']['OutgoingEventOut'];
export type OutgoingType = components['schemas']['OutgoingType'];
export type PackChangeOut = components['schemas']['PackChangeOut'];
export type PackChangesOut = components['schemas']['PackChangesOut'];
export type PackDiffOut = components['schemas']['PackDiffOut'];
export type PackEntryOut = components['schemas']['PackEntryOut'];
export type PackFormat = components['schemas']['PackFormat'];
export type PackLayer = components['schemas']['PackLayer'];
export type PackLayersOut = components['schemas']['PackLayersOut'];
export type PackOut = components['schemas']['PackOut'];
export type PackState = components['schemas']['PackState'];
export type PackVersionOut = components['schemas']['PackVersionOut'];
export type PackVersionRef = components['schemas']['PackVersionRef'];
export type PackVersions = components['schemas']['PackVersions'];
export type PageOrMistake = components['schemas']['PageOrMistake'];
export type ParticipantBody = components['schemas']['ParticipantBody'];
export type ParticipantOut = components['schemas']['ParticipantOut'];
export type PartOut = components['schemas']['PartOut'];
export type PassageLine = components['schemas']['PassageLine'];
export type PassageView = components['schemas']['PassageView'];
export type PiiAction = components['schemas']['PiiAction'];
export type PiiActions = components['schemas']['PiiActions'];
export type PiiFinding = components['schemas']['PiiFinding'];
export type Plainness = components['schemas']['Plainness'];
export type PlannedBatchOut = components['schemas']['PlannedBatchOut'];
export type Policy = components['schemas']['Policy'];
export type PolicyChange = components['schemas']['PolicyChange'];
export type PolicyOut = components['schemas']['PolicyOut'];
export type Priority = components['schemas']['Priority'];
export type Problem = components['schemas']['Problem'];
export type PromptBody = components['schemas']['PromptBody'];
export type PromptCacheOut = components['schemas']['PromptCacheOut'];
export type PromptDayOut = components['schemas']['PromptDayOut'];
export type PromptFormat = components['schemas']['PromptFormat'];
export type ProposalView = components['schemas']['ProposalView'];
export type ProposedBy = components['schemas']['ProposedBy'];
export type ProvenanceLine = components['schemas']['ProvenanceLine'];
export type ProvenanceView = components['schemas']['ProvenanceView'];
export type PrunedOut = components['schemas']['PrunedOut'];
export type PutBody = components['schemas']['PutBody'];
export type Queued = components['schemas']['Queued'];
export type ReadDocumentArguments = components['schemas']['ReadDocumentArguments'];
export type ReadDocumentBody = components['schemas']['ReadDocumentBody'];
export type ReadDocumentView = components['schemas']['ReadDocumentView'];
export type RecallBody = components['schemas']['RecallBody'];
export type RecallMemoryArguments = components['schemas']['RecallMemoryArguments'];
export type RecallMemoryBody = components['schemas']['RecallMemoryBody'];
export type RecallMode = components['schemas']['RecallMode'];
export type RecallPage = components['schemas']['RecallPage'];
export type RecallRecordView = components['schemas']['RecallRecordView'];
export type RecallScope = components['schemas']['RecallScope'];
export type RecallView = components['schemas']['RecallView'];
export type RecordedHitView = components['schemas']['RecordedHitView'];
export type ReflectBody = components['schemas']['ReflectBody'];
export type ReflectedOut = components['schemas']['ReflectedOut'];
export type ReflectPlanOut = components['schemas']['ReflectPlanOut'];
export type RejectBody = components['schemas']['RejectBody'];
export type RejectedFactView = components['schemas']['RejectedFactView'];
export type RejectedLineView = components['schemas']['RejectedLineView'];
export type RememberArguments = components['schemas']['RememberArguments'];
export type RememberBody = components['schemas']['RememberBody'];
export type RememberOrMistake = components['schemas']['RememberOrMistake'];
export type RememberView = components['schemas']['RememberView'];
export type RemovedOut = components['schemas']['RemovedOut'];
export type ReportedUsageOut = components['schemas']['ReportedUsageOut'];
export type ReportOut = components['schemas']['ReportOut'];
export type ReportUsageBody = components['schemas']['ReportUsageBody'];
export type Rerank = components['schemas']['Rerank'];
export type RestoreBody = components['schemas']['RestoreBody'];
export type ResultState = components['schemas']['ResultState'];
export type RetractBody = components['schemas']['RetractBody'];
export type RetractedOut = components['schemas']['RetractedOut'];
export type RetractReason = components['schemas']['RetractReason'];
export type Retrieval = components['schemas']['Retrieval'];
export type ReviewMode = components['schemas']['ReviewMode'];
export type SaidBy = components['schemas']['SaidBy'];
export type SearchBody = components['schemas']['SearchBody'];
export type SearchConversationArguments = components['schemas']['SearchConversationArguments'];
export type SearchConversationBody = components['schemas']['SearchConversationBody'];
export type SearchKnowledgeArguments = components['schemas']['SearchKnowledgeArguments'];
export type SearchKnowledgeBody = components['schemas']['SearchKnowledgeBody'];
export type SearchKnowledgeView = components['schemas']['SearchKnowledgeView'];
export type SectionOut = components['schemas']['SectionOut'];
export type SessionDeletedOut = components['schemas']['SessionDeletedOut'];
export type SessionNote = components['schemas']['SessionNote'];
export type SessionOut = components['schemas']['SessionOut'];
export type SessionPage = components['schemas']['SessionPage'];
export type SessionPromptsOut = components['schemas']['SessionPromptsOut'];
export type SessionStatus = components['schemas']['SessionStatus'];
export type ShortTermOut = components['schemas']['ShortTermOut'];
export type Source = components['schemas']['Source'];
export type StageOut = components['schemas']['StageOut'];
export type StageState = components['schemas']['StageState'];
export type StaticPrefix = components['schemas']['StaticPrefix'];
export type StatsOut = components['schemas']['StatsOut'];
export type StoreState = components['schemas']['StoreState'];
export type SupersedeBody = components['schemas']['SupersedeBody'];
export type SurfacedView = components['schemas']['SurfacedView'];
export type SystemBlockBody = components['schemas']['SystemBlockBody'];
export type TaskStateBody = components['schemas']['TaskStateBody'];
export type TenantTokenScope = components['schemas']['TenantTokenScope'];
export type TenantUsageOut = components['schemas']['TenantUsageOut'];
export type TextBlock = components['schemas']['TextBlock'];
export type ThinkingBlock = components['schemas']['ThinkingBlock'];
export type ThinkingType = components['schemas']['ThinkingType'];
export type Tier = components['schemas']['Tier'];
export type TierOut = components['schemas']['TierOut'];
export type TiersOut = components['schemas']['TiersOut'];
export type TimeOfDay = components['schemas']['TimeOfDay'];
export type ToForgetView = components['schemas']['ToForgetView'];
export type TokenCounter = components['schemas']['TokenCounter'];
export type TokenOut = components['schemas']['TokenOut'];
export type TokensOut = components['schemas']['TokensOut'];
export type ToolCallData = components['schemas']['ToolCallData'];
export type ToolCallEvent = components['schemas']['ToolCallEvent'];
export type ToolOutputBody = components['schemas']['ToolOutputBody'];
export type ToolResultData = components['schemas']['ToolResultData'];
export type ToolResultEvent = components['schemas']['ToolResultEvent'];
export type ToolsView = components['schemas']['ToolsView'];
export type TracedStatementView = components['schemas']['TracedStatementView'];
export type TraceView = components['schemas']['TraceView'];
export type Trigger = components['schemas']['Trigger'];
export type TroubleKind = components['schemas']['TroubleKind'];
export type TroubleOut = components['schemas']['TroubleOut'];
export type Trust = components['schemas']['Trust'];
export type TurnBody = components['schemas']['TurnBody'];
export type TurnOut = components['schemas']['TurnOut'];
export type Unobservable = components['schemas']['Unobservable'];
export type UpdateBody = components['schemas']['UpdateBody'];
export type UploadBody = components['schemas']['UploadBody'];
export type UploadOut = components['schemas']['UploadOut'];
export type UploadType = components['schemas']['UploadType'];
export type UsageOut = components['schemas']['UsageOut'];
export type UsedBody = components['schemas']['UsedBody'];
export type UsedView = components['schemas']['UsedView'];
export type UserMeta = components['schemas']['UserMeta'];
export type UserOut = components['schemas']['UserOut'];
export type UserPage = components['schemas']['UserPage'];
export type UserStage = components['schemas']['UserStage'];
export type UserTokenScope = components['schemas']['UserTokenScope'];
export type Verbosity = components['schemas']['Verbosity'];
export type VersionPage = components['schemas']['VersionPage'];
export type WaitingSessionOut = components['schemas']['WaitingSessionOut'];
export type WebhookBody = components['schemas']['WebhookBody'];
export type WebhookOut = components['schemas']['WebhookOut'];
export type WebhooksOut = components['schemas']['WebhooksOut'];
export type WebhookText = components['schemas']['WebhookText'];
export type WhyNotSource = components['schemas']['WhyNotSource'];
export type WhyNotView = components['schemas']['WhyNotView'];
export type WorkOut = components['schemas']['WorkOut'];
export type WriteTools = components['schemas']['WriteTools'];
export type WrittenBy = components['schemas']['WrittenBy'];
export type ResponseConflict = components['responses']['conflict'];
export type ResponseConflictClientIdConflictRetractedIdempotencyInProgressErasing = components['responses']['conflict.client_id_conflict.retracted.idempotency_in_progress.erasing'];
export type ResponseConflictIdempotencyInProgress = components['responses']['conflict.idempotency_in_progress'];
export type ResponseConflictIdempotencyInProgressErasing = components['responses']['conflict.idempotency_in_progress.erasing'];
export type ResponseConflictIdempotencyInProgressLastAdminKey = components['responses']['conflict.idempotency_in_progress.last_admin_key'];
export type ResponseConflictIdempotencyInProgressStaticPrefixVersion = components['responses']['conflict.idempotency_in_progress.static_prefix_version'];
export type ResponseConflictIdempotencyInProgressTooManyKeys = components['responses']['conflict.idempotency_in_progress.too_many_keys'];
export type ResponseConflictIdempotencyInProgressTooManyWebhooks = components['responses']['conflict.idempotency_in_progress.too_many_webhooks'];
export type ResponseForbidden = components['responses']['forbidden'];
export type ResponseForbiddenWriteToolsOff = components['responses']['forbidden.write_tools_off'];
export type ResponseHeadTooLarge = components['responses']['head_too_large'];
export type ResponseIdempotencyInProgress = components['responses']['idempotency_in_progress'];
export type ResponseInternal = components['responses']['internal'];
export type ResponseJobNotFound = components['responses']['job_not_found'];
export type ResponseKeyNotFound = components['responses']['key_not_found'];
export type ResponseMalformedJson = components['responses']['malformed_json'];
export type ResponsePayloadTooLarge = components['responses']['payload_too_large'];
export type ResponsePayloadTooLargeEventTooLargeImageTooLarge = components['responses']['payload_too_large.event_too_large.image_too_large'];
export type ResponsePreconditionFailed = components['responses']['precondition_failed'];
export type ResponseStoreUnavailable = components['responses']['store_unavailable'];
export type ResponseThrottled = components['responses']['throttled'];
export type ResponseUnauthorizedTokenExpired = components['responses']['unauthorized.token_expired'];
export type ResponseUserClosed = components['responses']['user_closed'];
export type ResponseUserClosedSessionDeleted = components['responses']['user_closed.session_deleted'];
export type ResponseUserNotFound = components['responses']['user_not_found'];
export type ResponseUserNotFoundDocumentNotFound = components['responses']['user_not_found.document_not_found'];
export type ResponseUserNotFoundJobNotFound = components['responses']['user_not_found.job_not_found'];
export type ResponseUserNotFoundMemoryNotFound = components['responses']['user_not_found.memory_not_found'];
export type ResponseUserNotFoundMemoryNotFoundInboxItemNotFound = components['responses']['user_not_found.memory_not_found.inbox_item_not_found'];
export type ResponseUserNotFoundRecallNotFound = components['responses']['user_not_found.recall_not_found'];
export type ResponseUserNotFoundSessionNotFound = components['responses']['user_not_found.session_not_found'];
export type ResponseUserNotFoundSessionNotFoundMemoryNotFound = components['responses']['user_not_found.session_not_found.memory_not_found'];
export type ResponseUserNotFoundSessionNotFoundPackVersionNotFound = components['responses']['user_not_found.session_not_found.pack_version_not_found'];
export type ResponseUserNotFoundSessionNotFoundPackVersionNotFoundPromptNotFound = components['responses']['user_not_found.session_not_found.pack_version_not_found.prompt_not_found'];
export type ResponseUserNotFoundSessionNotFoundUploadNotFound = components['responses']['user_not_found.session_not_found.upload_not_found'];
export type ResponseValidationFailed = components['responses']['validation_failed'];
export type ResponseValidationFailedBudgetInfeasibleProfileMismatch = components['responses']['validation_failed.budget_infeasible.profile_mismatch'];
export type ResponseValidationFailedBudgetInfeasibleProfileMismatchIdempotencyMismatch = components['responses']['validation_failed.budget_infeasible.profile_mismatch.idempotency_mismatch'];
export type ResponseValidationFailedIdempotencyMismatch = components['responses']['validation_failed.idempotency_mismatch'];
export type ResponseValidationFailedInvalidPolicyIdempotencyMismatch = components['responses']['validation_failed.invalid_policy.idempotency_mismatch'];
export type ResponseValidationFailedPiiBlockedIdempotencyMismatch = components['responses']['validation_failed.pii_blocked.idempotency_mismatch'];
export type ResponseWebhookNotFound = components['responses']['webhook_not_found'];
export type HeaderRetryAfter = components['headers']['Retry-After'];
export type HeaderXNeveDegraded = components['headers']['X-Neve-Degraded'];
export type HeaderXRequestId = components['headers']['X-Request-Id'];
export type $defs = Record<string, never>;
export interface operations {
    drainEmbeddings: {
        parameters: {
            query?: never;
            header?: {
                /** @description 1 to 255 visible ASCII characters, kept for 24 h for this method and path: the same key with the same body gets the first answer again. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["DrainBody"];
            };
        };
        responses: {
            /** @description The job has ended. */
            200: {
                headers: {
                    "X-Neve-Degraded": components["headers"]["X-Neve-Degraded"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["JobOut"];
                };
            };
            /** @description The job is queued or running. */
            202: {
                headers: {
                    "X-Neve-Degraded": components["headers"]["X-Neve-Degraded"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["JobOut"];
                };
            };
            400: components["responses"]["malformed_json"];
            401: components["responses"]["unauthorized.token_expired"];
            403: components["responses"]["forbidden"];
            409: components["responses"]["conflict.idempotency_in_progress.erasing"];
            410: components["responses"]["user_closed"];
            413: components["responses"]["payload_too_large"];
            422: components["responses"]["validation_failed.idempotency_mismatch"];
            429: components["responses"]["throttled"];
            431: components["responses"]["head_too_large"];
            500: components["responses"]["internal"];
            503: components["responses"]["store_unavailable"];
        };
    };
    readAdminJob: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                job_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The job. */
            200: {
                headers: {
                    "X-Neve-Degraded": components["headers"]["X-Neve-Degraded"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["JobOut"];
                };
            };
            401: components["responses"]["unauthorized.token_expired"];
            403: components["responses"]["forbidden"];
            404: components["responses"]["job_not_found"];
            413: components["responses"]["payload_too_large"];
            422: components["responses"]["validation_failed"];
            429: components["responses"]["throttled"];
            431: components["responses"]["head_too_large"];
            500: components["responses"]["internal"];
            503: components["responses"]["store_unavailable"];
        };
    };
    reflect: {
        parameters: {
            query?: never;
            header?: {
                /** @description 1 to 255 visible ASCII characters, kept for 24 h for this method and path: the same key with the same body gets the first answer again. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ReflectBody"];
            };
        };
        responses: {
            /** @description What would be condensed, or a job that has ended already. */
            200: {
                headers: {
                    "X-Neve-Degraded": components["headers"]["X-Neve-Degraded"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReflectedOut"];
                };
            };
            /** @description The job is queued. */
            202: {
                headers: {
                    "X-Neve-Degraded": components["headers"]["X-Neve-Degraded"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["JobOut"];
                };
            };
            400: components["responses"]["malformed_json"];
            401: components["responses"]["unauthorized.token_expired"];
            403: components["responses"]["forbidden"];
            409: components["responses"]["conflict.idempotency_in_progress.erasing"];
            410: components["responses"]["user_closed"];
            413: components["responses"]["payload_too_large"];
            422: components["responses"]["validation_failed.idempotency_mismatch"];
            429: components["responses"]["throttled"];
            431: components["responses"]["head_too_large"];
            500: components["responses"]["internal"];
            503: components["responses"]["store_unavailable"];
        };
    };
    readWork: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The work. */
            200: {
                headers: {
                    "X-Neve-Degraded": components["headers"]["X-Neve-Degraded"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WorkOut"];
                };
            };
            401: components["responses"]["unauthorized.token_expired"];
            403: components["responses"]["forbidden"];
            413: components["responses"]["payload_too_large"];
            422: components["responses"]["validation_failed"];
            429: components["responses"]["throttled"];
            431: components["responses"]["head_too_large"];
            500: components["responses"]["internal"];
            503: components["responses"]["store_unavailable"];
        };
    };
    readFeed: {
        parameters: {
            query?: {
                /** @description The `cursor` of the answer before; without it from the oldest event that is kept. */
                after?: string;
                /** @description Rows of a page. */
                limit?: number;
                /** @description Only these, with commas between them. */
                types?: string;
                user_id?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Events, oldest first. */
            200: {
                headers: {
                    "X-Neve-Degraded": components["headers"]["X-Neve-Degraded"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FeedOut"];
                };
            };
            401: components["responses"]["unauthorized.token_expired"];
            403: components["responses"]["forbidden"];
            413: components["responses"]["payload_too_large"];
            422: components["responses"]["validation_failed"];
            429: components["responses"]["throttled"];
            431: components["responses"]["head_too_large"];
            500: components["responses"]["internal"];
            503: components["responses"]["store_unavailable"];
        };
    };
    health: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description `ok`, or `degraded` and what is missing. */
            200: {
                headers: {
                    "X-Neve-Degraded": components["headers"]["X-Neve-Degraded"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HealthOut"];
                };
            };
            413: components["responses"]["payload_too_large"];
            422: components["responses"]["validation_failed"];
            429: components["responses"]["throttled"];
            431: components["responses"]["head_too_large"];
            500: components["responses"]["internal"];
            503: components["responses"]["store_unavailable"];
        };
    };
    listKeys: {
        parameters: {
            query?: {
                /** @description The `next_cursor` of the page before. */
                cursor?: string;
                /** @description Rows of a page. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of keys. */
            200: {
                headers: {
                    "X-Neve-Degraded": components["headers"]["X-Neve-Degraded"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["KeyPage"];
                };
            };
            401: components["responses"]["unauthorized.token_expired"];
            403: components["responses"]["forbidden"];
            413: components["responses"]["payload_too_large"];
            422: components["responses"]["validation_failed"];
            429: components["responses"]["throttled"];
            431: components["responses"]["head_too_large"];
            500: components["responses"]["internal"];
            503: components["responses"]["store_unavailable"];
        };
    };
    createKey: {
        parameters: {
            query?: never;
            header?: {
                /** @description 1 to 255 visible ASCII characters, kept for 24 h for this method and path: the same key with the same body gets the first answer again. */
                "Idempotency-Key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateKeyBody"];
            };
        };
        responses: {
            /** @description The key. */
            201: {
                headers: {
                    "X-Neve-Degraded": components["headers"]["X-Neve-Degraded"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["KeyOut"];
                };
            };
            400: components["responses"]["malformed_json"];
            401: components["responses"]["unauthorized.token_expired"];
            403: components["responses"]["forbidden"];
            409: components["responses"]["conflict.idempotency_in_progress.too_many_keys"];
            413: components["responses"]["payload_too_large"];
            422: components["responses"]["validation_failed.idempotency_mismatch"];
            429: components["responses"]["throttled"];
            431: components["responses"]["head_too_large"];
            500: components["responses"]["internal"];
            503: components["responses"]["store_unavailable"];
        };
    };
    revokeKey: {
        parameters: {
            query?: never;
            header?: {
                /** @description 1 to 255 visible ASCII characters, kept for 24 h for this method and path: the same key with the same body gets the first answer again. */
                "Idempotency-Key"?: string;
            };
            path: {
                key_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The key no longer works; a gateway's cache may hold it for up to 60 s. */
            204: {
                headers: {
                    "X-Neve-Degraded": components["headers"]["X-Neve-Degraded"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["unauthorized.token_expired"];
            403: components["responses"]["forbidden"];
            404: components["responses"]["key_not_found"];
            409: components["responses"]["conflict.idempotency_in_progress.last_admin_key"];
            413: components["responses"]["payload_too_large"];
            422: components["responses"]["validation_failed.idempotency_mismatch"];
            429: components["responses"]["throttled"];
            431: components["responses"]["head_too_large"];
            500: components["responses"]["internal"];
            503: components["responses"]["store_unavailable"];
        };
    };
    readPolicy: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The policy. */
            200: {
                headers: {
                    /** @description The rev, in quotes. */
                    ETag?: string;
                    "X-Neve-Degraded": components["headers"]["X-Neve-Degraded"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PolicyOut"];
                };
            };
            401: components["responses"]["unauthorized.token_expired"];
            403: components["responses"]["forbidden"];
            413: components["responses"]["payload_too_large"];
            422: components["responses"]["validation_failed"];
            429: components["responses"]["throttled"];
            431: components["responses"]["head_too_large"];
            500: components["responses"]["internal"];
            503: components["responses"]["store_unavailable"];
        };
    };
    writePolicy: {
        parameters: {
            query?: never;
            header?: {
                /** @description 1 to 255 visible ASCII characters, kept for 24 h for this method and path: the same key with the same body gets the first answer again. */
                "Idempotency-Key"?: string;
                /** @description The rev that is to be changed, in quotes (`"3"`), or `*`. */
                "If-Match"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["Policy"];
            };
        };
        responses: {
            /** @description The policy. */
            200: {
                headers: {
                    /** @description The rev, in quotes. */
                    ETag?: string;
                    "X-Neve-Degraded": components["headers"]["X-Neve-Degraded"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PolicyOut"];
                };
            };
            400: components["responses"]["malformed_json"];
            401: components["responses"]["unauthorized.token_expired"];
            403: components["responses"]["forbidden"];
            409: components["responses"]["conflict.idempotency_in_progress.static_prefix_version"];
            412: components["responses"]["precondition_failed"];
            413: components["responses"]["payload_too_large"];
            422: components["responses"]["validation_failed.invalid_policy.idempotency_mismatch"];
            429: components["responses"]["throttled"];
            431: components["responses"]["head_too_large"];
            500: components["responses"]["internal"];
            503: components["responses"]["store_unavailable"];
        };
    };
    patchPolicy: {
        parameters: {
            query?: never;
            header?: {
                /** @description 1 to 255 visible ASCII characters, kept for 24 h for this method and path: the same key with the same body gets the first answer again. */
                "Idempotency-Key"?: string;
                /** @description The rev that is to be changed, in quotes (`"3"`), or `*`. */
                "If-Match"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PolicyChange"];
            };
        };
        responses: {
            /** @description The policy. */
            200: {
                headers: {
                    /** @description The rev, in quotes. */
                    ETag?: string;
                    "X-Neve-Degraded": components["headers"]["X-Neve-Degraded"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PolicyOut"];
                };
            };
            400: components["responses"]["malformed_json"];
            401: components["responses"]["unauthorized.token_expired"];
            403: components["responses"]["forbidden"];
            409: components["responses"]["conflict.idempotency_in_progress.static_prefix_version"];
            412: components["responses"]["precondition_failed"];
            413: components["responses"]["payload_too_large"];
            422: components["responses"]["validation_failed.invalid_policy.idempotency_mismatch"];
            429: components["responses"]["throttled"];
            431: components["responses"]["head_too_large"];
            500: components["responses"]["internal"];
            503: components["responses"]["store_unavailable"];
        };
    };
    createToken: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateTokenBody"];
            };
        };
        responses: {
            /** @description The token. */
            201: {
                headers: {
                    "X-Neve-Degraded": components["headers"]["X-Neve-Degraded"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TokenOut"];
                };
            };
            400: components["responses"]["malformed_json"];
            401: components["responses"]["unauthorized.token_expired"];
            403: components["responses"]["forbidden"];
            409: components["responses"]["conflict"];
            413: components["responses"]["payload_too_large"];
            422: components["responses"]["validation_failed"];
            429: components["responses"]["throttled"];
            431: components["responses"]["head_too_large"];
            500: components["responses"]["internal"];
            503: components["responses"]["store_unavailable"];
        };
    };
    listTools: {
        parameters: {
            query?: {
                /** @description One of `1`, `2`, `3`, `4`, `5`; without it the newest that the policy allows: from `5` on a model may write. */
                version?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Versioned; the same bytes every time. */
            200: {
                headers: {
                    "X-Neve-Degraded": components["headers"]["X-Neve-Degraded"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ToolsView"];
                };
            };
            401: components["responses"]["unauthorized.token_expired"];
            403: components["responses"]["forbidden.write_tools_off"];
            413: components["responses"]["payload_too_large"];
            422: components["responses"]["validation_failed"];
            429: components["responses"]["throttled"];
            431: components["responses"]["head_too_large"];
            500: components["responses"]["internal"];
            503: components["responses"]["store_unavailable"];
        };
    };
    tenantUsage: {
        parameters: {
            query?: {
                /** @description Sums of the last days, today (UTC) included. */
                days?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The totals. */
            200: {
                headers: {
                    "X-Neve-Degraded": components["headers"]["X-Neve-Degraded"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TenantUsageOut"];
                };
            };
            401: components["responses"]["unauthorized.token_expired"];
            403: components["responses"]["forbidden"];
            413: components["responses"]["payload_too_large"];
            422: components["responses"]["validation_failed"];
            429: components["responses"]["throttled"];
            431: components["responses"]["head_too_large"];
            500: components["responses"]["internal"];
            503: components["responses"]["store_unavailable"];
        };
    };
    listUsers: {
        parameters: {
            query?: {
                /** @description The `next_cursor` of the page before. */
                cursor?: string;
                /** @description Rows of a page. */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of users. */
            200: {
                headers: {
                    "X-Neve-Degraded": components["headers"]["X-Neve-Degraded"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UserPage"];
                };
            };
            401: components["responses"]["unauthorized.token_expired"];
            403: components["responses"]["forbidden"];
            413: components["responses"]["payload_too_large"];
            422: components["responses"]["validation_failed"];
            429: components["responses"]["throttled"];
            431: components["responses"]["head_too_large"];
            500: components["responses"]["internal"];
            503: components["responses"]["store_unavailable"];
        };
    };
    eraseUser: {
        parameters: {
            query?: {
                /** @description Refuse the id for good (410) instead of letting it start over. */
                close?: boolean;
            };
            header?: {
                /** @description 1 to 255 visible ASCII characters, kept for 24 h for this method and path: the same key with the same body gets the first answer again. */
                "Idempotency-Key"?: string;
            };
            path: {
                user_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The erasure is under way. */
            202: {
                headers: {
                    "X-Neve-Degraded": components["headers"]["X-Neve-Degraded"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["JobOut"];
                };
            };
            401: components["responses"]["unauthorized.token_expired"];
            403: components["responses"]["forbidden"];
            404: components["responses"]["user_not_found"];
            409: components["responses"]["conflict.idempotency_in_progress.erasing"];
            410: components["responses"]["user_closed"];
            413: components["responses"]["payload_too_large"];
            422: components["responses"]["validation_failed.idempotency_mismatch"];
            429: components["responses"]["throttled"];
            431: components["responses"]["head_too_large"];
            500: components["responses"]["internal"];
            503: components["responses"]["store_unavailable"];
        };
    };
    compileContext: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                user_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CompileBody"];
            };
        };
        responses: {
            /** @description The request for the provider, and the report. */
            200: {
                headers: {
                    "X-Neve-Degraded": components["headers"]["X-Neve-Degraded"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ContextOut"];
                };
            };
            400: components["responses"]["malformed_json"];
            401: components["responses"]["unauthorized.token_expired"];
            403: components["responses"]["forbidden"];
            404: components["responses"]["user_not_found.session_not_found"];
            410: components["responses"]["user_closed"];
            413: components["responses"]["payload_too_large.event_too_large.image_too_large"];
            422: components["responses"]["validation_failed.budget_infeasible.profile_mismatch"];
            429: components["responses"]["throttled"];
            431: components["responses"]["head_too_large"];
            500: components["responses"]["internal"];
            503: components["responses"]["store_unavailable"];
        };
    };
    getDocument: {
        parameters: {
            query: {
                /** @description With the passages that are searched. */
                chunks?: boolean;
                /** @description A path must be 1 to 20 segments, each / and characters that are no control, format or line-breaking signs, none of them blank, . or .. alone, together at most 900 bytes in UTF-8. */
                path: string;
                /** @description As it was at a rev; default as it is. */
                rev?: number;
            };
            header?: never;
            path: {
                user_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The document. */
            200: {
                headers: {
                    /** @description The rev, in quotes. */
                    ETag?: string;
                    "X-Neve-Degraded": components["headers"]["X-Neve-Degraded"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DocumentView"];
                };
            };
            401: components["responses"]["unauthorized.token_expired"];
            403: components["responses"]["forbidden"];
            404: components["responses"]["user_not_found.document_not_found"];
            413: components["responses"]["payload_too_large"];
            422: components["responses"]["validation_failed"];
            429: components["responses"]["throttled"];
            431: components["responses"]["head_too_large"];
            500: components["responses"]["internal"];
            503: components["responses"]["store_unavailable"];
        };
    };
    putDocument: {
        parameters: {
            query: {
                /** @description A path must be 1 to 20 segments, each / and characters that are no control, format or line-breaking signs, none of them blank, . or .. alone, together at most 900 bytes in UTF-8. */
                path: string;
            };
            header?: {
                /** @description 1 to 255 visible ASCII characters, kept for 24 h for this method and path: the same key with the same body gets the first answer again. */
                "Idempotency-Key"?: string;
                /** @description The rev that is to be changed, in quotes (`"3"`), or `*`. */
                "If-Match"?: string;
                /** @description `*`: only where there is nothing yet, else 412. */
                "If-None-Match"?: string;
            };
            path: {
                user_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["PutBody"];
                "text/markdown": string;
            };
        };
        responses: {
            /** @description The document as it is now. */
            200: {
                headers: {
                    /** @description The rev, in quotes. */
                    ETag?: string;
                    "X-Neve-Degraded": components["headers"]["X-Neve-Degraded"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DocumentView"];
                };
            };
            /** @description A new document. */
            201: {
                headers: {
                    /** @description The rev, in quotes. */
                    ETag?: string;
                    "X-Neve-Degraded": components["headers"]["X-Neve-Degraded"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DocumentView"];
                };
            };
            400: components["responses"]["malformed_json"];
            401: components["responses"]["unauthorized.token_expired"];
            403: components["responses"]["forbidden"];
            404: components["responses"]["user_not_found.document_not_found"];
            409: components["responses"]["conflict.idempotency_in_progress.erasing"];
            410: components["responses"]["user_closed"];
            412: components["responses"]["precondition_failed"];
            413: components["responses"]["payload_too_large"];
            422: components["responses"]["validation_failed.pii_blocked.idempotency_mismatch"];
            429: components["responses"]["throttled"];
            431: components["responses"]["head_too_large"];
            500: components["responses"]["internal"];
            503: components["responses"]["store_unavailable"];
        };
    };
    deleteDocuments: {
        parameters: {
            query?: {
                /** @description A path must be 1 to 20 segments, each / and characters that are no control, format or line-breaking signs, none of them blank, . or .. alone, together at most 900 bytes in UTF-8. */
                path?: string;
                /** @description Instead of `path`: everything below it, but not what tools said, which goes with its events. */
                prefix?: string;
            };
            header?: {
                /** @description 1 to 255 visible ASCII characters, kept for 24 h for this method and path: the same key with the same body gets the first answer again. */
                "Idempotency-Key"?: string;
                /** @description The rev that is to be changed, in quotes (`"3"`), or `*`. */
                "If-Match"?: string;
            };
            path: {
                user_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description What was deleted. */
            200: {
                headers: {
                    "X-Neve-Degraded": components["headers"]["X-Neve-Degraded"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeletedDocumentsView"];
                };
            };
            401: components["responses"]["unauthorized.token_expired"];
            403: components["responses"]["forbidden"];
            404: components["responses"]["user_not_found.document_not_found"];
            409: components["responses"]["conflict.idempotency_in_progress.erasing"];
            410: components["responses"]["user_closed"];
            412: components["responses"]["precondition_failed"];
            413: components["responses"]["payload_too_large"];
            422: components["responses"]["validation_failed.idempotency_mismatch"];
            429: components["responses"]["throttled"];
            431: components["responses"]["head_too_large"];
            500: components["responses"]["internal"];
            503: components["responses"]["store_unavailable"];
        };
    };
    evolveDocument: {
        parameters: {
            query?: never;
            header?: {
                /** @description 1 to 255 visible ASCII characters, kept for 24 h for this method and path: the same key with the same body gets the first answer again. */
                "Idempotency-Key"?: string;
                /** @description The rev that is to be changed, in quotes (`"3"`), or `*`. */
                "If-Match"?: string;
            };
            path: {
                user_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["EvolveDocumentBody"];
            };
        };
        responses: {
            /** @description The new document. */
            201: {
                headers: {
                    /** @description The rev, in quotes. */
                    ETag?: string;
                    "X-Neve-Degraded": components["headers"]["X-Neve-Degraded"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DocumentView"];
                };
            };
            400: components["responses"]["malformed_json"];
            401: components["responses"]["unauthorized.token_expired"];
            403: components["responses"]["forbidden"];
            404: components["responses"]["user_not_found.document_not_found"];
            409: components["responses"]["conflict.idempotency_in_progress.erasing"];
            410: components["responses"]["user_closed"];
            412: components["responses"]["precondition_failed"];
            413: components["responses"]["payload_too_large"];
            422: components["responses"]["validation_failed.pii_blocked.idempotency_mismatch"];
            429: components["responses"]["throttled"];
            431: components["responses"]["head_too_large"];
            500: components["responses"]["internal"];
            503: components["responses"]["store_unavailable"];
        };
    };
    listDocuments: {
        parameters: {
            query?: {
                /** @description The `next_cursor` of the page before. */
                cursor?: string;
                /** @description Rows of a page. */
                limit?: number;
                /** @description `/`, or a path; whole segments below it. */
                prefix?: string;
                /** @description Default: active, resolved and inbox. */
                status?: components["schemas"]["MemoryStatus"];
            };
            header?: never;
            path: {
                user_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page. */
            200: {
                headers: {
                    "X-Neve-Degraded": components["headers"]["X-Neve-Degraded"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DocumentPage"];
                };
            };
            401: components["responses"]["unauthorized.token_expired"];
            403: components["responses"]["forbidden"];
            404: components["responses"]["user_not_found"];
            413: components["responses"]["payload_too_large"];
            422: components["responses"]["validation_failed"];
            429: components["responses"]["throttled"];
            431: components["responses"]["head_too_large"];
            500: components["responses"]["internal"];
            503: components["responses"]["store_unavailable"];
        };
    };
    moveDocument: {
        parameters: {
            query?: never;
            header?: {
                /** @description 1 to 255 visible ASCII characters, kept for 24 h for this method and path: the same key with the same body gets the first answer again. */
                "Idempotency-Key"?: string;
                /** @description The rev that is to be changed, in quotes (`"3"`), or `*`. */
                "If-Match"?: string;
            };
            path: {
                user_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MoveBody"];
            };
        };
        responses: {
            /** @description The document where it is now, or what was moved. */
            200: {
                headers: {
                    /** @description The rev, in quotes. */
                    ETag?: string;
                    "X-Neve-Degraded": components["headers"]["X-Neve-Degraded"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MovedView"];
                };
            };
            400: components["responses"]["malformed_json"];
            401: components["responses"]["unauthorized.token_expired"];
            403: components["responses"]["forbidden"];
            404: components["responses"]["user_not_found.document_not_found"];
            409: components["responses"]["conflict.idempotency_in_progress.erasing"];
            410: components["responses"]["user_closed"];
            412: components["responses"]["precondition_failed"];
            413: components["responses"]["payload_too_large"];
            422: components["responses"]["validation_failed.pii_blocked.idempotency_mismatch"];
            429: components["responses"]["throttled"];
            431: components["responses"]["head_too_large"];
            500: components["responses"]["internal"];
            503: components["responses"]["store_unavailable"];
        };
    };
    restoreDocument: {
        parameters: {
            query: {
                /** @description A path must be 1 to 20 segments, each / and characters that are no control, format or line-breaking signs, none of them blank, . or .. alone, together at most 900 bytes in UTF-8. */
                path: string;
            };
            header?: {
                /** @description 1 to 255 visible ASCII characters, kept for 24 h for this method and path: the same key with the same body gets the first answer again. */
                "Idempotency-Key"?: string;
                /** @description The rev that is to be changed, in quotes (`"3"`), or `*`. */
                "If-Match"?: string;
            };
            path: {
                user_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RestoreBody"];
            };
        };
        responses: {
            /** @description The document as it is now. */
            200: {
                headers: {
                    /** @description The rev, in quotes. */
                    ETag?: string;
                    "X-Neve-Degraded": components["headers"]["X-Neve-Degraded"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DocumentView"];
                };
            };
            400: components["responses"]["malformed_json"];
            401: components["responses"]["unauthorized.token_expired"];
            403: components["responses"]["forbidden"];
            404: components["responses"]["user_not_found.document_not_found"];
            409: components["responses"]["conflict.idempotency_in_progress.erasing"];
            410: components["responses"]["user_closed"];
            412: components["responses"]["precondition_failed"];
            413: components["responses"]["payload_too_large"];
            422: components["responses"]["validation_failed.pii_blocked.idempotency_mismatch"];
            429: components["responses"]["throttled"];
            431: components["responses"]["head_too_large"];
            500: components["responses"]["internal"];
            503: components["responses"]["store_unavailable"];
        };
    };
    listDocumentVersions: {
        parameters: {
            query: {
                /** @description The `next_cursor` of the page before. */
                cursor?: string;
                /** @description Rows of a page. */
                limit?: number;
                /** @description A path must be 1 to 20 segments, each / and characters that are no control, format or line-breaking signs, none of them blank, . or .. alone, together at most 900 bytes in UTF-8. */
                path: string;
            };
            header?: never;
            path: {
                user_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page. */
            200: {
                headers: {
                    "X-Neve-Degraded": components["headers"]["X-Neve-Degraded"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["VersionPage"];
                };
            };
            401: components["responses"]["unauthorized.token_expired"];
            403: components["responses"]["forbidden"];
            404: components["responses"]["user_not_found.document_not_found"];
            413: components["responses"]["payload_too_large"];
            422: components["responses"]["validation_failed"];
            429: components["responses"]["throttled"];
            431: components["responses"]["head_too_large"];
            500: components["responses"]["internal"];
            503: components["responses"]["store_unavailable"];
        };
    };
    exportUser: {
        parameters: {
            query?: never;
            header?: {
                /** @description 1 to 255 visible ASCII characters, kept for 24 h for this method and path: the same key with the same body gets the first answer again. */
                "Idempotency-Key"?: string;
            };
            path: {
                user_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The export is queued. */
            202: {
                headers: {
                    "X-Neve-Degraded": components["headers"]["X-Neve-Degraded"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["JobOut"];
                };
            };
            401: components["responses"]["unauthorized.token_expired"];
            403: components["responses"]["forbidden"];
            404: components["responses"]["user_not_found"];
            409: components["responses"]["conflict.idempotency_in_progress.erasing"];
            410: components["responses"]["user_closed"];
            413: components["responses"]["payload_too_large"];
            422: components["responses"]["validation_failed.idempotency_mismatch"];
            429: components["responses"]["throttled"];
            431: components["responses"]["head_too_large"];
            500: components["responses"]["internal"];
            503: components["responses"]["store_unavailable"];
        };
    };
    listInbox: {
        parameters: {
            query?: {
                /** @description The `next_cursor` of the page before. */
                cursor?: string;
                /** @description Rows of a page. */
                limit?: number;
            };
            header?: never;
            path: {
                user_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page. */
            200: {
                headers: {
                    "X-Neve-Degraded": components["headers"]["X-Neve-Degraded"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InboxPage"];
                };
            };
            401: components["responses"]["unauthorized.token_expired"];
            403: components["responses"]["forbidden"];
            404: components["responses"]["user_not_found"];
            413: components["responses"]["payload_too_large"];
            422: components["responses"]["validation_failed"];
            429: components["responses"]["throttled"];
            431: components["responses"]["head_too_large"];
            500: components["responses"]["internal"];
            503: components["responses"]["store_unavailable"];
        };
    };
    approveInboxItem: {
        parameters: {
            query?: never;
            header?: {
                /** @description 1 to 255 visible ASCII characters, kept for 24 h for this method and path: the same key with the same body gets the first answer again. */
                "Idempotency-Key"?: string;
            };
            path: {
                item_id: string;
                user_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ApproveBody"];
            };
        };
        responses: {
            /** @description As it is now. */
            200: {
                headers: {
                    "X-Neve-Degraded": components["headers"]["X-Neve-Degraded"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InboxItem"];
                };
            };
            400: components["responses"]["malformed_json"];
            401: components["responses"]["unauthorized.token_expired"];
            403: components["responses"]["forbidden"];
            404: components["responses"]["user_not_found.memory_not_found.inbox_item_not_found"];
            409: components["responses"]["conflict.idempotency_in_progress.erasing"];
            410: components["responses"]["user_closed"];
            413: components["responses"]["payload_too_large"];
            422: components["responses"]["validation_failed.pii_blocked.idempotency_mismatch"];
            429: components["responses"]["throttled"];
            431: components["responses"]["head_too_large"];
            500: components["responses"]["internal"];
            503: components["responses"]["store_unavailable"];
        };
    };
    editInboxItem: {
        parameters: {
            query?: never;
            header?: {
                /** @description 1 to 255 visible ASCII characters, kept for 24 h for this method and path: the same key with the same body gets the first answer again. */
                "Idempotency-Key"?: string;
            };
            path: {
                item_id: string;
                user_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["EditBody"];
            };
        };
        responses: {
            /** @description As it is now. */
            200: {
                headers: {
                    "X-Neve-Degraded": components["headers"]["X-Neve-Degraded"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InboxItem"];
                };
            };
            400: components["responses"]["malformed_json"];
            401: components["responses"]["unauthorized.token_expired"];
            403: components["responses"]["forbidden"];
            404: components["responses"]["user_not_found.memory_not_found.inbox_item_not_found"];
            409: components["responses"]["conflict.idempotency_in_progress.erasing"];
            410: components["responses"]["user_closed"];
            413: components["responses"]["payload_too_large"];
            422: components["responses"]["validation_failed.pii_blocked.idempotency_mismatch"];
            429: components["responses"]["throttled"];
            431: components["responses"]["head_too_large"];
            500: components["responses"]["internal"];
            503: components["responses"]["store_unavailable"];
        };
    };
    rejectInboxItem: {
        parameters: {
            query?: never;
            header?: {
                /** @description 1 to 255 visible ASCII characters, kept for 24 h for this method and path: the same key with the same body gets the first answer again. */
                "Idempotency-Key"?: string;
            };
            path: {
                item_id: string;
                user_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["RejectBody"];
            };
        };
        responses: {
            /** @description As it is now. */
            200: {
                headers: {
                    "X-Neve-Degraded": components["headers"]["X-Neve-Degraded"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InboxItem"];
                };
            };
            400: components["responses"]["malformed_json"];
            401: components["responses"]["unauthorized.token_expired"];
            403: components["responses"]["forbidden"];
            404: components["responses"]["user_not_found.memory_not_found.inbox_item_not_found"];
            409: components["responses"]["conflict.idempotency_in_progress.erasing"];
            410: components["responses"]["user_closed"];
            413: components["responses"]["payload_too_large"];
            422: components["responses"]["validation_failed.pii_blocked.idempotency_mismatch"];
            429: components["responses"]["throttled"];
            431: components["responses"]["head_too_large"];
            500: components["responses"]["internal"];
            503: components["responses"]["store_unavailable"];
        };
    };
    supersedeInboxItem: {
        parameters: {
            query?: never;
            header?: {
                /** @description 1 to 255 visible ASCII characters, kept for 24 h for this method and path: the same key with the same body gets the first answer again. */
                "Idempotency-Key"?: string;
            };
            path: {
                item_id: string;
                user_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["SupersedeBody"];
            };
        };
        responses: {
            /** @description As it is now. */
            200: {
                headers: {
                    "X-Neve-Degraded": components["headers"]["X-Neve-Degraded"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["InboxItem"];
                };
            };
            400: components["responses"]["malformed_json"];
            401: components["responses"]["unauthorized.token_expired"];
            403: components["responses"]["forbidden"];
            404: components["responses"]["user_not_found.memory_not_found.inbox_item_not_found"];
            409: components["responses"]["conflict.idempotency_in_progress.erasing"];
            410: components["responses"]["user_closed"];
            413: components["responses"]["payload_too_large"];
            422: components["responses"]["validation_failed.pii_blocked.idempotency_mismatch"];
            429: components["responses"]["throttled"];
            431: components["responses"]["head_too_large"];
            500: components["responses"]["internal"];
            503: components["responses"]["store_unavailable"];
        };
    };
    readJob: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                job_id: string;
                user_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The job. */
            200: {
                headers: {
                    "X-Neve-Degraded": components["headers"]["X-Neve-Degraded"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["JobOut"];
                };
            };
            401: components["responses"]["unauthorized.token_expired"];
            403: components["responses"]["forbidden"];
            404: components["responses"]["user_not_found.job_not_found"];
            413: components["responses"]["payload_too_large"];
            422: components["responses"]["validation_failed"];
            429: components["responses"]["throttled"];
            431: components["responses"]["head_too_large"];
            500: components["responses"]["internal"];
            503: components["responses"]["store_unavailable"];
        };
    };
    listMemories: {
        parameters: {
            query?: {
                /** @description Said by this participant of its session. */
                about?: string;
                /** @description What was in force then, whatever its status is now. */
                as_of?: string;
                category?: components["schemas"]["Category"];
                /** @description The `next_cursor` of the page before. */
                cursor?: string;
                group?: string;
                kind?: components["schemas"]["MemoryKind"];
                /** @description Rows of a page. */
                limit?: number;
                /** @description `metadata.<key>=<value>`: only what has this value under the key; of several, all of them. */
                metadata?: {
                    [key: string]: string;
                };
                never_recall?: boolean;
                scope?: components["schemas"]["MemoryScope"];
                session_id?: string;
                /** @description Default: active, resolved and inbox. */
                status?: components["schemas"]["MemoryStatus"];
                tag?: string;
                tier?: components["schemas"]["Tier"];
                /** @description `model`: what a model wrote with a tool. */
                written_by?: components["schemas"]["WrittenBy"];
            };
            header?: never;
            path: {
                user_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One page. */
            200: {
                headers: {
                    "X-Neve-Degraded": components["headers"]["X-Neve-Degraded"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MemoryPage"];
                };
            };
            401: components["responses"]["unauthorized.token_expired"];
            403: components["responses"]["forbidden"];
            404: components["responses"]["user_not_found"];
            413: components["responses"]["payload_too_large"];
            422: components["responses"]["validation_failed"];
            429: components["responses"]["throttled"];
            431: components["responses"]["head_too_large"];
            500: components["responses"]["internal"];
            503: components["responses"]["store_unavailable"];
        };
    };
    createMemory: {
        parameters: {
            query?: {
                /** @description Of a fact: keep each of its statements by itself. */
                split?: boolean;
                /** @description Answer when the search index has it, or 20 s. */
                wait?: "embedded";
            };
            header?: {
                /** @description 1 to 255 visible ASCII characters, kept for 24 h for this method and path: the same key with the same body gets the first answer again. */
                "Idempotency-Key"?: string;
            };
            path: {
                user_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateBody"];
            };
        };
        responses: {
            /** @description Nothing new was written. */
            200: {
                headers: {
                    "X-Neve-Degraded": components["headers"]["X-Neve-Degraded"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["KeptView"];
                };
            };
            /** @description The stored memory. */
            201: {
                headers: {
                    "X-Neve-Degraded": components["headers"]["X-Neve-Degraded"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["KeptView"];
                };
            };
            400: components["responses"]["malformed_json"];
            401: components["responses"]["unauthorized.token_expired"];
            403: components["responses"]["forbidden"];
            404: components["responses"]["user_not_found.session_not_found.memory_not_found"];
            409: components["responses"]["conflict.idempotency_in_progress.erasing"];
            410: components["responses"]["user_closed"];
            413: components["responses"]["payload_too_large"];
            422: components["responses"]["validation_failed.pii_blocked.idempotency_mismatch"];
            429: components["responses"]["throttled"];
            431: components["responses"]["head_too_large"];
            500: components["responses"]["internal"];
            503: components["responses"]["store_unavailable"];
        };
    };
    readMemory: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                memory_id: string;
                user_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The memory. */
            200: {
                headers: {
                    /** @description The rev, in quotes. */
                    ETag?: string;
                    "X-Neve-Degraded": components["headers"]["X-Neve-Degraded"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MemoryView"];
                };
            };
            401: components["responses"]["unauthorized.token_expired"];
            403: components["responses"]["forbidden"];
            404: components["responses"]["user_not_found.memory_not_found"];
            413: components["responses"]["payload_too_large"];
            422: components["responses"]["validation_failed"];
            429: components["responses"]["throttled"];
            431: components["responses"]["head_too_large"];
            500: components["responses"]["internal"];
            503: components["responses"]["store_unavailable"];
        };
    };
    deleteMemory: {
        parameters: {
            query?: {
                /** @description Delete the reflections that were made of it, too. */
                cascade?: boolean;
                /** @description Answer what would go and where else it stands; delete nothing. */
                dry_run?: boolean;
                /** @description Take the frozen pack versions that hold it away, too; the next read rebuilds them. */
                purge_packs?: boolean;
            };
            header?: {
                /** @description 1 to 255 visible ASCII characters, kept for 24 h for this method and path: the same key with the same body gets the first answer again. */
                "Idempotency-Key"?: string;
                /** @description The rev that is to be changed, in quotes (`"3"`), or `*`. */
                "If-Match"?: string;
            };
            path: {
                memory_id: string;
                user_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Deleted, or what would be; where its words may still stand. */
            200: {
                headers: {
                    "X-Neve-Degraded": components["headers"]["X-Neve-Degraded"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeletedView"];
                };
            };
            401: components["responses"]["unauthorized.token_expired"];
            403: components["responses"]["forbidden"];
            404: components["responses"]["user_not_found.memory_not_found"];
            409: components["responses"]["conflict.idempotency_in_progress.erasing"];
            410: components["responses"]["user_closed"];
            412: components["responses"]["precondition_failed"];
            413: components["responses"]["payload_too_large"];
            422: components["responses"]["validation_failed.idempotency_mismatch"];
            429: components["responses"]["throttled"];
            431: components["responses"]["head_too_large"];
            500: components["responses"]["internal"];
            503: components["responses"]["store_unavailable"];
        };
    };
    updateMemory: {
        parameters: {
            query?: never;
            header?: {
                /** @description 1 to 255 visible ASCII characters, kept for 24 h for this method and path: the same key with the same body gets the first answer again. */
                "Idempotency-Key"?: string;
                /** @description The rev that is to be changed, in quotes (`"3"`), or `*`. */
                "If-Match"?: string;
            };
            path: {
                memory_id: string;
                user_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["UpdateBody"];
            };
        };
        responses: {
            /** @description The memory as it is now. */
            200: {
                headers: {
                    /** @description The rev, in quotes. */
                    ETag?: string;
                    "X-Neve-Degraded": components["headers"]["X-Neve-Degraded"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ChangedView"];
                };
            };
            400: components["responses"]["malformed_json"];
            401: components["responses"]["unauthorized.token_expired"];
            403: components["responses"]["forbidden"];
            404: components["responses"]["user_not_found.memory_not_found"];
            409: components["responses"]["conflict.idempotency_in_progress.erasing"];
            410: components["responses"]["user_closed"];
            412: components["responses"]["precondition_failed"];
            413: components["responses"]["payload_too_large"];
            422: components["responses"]["validation_failed.pii_blocked.idempotency_mismatch"];
            429: components["responses"]["throttled"];
            431: components["responses"]["head_too_large"];
            500: components["responses"]["internal"];
            503: components["responses"]["store_unavailable"];
        };
    };
    evolveMemory: {
        parameters: {
            query?: never;
            header?: {
                /** @description 1 to 255 visible ASCII characters, kept for 24 h for this method and path: the same key with the same body gets the first answer again. */
                "Idempotency-Key"?: string;
                /** @description The rev that is to be changed, in quotes (`"3"`), or `*`. */
                "If-Match"?: string;
            };
            path: {
                memory_id: string;
                user_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["EvolveMemoryBody"];
            };
        };
        responses: {
            /** @description What holds now. */
            201: {
                headers: {
                    /** @description The rev, in quotes. */
                    ETag?: string;
                    "X-Neve-Degraded": components["headers"]["X-Neve-Degraded"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["MemoryView"];
                };
            };
            400: components["responses"]["malformed_json"];
            401: components["responses"]["unauthorized.token_expired"];
            403: components["responses"]["forbidden"];
            404: components["responses"]["user_not_found.memory_not_found"];
            409: components["responses"]["conflict.idempotency_in_progress.erasing"];
            410: components["responses"]["user_closed"];
            412: components["responses"]["precondition_failed"];
            413: components["responses"]["payload_too_large"];
            422: components["responses"]["validation_failed.pii_blocked.idempotency_mismatch"];
            429: components["responses"]["throttled"];
            431: components["responses"]["head_too_large"];
            500: components["responses"]["internal"];
            503: components["responses"]["store_unavailable"];
        };
    };
    traceMemory: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                memory_id: string;
                user_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The trace. */
            200: {
                headers: {
                    "X-Neve-Degraded": components["headers"]["X-Neve-Degraded"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TraceView"];
                };
            };
            401: components["responses"]["unauthorized.token_expired"];
            403: components["responses"]["forbidden"];
            404: components["responses"]["user_not_found.memory_not_found"];
            413: components["responses"]["payload_too_large"];
            422: components["responses"]["validation_failed"];
            429: components["responses"]["throttled"];
            431: components["responses"]["head_too_large"];
            500: components["responses"]["internal"];
            503: components["responses"]["store_unavailable"];
        };
    };
    forgetMemories: {
        parameters: {
            query?: never;
            header?: {
                /** @description 1 to 255 visible ASCII characters, kept for 24 h for this method and path: the same key with the same body gets the first answer again. */
                "Idempotency-Key"?: string;
            };
            path: {
                user_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ForgetBody"];
            };
        };
        responses: {
            /** @description The list; or the job, which has ended. */
            200: {
                headers: {
                    "X-Neve-Degraded": components["headers"]["X-Neve-Degraded"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ForgottenOrListed"];
                };
            };
            /** @description The job is queued or running. */
            202: {
                headers: {
                    "X-Neve-Degraded": components["headers"]["X-Neve-Degraded"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["JobOut"];
                };
            };
            400: components["responses"]["malformed_json"];
            401: components["responses"]["unauthorized.token_expired"];
            403: components["responses"]["forbidden"];
            404: components["responses"]["user_not_found.session_not_found"];
            409: components["responses"]["conflict.idempotency_in_progress.erasing"];
            410: components["responses"]["user_closed"];
            413: components["responses"]["payload_too_large"];
            422: components["responses"]["validation_failed.idempotency_mismatch"];
            429: components["responses"]["throttled"];
            431: components["responses"]["head_too_large"];
            500: components["responses"]["internal"];
            503: components["responses"]["store_unavailable"];
        };
    };
    importMemories: {
        parameters: {
            query?: never;
            header?: {
                /** @description 1 to 255 visible ASCII characters, kept for 24 h for this method and path: the same key with the same body gets the first answer again. */
                "Idempotency-Key"?: string;
            };
            path: {
                user_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/jsonl": string;
            };
        };
        responses: {
            /** @description What was imported. */
            200: {
                headers: {
                    "X-Neve-Degraded": components["headers"]["X-Neve-Degraded"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ImportView"];
                };
            };
            400: components["responses"]["malformed_json"];
            401: components["responses"]["unauthorized.token_expired"];
            403: components["responses"]["forbidden"];
            404: components["responses"]["user_not_found"];
            409: components["responses"]["conflict.idempotency_in_progress.erasing"];
            410: components["responses"]["user_closed"];
            413: components["responses"]["payload_too_large"];
            422: components["responses"]["validation_failed.pii_blocked.idempotency_mismatch"];
            429: components["responses"]["throttled"];
            431: components["responses"]["head_too_large"];
            500: components["responses"]["internal"];
            503: components["responses"]["store_unavailable"];
        };
    };
    markMemoriesUsed: {
        parameters: {
            query?: never;
            header?: {
                /** @description 1 to 255 visible ASCII characters, kept for 24 h for this method and path: the same key with the same body gets the first answer again. */
                "Idempotency-Key"?: string;
            };
            path: {
                user_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UsedBody"];
            };
        };
        responses: {
            /** @description Which of them moved. */
            200: {
                headers: {
                    "X-Neve-Degraded": components["headers"]["X-Neve-Degraded"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UsedView"];
                };
            };
            400: components["responses"]["malformed_json"];
            401: components["responses"]["unauthorized.token_expired"];
            403: components["responses"]["forbidden"];
            404: components["responses"]["user_not_found"];
            409: components["responses"]["conflict.idempotency_in_progress.erasing"];
            410: components["responses"]["user_closed"];
            413: components["responses"]["payload_too_large"];
            422: components["responses"]["validation_failed.idempotency_mismatch"];
            429: components["responses"]["throttled"];
            431: components["responses"]["head_too_large"];
            500: components["responses"]["internal"];
            503: components["responses"]["store_unavailable"];
        };
    };
    readPack: {
        parameters: {
            query?: {
                format?: components["schemas"]["PackFormat"];
                /** @description Without it: an unversioned preview of the user's memory. */
                session_id?: string;
                /** @description An old version; the current one when absent. */
                version?: number;
            };
            header?: {
                /** @description Entity tags of the copies held, or `*`; 304 when one of them is current. */
                "If-None-Match"?: string;
            };
            path: {
                user_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The pack. */
            200: {
                headers: {
                    /** @description Strong; `"<sha256>"` of the text, `"<sha256>-j"` as JSON. Absent for a preview and a degraded pack without a version. */
                    ETag?: string;
                    "X-Neve-Degraded": components["headers"]["X-Neve-Degraded"];
                    /** @description How far memory is behind, such as `events=10, unindexed=10, unembedded=12, unobserved=0, seconds=3`. Absent where that could not be read. */
                    "X-Neve-Memory-Lag"?: string;
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PackOut"];
                    "text/plain": string;
                };
            };
            /** @description The caller's copy is current. */
            304: {
                headers: {
                    /** @description Strong; `"<sha256>"` of the text, `"<sha256>-j"` as JSON. Absent for a preview and a degraded pack without a version. */
                    ETag?: string;
                    "X-Neve-Degraded": components["headers"]["X-Neve-Degraded"];
                    /** @description How far memory is behind, such as `events=10, unindexed=10, unembedded=12, unobserved=0, seconds=3`. Absent where that could not be read. */
                    "X-Neve-Memory-Lag"?: string;
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["unauthorized.token_expired"];
            403: components["responses"]["forbidden"];
            404: components["responses"]["user_not_found.session_not_found.pack_version_not_found"];
            410: components["responses"]["user_closed"];
            413: components["responses"]["payload_too_large"];
            422: components["responses"]["validation_failed"];
            429: components["responses"]["throttled"];
            431: components["responses"]["head_too_large"];
            500: components["responses"]["internal"];
            503: components["responses"]["store_unavailable"];
        };
    };
    diffPackVersions: {
        parameters: {
            query: {
                from: number;
                session_id: string;
                to: number;
            };
            header?: never;
            path: {
                user_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The difference. */
            200: {
                headers: {
                    "X-Neve-Degraded": components["headers"]["X-Neve-Degraded"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PackDiffOut"];
                };
            };
            401: components["responses"]["unauthorized.token_expired"];
            403: components["responses"]["forbidden"];
            404: components["responses"]["user_not_found.session_not_found.pack_version_not_found"];
            410: components["responses"]["user_closed"];
            413: components["responses"]["payload_too_large"];
            422: components["responses"]["validation_failed"];
            429: components["responses"]["throttled"];
            431: components["responses"]["head_too_large"];
            500: components["responses"]["internal"];
            503: components["responses"]["store_unavailable"];
        };
    };
    listPackVersions: {
        parameters: {
            query: {
                /** @description The `next_cursor` of the page before. */
                cursor?: string;
                /** @description Rows of a page. */
                limit?: number;
                session_id: string;
            };
            header?: never;
            path: {
                user_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of versions. */
            200: {
                headers: {
                    "X-Neve-Degraded": components["headers"]["X-Neve-Degraded"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PackVersions"];
                };
            };
            401: components["responses"]["unauthorized.token_expired"];
            403: components["responses"]["forbidden"];
            404: components["responses"]["user_not_found.session_not_found"];
            410: components["responses"]["user_closed"];
            413: components["responses"]["payload_too_large"];
            422: components["responses"]["validation_failed"];
            429: components["responses"]["throttled"];
            431: components["responses"]["head_too_large"];
            500: components["responses"]["internal"];
            503: components["responses"]["store_unavailable"];
        };
    };
    recall: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                user_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RecallBody"];
            };
        };
        responses: {
            /** @description Candidates, best first. A memory failure is told in `degraded`. */
            200: {
                headers: {
                    "X-Neve-Degraded": components["headers"]["X-Neve-Degraded"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RecallView"];
                };
            };
            400: components["responses"]["malformed_json"];
            401: components["responses"]["unauthorized.token_expired"];
            403: components["responses"]["forbidden"];
            404: components["responses"]["user_not_found.session_not_found"];
            410: components["responses"]["user_closed"];
            413: components["responses"]["payload_too_large"];
            422: components["responses"]["validation_failed"];
            429: components["responses"]["throttled"];
            431: components["responses"]["head_too_large"];
            500: components["responses"]["internal"];
            503: components["responses"]["store_unavailable"];
        };
    };
    listRecalls: {
        parameters: {
            query?: {
                /** @description The `next_cursor` of the page before. */
                cursor?: string;
                /** @description Rows of a page. */
                limit?: number;
            };
            header?: never;
            path: {
                user_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page. */
            200: {
                headers: {
                    "X-Neve-Degraded": components["headers"]["X-Neve-Degraded"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RecallPage"];
                };
            };
            401: components["responses"]["unauthorized.token_expired"];
            403: components["responses"]["forbidden"];
            404: components["responses"]["user_not_found"];
            413: components["responses"]["payload_too_large"];
            422: components["responses"]["validation_failed"];
            429: components["responses"]["throttled"];
            431: components["responses"]["head_too_large"];
            500: components["responses"]["internal"];
            503: components["responses"]["store_unavailable"];
        };
    };
    readRecall: {
        parameters: {
            query?: {
                /** @description A memory's id: the answer says why it was not among the hits. */
                why_not?: string;
            };
            header?: never;
            path: {
                recall_id: string;
                user_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The recall. */
            200: {
                headers: {
                    "X-Neve-Degraded": components["headers"]["X-Neve-Degraded"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ExplainedRecallView"];
                };
            };
            401: components["responses"]["unauthorized.token_expired"];
            403: components["responses"]["forbidden"];
            404: components["responses"]["user_not_found.recall_not_found"];
            413: components["responses"]["payload_too_large"];
            422: components["responses"]["validation_failed"];
            429: components["responses"]["throttled"];
            431: components["responses"]["head_too_large"];
            500: components["responses"]["internal"];
            503: components["responses"]["store_unavailable"];
        };
    };
    listSessions: {
        parameters: {
            query?: {
                /** @description The `next_cursor` of the page before. */
                cursor?: string;
                /** @description Rows of a page. */
                limit?: number;
                /** @description `metadata.<key>=<value>`: only what has this value under the key; of several, all of them. */
                metadata?: {
                    [key: string]: string;
                };
            };
            header?: never;
            path: {
                user_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of sessions. */
            200: {
                headers: {
                    "X-Neve-Degraded": components["headers"]["X-Neve-Degraded"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionPage"];
                };
            };
            401: components["responses"]["unauthorized.token_expired"];
            403: components["responses"]["forbidden"];
            404: components["responses"]["user_not_found"];
            413: components["responses"]["payload_too_large"];
            422: components["responses"]["validation_failed"];
            429: components["responses"]["throttled"];
            431: components["responses"]["head_too_large"];
            500: components["responses"]["internal"];
            503: components["responses"]["store_unavailable"];
        };
    };
    openSession: {
        parameters: {
            query?: never;
            header?: {
                /** @description 1 to 255 visible ASCII characters, kept for 24 h for this method and path: the same key with the same body gets the first answer again. */
                "Idempotency-Key"?: string;
            };
            path: {
                user_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["OpenSessionBody"];
            };
        };
        responses: {
            /** @description The session and its pack. */
            200: {
                headers: {
                    "X-Neve-Degraded": components["headers"]["X-Neve-Degraded"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenedOut"];
                };
            };
            400: components["responses"]["malformed_json"];
            401: components["responses"]["unauthorized.token_expired"];
            403: components["responses"]["forbidden"];
            404: components["responses"]["user_not_found"];
            409: components["responses"]["conflict.idempotency_in_progress.erasing"];
            410: components["responses"]["user_closed.session_deleted"];
            413: components["responses"]["payload_too_large"];
            422: components["responses"]["validation_failed.idempotency_mismatch"];
            429: components["responses"]["throttled"];
            431: components["responses"]["head_too_large"];
            500: components["responses"]["internal"];
            503: components["responses"]["store_unavailable"];
        };
    };
    readSession: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                session_id: string;
                user_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The session. */
            200: {
                headers: {
                    "X-Neve-Degraded": components["headers"]["X-Neve-Degraded"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionOut"];
                };
            };
            401: components["responses"]["unauthorized.token_expired"];
            403: components["responses"]["forbidden"];
            404: components["responses"]["user_not_found.session_not_found"];
            413: components["responses"]["payload_too_large"];
            422: components["responses"]["validation_failed"];
            429: components["responses"]["throttled"];
            431: components["responses"]["head_too_large"];
            500: components["responses"]["internal"];
            503: components["responses"]["store_unavailable"];
        };
    };
    deleteSession: {
        parameters: {
            query?: never;
            header?: {
                /** @description 1 to 255 visible ASCII characters, kept for 24 h for this method and path: the same key with the same body gets the first answer again. */
                "Idempotency-Key"?: string;
            };
            path: {
                session_id: string;
                user_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is deleted. */
            200: {
                headers: {
                    "X-Neve-Degraded": components["headers"]["X-Neve-Degraded"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["SessionDeletedOut"];
                };
            };
            401: components["responses"]["unauthorized.token_expired"];
            403: components["responses"]["forbidden"];
            404: components["responses"]["user_not_found.session_not_found"];
            409: components["responses"]["conflict.idempotency_in_progress.erasing"];
            410: components["responses"]["user_closed"];
            413: components["responses"]["payload_too_large"];
            422: components["responses"]["validation_failed.idempotency_mismatch"];
            429: components["responses"]["throttled"];
            431: components["responses"]["head_too_large"];
            500: components["responses"]["internal"];
            503: components["responses"]["store_unavailable"];
        };
    };
    compactSession: {
        parameters: {
            query?: never;
            header?: {
                /** @description 1 to 255 visible ASCII characters, kept for 24 h for this method and path: the same key with the same body gets the first answer again. */
                "Idempotency-Key"?: string;
            };
            path: {
                session_id: string;
                user_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["CompactBody"];
            };
        };
        responses: {
            /** @description The job has ended. */
            200: {
                headers: {
                    "X-Neve-Degraded": components["headers"]["X-Neve-Degraded"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["JobOut"];
                };
            };
            /** @description The job is queued or running. */
            202: {
                headers: {
                    "X-Neve-Degraded": components["headers"]["X-Neve-Degraded"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["JobOut"];
                };
            };
            400: components["responses"]["malformed_json"];
            401: components["responses"]["unauthorized.token_expired"];
            403: components["responses"]["forbidden"];
            404: components["responses"]["user_not_found.session_not_found"];
            409: components["responses"]["conflict.idempotency_in_progress.erasing"];
            410: components["responses"]["user_closed"];
            413: components["responses"]["payload_too_large"];
            422: components["responses"]["validation_failed.idempotency_mismatch"];
            429: components["responses"]["throttled"];
            431: components["responses"]["head_too_large"];
            500: components["responses"]["internal"];
            503: components["responses"]["store_unavailable"];
        };
    };
    endSession: {
        parameters: {
            query?: never;
            header?: {
                /** @description 1 to 255 visible ASCII characters, kept for 24 h for this method and path: the same key with the same body gets the first answer again. */
                "Idempotency-Key"?: string;
            };
            path: {
                session_id: string;
                user_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["EndBody"];
            };
        };
        responses: {
            /** @description The job, also one that has ended. */
            202: {
                headers: {
                    "X-Neve-Degraded": components["headers"]["X-Neve-Degraded"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["JobOut"];
                };
            };
            400: components["responses"]["malformed_json"];
            401: components["responses"]["unauthorized.token_expired"];
            403: components["responses"]["forbidden"];
            404: components["responses"]["user_not_found.session_not_found"];
            409: components["responses"]["conflict.idempotency_in_progress.erasing"];
            410: components["responses"]["user_closed"];
            413: components["responses"]["payload_too_large"];
            422: components["responses"]["validation_failed.idempotency_mismatch"];
            429: components["responses"]["throttled"];
            431: components["responses"]["head_too_large"];
            500: components["responses"]["internal"];
            503: components["responses"]["store_unavailable"];
        };
    };
    listEvents: {
        parameters: {
            query?: {
                /** @description The first event wanted; default the first one of the order. */
                from_seq?: number;
                /** @description Rows of a page. */
                limit?: number;
                /** @description `metadata.<key>=<value>`: only what has this value under the key; of several, all of them. */
                metadata?: {
                    [key: string]: string;
                };
                /** @description `desc`: backwards from `from_seq`. */
                order?: components["schemas"]["EventOrder"];
                /** @description False: without what was taken back. A page may be short, `next_from_seq` goes on. */
                retracted?: boolean;
            };
            header?: never;
            path: {
                session_id: string;
                user_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description A page of events. */
            200: {
                headers: {
                    "X-Neve-Degraded": components["headers"]["X-Neve-Degraded"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EventsPage"];
                };
            };
            401: components["responses"]["unauthorized.token_expired"];
            403: components["responses"]["forbidden"];
            404: components["responses"]["user_not_found.session_not_found"];
            413: components["responses"]["payload_too_large"];
            422: components["responses"]["validation_failed"];
            429: components["responses"]["throttled"];
            431: components["responses"]["head_too_large"];
            500: components["responses"]["internal"];
            503: components["responses"]["store_unavailable"];
        };
    };
    appendEvents: {
        parameters: {
            query?: never;
            header?: {
                /** @description 1 to 255 visible ASCII characters, kept for 24 h for this method and path: the same key with the same body gets the first answer again. */
                "Idempotency-Key"?: string;
            };
            path: {
                session_id: string;
                user_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["AppendBody"];
            };
        };
        responses: {
            /** @description The events are durable. */
            201: {
                headers: {
                    "X-Neve-Degraded": components["headers"]["X-Neve-Degraded"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AppendedOut"];
                };
            };
            400: components["responses"]["malformed_json"];
            401: components["responses"]["unauthorized.token_expired"];
            403: components["responses"]["forbidden"];
            404: components["responses"]["user_not_found.session_not_found.upload_not_found"];
            409: components["responses"]["conflict.client_id_conflict.retracted.idempotency_in_progress.erasing"];
            410: components["responses"]["user_closed.session_deleted"];
            413: components["responses"]["payload_too_large.event_too_large.image_too_large"];
            422: components["responses"]["validation_failed.idempotency_mismatch"];
            429: components["responses"]["throttled"];
            431: components["responses"]["head_too_large"];
            500: components["responses"]["internal"];
            503: components["responses"]["store_unavailable"];
        };
    };
    retractEvents: {
        parameters: {
            query?: never;
            header?: {
                /** @description 1 to 255 visible ASCII characters, kept for 24 h for this method and path: the same key with the same body gets the first answer again. */
                "Idempotency-Key"?: string;
            };
            path: {
                session_id: string;
                user_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RetractBody"];
            };
        };
        responses: {
            /** @description They are taken back. */
            200: {
                headers: {
                    "X-Neve-Degraded": components["headers"]["X-Neve-Degraded"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RetractedOut"];
                };
            };
            400: components["responses"]["malformed_json"];
            401: components["responses"]["unauthorized.token_expired"];
            403: components["responses"]["forbidden"];
            404: components["responses"]["user_not_found.session_not_found"];
            409: components["responses"]["conflict.idempotency_in_progress.erasing"];
            410: components["responses"]["user_closed"];
            413: components["responses"]["payload_too_large"];
            422: components["responses"]["validation_failed.idempotency_mismatch"];
            429: components["responses"]["throttled"];
            431: components["responses"]["head_too_large"];
            500: components["responses"]["internal"];
            503: components["responses"]["store_unavailable"];
        };
    };
    appendMessages: {
        parameters: {
            query?: never;
            header?: {
                /** @description 1 to 255 visible ASCII characters, kept for 24 h for this method and path: the same key with the same body gets the first answer again. */
                "Idempotency-Key"?: string;
            };
            path: {
                session_id: string;
                user_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["MessagesBody"];
            };
        };
        responses: {
            /** @description Nothing of it was new. */
            200: {
                headers: {
                    "X-Neve-Degraded": components["headers"]["X-Neve-Degraded"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AppendedMessagesOut"];
                };
            };
            /** @description What was new is durable. */
            201: {
                headers: {
                    "X-Neve-Degraded": components["headers"]["X-Neve-Degraded"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AppendedMessagesOut"];
                };
            };
            400: components["responses"]["malformed_json"];
            401: components["responses"]["unauthorized.token_expired"];
            403: components["responses"]["forbidden"];
            404: components["responses"]["user_not_found"];
            409: components["responses"]["conflict.idempotency_in_progress.erasing"];
            410: components["responses"]["user_closed"];
            413: components["responses"]["payload_too_large.event_too_large.image_too_large"];
            422: components["responses"]["validation_failed.idempotency_mismatch"];
            429: components["responses"]["throttled"];
            431: components["responses"]["head_too_large"];
            500: components["responses"]["internal"];
            503: components["responses"]["store_unavailable"];
        };
    };
    observeSession: {
        parameters: {
            query?: never;
            header?: {
                /** @description 1 to 255 visible ASCII characters, kept for 24 h for this method and path: the same key with the same body gets the first answer again. */
                "Idempotency-Key"?: string;
            };
            path: {
                session_id: string;
                user_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["ObserveBody"];
            };
        };
        responses: {
            /** @description The job has ended, or what it would write. */
            200: {
                headers: {
                    "X-Neve-Degraded": components["headers"]["X-Neve-Degraded"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ObservedOut"];
                };
            };
            /** @description The job is queued or running. */
            202: {
                headers: {
                    "X-Neve-Degraded": components["headers"]["X-Neve-Degraded"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["JobOut"];
                };
            };
            400: components["responses"]["malformed_json"];
            401: components["responses"]["unauthorized.token_expired"];
            403: components["responses"]["forbidden"];
            404: components["responses"]["user_not_found.session_not_found"];
            409: components["responses"]["conflict.idempotency_in_progress.erasing"];
            410: components["responses"]["user_closed"];
            413: components["responses"]["payload_too_large"];
            422: components["responses"]["validation_failed.idempotency_mismatch"];
            429: components["responses"]["throttled"];
            431: components["responses"]["head_too_large"];
            500: components["responses"]["internal"];
            503: components["responses"]["store_unavailable"];
        };
    };
    turn: {
        parameters: {
            query?: never;
            header?: {
                /** @description 1 to 255 visible ASCII characters, kept for 24 h for this method and path: the same key with the same body gets the first answer again. */
                "Idempotency-Key"?: string;
            };
            path: {
                session_id: string;
                user_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["TurnBody"];
            };
        };
        responses: {
            /** @description What was sent is durable. */
            200: {
                headers: {
                    "X-Neve-Degraded": components["headers"]["X-Neve-Degraded"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TurnOut"];
                };
            };
            400: components["responses"]["malformed_json"];
            401: components["responses"]["unauthorized.token_expired"];
            403: components["responses"]["forbidden"];
            404: components["responses"]["user_not_found.session_not_found.upload_not_found"];
            409: components["responses"]["conflict.client_id_conflict.retracted.idempotency_in_progress.erasing"];
            410: components["responses"]["user_closed"];
            413: components["responses"]["payload_too_large.event_too_large.image_too_large"];
            422: components["responses"]["validation_failed.budget_infeasible.profile_mismatch.idempotency_mismatch"];
            429: components["responses"]["throttled"];
            431: components["responses"]["head_too_large"];
            500: components["responses"]["internal"];
            503: components["responses"]["store_unavailable"];
        };
    };
    userStats: {
        parameters: {
            query?: {
                /** @description Sums of the last days, today (UTC) included. */
                days?: number;
            };
            header?: never;
            path: {
                user_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The counts. */
            200: {
                headers: {
                    "X-Neve-Degraded": components["headers"]["X-Neve-Degraded"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["StatsOut"];
                };
            };
            401: components["responses"]["unauthorized.token_expired"];
            403: components["responses"]["forbidden"];
            404: components["responses"]["user_not_found"];
            413: components["responses"]["payload_too_large"];
            422: components["responses"]["validation_failed"];
            429: components["responses"]["throttled"];
            431: components["responses"]["head_too_large"];
            500: components["responses"]["internal"];
            503: components["responses"]["store_unavailable"];
        };
    };
    createUserToken: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                user_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateUserTokenBody"];
            };
        };
        responses: {
            /** @description The token. */
            201: {
                headers: {
                    "X-Neve-Degraded": components["headers"]["X-Neve-Degraded"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TokenOut"];
                };
            };
            400: components["responses"]["malformed_json"];
            401: components["responses"]["unauthorized.token_expired"];
            403: components["responses"]["forbidden"];
            404: components["responses"]["user_not_found"];
            409: components["responses"]["conflict"];
            413: components["responses"]["payload_too_large"];
            422: components["responses"]["validation_failed"];
            429: components["responses"]["throttled"];
            431: components["responses"]["head_too_large"];
            500: components["responses"]["internal"];
            503: components["responses"]["store_unavailable"];
        };
    };
    callCorrect: {
        parameters: {
            query?: never;
            header?: {
                /** @description 1 to 255 visible ASCII characters, kept for 24 h for this method and path: the same key with the same body gets the first answer again. */
                "Idempotency-Key"?: string;
            };
            path: {
                user_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CorrectBody"];
            };
        };
        responses: {
            /** @description What holds or waits now, or what is wrong with the arguments. */
            200: {
                headers: {
                    "X-Neve-Degraded": components["headers"]["X-Neve-Degraded"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CorrectOrMistake"];
                };
            };
            400: components["responses"]["malformed_json"];
            401: components["responses"]["unauthorized.token_expired"];
            403: components["responses"]["forbidden.write_tools_off"];
            404: components["responses"]["user_not_found.session_not_found"];
            409: components["responses"]["conflict.idempotency_in_progress.erasing"];
            410: components["responses"]["user_closed"];
            413: components["responses"]["payload_too_large"];
            422: components["responses"]["validation_failed.idempotency_mismatch"];
            429: components["responses"]["throttled"];
            431: components["responses"]["head_too_large"];
            500: components["responses"]["internal"];
            503: components["responses"]["store_unavailable"];
        };
    };
    callForget: {
        parameters: {
            query?: never;
            header?: {
                /** @description 1 to 255 visible ASCII characters, kept for 24 h for this method and path: the same key with the same body gets the first answer again. */
                "Idempotency-Key"?: string;
            };
            path: {
                user_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ForgetToolBody"];
            };
        };
        responses: {
            /** @description A list, or the job; or what is wrong with the arguments. */
            200: {
                headers: {
                    "X-Neve-Degraded": components["headers"]["X-Neve-Degraded"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ForgetOrMistake"];
                };
            };
            400: components["responses"]["malformed_json"];
            401: components["responses"]["unauthorized.token_expired"];
            403: components["responses"]["forbidden.write_tools_off"];
            404: components["responses"]["user_not_found.session_not_found"];
            409: components["responses"]["conflict.idempotency_in_progress.erasing"];
            410: components["responses"]["user_closed"];
            413: components["responses"]["payload_too_large"];
            422: components["responses"]["validation_failed.idempotency_mismatch"];
            429: components["responses"]["throttled"];
            431: components["responses"]["head_too_large"];
            500: components["responses"]["internal"];
            503: components["responses"]["store_unavailable"];
        };
    };
    callReadDocument: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                user_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ReadDocumentBody"];
            };
        };
        responses: {
            /** @description A page, or that there is no such document. */
            200: {
                headers: {
                    "X-Neve-Degraded": components["headers"]["X-Neve-Degraded"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PageOrMistake"];
                };
            };
            400: components["responses"]["malformed_json"];
            401: components["responses"]["unauthorized.token_expired"];
            403: components["responses"]["forbidden"];
            404: components["responses"]["user_not_found"];
            410: components["responses"]["user_closed"];
            413: components["responses"]["payload_too_large"];
            422: components["responses"]["validation_failed"];
            429: components["responses"]["throttled"];
            431: components["responses"]["head_too_large"];
            500: components["responses"]["internal"];
            503: components["responses"]["store_unavailable"];
        };
    };
    callRecallMemory: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                user_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RecallMemoryBody"];
            };
        };
        responses: {
            /** @description Candidates, best first, or what is wrong with the arguments. */
            200: {
                headers: {
                    "X-Neve-Degraded": components["headers"]["X-Neve-Degraded"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FoundOrMistake"];
                };
            };
            400: components["responses"]["malformed_json"];
            401: components["responses"]["unauthorized.token_expired"];
            403: components["responses"]["forbidden"];
            404: components["responses"]["user_not_found.session_not_found"];
            410: components["responses"]["user_closed"];
            413: components["responses"]["payload_too_large"];
            422: components["responses"]["validation_failed"];
            429: components["responses"]["throttled"];
            431: components["responses"]["head_too_large"];
            500: components["responses"]["internal"];
            503: components["responses"]["store_unavailable"];
        };
    };
    callRemember: {
        parameters: {
            query?: never;
            header?: {
                /** @description 1 to 255 visible ASCII characters, kept for 24 h for this method and path: the same key with the same body gets the first answer again. */
                "Idempotency-Key"?: string;
            };
            path: {
                user_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["RememberBody"];
            };
        };
        responses: {
            /** @description What became of it, or what is wrong with the arguments. */
            200: {
                headers: {
                    "X-Neve-Degraded": components["headers"]["X-Neve-Degraded"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RememberOrMistake"];
                };
            };
            400: components["responses"]["malformed_json"];
            401: components["responses"]["unauthorized.token_expired"];
            403: components["responses"]["forbidden.write_tools_off"];
            404: components["responses"]["user_not_found.session_not_found"];
            409: components["responses"]["conflict.idempotency_in_progress.erasing"];
            410: components["responses"]["user_closed"];
            413: components["responses"]["payload_too_large"];
            422: components["responses"]["validation_failed.idempotency_mismatch"];
            429: components["responses"]["throttled"];
            431: components["responses"]["head_too_large"];
            500: components["responses"]["internal"];
            503: components["responses"]["store_unavailable"];
        };
    };
    callSearchConversation: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                user_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SearchConversationBody"];
            };
        };
        responses: {
            /** @description Candidates, best first, or what is wrong with the arguments. */
            200: {
                headers: {
                    "X-Neve-Degraded": components["headers"]["X-Neve-Degraded"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["FoundOrMistake"];
                };
            };
            400: components["responses"]["malformed_json"];
            401: components["responses"]["unauthorized.token_expired"];
            403: components["responses"]["forbidden"];
            404: components["responses"]["user_not_found.session_not_found"];
            410: components["responses"]["user_closed"];
            413: components["responses"]["payload_too_large"];
            422: components["responses"]["validation_failed"];
            429: components["responses"]["throttled"];
            431: components["responses"]["head_too_large"];
            500: components["responses"]["internal"];
            503: components["responses"]["store_unavailable"];
        };
    };
    callSearchKnowledge: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                user_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["SearchKnowledgeBody"];
            };
        };
        responses: {
            /** @description What was found, best first, or what is wrong with the arguments. */
            200: {
                headers: {
                    "X-Neve-Degraded": components["headers"]["X-Neve-Degraded"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["KnowledgeOrMistake"];
                };
            };
            400: components["responses"]["malformed_json"];
            401: components["responses"]["unauthorized.token_expired"];
            403: components["responses"]["forbidden"];
            404: components["responses"]["user_not_found.session_not_found"];
            410: components["responses"]["user_closed"];
            413: components["responses"]["payload_too_large"];
            422: components["responses"]["validation_failed"];
            429: components["responses"]["throttled"];
            431: components["responses"]["head_too_large"];
            500: components["responses"]["internal"];
            503: components["responses"]["store_unavailable"];
        };
    };
    createUpload: {
        parameters: {
            query?: never;
            header?: {
                /** @description 1 to 255 visible ASCII characters, kept for 24 h for this method and path: the same key with the same body gets the first answer again. */
                "Idempotency-Key"?: string;
            };
            path: {
                user_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["UploadBody"];
            };
        };
        responses: {
            /** @description Where to send the bytes. */
            201: {
                headers: {
                    "X-Neve-Degraded": components["headers"]["X-Neve-Degraded"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["UploadOut"];
                };
            };
            400: components["responses"]["malformed_json"];
            401: components["responses"]["unauthorized.token_expired"];
            403: components["responses"]["forbidden"];
            404: components["responses"]["user_not_found"];
            409: components["responses"]["conflict.idempotency_in_progress.erasing"];
            410: components["responses"]["user_closed"];
            413: components["responses"]["payload_too_large.event_too_large.image_too_large"];
            422: components["responses"]["validation_failed.idempotency_mismatch"];
            429: components["responses"]["throttled"];
            431: components["responses"]["head_too_large"];
            500: components["responses"]["internal"];
            503: components["responses"]["store_unavailable"];
        };
    };
    reportUsage: {
        parameters: {
            query?: never;
            header?: {
                /** @description 1 to 255 visible ASCII characters, kept for 24 h for this method and path: the same key with the same body gets the first answer again. */
                "Idempotency-Key"?: string;
            };
            path: {
                user_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["ReportUsageBody"];
            };
        };
        responses: {
            /** @description What it added, and the session's sums. */
            200: {
                headers: {
                    "X-Neve-Degraded": components["headers"]["X-Neve-Degraded"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReportedUsageOut"];
                };
            };
            400: components["responses"]["malformed_json"];
            401: components["responses"]["unauthorized.token_expired"];
            403: components["responses"]["forbidden"];
            404: components["responses"]["user_not_found.session_not_found.pack_version_not_found.prompt_not_found"];
            409: components["responses"]["conflict.idempotency_in_progress.erasing"];
            410: components["responses"]["user_closed"];
            413: components["responses"]["payload_too_large"];
            422: components["responses"]["validation_failed.idempotency_mismatch"];
            429: components["responses"]["throttled"];
            431: components["responses"]["head_too_large"];
            500: components["responses"]["internal"];
            503: components["responses"]["store_unavailable"];
        };
    };
    listWebhooks: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The webhooks, without their secrets. */
            200: {
                headers: {
                    "X-Neve-Degraded": components["headers"]["X-Neve-Degraded"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhooksOut"];
                };
            };
            401: components["responses"]["unauthorized.token_expired"];
            403: components["responses"]["forbidden"];
            413: components["responses"]["payload_too_large"];
            422: components["responses"]["validation_failed"];
            429: components["responses"]["throttled"];
            431: components["responses"]["head_too_large"];
            500: components["responses"]["internal"];
            503: components["responses"]["store_unavailable"];
        };
    };
    readWebhook: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                webhook_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The webhook, without its secret. */
            200: {
                headers: {
                    "X-Neve-Degraded": components["headers"]["X-Neve-Degraded"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookOut"];
                };
            };
            401: components["responses"]["unauthorized.token_expired"];
            403: components["responses"]["forbidden"];
            404: components["responses"]["webhook_not_found"];
            413: components["responses"]["payload_too_large"];
            422: components["responses"]["validation_failed"];
            429: components["responses"]["throttled"];
            431: components["responses"]["head_too_large"];
            500: components["responses"]["internal"];
            503: components["responses"]["store_unavailable"];
        };
    };
    putWebhook: {
        parameters: {
            query?: never;
            header?: {
                /** @description 1 to 255 visible ASCII characters, kept for 24 h for this method and path: the same key with the same body gets the first answer again. */
                "Idempotency-Key"?: string;
            };
            path: {
                webhook_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["WebhookBody"];
            };
        };
        responses: {
            /** @description What it is from now on. */
            200: {
                headers: {
                    "X-Neve-Degraded": components["headers"]["X-Neve-Degraded"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookOut"];
                };
            };
            /** @description The new webhook, with the secret where Neve made it. */
            201: {
                headers: {
                    "X-Neve-Degraded": components["headers"]["X-Neve-Degraded"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookOut"];
                };
            };
            400: components["responses"]["malformed_json"];
            401: components["responses"]["unauthorized.token_expired"];
            403: components["responses"]["forbidden"];
            409: components["responses"]["conflict.idempotency_in_progress.too_many_webhooks"];
            413: components["responses"]["payload_too_large"];
            422: components["responses"]["validation_failed.idempotency_mismatch"];
            429: components["responses"]["throttled"];
            431: components["responses"]["head_too_large"];
            500: components["responses"]["internal"];
            503: components["responses"]["store_unavailable"];
        };
    };
    deleteWebhook: {
        parameters: {
            query?: never;
            header?: {
                /** @description 1 to 255 visible ASCII characters, kept for 24 h for this method and path: the same key with the same body gets the first answer again. */
                "Idempotency-Key"?: string;
            };
            path: {
                webhook_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description It is gone. */
            204: {
                headers: {
                    "X-Neve-Degraded": components["headers"]["X-Neve-Degraded"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content?: never;
            };
            401: components["responses"]["unauthorized.token_expired"];
            403: components["responses"]["forbidden"];
            404: components["responses"]["webhook_not_found"];
            409: components["responses"]["conflict.idempotency_in_progress"];
            413: components["responses"]["payload_too_large"];
            422: components["responses"]["validation_failed.idempotency_mismatch"];
            429: components["responses"]["throttled"];
            431: components["responses"]["head_too_large"];
            500: components["responses"]["internal"];
            503: components["responses"]["store_unavailable"];
        };
    };
    listDeliveries: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                webhook_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description The attempts. */
            200: {
                headers: {
                    "X-Neve-Degraded": components["headers"]["X-Neve-Degraded"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeliveriesOut"];
                };
            };
            401: components["responses"]["unauthorized.token_expired"];
            403: components["responses"]["forbidden"];
            404: components["responses"]["webhook_not_found"];
            413: components["responses"]["payload_too_large"];
            422: components["responses"]["validation_failed"];
            429: components["responses"]["throttled"];
            431: components["responses"]["head_too_large"];
            500: components["responses"]["internal"];
            503: components["responses"]["store_unavailable"];
        };
    };
    testWebhook: {
        parameters: {
            query?: never;
            header?: {
                /** @description 1 to 255 visible ASCII characters, kept for 24 h for this method and path: the same key with the same body gets the first answer again. */
                "Idempotency-Key"?: string;
            };
            path: {
                webhook_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description One attempt, whether or not it arrived. */
            200: {
                headers: {
                    "X-Neve-Degraded": components["headers"]["X-Neve-Degraded"];
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AttemptOut"];
                };
            };
            401: components["responses"]["unauthorized.token_expired"];
            403: components["responses"]["forbidden"];
            404: components["responses"]["webhook_not_found"];
            409: components["responses"]["idempotency_in_progress"];
            413: components["responses"]["payload_too_large"];
            422: components["responses"]["validation_failed.idempotency_mismatch"];
            429: components["responses"]["throttled"];
            431: components["responses"]["head_too_large"];
            500: components["responses"]["internal"];
            503: components["responses"]["store_unavailable"];
        };
    };
}

/** One field that is at fault, and what holds for it. */
export interface FieldError {
  field: string;
  message: string;
}

export interface ErrorDetails {
  status?: number | undefined;
  errors?: FieldError[];
  requestId?: string | undefined;
  retryAfter?: number | undefined;
  cause?: unknown;
}

/** What went wrong in a call. `code` is stable (the service's, or one of this package's: `no_key`, `bad_base_url`, `unreachable`,
 * `timeout`, `not_neve`, `unknown_message`, `buffer_full`, `unknown_id`, `http_<status>`); the message names field and cure. */
export class NeveError extends Error {
  readonly code!: string;
  /** Of the HTTP answer; absent where there was none. */
  readonly status?: number;
  readonly errors!: FieldError[];
  /** Under which the service has logged the call. */
  readonly requestId?: string;
  /** Seconds after which the same call may succeed. */
  readonly retryAfter?: number;

  constructor(code: string, message: string, details: ErrorDetails = {}) {
    super(message);
    Object.assign(this, { errors: [], ...details, code });
  }

  /** Whether the same call, made later, may succeed. */
  get retryable(): boolean {
    const { status = 0, retryAfter } = this;
    return this instanceof NeveConnection || status === 429 || status >= 500 || (status === 409 && retryAfter !== undefined);
  }
}

/** Nobody answers, or not within the call's budget. */
export class NeveConnection extends NeveError {}
/** Something answers that is not Neve: mostly a wrong `baseUrl`. */
export class NeveProtocol extends NeveError {}
/** 401, 403: the key is wrong, has no such scope, or there is none. */
export class NeveAuth extends NeveError {}
/** 404, 410. */
export class NeveNotFound extends NeveError {}
/** 409, 412. With `retryAfter` somebody else was faster; without it the call will be refused again. */
export class NeveConflict extends NeveError {}
/** 400, 422 and what this package itself cannot send: `errors` names the fields. */
export class NeveBadRequest extends NeveError {}
/** 413, 431. */
export class NeveTooLarge extends NeveBadRequest {}
/** What could not be appended has filled its bound: this message is not kept. */
export class NeveBufferFull extends NeveError {}
/** 429. */
export class NeveQuota extends NeveError {}
/** 5xx. */
export class NeveUnavailable extends NeveError {}

const NAMES = { NeveError, NeveConnection, NeveProtocol, NeveAuth, NeveNotFound, NeveConflict, NeveBadRequest, NeveTooLarge, NeveBufferFull, NeveQuota, NeveUnavailable };
for (const [name, made] of Object.entries(NAMES)) made.prototype.name = name;

const CLASSES: Record<number, typeof NeveError> = { 401: NeveAuth, 403: NeveAuth, 404: NeveNotFound, 410: NeveNotFound, 409: NeveConflict, 412: NeveConflict, 413: NeveTooLarge, 431: NeveTooLarge, 429: NeveQuota };

/** The error class of a status, 400 or above. */
export function classOf(status: number): typeof NeveError {
  return CLASSES[status] ?? (status >= 500 ? NeveUnavailable : NeveBadRequest);
}

/** An error about one field. */
export function wrong(code: string, field: string, message: string, kind: typeof NeveError = NeveBadRequest): NeveError {
  return new kind(code, `${field} ${message}.`, { errors: [{ field, message }] });
}

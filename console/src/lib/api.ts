// The API as this page may call it: with the session cookie, the organization, and the page's token.
import type { Page } from "./page";

export interface ProblemError {
  loc: (string | number)[];
  message: string;
  component_path?: string;
  line?: number;
  column?: number;
}

/** What the API says about a request that it refuses (RFC 9457). */
export interface Problem {
  status: number;
  code: string;
  detail: string;
  errors?: ProblemError[];
}

export class ApiError extends Error {
  constructor(
    readonly problem: Problem,
    readonly etag: string | null = null,
    private readonly retryAfter = 0,
  ) {
    super(problem.detail);
  }

  /** Whether a part of the service did not answer: the same request may be answered later. */
  get isOutage(): boolean {
    return this.problem.status === 0 || this.problem.status >= 502;
  }

  /** In so many milliseconds the same request may be answered, as the collector is being built; null if that is not the reason. */
  get again(): number | null {
    return this.problem.code === BEING_BUILT && this.retryAfter > 0 ? this.retryAfter * 1_000 : null;
  }
}

export interface Answer<T> {
  body: T;
  etag: string | null;
}

export interface List<T> {
  items: T[];
  next_cursor: string | null;
}

interface Options {
  body?: unknown;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

const BASE = "/api/v1/app/public";
const TRIES = 4;
const LONGEST_WAIT_SECONDS = 65;
const BEING_BUILT = "collector_being_built";

export class Api {
  constructor(
    private readonly page: Page,
    private readonly send: typeof fetch = (input, init) => fetch(input, init),
  ) {}

  async get<T>(path: string, signal?: AbortSignal): Promise<T> {
    return (await this.request<T>("GET", path, signal ? { signal } : {})).body;
  }

  /** All entries of a list, up to `most`. */
  async all<T>(path: string, most = 1_000): Promise<T[]> {
    const found: T[] = [];
    let cursor: string | null = "";
    while (cursor !== null && found.length < most) {
      const list: List<T> = await this.get(
        `${path}${path.includes("?") ? "&" : "?"}limit=100${cursor && `&cursor=${encodeURIComponent(cursor)}`}`,
      );
      found.push(...list.items);
      cursor = list.next_cursor;
    }
    return found.slice(0, most);
  }

  /**
   * Throws ApiError. Over a limit, and after an outage where nothing was changed, it waits as long as the answer asks for and tries again;
   * what is asked of a collector that is being built, until that is there.
   */
  async request<T>(method: string, path: string, options: Options = {}): Promise<Answer<T>> {
    for (let tries = 1; ; tries += 1) {
      const token = this.page.csrf;
      const response = await this.once(method, path, options);
      if (response.ok) return { body: await read<T>(response), etag: response.headers.get("etag") };
      const problem = await problemOf(response);
      if (problem.code === "foreign_request" && tries === 1 && (await this.hasNewerToken(token))) continue;
      const wait = Number(response.headers.get("retry-after") ?? "0");
      const again = problem.status === 429 || (problem.status === 503 && method === "GET");
      const isOver = tries >= TRIES && problem.code !== BEING_BUILT;
      // A date is not a number, so that both comparisons are false.
      if (!again || isOver || !(wait > 0 && wait <= LONGEST_WAIT_SECONDS))
        throw new ApiError(problem, response.headers.get("etag"), wait);
      await pause(wait * 1_000, options.signal);
    }
  }

  private async once(method: string, path: string, { body, headers, signal }: Options): Promise<Response> {
    const sent: Record<string, string> = {
      "X-Service-Org": this.page.organization,
      "X-CSRF-Token": this.page.csrf,
      ...headers,
    };
    if (body !== undefined) sent["Content-Type"] = "application/json";
    return this.reach(BASE + path, {
      method,
      headers: sent,
      body: body === undefined ? null : JSON.stringify(body),
      signal: signal ?? null,
      cache: "no-store",
      // A large answer is at another host, which this page may not ask.
      redirect: "manual",
    });
  }

  private async reach(address: string, init: RequestInit): Promise<Response> {
    try {
      return await this.send(address, init);
    } catch (error) {
      if (init.signal?.aborted) throw error;
      throw new ApiError({
        status: 0,
        code: "unreachable",
        detail: "The service cannot be reached; what you typed is kept in this browser",
      });
    }
  }

  /**
   * After a sign-in in another tab, this page's token is of a session that has ended. Another person's is not taken.
   * Requests run at the same time: one that was sent before may have taken the new token already.
   */
  private async hasNewerToken(refused: string): Promise<boolean> {
    if (this.page.csrf !== refused) return true;
    const text = await (await this.reach(location.href, { cache: "no-store" })).text();
    const [, person, csrf] =
      /<body data-person="([^"]*)" data-organization="[^"]*" data-csrf="([0-9a-f]+)"/.exec(text) ?? [];
    if (person !== this.page.person || csrf === undefined || csrf === refused) return false;
    this.page.csrf = csrf;
    return true;
  }
}

async function read<T>(response: Response): Promise<T> {
  const isJson = (response.headers.get("content-type") ?? "").includes("json");
  return (isJson ? await response.json() : await response.text()) as T;
}

async function problemOf(response: Response): Promise<Problem> {
  if (response.type === "opaqueredirect")
    return {
      status: 307,
      code: "too_large",
      detail: "This is too large to be shown here; read it with the command line",
    };
  try {
    const { status, code, detail, errors } = (await response.json()) as Problem;
    if (typeof detail === "string") return { status, code, detail, ...(errors && { errors }) };
  } catch {
    // What stands between may answer in another form.
  }
  return { status: response.status, code: "unknown", detail: `The service answered ${response.status}; try again` };
}

function pause(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, milliseconds);
    signal?.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason as Error);
    });
  });
}

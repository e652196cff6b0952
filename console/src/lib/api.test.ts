import assert from "node:assert/strict";
import { test } from "node:test";
import { Api, ApiError } from "./api";

const VERSION = "/configurations/cfg_1/versions/1";

/** A page whose token is of the session before: each request with it is refused, and the page itself has the new one. */
class Server {
  person = "usr_a";
  isUp = true;
  pagesRead = 0;
  /** What the answer to a PATCH waits for. */
  held: Promise<unknown> = Promise.resolve();

  readonly api = new Api({ person: "usr_a", organization: "org_a", csrf: "0a" }, async (input, init) => {
    const answer = this.answer(String(input), init?.headers as Record<string, string>);
    if (init?.method === "PATCH") await this.held;
    return answer;
  });

  private answer(path: string, headers: Record<string, string>): Response {
    if (!path.startsWith("/api/")) {
      this.pagesRead += 1;
      if (!this.isUp) throw new TypeError("Failed to fetch");
      return new Response(`<body data-person="${this.person}" data-organization="org_a" data-csrf="0b">`);
    }
    if (headers["X-CSRF-Token"] === "0b") return Response.json({ saved: true });
    return Response.json({ status: 403, code: "foreign_request", detail: "Not from this site" }, { status: 403 });
  }
}

Object.assign(globalThis, { location: { href: "http://headgate.test/configurations/cfg_1/edit" } });

test("after a sign-in in another tab, requests at the same time all take the new token", async () => {
  const server = new Server();
  const answers = await Promise.all([server.api.request("POST", "/validate"), server.api.request("PATCH", VERSION)]);
  assert.deepEqual(
    answers.map(({ body }) => body),
    [{ saved: true }, { saved: true }],
  );
});

test("a request that is refused after another has taken the new token does not read the page again", async () => {
  const server = new Server();
  server.held = server.api.request("POST", "/validate");
  const { body } = await server.api.request("PATCH", VERSION);
  assert.deepEqual(body, { saved: true });
  assert.equal(server.pagesRead, 1);
});

test("the token of another person is not taken", async () => {
  const server = new Server();
  server.person = "usr_b";
  await assert.rejects(
    server.api.request("PATCH", VERSION),
    (error) => error instanceof ApiError && error.problem.code === "foreign_request",
  );
  assert.equal(server.pagesRead, 1);
});

test("if the page cannot be read for its token, the service cannot be reached", async () => {
  const server = new Server();
  server.isUp = false;
  await assert.rejects(
    server.api.request("PATCH", VERSION),
    (error) => error instanceof ApiError && error.problem.code === "unreachable",
  );
});

/** A service that gives these answers one after another, the last one again and again. */
class Answers {
  readonly asked: string[] = [];
  readonly api: Api;

  constructor(...answers: (() => Response)[]) {
    this.api = new Api({ person: "usr_a", organization: "org_a", csrf: "0a" }, (input, init) => {
      this.asked.push(`${init?.method} ${String(input).replace("/api/v1/app/public", "")}`);
      const answer = answers[Math.min(this.asked.length, answers.length) - 1]!;
      return Promise.resolve(answer());
    });
  }
}

const refusal = (status: number, code: string, retryAfter: string) => (): Response =>
  Response.json({ status, code, detail: code }, { status, headers: { "retry-after": retryAfter } });
const done = (): Response => Response.json({ saved: true });
const code = (error: unknown): string => (error instanceof ApiError ? error.problem.code : String(error));

test("a list is read to its end, page by page", async () => {
  const { api, asked } = new Answers(
    () => Response.json({ items: [1, 2], next_cursor: "a+b" }),
    () => Response.json({ items: [3], next_cursor: null }),
  );
  assert.deepEqual(await api.all("/fleets?q=x"), [1, 2, 3]);
  assert.deepEqual(asked, ["GET /fleets?q=x&limit=100", "GET /fleets?q=x&limit=100&cursor=a%2Bb"]);
});

test("a list without an end is read as far as asked", async () => {
  const { api, asked } = new Answers(() => Response.json({ items: [1, 2], next_cursor: "a" }));
  assert.deepEqual(await api.all("/flows", 3), [1, 2, 1]);
  assert.equal(asked.length, 2);
});

test("over a limit, and after an outage of what only reads, the same is asked again", async () => {
  const limited = new Answers(refusal(429, "too_many", "0.001"), refusal(429, "too_many", "0.001"), done);
  assert.deepEqual((await limited.api.request("POST", "/validate")).body, { saved: true });
  const down = new Answers(refusal(503, "unavailable", "0.001"), done);
  assert.deepEqual(await down.api.get(VERSION), { saved: true });
});

test("what may have changed something is not sent again after an outage", async () => {
  const { api, asked } = new Answers(refusal(503, "unavailable", "0.001"), done);
  assert.equal(await api.request("PATCH", VERSION).catch(code), "unavailable");
  assert.equal(asked.length, 1);
});

test("four tries are enough, unless a collector is being built", async () => {
  const limited = new Answers(refusal(429, "too_many", "0.001"));
  assert.equal(await limited.api.get(VERSION).catch(code), "too_many");
  assert.equal(limited.asked.length, 4);
  const building = refusal(503, "collector_being_built", "0.001");
  const built = new Answers(building, building, building, building, building, done);
  assert.deepEqual(await built.api.get(VERSION), { saved: true });
});

test("an answer that asks for more than a minute, or for no wait, is told at once", async () => {
  for (const wait of ["66", "0", "Fri, 27 Nov 2026 00:00:00 GMT"]) {
    const { api, asked } = new Answers(refusal(429, "too_many", wait));
    assert.equal(await api.get(VERSION).catch(code), "too_many");
    assert.equal(asked.length, 1, wait);
  }
});

test("only a collector that is being built has a time at which to ask again", async () => {
  const again = async (code: string): Promise<unknown> =>
    new Answers(refusal(503, code, "20")).api
      .request("POST", "/validate")
      .catch((error: unknown) => error instanceof ApiError && error.again);
  assert.deepEqual([await again("collector_being_built"), await again("unavailable")], [20_000, null]);
});

test("a page that is left does not wait to ask again", async () => {
  const { api, asked } = new Answers(refusal(429, "too_many", "60"));
  const left = new AbortController();
  const answer = api.get(VERSION, left.signal).catch((error: unknown) => error);
  setTimeout(() => left.abort(), 1);
  assert.equal((await answer) instanceof DOMException, true);
  assert.equal(asked.length, 1);
});

test("an answer of what stands between says its status, and 502 and above are outages", async () => {
  const answers = [500, 502].map((status) => new Answers(() => new Response("<h1>Bad Gateway</h1>", { status })));
  const errors = await Promise.all(answers.map(({ api }) => api.get(VERSION).catch((error: unknown) => error)));
  assert.deepEqual(
    errors.map((error) => error instanceof ApiError && [error.message, error.isOutage]),
    [
      ["The service answered 500; try again", false],
      ["The service answered 502; try again", true],
    ],
  );
});

test("a text is given as it is", async () => {
  assert.equal(await new Answers(() => new Response("a: 1\n")).api.get(VERSION), "a: 1\n");
});

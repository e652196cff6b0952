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

import assert from "node:assert/strict";
import { test } from "node:test";
import { Api } from "../lib/api";
import { UnsavedTexts } from "../lib/unsaved";
import { Overtaken, Session } from "./session";

interface Asked {
  method: string;
  path: string;
  body: Record<string, string>;
  match: string | undefined;
}

class Server {
  text = "a: 1\n";
  revision = 1;
  n = 1;
  status = "draft";
  asked: Asked[] = [];
  losesAnswers = false;
  readonly stored = new Map<string, string>();
  readonly unsaved = new UnsavedTexts("usr_a", {
    getItem: (key) => this.stored.get(key) ?? null,
    setItem: (key, value) => void this.stored.set(key, value),
    removeItem: (key) => void this.stored.delete(key),
    key: (at) => [...this.stored.keys()][at] ?? null,
    length: 0,
  });

  readonly api = new Api({ person: "usr_a", organization: "org_a", csrf: "c" }, (input, init) => {
    const headers = init?.headers as Record<string, string>;
    const body = (typeof init?.body === "string" ? JSON.parse(init.body) : {}) as Record<string, string>;
    const method = init?.method ?? "GET";
    this.asked.push({
      method,
      path: String(input).replace("/api/v1/app/public", ""),
      body,
      match: headers["If-Match"],
    });
    return Promise.resolve(this.answer(method, String(input), body, headers["If-Match"]));
  });

  async session(): Promise<Session> {
    return new Session(this.api, "cfg_1", this.unsaved, await Session.read(this.api, "cfg_1", 1));
  }

  saveAsSomebodyElse(text: string): void {
    this.text = text;
    this.revision += 1;
  }

  private get etag(): string {
    return `"${this.n}-${this.revision}"`;
  }

  private answer(method: string, path: string, body: Record<string, string>, match: string | undefined): Response {
    if (method === "PATCH") {
      if (this.status === "published") return this.problem(409, "version_published");
      if (match !== this.etag) return this.problem(412, "version_changed");
      this.saveAsSomebodyElse(body.yaml ?? this.text);
      if (this.losesAnswers) return this.problem(503, "unavailable");
    }
    if (path.endsWith("/publish") && match !== this.etag) return this.problem(412, "version_changed");
    if (method === "POST" && path.endsWith("/versions"))
      Object.assign(this, { n: this.n + 1, revision: 1, status: "draft", text: body.yaml });
    const version = {
      n: this.n,
      status: this.status,
      collector_version: "0.139.0",
      description: null,
      yaml: this.text,
    };
    return new Response(JSON.stringify(version), { headers: { "content-type": "application/json", etag: this.etag } });
  }

  private problem(status: number, code: string): Response {
    return new Response(JSON.stringify({ status, code, detail: code }), {
      status,
      headers: { "content-type": "application/problem+json" },
    });
  }
}

test("a draft is saved on the condition that it is as it was read", async () => {
  const server = new Server();
  const session = await server.session();
  await session.save("a: 2\n", "0.139.0");
  await session.save("a: 3\n", "0.139.0");
  assert.equal(server.text, "a: 3\n");
  assert.deepEqual(
    server.asked.slice(1).map(({ match }) => match),
    ['"1-1"', '"1-2"'],
  );
});

test("if somebody else was first, nothing is lost: their text is told and the typed one stays stored", async () => {
  const server = new Server();
  const session = await server.session();
  session.typed("a: 2\n");
  server.saveAsSomebodyElse("a: 1\nb: 1\n");
  await assert.rejects(
    session.save("a: 2\n", "0.139.0"),
    (error) => error instanceof Overtaken && error.theirs.version.yaml === "a: 1\nb: 1\n",
  );
  assert.equal(server.text, "a: 1\nb: 1\n");
  assert.equal(server.unsaved.get("cfg_1/1")?.text, "a: 2\n");
});

test("a merged text is saved over the state that was merged", async () => {
  const server = new Server();
  const session = await server.session();
  server.saveAsSomebodyElse("a: 1\nb: 1\n");
  const overtaken = await session.save("a: 2\n", "0.139.0").catch((error: unknown) => error);
  assert.ok(overtaken instanceof Overtaken);
  session.merged(overtaken.theirs);
  await session.save("a: 2\nb: 1\n", "0.139.0");
  assert.equal(server.text, "a: 2\nb: 1\n");
});

test("a save whose answer was lost does not conflict with itself", async () => {
  const server = new Server();
  const session = await server.session();
  server.losesAnswers = true;
  await assert.rejects(session.save("a: 2\n", "0.139.0"));
  server.losesAnswers = false;
  await session.save("a: 2\n", "0.139.0");
  assert.equal(session.base.text, "a: 2\n");
});

test("what was published gets a new version", async () => {
  const server = new Server();
  server.status = "published";
  const session = await server.session();
  await session.save("a: 2\n", "0.139.0");
  assert.deepEqual([session.n, session.isDraft, server.asked.at(-1)?.method], [2, true, "POST"]);
});

test("a draft that somebody published meanwhile is told as theirs", async () => {
  const server = new Server();
  const session = await server.session();
  server.status = "published";
  await assert.rejects(
    session.save("a: 2\n", "0.139.0"),
    (error) => error instanceof Overtaken && error.theirs.version.status === "published",
  );
});

test("a text that was typed before is restored with the state that it began from", async () => {
  const server = new Server();
  (await server.session()).typed("a: 2\n");
  server.saveAsSomebodyElse("a: 1\nb: 1\n");
  const later = await server.session();
  assert.equal(later.restore(), "a: 2\n");
  assert.deepEqual(later.base, { text: "a: 1\n", etag: '"1-1"' });
  await assert.rejects(later.save("a: 2\n", "0.139.0"), Overtaken);
});

test("a text that was typed back is not stored", async () => {
  const server = new Server();
  const session = await server.session();
  session.typed("a: 2\n");
  session.typed("a: 1\n");
  assert.equal(server.stored.size, 0);
});

test("notes are saved on the same condition as the text, and leave it", async () => {
  const server = new Server();
  const session = await server.session();
  await session.describe("why");
  assert.deepEqual(server.asked.at(-1), {
    method: "PATCH",
    path: "/configurations/cfg_1/versions/1",
    body: { description: "why" },
    match: '"1-1"',
  });
  assert.equal(session.base.etag, '"1-2"');
});

test("notes that meet another's are not taken for a save whose answer was lost", async () => {
  const server = new Server();
  const session = await server.session();
  server.saveAsSomebodyElse("a: 1\n");
  await assert.rejects(session.describe("why"), Overtaken);
});

test("only another collector version is saved with the text", async () => {
  const server = new Server();
  const session = await server.session();
  await session.save("a: 2\n", "0.139.0");
  await session.save("a: 3\n", "0.158.0");
  assert.deepEqual(
    server.asked.slice(1).map(({ body }) => body),
    [{ yaml: "a: 2\n" }, { yaml: "a: 3\n", collector_version: "0.158.0" }],
  );
});

test("a text that is given up is not restored, and the next one begins from what is saved", async () => {
  const server = new Server();
  (await server.session()).typed("a: 2\n");
  const later = await server.session();
  later.restore();
  later.discard();
  assert.deepEqual([later.restore(), later.base], [null, { text: "a: 1\n", etag: '"1-1"' }]);
});

test("a version is published as it is saved, and a text that is typed then is a new one", async () => {
  const server = new Server();
  const session = await server.session();
  server.status = "published";
  await session.publish();
  assert.equal(server.asked.at(-1)?.path, "/configurations/cfg_1/versions/1/publish");
  assert.equal(session.isDraft, false);
});

test("a draft that somebody else changed is not published", async () => {
  const server = new Server();
  const session = await server.session();
  server.saveAsSomebodyElse("a: 1\nb: 1\n");
  await assert.rejects(
    session.publish(),
    (error) => error instanceof Overtaken && error.theirs.version.yaml === "a: 1\nb: 1\n",
  );
});

test("a text that the browser cannot store says so", async () => {
  const server = new Server();
  const session = await server.session();
  server.stored.set = () => {
    throw new Error("full");
  };
  assert.equal(session.typed("a: 2\n"), false);
});

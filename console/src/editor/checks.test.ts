import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError } from "../lib/api";
import { Checks } from "./checks";

class Desk {
  due: (() => void)[] = [];
  asked: { text: string; answer: (value: string) => void; fail: (error: Error) => void }[] = [];
  shown: string[] = [];
  failed: string[] = [];
  readonly checks = new Checks<string>(
    (text) => new Promise((answer, fail) => this.asked.push({ text, answer, fail })),
    (answer) => this.shown.push(answer),
    (error) => this.failed.push(String(error)),
    { after: (_, act) => (this.due.push(act), () => (this.due = this.due.filter((one) => one !== act))) },
  );
  pause(): void {
    for (const act of this.due.splice(0)) act();
  }
  texts(): string[] {
    return this.asked.map(({ text }) => text);
  }
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test("a text is asked about after a pause only", () => {
  const desk = new Desk();
  for (const text of ["a", "ab", "abc"]) desk.checks.typed(text);
  desk.pause();
  assert.deepEqual(desk.texts(), ["abc"]);
});

test("an answer about an older text is not shown, and the newest text is asked about next", async () => {
  const desk = new Desk();
  desk.checks.typed("a");
  desk.pause();
  for (const text of ["b", "c"]) {
    desk.checks.typed(text);
    desk.pause();
  }
  assert.deepEqual(desk.texts(), ["a"]);
  desk.asked[0]?.answer("of a");
  await settled();
  assert.deepEqual([desk.shown, desk.texts()], [[], ["a", "c"]]);
  desk.asked[1]?.answer("of c");
  await settled();
  assert.deepEqual(desk.shown, ["of c"]);
});

test("while the collector is being built, the same text is checked again by itself until it is answered", async () => {
  const desk = new Desk();
  desk.checks.typed("a");
  desk.pause();
  const being = { status: 503, code: "collector_being_built", detail: "it is being built" };
  desk.asked[0]?.fail(new ApiError(being, null, 15));
  await settled();
  desk.pause();
  assert.deepEqual([desk.failed.length, desk.texts()], [1, ["a", "a"]]);
  desk.asked[1]?.answer("of a");
  await settled();
  desk.pause();
  assert.deepEqual([desk.shown, desk.texts()], [["of a"], ["a", "a"]]);
});

test("a text that an outage left unchecked is checked again", async () => {
  const desk = new Desk();
  desk.checks.typed("a");
  desk.pause();
  desk.asked[0]?.fail(new ApiError({ status: 503, code: "not_checked", detail: "no" }, null, 2));
  await settled();
  desk.pause();
  assert.deepEqual(desk.texts(), ["a", "a"]);
});

test("another fault is told once, and a text that was typed since is checked instead", async () => {
  const desk = new Desk();
  desk.checks.typed("a");
  desk.pause();
  desk.asked[0]?.fail(new ApiError({ status: 422, code: "invalid", detail: "no" }));
  await settled();
  desk.pause();
  assert.deepEqual(desk.texts(), ["a"]);
  desk.checks.typed("b");
  desk.pause();
  desk.asked[1]?.fail(new ApiError({ status: 503, code: "collector_being_built", detail: "no" }, null, 2));
  await settled();
  desk.checks.typed("c");
  desk.pause();
  assert.deepEqual(desk.texts(), ["a", "b", "c"]);
});

test("an answer is not shown after the text has changed, even before the pause", async () => {
  const desk = new Desk();
  desk.checks.typed("a");
  desk.pause();
  desk.checks.typed("b");
  desk.asked[0]?.answer("of a");
  await settled();
  assert.deepEqual(desk.shown, []);
});

test("an answer about a text that waited is not shown after the text has changed", async () => {
  const desk = new Desk();
  for (const text of ["a", "b"]) {
    desk.checks.typed(text);
    desk.pause();
  }
  desk.checks.typed("c");
  desk.asked[0]?.answer("of a");
  await settled();
  desk.asked[1]?.answer("of b");
  await settled();
  assert.deepEqual(desk.shown, []);
});

test("a failure is told, and the next text is asked about", async () => {
  const desk = new Desk();
  desk.checks.typed("a");
  desk.pause();
  desk.asked[0]?.fail(new Error("no"));
  await settled();
  desk.checks.typed("b");
  desk.pause();
  assert.deepEqual([desk.failed, desk.texts()], [["Error: no"], ["a", "b"]]);
});

test("after a stop nothing is asked, and no answer is shown", async () => {
  const desk = new Desk();
  desk.checks.typed("a");
  desk.pause();
  desk.checks.typed("b");
  desk.checks.stop();
  desk.pause();
  desk.asked[0]?.answer("of a");
  await settled();
  assert.deepEqual([desk.texts(), desk.shown], [["a"], []]);
});

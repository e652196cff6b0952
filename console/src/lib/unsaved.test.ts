import assert from "node:assert/strict";
import { test } from "node:test";
import { UnsavedTexts } from "./unsaved";

class Memory {
  readonly items = new Map<string, string>();
  room = Infinity;
  get length(): number {
    return this.items.size;
  }
  key(at: number): string | null {
    return [...this.items.keys()][at] ?? null;
  }
  getItem(key: string): string | null {
    return this.items.get(key) ?? null;
  }
  setItem(key: string, value: string): void {
    if (value.length > this.room) throw new DOMException("full", "QuotaExceededError");
    this.items.set(key, value);
  }
  removeItem(key: string): void {
    this.items.delete(key);
  }
}

const unsaved = { text: "a: 2", base: "a: 1", etag: '"1"' };

test("a text is there for its person only", () => {
  const memory = new Memory();
  new UnsavedTexts("usr_a", memory).put("cfg_1/1", unsaved);
  assert.deepEqual(new UnsavedTexts("usr_a", memory).get("cfg_1/1"), unsaved);
  assert.equal(new UnsavedTexts("usr_b", memory).get("cfg_1/1"), null);
});

test("signing out erases all of a person's texts and nothing else", () => {
  const memory = new Memory();
  const [one, other] = [new UnsavedTexts("usr_c", memory), new UnsavedTexts("usr_cd", memory)];
  for (const of of ["cfg_1/1", "cfg_1/2", "cfg_2/1"]) one.put(of, unsaved);
  other.put("cfg_1/1", unsaved);
  memory.setItem("something else", "x");
  one.erase();
  one.put("cfg_1/1", unsaved);
  assert.deepEqual([...memory.items.keys()], ["headgate-unsaved/usr_cd/cfg_1/1", "something else"]);
});

test("a text that has no room is refused, and what was there stays", () => {
  const memory = new Memory();
  const texts = new UnsavedTexts("usr_a", memory);
  texts.put("cfg_1/1", unsaved);
  memory.room = 10;
  assert.equal(texts.put("cfg_1/1", { ...unsaved, text: "a: 3" }), false);
  assert.deepEqual(texts.get("cfg_1/1"), unsaved);
});

test("a value that we did not store is not read as a text", () => {
  const memory = new Memory();
  for (const value of ["{", "[]", "null", '{"text": 1}']) {
    memory.setItem("headgate-unsaved/usr_a/cfg_1/1", value);
    assert.equal(new UnsavedTexts("usr_a", memory).get("cfg_1/1"), null, value);
  }
});

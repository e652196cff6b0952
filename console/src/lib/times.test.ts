import assert from "node:assert/strict";
import { test } from "node:test";
import { age, clock } from "./times";

const AT = new Date("2026-11-26T05:29:31Z");

test("a time in UTC reads as the server writes it", () => {
  assert.equal(clock(AT, false, "utc"), "2026-11-26 05:29 UTC");
  assert.equal(clock(AT, true, "utc"), "2026-11-26 05:29:31 UTC");
});

test("a time in another zone says its offset", () => {
  const shifted = new Date(AT);
  shifted.getTimezoneOffset = () => -330;
  assert.equal(clock(shifted, false, "local"), "2026-11-26 10:59 UTC+5:30");
  shifted.getTimezoneOffset = () => 300;
  assert.equal(clock(shifted, false, "local"), "2026-11-26 00:29 UTC−5");
});

test("an age is told in its largest unit", () => {
  const told = [0, 12_000, 100_000, 2 * 3_600_000, 50 * 3_600_000].map(age);
  assert.deepEqual(told, ["0 s ago", "12 s ago", "2 min ago", "2 h ago", "2 d ago"]);
});

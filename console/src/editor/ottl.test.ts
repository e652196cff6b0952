import assert from "node:assert/strict";
import { test } from "node:test";
import { tokens } from "./ottl";

const words = (text: string): string[] => tokens(text).map(({ from, to, word }) => `${word} ${text.slice(from, to)}`);

test("the words of a statement", () => {
  assert.deepEqual(
    words(
      'set(log.attributes["a b"], Concat(["x", body], "-")) where severity_number >= SEVERITY_NUMBER_WARN and not IsMap(body)',
    ),
    [
      "function set",
      "path log.attributes",
      'string "a b"',
      "converter Concat",
      'string "x"',
      "path body",
      'string "-"',
      "keyword where",
      "path severity_number",
      "operator >=",
      "enum SEVERITY_NUMBER_WARN",
      "keyword and",
      "keyword not",
      "converter IsMap",
      "path body",
    ],
  );
});

test("a string that is not closed goes on to the end", () =>
  assert.deepEqual(words('body == "a \\" b'), ["path body", "operator ==", 'string "a \\" b']));

test("no more words than can be seen are told", () => assert.equal(tokens("a ".repeat(10_000)).length, 2_000));

import assert from "node:assert/strict";
import { test } from "node:test";
import { EditorState } from "@codemirror/state";
import { declaration } from "./go_to";

const TEXT = `receivers:
  otlp/a.b:
    protocols:
      grpc:
connectors:
  count:
exporters:
  debug:
service:
  pipelines:
    logs:
      receivers: [otlp/a.b]
      exporters: [debug, count]
    metrics:
      receivers:
        - count
      exporters: [nothing]
`;
const state = EditorState.create({ doc: TEXT });
const from = (text: string, nth = 1): number | null => {
  let at = -1;
  for (let n = 0; n < nth; n += 1) at = TEXT.indexOf(text, at + 1);
  return declaration(state, at + 1);
};

test("what a pipeline names leads to where it is declared", () => {
  assert.deepEqual([from("otlp/a.b", 2), from("debug", 2), from("count", 2), from("count", 3)], [2, 8, 6, 6]);
});

test("a declaration leads to the pipeline that uses it", () => {
  assert.deepEqual([from("otlp/a.b"), from("debug"), from("count")], [12, 13, 13]);
});

test("what is not declared, and other places, lead nowhere", () => {
  assert.deepEqual([from("nothing"), from("protocols"), from("service")], [null, null, null]);
  const blank = EditorState.create({ doc: TEXT.replace("exporters:", "  \nexporters:") });
  assert.equal(declaration(blank, TEXT.indexOf("exporters:") + 2), null);
});

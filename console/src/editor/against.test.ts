import assert from "node:assert/strict";
import { test } from "node:test";
import { Api } from "../lib/api";
import type { Check, ListedFinding, Version } from "../lib/types";
import { ofPolicies, ofStart, ofTests, ofVerdict } from "./against";

const verdict = (part: object): Check =>
  ({ valid: true, version: "0.139.0", errors: [], findings: [], ...part }) as unknown as Check;
const session = {
  configuration: "cfg_a",
  n: 2,
  saved: {
    version: { yaml: "a: 1\n", collector_version: "0.139.0", feature_gates: ["+b"] } as unknown as Version,
    etag: "",
  },
};

/** An API that gives this answer, and notes what it was asked. */
function answering(status: number, body: unknown): { api: Api; asked: string[] } {
  const asked: string[] = [];
  const api = new Api({ person: "usr_a", organization: "org_a", csrf: "c" }, (input, init) => {
    asked.push(`${init?.method ?? "GET"} ${String(input)} ${typeof init?.body === "string" ? init.body : ""}`);
    return Promise.resolve(Response.json(body, { status }));
  });
  return { api, asked };
}

test("an invalid text stands against it with its number of errors, and leads to them", () => {
  assert.deepEqual(ofVerdict(verdict({})), []);
  for (const [errors, words] of [
    [1, "1 error"],
    [2, "2 errors"],
  ] as const) {
    const [against] = ofVerdict(verdict({ valid: false, findings: Array(errors).fill({ severity: "error" }) }));
    assert.equal(against?.text, `✕ Not valid on collector 0.139.0: ${words}, so that hosts would refuse it.`);
    assert.equal(against.panel, "Problems");
  }
  const [onHost] = ofVerdict(verdict({ valid: false, valid_on_host: true }));
  assert.equal(onHost?.text, "! Valid on collector 0.139.0 only on a host that has what the warnings name.");
});

const finding = (severity: string, more: object = {}): object => ({
  severity,
  message: severity,
  line: 3,
  suppressed: false,
  ...more,
});

test("policy errors are counted, five of them listed with their lines, and those that the organization requires refuse it", () => {
  const findings = [
    ...Array<object>(6).fill(finding("error")),
    finding("error", { suppressed: true }),
    finding("warning"),
  ];
  const policies = verdict({ policies: { passed: false, findings } });
  const [first, ...listed] = ofPolicies(policies, ["policies"]);
  assert.equal(first?.text, "6 policy errors: your organization publishes only versions without them.");
  assert.deepEqual(listed, Array(5).fill({ text: "error (line 3)", line: 3 }));
  assert.equal(ofPolicies(policies, ["tests"])[0]?.text, "6 policy errors.");
});

test("policy warnings stop nothing, and suppressed ones are not named", () => {
  const passed = (...findings: object[]): string[] =>
    ofPolicies(verdict({ policies: { passed: true, findings } }), []).map(({ text }) => text);
  assert.deepEqual(passed(finding("warning"), finding("warning", { suppressed: true }), finding("note")), [
    "1 policy warning, which do not stop it.",
  ]);
  assert.deepEqual(passed(finding("warning", { suppressed: true })), []);
});

test("policies that were not checked are told as that, and a service without them says nothing", () => {
  assert.deepEqual(ofPolicies(verdict({ policies: { problem: { detail: "too busy" } } }), ["policies"]), [
    { text: "Policies were not checked: too busy" },
  ]);
  assert.deepEqual(ofPolicies(verdict({ policies: null }), ["policies"]), []);
});

test("tests stand against it unless they passed on exactly this text", async () => {
  const required = ": your organization publishes only versions whose tests passed.";
  const rows: [items: number, evidence: object[], required: string | null, free: string | null][] = [
    [1, [{ passed: true, current: true }], null, null],
    [1, [{ passed: false, current: true }], "Its tests did not pass", "Its tests did not pass"],
    [
      1,
      [{ passed: true, current: false }],
      "Its tests have not run on exactly this text",
      "Its tests have not run on exactly this text",
    ],
    [1, [], "Its tests have not run on exactly this text", "Its tests have not run on exactly this text"],
    [0, [], "This version has no tests", null],
  ];
  for (const [items, evidence, ifRequired, ifFree] of rows) {
    const { api, asked } = answering(200, { items: Array(items).fill({ name: "a" }), evidence });
    const against = [await ofTests(api, session, ["tests"]), await ofTests(api, session, ["policies"])];
    assert.deepEqual(
      against.map((list) => list.map(({ text }) => text)),
      [ifRequired === null ? [] : [ifRequired + required], ifFree === null ? [] : [`${ifFree}.`]],
    );
    assert.match(asked[0] ?? "", /\/configurations\/cfg_a\/versions\/2\/tests/);
  }
});

test("components are started as hosts start them, and their findings stand against it", async () => {
  const finding = (source: string, severity: string, line: number | null): ListedFinding =>
    ({ source, severity, line, message: `${source} ${severity}` }) as unknown as ListedFinding;
  const findings = [
    finding("start", "error", 4),
    finding("start", "note", 5),
    finding("collector", "error", 6),
    finding("start", "warning", null),
  ];
  const { api, asked } = answering(200, verdict({ findings, start: { started: true } }));
  assert.deepEqual(await ofStart(api, session as never), [
    { text: "start error (line 4)", line: 4 },
    { text: "start warning", line: null },
  ]);
  assert.match(asked[0] ?? "", /^POST .*\/validate\?start=true .*"version":"0.139.0","feature_gates":\["\+b"\]/);
});

test("a start that was not tried stops nothing, and is told with its reason", async () => {
  const whole = { problem: { detail: "the sandbox is busy" } };
  assert.deepEqual(await ofStart(answering(200, verdict({ start: whole })).api, session as never), [
    { text: "The components were not started: the sandbox is busy" },
  ]);
  const refused = answering(422, { type: "x", title: "y", status: 422, detail: "too large" });
  assert.deepEqual(await ofStart(refused.api, session as never), [
    { text: "The components were not started: too large" },
  ]);
});

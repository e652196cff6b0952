import assert from "node:assert/strict";
import { test } from "node:test";
import { Api } from "../lib/api";
import { followHosts, type Health, MOST_HOSTS } from "./health";
import { readRates } from "./rates";

const asking = (answer: (path: string) => unknown): { api: Api; asked: string[] } => {
  const asked: string[] = [];
  const api = new Api({ person: "usr_a", organization: "org_a", csrf: "0a" }, (input) => {
    asked.push(String(input).replace("/api/v1/app/public", ""));
    return Promise.resolve(Response.json(answer(asked.at(-1) ?? "")));
  });
  return { api, asked };
};
const host = (configuration: string) => ({
  state: "applied",
  deployment_id: "dep_1",
  running: { configuration_id: configuration, version_number: 7 },
  counters: null,
  last_seen_at: "2026-11-22T20:00:00.000Z",
});

test("fleets without hosts are not asked, and hosts of another configuration do not count", async () => {
  const { api, asked } = asking((path) =>
    path.startsWith("/fleets?")
      ? { items: [0, 1, 2].map((total) => ({ id: `flt_${total}`, instances: { total } })), next_cursor: null }
      : { items: [host("cfg_2")], next_cursor: null },
  );
  const seen: Health[] = [];
  await followHosts(api, "cfg_1", 7, (health) => void seen.push(health), Boolean);
  assert.deepEqual(asked.slice(1), [
    "/fleets/flt_1/instances?version=7&limit=100",
    "/fleets/flt_2/instances?version=7&limit=100",
  ]);
  assert.deepEqual(
    seen.map(({ hosts, isCut, records }) => [hosts, isCut, records]),
    [[0, false, null]],
  );
});

test("a fleet of more hosts than are read says that it is cut", async () => {
  const { api, asked } = asking((path) =>
    path.startsWith("/fleets?")
      ? { items: [{ id: "flt_1", instances: { total: 900 } }], next_cursor: null }
      : { items: Array(100).fill(host("cfg_2")), next_cursor: "more" },
  );
  const seen: Health[] = [];
  await followHosts(api, "cfg_1", 7, (health) => void seen.push(health), Boolean);
  assert.equal(asked.length - 1, MOST_HOSTS / 100);
  assert.equal(seen[0]?.isCut, true);
});

test("rates are those of ten groups at most, over half an hour that all collectors have told", async () => {
  const { api, asked } = asking(() => ({ step: 300, series: [] }));
  const groups = Array.from({ length: 12 }, (_, n) => ({ fleet: "flt_1", deployment: `dep_${n}` }));
  await readRates(api, groups);
  assert.equal(asked.length, 10);
  const query = new URL(asked[9] ?? "", "http://headgate.test").searchParams;
  const [from, to] = ["from", "to"].map((name) => Date.parse(query.get(name) ?? ""));
  assert.equal(to! - from!, 30 * 60_000);
  assert.equal(to! % 300_000, 0);
  assert.ok(to! <= Date.now() - 4 * 60_000);
});

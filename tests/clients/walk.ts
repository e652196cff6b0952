// What a program does with the client that openapi-typescript generates: create, read, publish, and meet an error.
// tests/end_to_end/test_generated_clients.py runs it, and reads the JSON that it prints.
import createClient from "openapi-fetch";
import type { components, paths } from "./generated/api.js";

type Version = components["schemas"]["VersionDetail"];
type Problem = components["schemas"]["Problem"];

const client = createClient<paths>({
  baseUrl: process.env["HEADGATE_URL"] ?? "",
  headers: { Authorization: `Bearer ${process.env["HEADGATE_TOKEN"] ?? ""}` },
});

function given<T>(answer: { data?: T; error?: Problem }): T {
  if (answer.data === undefined) throw new Error(answer.error?.detail ?? "no answer");
  return answer.data;
}

const created = given(
  await client.POST("/api/v1/public/configurations", {
    params: { header: { "Idempotency-Key": `typescript-${process.pid}` } },
    body: { name: "typescript", yaml: "receivers: {}\n" },
  }),
);
const path = { configuration_id: created.id, n: created.latest_version };
const read: Version = given(
  await client.GET("/api/v1/public/configurations/{configuration_id}/versions/{n}", { params: { path } }),
);
const published = given(
  await client.POST("/api/v1/public/configurations/{configuration_id}/versions/{n}/publish", { params: { path } }),
);
const refused = await client.PATCH("/api/v1/public/configurations/{configuration_id}/versions/{n}", {
  params: { path },
  body: { yaml: "receivers:\n" },
});
const page = given(await client.GET("/api/v1/public/configurations", { params: { query: { limit: 100 } } }));

console.log(
  JSON.stringify({
    yaml: read.yaml,
    published: published.status,
    year: new Date(published.published_at ?? 0).getUTCFullYear(),
    listed: page.items.some((one) => one.id === created.id),
    error: { status: refused.error?.status, code: refused.error?.code },
  }),
);

// The drafts that a change of several configurations saved: the tests of each run, and if all pass they are published.
import { Api } from "../lib/api";
import { h } from "../lib/dom";
import { given, page } from "../lib/page";
import { poll } from "../lib/poll";
import { messageOf } from "../lib/ui";
import type { Job, SuiteResult } from "../testing/types";

type Suite = Job<SuiteResult>;
type Answer = readonly [HTMLElement, Suite];

const AT_ONCE = 4;

const api = new Api(page());
const places = [...document.querySelectorAll<HTMLElement>("[data-tests]")];
const publish = document.querySelector<HTMLButtonElement>("#publishing button");
const status = document.querySelector<HTMLElement>("#publishing [role=status]");
if (publish && status && places.length) void run(publish, status);

async function run(publish: HTMLButtonElement, status: HTMLElement): Promise<void> {
  publish.disabled = true;
  status.textContent = "The stored tests run …";
  const running = new Map<HTMLElement, string>();
  for (const place of places) {
    try {
      running.set(place, await start(place));
      show(place, "running", "busy");
    } catch (error) {
      show(place, "not run", "bad", messageOf(error));
    }
  }
  try {
    while (running.size)
      for (const [place, suite] of await someEnded([...running])) {
        running.delete(place);
        conclude(place, suite);
      }
  } catch (error) {
    for (const place of running.keys()) show(place, "not known", "bad", messageOf(error));
  }
  const passed = places.every((place) => place.querySelector(".good"));
  publish.disabled = !passed;
  status.textContent = passed
    ? "All tests passed."
    : "Nothing is published while a test does not pass; the drafts stay.";
}

async function start(place: HTMLElement): Promise<string> {
  const { body } = await api.request<Suite>("POST", "/testing/suites", {
    body: { configuration_id: given(place, "tests"), version_number: Number(given(place, "version")) },
    headers: { "Idempotency-Key": crypto.randomUUID() },
  });
  return body.id;
}

/** Asks for the first few, which began first, until at least one has ended. */
async function someEnded(running: [HTMLElement, string][]): Promise<Answer[]> {
  const ask = async ([place, id]: [HTMLElement, string]): Promise<Answer> => [
    place,
    await api.get<Suite>(`/testing/suites/${id}`),
  ];
  const answers = await poll(
    () => Promise.all(running.slice(0, AT_ONCE).map(ask)),
    (all) => all.some(hasEnded),
    () => undefined,
  );
  return answers.filter(hasEnded);
}

function hasEnded([, { status }]: Answer): boolean {
  return ["Success", "Fail", "Error"].includes(status);
}

function conclude(place: HTMLElement, { status, reason, result }: Suite): void {
  const failed = (result?.tests ?? []).filter(({ status }) => status !== "Success").map(({ name }) => name);
  if (status === "Success") show(place, "passed", "good");
  else show(place, status === "Fail" ? "not passed" : "error", "bad", failed.join(", ") || reason);
}

function show(place: HTMLElement, label: string, kind: string, why = ""): void {
  place.replaceChildren(h("span", { class: `tag ${kind}` }, label), h("span", { class: "small" }, ` ${why}`));
}

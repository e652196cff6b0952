// A list with a form that filters it: without this script the form is sent, with it the list follows what one types.
import { byId } from "../lib/dom";
import { fresh, renew } from "../lib/live";
import { Notice } from "../lib/ui";

const PAUSE = 300;

const form = byId("filters", HTMLFormElement);
const notice = new Notice();
form.after(notice.element);
let underWay = new AbortController();

form.addEventListener("input", () => void show(PAUSE));
form.addEventListener("submit", (event) => {
  event.preventDefault();
  void show(0);
});

function address(): string {
  const words = new URLSearchParams();
  for (const [name, value] of new FormData(form))
    if (typeof value === "string" && value.trim()) words.set(name, value.trim());
  const query = words.toString();
  return `${form.getAttribute("action") ?? location.pathname}${query && `?${query}`}`;
}

async function show(pause: number): Promise<void> {
  underWay.abort();
  underWay = new AbortController();
  const { signal } = underWay;
  await new Promise((resolve) => setTimeout(resolve, pause));
  if (signal.aborted) return;
  const wrong = [...form.elements].find(
    (one): one is HTMLInputElement => one instanceof HTMLInputElement && !one.validity.valid,
  );
  // What the field itself does not take is told without a request.
  if (wrong) return notice.warn(`${wrong.labels?.[0]?.textContent ?? ""}: ${wrong.title || wrong.validationMessage}`);
  const wanted = address();
  try {
    const page = await fresh(wanted, signal);
    if (signal.aborted) return;
    const problem = page.querySelector(".error")?.textContent ?? "";
    if (problem) return notice.warn(problem);
    if (!page.getElementById("results")) return location.assign(wanted);
    notice.tell("");
    renew(byId("results", HTMLElement), page);
    history.replaceState(null, "", wanted);
  } catch (error) {
    if (!signal.aborted && error instanceof Error) notice.warn(error.message);
  }
}

// Parts of a page that the server renders, and that are asked for again while somebody looks: what is shown is written once.
import { addCopyButtons } from "./copy";
import { poll } from "./poll";
import { localize } from "./times";

/** A page of this site. Nothing in it runs; it may be the sign-in's, if the session has ended. Throws if there is no answer. */
export function fresh(address: string, signal?: AbortSignal): Promise<Document> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("GET", address);
    request.responseType = "document";
    signal?.addEventListener("abort", () => request.abort());
    request.addEventListener("abort", () => reject(new DOMException("Aborted", "AbortError")));
    request.addEventListener("error", () => reject(new Error("The service cannot be reached")));
    request.addEventListener("load", () => {
      if (request.responseXML) resolve(request.responseXML);
      else reject(new Error(`The service answered ${request.status}; try again`));
    });
    request.send();
  });
}

/** Takes the part over from the page, unless nothing of it changed. What has the focus keeps it. */
export function renew(part: HTMLElement, page: Document): HTMLElement {
  const found = page.getElementById(part.id);
  if (!found) return part;
  addCopyButtons(found);
  localize(found);
  localize(part);
  if (found.isEqualNode(part)) return part;
  const renewed = document.importNode(found, true);
  const focused = part.contains(document.activeElement) ? mark(document.activeElement) : "";
  part.replaceWith(renewed);
  for (const one of focused ? renewed.querySelectorAll<HTMLElement>("a, button, summary, pre") : [])
    if (mark(one) === focused) {
      one.focus();
      break;
    }
  return renewed;
}

/** Asks for what the page's first content leaves out, as it takes longer. */
export async function complete(): Promise<void> {
  for (const part of document.querySelectorAll<HTMLElement>("[data-then]")) {
    try {
      renew(part, await fresh(part.dataset["then"] ?? ""));
    } catch {
      // The part has a link to the same.
    }
  }
}

/** Asks again until the part says that it is final, or the page has it no longer. */
export async function follow(id: string, address = (): string => location.href): Promise<void> {
  const part = (): HTMLElement | null => document.getElementById(id);
  if (part()?.dataset["live"] !== "yes") return;
  await poll(
    async () => {
      const shown = part();
      // What somebody has opened is not closed under their hands.
      if (!shown || shown.querySelector("details[open]")) return shown;
      try {
        return renew(shown, await fresh(address()));
      } catch {
        // An outage: what is shown stays, with its times.
        return shown;
      }
    },
    (shown) => shown?.dataset["live"] !== "yes",
    () => undefined,
  );
}

function mark(element: Element | null): string {
  if (!(element instanceof HTMLElement)) return "";
  const form = element.closest("form")?.getAttribute("action") ?? "";
  return `${element.tagName} ${element.getAttribute("href") ?? form} ${element.textContent}`;
}

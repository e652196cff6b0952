// Parts of a page that the server renders, and that are asked for again while somebody looks: what is shown is written once.
import { addCopyButtons } from "./copy";
import { h } from "./dom";
import { isSame } from "./forms";
import { poll } from "./poll";
import { localize } from "./times";

// Between two questions, in milliseconds: where something goes on, and where nothing changes.
const [SOON, LATE] = [10_000, 60_000];

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
  if (isSame(found, part)) return part;
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

/**
 * Keeps the parts of the page with `data-live` true while somebody looks, and says as of when they are. `no` is final; where
 * something goes on, `yes`, it asks six times a minute, else once a minute if nothing changes. An outage is said and heals.
 */
export async function keepFresh(): Promise<void> {
  const told = new Freshness();
  let wait = SOON;
  while (following().length > 0) {
    await told.pause(wait);
    try {
      const again = await poll(
        () => fresh(address()),
        () => true,
        () => undefined,
      );
      const parts = following();
      if (!parts.some(({ id }) => again.getElementById(id))) return told.ended();
      told.seen();
      // What somebody has opened, chosen or is typing into is not taken from under their hands.
      const changed = parts.filter((part) => !isInUse(part)).filter((part) => renew(part, again) !== part);
      const isBusy = following().some(({ dataset }) => dataset["live"] === "yes");
      wait = isBusy ? SOON : changed.length > 0 ? 2 * SOON : Math.min(LATE, 2 * wait);
    } catch {
      wait = 2 * SOON;
      told.failed();
    }
  }
  told.remove();
}

/** As of when the page is, or that the service does not answer and when it is asked again. */
class Freshness {
  private readonly time = h("time", { "data-as": "age" });
  private readonly shown = h("p", { class: "asof soft small" }, "as of ", this.time);
  private readonly left = h("span", { "aria-hidden": "true" });
  private readonly bar = h("div", { role: "status" });
  private now: () => void = () => undefined;

  constructor() {
    document.querySelector("main")?.prepend(this.shown, this.bar);
    this.seen();
  }

  seen(): void {
    this.time.dateTime = new Date().toISOString();
    localize(this.shown);
    this.bar.replaceChildren();
  }

  failed(): void {
    if (this.bar.hasChildNodes()) return;
    this.bar.append(
      h(
        "div",
        { class: "notice warn" },
        "The service does not answer; trying again",
        this.left,
        ". ",
        h("button", { type: "button", class: "link", click: () => this.now() }, "Try now"),
      ),
    );
  }

  ended(): void {
    this.bar.replaceChildren(
      h(
        "div",
        { class: "notice warn" },
        "What is shown here is no longer kept up to date. ",
        h("a", { href: location.pathname }, "Load this page again"),
      ),
    );
  }

  remove(): void {
    this.shown.remove();
    this.bar.remove();
  }

  /** Waits, unless somebody does not want to. */
  async pause(milliseconds: number): Promise<void> {
    const until = Date.now() + milliseconds;
    const count = (): void => {
      this.left.textContent = ` in ${Math.max(0, Math.ceil((until - Date.now()) / 1_000))} s`;
    };
    count();
    const counting = setInterval(count, 1_000);
    await new Promise<void>((resolve) => {
      this.now = resolve;
      setTimeout(resolve, milliseconds);
    });
    clearInterval(counting);
  }
}

function following(): HTMLElement[] {
  return [...document.querySelectorAll<HTMLElement>("[data-live]")].filter(({ dataset }) => dataset["live"] !== "no");
}

function isInUse(part: HTMLElement): boolean {
  const typing = document.activeElement?.matches("input, textarea, select") && part.contains(document.activeElement);
  return Boolean(typing) || part.querySelector("details[open]:not(.numbers), td.choose :checked") !== null;
}

/** The page, as asked for again: with what takes longer than its first content. */
function address(): string {
  const again = new URL(location.href);
  for (const part of following())
    for (const [name, value] of new URLSearchParams(part.dataset["again"] ?? "")) again.searchParams.set(name, value);
  return again.href;
}

function mark(element: Element | null): string {
  if (!(element instanceof HTMLElement)) return "";
  const form = element.closest("form")?.getAttribute("action") ?? "";
  return `${element.tagName} ${element.getAttribute("href") ?? form} ${element.textContent}`;
}

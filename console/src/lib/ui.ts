// Parts that pages are built from, beside those of the style sheet.
import { h } from "./dom";
import { ApiError } from "./api";

/** What is told to somebody, also to those who do not see it: polite, or at once for what went wrong. */
export class Notice {
  readonly element = h("div", { class: "notice-place" });
  private readonly polite = h("div", { role: "status" });
  private readonly urgent = h("div", { role: "alert" });

  constructor() {
    this.element.append(this.polite, this.urgent);
  }

  tell(text: string, ...more: (Node | string)[]): void {
    this.urgent.replaceChildren();
    this.polite.replaceChildren(...(text ? [h("div", { class: "notice" }, text, ...more)] : []));
  }

  warn(text: string, ...more: Node[]): void {
    this.polite.replaceChildren();
    this.urgent.replaceChildren(h("div", { class: "notice bad" }, text, ...more));
  }

  /** What the API says about a request that failed. */
  failed(error: unknown): void {
    if (error instanceof ApiError && error.problem.status === 401) {
      this.warn(
        "Your session has ended. What you typed is kept in this browser. ",
        h("a", { href: "/sign-in", target: "_blank", rel: "noopener" }, "Sign in in another tab"),
        h("span", {}, " and come back here."),
      );
      return;
    }
    this.warn(messageOf(error));
  }
}

export function messageOf(error: unknown): string {
  if (!(error instanceof ApiError)) throw error;
  const { detail, errors = [] } = error.problem;
  const more = errors.map(({ message }) => message).filter((message) => !detail.includes(message));
  return [detail, ...more.slice(0, 5)].join("\n");
}

/** Why a text has no verdict, and how that looks: not as a fault while the collector is being built. */
export function notChecked(error: unknown): [text: string, kind: string] {
  if (error instanceof ApiError && error.again !== null) return [`Not checked yet: ${messageOf(error)}`, ""];
  const again = error instanceof ApiError && error.isOutage ? "; trying again in 20 s" : "";
  return [`Not checked: ${messageOf(error)}${again}`, "bad"];
}

export function button(
  label: string,
  act: () => unknown,
  attributes: Record<string, string | boolean> = {},
): HTMLButtonElement {
  return h("button", { type: "button", ...attributes, click: () => void act() }, label);
}

/** A button that puts the panels beside a text above it, as wide as the page; again, beside it. */
export function across(panel: () => HTMLElement): HTMLButtonElement {
  const pressed = button(
    "Across the page",
    () => {
      const isWide = panel().closest(".editing")?.classList.toggle("stacked") ?? false;
      pressed.setAttribute("aria-pressed", String(isWide));
    },
    { class: "plain small", "aria-pressed": "false" },
  );
  return pressed;
}

/** A labelled control, with room for what is wrong with it. */
export function field(
  label: string,
  control: HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement,
  hint = "",
): HTMLElement {
  const id = control.id;
  if (hint) control.setAttribute("aria-describedby", `${id}-hint`);
  return h(
    "div",
    { class: "field" },
    h("label", { for: id }, label),
    control,
    hint && h("p", { class: "hint", id: `${id}-hint` }, hint),
    h("p", { class: "error", id: `${id}-error`, hidden: true }),
  );
}

/** Shows at a field what the API says about it; empty to take it away. */
export function mark(id: string, message: string, focus = true): void {
  const control = document.getElementById(id);
  const error = document.getElementById(`${id}-error`);
  if (!control || !error) return;
  error.textContent = message;
  error.hidden = message === "";
  const hint = document.getElementById(`${id}-hint`)?.id ?? "";
  const described = [hint, message && error.id].filter(Boolean).join(" ");
  if (described) control.setAttribute("aria-describedby", described);
  else control.removeAttribute("aria-describedby");
  if (message) {
    control.setAttribute("aria-invalid", "true");
    if (focus) control.focus();
  } else control.removeAttribute("aria-invalid");
}

export function options(values: [string, string][], chosen: string): HTMLOptionElement[] {
  return values.map(([value, label]) => h("option", { value, selected: value === chosen }, label));
}

export interface Tab {
  name: string;
  panel: HTMLElement;
}

/** Tabs with arrow keys. `opened` is called with the name of a tab that is shown. */
export function tabs(label: string, all: Tab[], opened: (name: string) => void): HTMLElement {
  const buttons = all.map(({ name }, at) =>
    h(
      "button",
      {
        type: "button",
        role: "tab",
        id: `tab-${name}`,
        "aria-controls": `panel-${name}`,
        "aria-selected": String(at === 0),
        tabindex: at === 0 ? 0 : -1,
      },
      name,
    ),
  );
  const open = (at: number, focus: boolean): void => {
    for (const [other, { panel }] of all.entries()) {
      const one = buttons[other];
      panel.hidden = other !== at;
      one?.setAttribute("aria-selected", String(other === at));
      one?.setAttribute("tabindex", other === at ? "0" : "-1");
    }
    if (focus) buttons[at]?.focus();
    opened(all[at]?.name ?? "");
  };
  for (const [at, one] of buttons.entries()) {
    one.addEventListener("click", () => open(at, false));
    one.addEventListener("keydown", ({ key }) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[key];
      if (step) open((at + step + buttons.length) % buttons.length, true);
    });
  }
  for (const [at, { name, panel }] of all.entries()) {
    panel.id = `panel-${name}`;
    panel.setAttribute("role", "tabpanel");
    panel.setAttribute("aria-labelledby", `tab-${name}`);
    panel.hidden = at !== 0;
  }
  return h(
    "div",
    { class: "tabbed" },
    h("div", { role: "tablist", "aria-label": label }, ...buttons),
    ...all.map(({ panel }) => panel),
  );
}

/** A dialog that is removed when it is closed. */
export function dialog(title: string, ...content: (Node | false)[]): HTMLDialogElement {
  const shown = h("dialog", { "aria-labelledby": "dialog-title" }, h("h2", { id: "dialog-title" }, title), ...content);
  shown.addEventListener("close", () => shown.remove());
  document.body.append(shown);
  shown.showModal();
  return shown;
}

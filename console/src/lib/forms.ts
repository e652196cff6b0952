// Forms that are sent twice by a double click: the second answer would take the place of the first, which may show a secret.

const FOR = 10_000;

/** Sends a form once. It can be sent again after ten seconds, and on the way back. */
export function sendOnce(): void {
  let sent = new WeakSet<HTMLFormElement>();
  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (event.defaultPrevented || !(form instanceof HTMLFormElement) || form.method !== "post") return;
    if (sent.has(form)) return event.preventDefault();
    sent.add(form);
    setTimeout(() => sent.delete(form), FOR);
  });
  addEventListener("pageshow", () => (sent = new WeakSet()));
}

/** True if the parts differ in nothing but the keys that each form has anew. */
export function isSame(a: HTMLElement, b: HTMLElement): boolean {
  return withoutKeys(a).isEqualNode(withoutKeys(b));
}

function withoutKeys(part: HTMLElement): Node {
  const copy = part.cloneNode(true) as HTMLElement;
  for (const key of copy.querySelectorAll('input[name="form_key"]')) key.remove();
  return copy;
}

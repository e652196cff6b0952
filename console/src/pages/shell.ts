// On every page: its keys, the palette, times, copying, and what a person typed does not stay in the browser after they sign out.
import { Api } from "../lib/api";
import { followChoices } from "../lib/choosing";
import { addCopyButtons } from "../lib/copy";
import { sendOnce } from "../lib/forms";
import { keepFresh } from "../lib/live";
import { page } from "../lib/page";
import { install, list } from "../lib/shortcuts";
import { keepAges } from "../lib/times";
import { UnsavedTexts } from "../lib/unsaved";
import { listOrganizations } from "../shell/organizations";

keepAges();
void keepFresh();
addCopyButtons(document);
followChoices();
sendOnce();
install();
const { organization, person } = page();
if (organization) {
  list({ keys: "Ctrl-K", does: "Go to a page, configuration, fleet, host or component, or do something" });
  const seek = document.getElementById("seek");
  seek?.removeAttribute("hidden");
  seek?.addEventListener("click", () => void openPalette());
  document.addEventListener("keydown", (event) => {
    if (event.key !== "k" || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return;
    event.preventDefault();
    if (!document.querySelector("dialog[open]")) void openPalette();
  });
}
const organizations = document.getElementById("organizations");
organizations?.addEventListener("toggle", () => void listOrganizations(organizations), { once: true });
for (const form of document.querySelectorAll<HTMLFormElement>('form[action="/sign-out"]')) {
  form.addEventListener("submit", () => new UnsavedTexts(person, localStorage).erase());
}

async function openPalette(): Promise<void> {
  document.getElementById("side")?.hidePopover();
  const { open } = await import("../shell/palette");
  open(new Api(page()), `/organizations/${organization}`);
}

// On every page: its keys, and what a person typed does not stay behind in the browser after they sign out.
import { page } from "../lib/page";
import { install } from "../lib/shortcuts";
import { UnsavedTexts } from "../lib/unsaved";

install();
for (const form of document.querySelectorAll<HTMLFormElement>('form[action="/sign-out"]')) {
  form.addEventListener("submit", () => new UnsavedTexts(page().person, localStorage).erase());
}

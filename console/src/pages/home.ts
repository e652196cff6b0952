// Home: what needs somebody, asked for again while they look, and a place to paste a configuration and see what it is.
import { Trial } from "../home/trial";
import { Api } from "../lib/api";
import { byId } from "../lib/dom";
import { fresh, renew } from "../lib/live";
import { given, page } from "../lib/page";

const place = byId("try", HTMLElement);
new Trial(new Api(page()), given(place, "home"), page().person, place);
void addTokens();

/** Tokens of service accounts are on a page of their own, of which a part is shown here. */
async function addTokens(): Promise<void> {
  const shown = document.getElementById("tokens");
  const link = shown?.querySelector("a");
  if (!shown || !link) return;
  try {
    renew(shown, await fresh(link.href));
  } catch {
    // The link stays.
  }
}

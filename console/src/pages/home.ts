// Home: what needs somebody, asked for again while they look, and a place to paste a configuration and see what it is.
import { Trial } from "../home/trial";
import { Api } from "../lib/api";
import { byId, h } from "../lib/dom";
import { fresh, renew } from "../lib/live";
import { given, page } from "../lib/page";
import { poll } from "../lib/poll";
import { Notice } from "../lib/ui";

// Between two questions, in milliseconds: the shorter after something changed.
const [SOON, LATE] = [20_000, 120_000];
// Drafts that were changed are checked as well.
const AGAIN = "?check=true";

const place = byId("try", HTMLElement);
new Trial(new Api(page()), given(place, "home"), page().person, place);
const notice = new Notice();
byId("now", HTMLElement).before(notice.element);
void keepUp();
void addTokens();

async function keepUp(): Promise<void> {
  for (let wait = 0; ;) {
    await new Promise((resolve) => setTimeout(resolve, wait));
    const shown = byId("now", HTMLElement);
    try {
      const again = await poll(
        () => fresh(location.pathname + AGAIN),
        () => true,
        () => undefined,
      );
      if (!again.getElementById("now")) {
        notice.warn(
          "What is shown here is no longer kept up to date. ",
          h("a", { href: location.pathname }, "Load this page again"),
        );
        return;
      }
      wait = renew(shown, again) === shown ? Math.min(LATE, Math.max(SOON, 2 * wait)) : SOON;
    } catch {
      // An outage: what is shown stays, with its time.
      wait = LATE;
    }
  }
}

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

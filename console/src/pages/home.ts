// Home: what needs somebody, of which a part is on a page of its own.
import { fresh, renew } from "../lib/live";

void addTokens();

/** Shows the tokens of service accounts, which another function reads. */
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

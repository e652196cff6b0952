// A page of which a part is asked for again while somebody looks, or that is not ready yet and then shows itself.
import { follow, fresh, renew } from "../lib/live";
import { poll } from "../lib/poll";

const WAITING = "waiting";

for (const part of document.querySelectorAll("[data-live]")) void follow(part.id);
const waiting = document.getElementById(WAITING);
if (waiting) void wait(waiting);

async function wait(part: HTMLElement): Promise<void> {
  await poll(
    async () => {
      try {
        return await fresh(location.href);
      } catch {
        // An outage: what is shown stays.
        return document;
      }
    },
    (page) => !page.getElementById(WAITING),
    (page) => {
      if (page !== document) part = renew(part, page);
    },
  );
  location.reload();
}

// A page of which a part is asked for again while somebody looks.
import { follow } from "../lib/live";

for (const part of document.querySelectorAll("[data-live]")) void follow(part.id);

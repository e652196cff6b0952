// A page to paste a configuration and see what the collector says of it.
import { Api } from "../lib/api";
import { byId } from "../lib/dom";
import { given, page } from "../lib/page";
import { Trial } from "../trial/trial";

const place = byId("try", HTMLElement);
new Trial(new Api(page()), given(place, "home"), page().person, given(place, "collector"), place);

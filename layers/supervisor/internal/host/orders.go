package host

import (
	"encoding/json"
	"log"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/headgate/headgate/layers/supervisor/internal/files"
	"github.com/headgate/headgate/layers/supervisor/internal/programs"
)

const (
	doRestart    = "restart"
	doRetry      = "retry"
	doComponents = "components"
	doUpgrade    = "upgrade_supervisor"
	// renewToken is what a host can that takes a renewed token.
	renewToken = "renew_token"
	// takeVariables is what a host can that takes variables with a configuration.
	takeVariables = "variables"

	// file in the supervisor's storage.
	ordersFile = "headgate-orders.json"
	// What the service orders at once is a few; more is not its own.
	mostOrders = 16
	// A message of the service has a capture beside them: a condition, and an organization's patterns and keys, where a
	// letter may take six bytes; and variables, 50 of 4 KiB.
	largestOrder = 2 << 20
	// An id is repeated until the service knows that it was carried out. It never sends one of 64 orders ago.
	remembered = 64
	// mostDone bounds what one report tells.
	mostDone = 12
	// The service takes no more failures, and no longer reasons.
	mostFailed    = 4
	longestReason = 250
)

var orderID = regexp.MustCompile(`^ord_[0-9a-z]{1,60}$`)

// order is what the service orders; Program is what an upgrade brings.
type order struct {
	ID      string           `json:"id"`
	Do      string           `json:"do"`
	Program *programs.Target `json:"program"`
}

// failedOrder is one that could not be carried out, and why.
type failedOrder struct {
	ID     string `json:"id"`
	Reason string `json:"reason"`
}

// orders are what the service ordered. Each is carried out once, also if this program is restarted meanwhile.
type orders struct {
	// Carried are the newest ids that were carried out, Untold those of them of which the service does not know.
	Carried []string `json:"carried"`
	Untold  []string `json:"untold"`
	// Failed are those that could not be carried out, of which the service does not know.
	Failed []failedOrder `json:"failed,omitempty"`

	// handed are restarts that the supervisor was told to carry out, and of which nothing was seen yet.
	handed []string
	path   string
}

func readOrders(storage string) *orders {
	o := &orders{path: filepath.Join(storage, ordersFile)}
	content, err := files.Read(o.path, largest)
	if err == nil {
		err = json.Unmarshal(content, o)
	}
	if err != nil && !os.IsNotExist(err) {
		log.Printf("%s cannot be read, and begins anew: %v", o.path, err)
		*o = orders{path: o.path}
	}
	// Also those that were handed to the supervisor of before: this program's start has started the collector.
	o.Carried, o.Untold = valid(o.Carried), valid(o.Untold)
	o.Failed = slices.DeleteFunc(o.Failed, func(one failedOrder) bool { return !orderID.MatchString(one.ID) })
	return o
}

// valid leaves out what is not an id. The collector may write to the file.
func valid(ids []string) []string {
	return newest(slices.DeleteFunc(ids, func(id string) bool { return !orderID.MatchString(id) }))
}

func newest(ids []string) []string { return ids[max(0, len(ids)-remembered):] }

// new returns the orders in a message that are this host's to carry out, of those that it can.
func (o *orders) new(data []byte, can []string) []order {
	var said struct {
		Orders []order `json:"orders"`
	}
	if len(data) > largestOrder {
		log.Printf("orders of %d bytes are left out", len(data))
		return nil
	}
	if err := json.Unmarshal(data, &said); err != nil {
		log.Printf("orders that cannot be read are left out: %v", err)
		return nil
	}
	var found []order
	seen := slices.Clone(o.Carried)
	for _, one := range said.Orders[:min(mostOrders, len(said.Orders))] {
		if orderID.MatchString(one.ID) && slices.Contains(can, one.Do) && !slices.Contains(seen, one.ID) {
			found, seen = append(found, one), append(seen, one.ID)
		}
	}
	return found
}

// takeToken takes a renewed token that a message brings. If that fails, the service offers it again.
func (h *Host) takeToken(data []byte) {
	var said struct {
		Token []byte `json:"token"`
	}
	if h.settings.RenewToken == nil || len(data) > largestOrder || json.Unmarshal(data, &said) != nil || len(said.Token) == 0 {
		return
	}
	if err := h.settings.RenewToken(said.Token); err != nil {
		log.Printf("a renewed token is left out: %v", err)
		return
	}
	log.Print("the token of this host was renewed")
}

// hand notes that the supervisor is told to restart the collector. They count as carried out from now on, so that they
// are not repeated if this program ends meanwhile.
func (o *orders) hand(ids []string) {
	o.handed = ids
	o.carriedOut(ids...)
}

// restarted notes that a collector was started.
func (o *orders) restarted() { o.handed = nil }

// askedAgain notes that the supervisor sends another message. It does so after it has carried out a command: if no
// collector was started, the command did not arrive, or failed, and counts as not carried out.
func (o *orders) askedAgain() {
	if len(o.handed) == 0 {
		return
	}
	back := func(id string) bool { return slices.Contains(o.handed, id) }
	o.Carried, o.Untold = slices.DeleteFunc(o.Carried, back), slices.DeleteFunc(o.Untold, back)
	o.handed = nil
	o.save()
}

// carriedOut notes ids of which the service is to be told.
func (o *orders) carriedOut(ids ...string) {
	o.Untold = newest(append(o.Untold, ids...))
	o.remember(ids)
}

// remember notes ids that are not to be carried out again.
func (o *orders) remember(ids []string) {
	if len(ids) == 0 {
		return
	}
	o.Carried = newest(append(o.Carried, ids...))
	o.save()
}

// untold are the first ids of which the service is to be told; the others come with the next report.
func (o *orders) untold() []string { return slices.Clone(o.Untold[:min(mostDone, len(o.Untold))]) }

// told notes that the service knows of them.
func (o *orders) told(ids []string) {
	before := len(o.Untold)
	o.Untold = slices.DeleteFunc(o.Untold, func(id string) bool { return slices.Contains(ids, id) })
	if len(o.Untold) != before {
		o.save()
	}
}

// couldNot notes an order that is not tried again, and why; in one line, as the service takes it.
func (o *orders) couldNot(id, reason string) {
	line := strings.Join(strings.Fields(strings.ToValidUTF8(reason, "?")), " ")
	if len(line) > longestReason {
		line = strings.ToValidUTF8(line[:longestReason], "")
	}
	o.Failed = append(o.Failed, failedOrder{id, line})
	o.Failed = o.Failed[max(0, len(o.Failed)-mostFailed):]
	o.remember([]string{id})
}

func (o *orders) failed() []failedOrder { return slices.Clone(o.Failed) }

func (o *orders) toldFailed(told []failedOrder) {
	if len(told) == 0 {
		return
	}
	o.Failed = slices.DeleteFunc(o.Failed, func(one failedOrder) bool { return slices.Contains(told, one) })
	o.save()
}

func (o *orders) save() {
	content, err := json.Marshal(o)
	if err == nil {
		err = files.Replace(o.path, content)
	}
	if err != nil {
		log.Printf("%s cannot be written: %v", o.path, err)
	}
}

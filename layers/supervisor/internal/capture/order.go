package capture

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
)

const (
	// largestOrder bounds what the service says of a capture: a condition, 20 patterns, and 100 keys, where a letter may
	// take six bytes.
	largestOrder = 512 << 10
	// MostRecords and longest bound what a capture may be asked for, whatever the service says.
	mostRecords = 100
	mostSeconds = 600
)

var captureID = regexp.MustCompile(`^cap_[0-9a-z]{1,60}$`)

// contexts are those of OTTL in which a condition is judged, by the signal.
var contexts = map[string][]string{
	"logs": {"log"}, "traces": {"span"}, "metrics": {"datapoint", "metric"},
}

// Order is what the service asks of this host, or that it is to stop.
type Order struct {
	ID   string `json:"id"`
	Stop bool   `json:"stop"`

	Signal    string `json:"signal"`
	Pipeline  string `json:"pipeline"`
	Component string `json:"component"`
	Context   string `json:"context"`
	Condition string `json:"condition"`
	Records   int    `json:"records"`
	Seconds   int    `json:"seconds"`

	Redaction Redaction `json:"redaction"`
}

// readOrder returns the order in a message of the service, nil if there is none, or it is not one.
func readOrder(data []byte) (*Order, error) {
	var said struct {
		Capture *Order `json:"capture"`
	}
	if len(data) > largestOrder {
		return nil, fmt.Errorf("it has %d bytes", len(data))
	}
	if err := json.Unmarshal(data, &said); err != nil || said.Capture == nil {
		return nil, err
	}
	order := said.Capture
	switch {
	case !captureID.MatchString(order.ID):
		return nil, fmt.Errorf("its id is %.80q", order.ID)
	case order.Stop:
		return order, nil
	case !slices.Contains(contexts[order.Signal], order.Context):
		return nil, fmt.Errorf("%.20q is not a context of %.20q", order.Context, order.Signal)
	case order.Records < 1 || order.Records > mostRecords || order.Seconds < 1 || order.Seconds > mostSeconds:
		return nil, fmt.Errorf("it asks for %d records in %d seconds", order.Records, order.Seconds)
	}
	return order, nil
}

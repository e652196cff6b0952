package capture

import (
	"bytes"
	"compress/zlib"
	"encoding/json"
	"log"
	"strings"

	"github.com/open-telemetry/opamp-go/protobufs"
)

// news is what the service is told of a capture: that it runs, or how it ended, with what was captured.
type news struct {
	V      int    `json:"v"`
	ID     string `json:"id"`
	Status string `json:"status"`
	Reason string `json:"reason,omitempty"`
	Error  string `json:"error,omitempty"`
	// Records are those in the sample, LeftOut those that were too large for it, Redacted the texts from which secrets
	// were taken.
	Records  int `json:"records"`
	LeftOut  int `json:"left_out"`
	Redacted int `json:"redacted"`
	// Sample is compressed by zlib: documents of OTLP's JSON, one a line.
	Sample []byte `json:"sample,omitempty"`
}

// result ends the reading, and is what to tell of it.
func (c *Captures) result(reason, message string) *news {
	sample := c.reader.taken()
	told := &news{
		V: 1, ID: c.order.ID, Status: "ended", Reason: reason, Error: c.harmless(message),
		Records: sample.records, LeftOut: sample.leftOut, Redacted: sample.redactor.count,
	}
	if sample.records > 0 {
		var packed bytes.Buffer
		writer := zlib.NewWriter(&packed)
		_, err := writer.Write(sample.lines.Bytes())
		if closing := writer.Close(); err == nil {
			err = closing
		}
		if err != nil {
			log.Printf("what was captured cannot be compressed: %v", err)
		}
		told.Sample = packed.Bytes()
	}
	return told
}

// harmless is a message as the service takes it, without secrets.
func (c *Captures) harmless(message string) string {
	if c.order != nil {
		rules := c.order.Redaction
		rules.Kinds = []string{credentials, cardNumbers, mailAddresses, randomTexts}
		if redactor, err := newRedactor(rules); err == nil {
			message = redactor.text(message)
		}
	}
	message = strings.ToValidUTF8(message, "\uFFFD")
	if len(message) > longestError {
		message = strings.ToValidUTF8(message[:longestError], "") + " ..."
	}
	return message
}

// tell is the message to the service in place of the host's report, nil if there is nothing to tell. A full message has
// the report.
func (c *Captures) tell(message *protobufs.AgentToServer) *protobufs.CustomMessage {
	c.pending = nil
	if c.news == nil || message.AgentDescription != nil {
		return nil
	}
	data, err := json.Marshal(c.news)
	if err != nil {
		log.Printf("what was captured cannot be told: %v", err)
		return nil
	}
	c.pending = c.news
	return &protobufs.CustomMessage{Capability: c.settings.Capability, Type: messageType, Data: data}
}

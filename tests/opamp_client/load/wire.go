package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gorilla/websocket"
	"github.com/open-telemetry/opamp-go/protobufs"
	"google.golang.org/protobuf/proto"
)

const (
	binaryFrame = 2
	closeFrame  = 8
	// growth is the width of a bucket of waits: figures are 5 % too large at most.
	growth = 1.05
	// dialing is how long a connection may take to open: a service under load takes them late.
	dialing = time.Minute
)

// figures count what connections see. Waits are in milliseconds, by the bucket that they fall into.
type figures struct {
	mutex                   sync.Mutex
	open                    int
	sent, answered, in, out int
	waits                   map[int]int
	longest                 float64
	outcomes                map[string]int
}

// Since is what happened since it was asked before; Open and Started are of now.
type Since struct {
	Started  int            `json:"started"`
	Open     int            `json:"open"`
	Sent     int            `json:"sent"`
	Answered int            `json:"answered"`
	P50      float64        `json:"p50"`
	P99      float64        `json:"p99"`
	Longest  float64        `json:"longest"`
	BytesIn  int            `json:"bytes_in"`
	BytesOut int            `json:"bytes_out"`
	Outcomes map[string]int `json:"outcomes"`
}

func (f *figures) since(started int) Since {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	shown := Since{
		started, f.open, f.sent, f.answered, f.share(0.5), f.share(0.99), f.longest, f.in, f.out, f.outcomes,
	}
	f.sent, f.answered, f.in, f.out, f.longest = 0, 0, 0, 0, 0
	f.waits, f.outcomes = nil, map[string]int{}
	return shown
}

// share is the wait that such a part of the answers stayed below.
func (f *figures) share(part float64) float64 {
	buckets := 0
	for bucket := range f.waits {
		buckets = max(buckets, bucket+1)
	}
	left := int(part * float64(f.answered))
	for bucket := range buckets {
		if left -= f.waits[bucket]; left < 0 {
			return math.Pow(growth, float64(bucket+1))
		}
	}
	return 0
}

func (f *figures) note(change func()) {
	f.mutex.Lock()
	defer f.mutex.Unlock()
	change()
}

// observe makes the library's clients use connections that count.
func observe(seen *figures) {
	dial := func(ctx context.Context, network, address string) (net.Conn, error) {
		dialer := net.Dialer{Timeout: dialing}
		conn, err := dialer.DialContext(ctx, network, address)
		if err != nil {
			seen.note(func() { seen.outcomes["not connected"]++ })
			return nil, fmt.Errorf("connect: %w", err)
		}
		seen.note(func() { seen.open++ })
		return &counted{Conn: conn, seen: seen}, nil
	}
	transport, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		panic("the default transport is another one")
	}
	transport.DialContext = dial
	// A host's connection stays open until its next message.
	transport.IdleConnTimeout = 0
	websocket.DefaultDialer.NetDialContext = dial
	websocket.DefaultDialer.HandshakeTimeout = dialing
}

// counted is a connection on which requests and frames are told apart. One request, or the handshake of WebSocket, is
// under way at a time; each frame that is sent is answered by one.
type counted struct {
	net.Conn
	seen   *figures
	mutex  sync.Mutex
	sentAt []time.Time
	frames bool
	input  []byte
	closed bool
}

func (c *counted) Write(content []byte) (int, error) {
	c.mutex.Lock()
	begins := !c.frames && len(c.sentAt) == 0 || c.frames && content[0]&0x0f == binaryFrame
	handshake := !c.frames && bytes.HasPrefix(content, []byte("GET "))
	if begins {
		c.sentAt = append(c.sentAt, time.Now())
	}
	c.mutex.Unlock()
	c.seen.note(func() {
		c.seen.out += len(content)
		if begins && !handshake {
			c.seen.sent++
		}
	})
	return c.Conn.Write(content)
}

func (c *counted) Read(into []byte) (int, error) {
	n, err := c.Conn.Read(into)
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.seen.note(func() { c.seen.in += n })
	c.input = append(c.input, into[:n]...)
	for c.took() {
	}
	return n, err
}

func (c *counted) Close() error {
	c.mutex.Lock()
	if !c.closed {
		c.closed = true
		lost := len(c.sentAt)
		c.seen.note(func() {
			c.seen.open--
			if lost > 0 {
				c.seen.outcomes["no answer"] += lost
			}
		})
	}
	c.mutex.Unlock()
	return c.Conn.Close()
}

// took reads one answer, if it is there as a whole.
func (c *counted) took() bool {
	if c.frames {
		return c.tookFrame()
	}
	head, _, whole := bytes.Cut(c.input, []byte("\r\n\r\n"))
	if !whole {
		return false
	}
	lines := strings.Split(strings.ToLower(string(head)), "\r\n")
	status, size := strings.Fields(lines[0])[1], 0
	for _, line := range lines[1:] {
		if value, is := strings.CutPrefix(line, "content-length:"); is {
			size, _ = strconv.Atoi(strings.TrimSpace(value))
		}
	}
	if len(c.input) < len(head)+4+size {
		return false
	}
	c.input = c.input[len(head)+4+size:]
	if c.frames = status == "101"; c.frames {
		c.sentAt = nil
		return true
	}
	c.answered(status)
	return true
}

func (c *counted) tookFrame() bool {
	if len(c.input) < 2 {
		return false
	}
	head, size := 2, int(c.input[1]&0x7f)
	switch size {
	case 126:
		head = 4
	case 127:
		head = 10
	}
	if len(c.input) < head {
		return false
	}
	switch head {
	case 4:
		size = int(binary.BigEndian.Uint16(c.input[2:]))
	case 10:
		size = int(binary.BigEndian.Uint64(c.input[2:]))
	}
	if len(c.input) < head+size {
		return false
	}
	kind, content := c.input[0]&0x0f, c.input[head:head+size]
	switch {
	case kind == binaryFrame && size > 0 && len(c.sentAt) > 0:
		c.answered(status(content))
	case kind == closeFrame && size >= 2:
		code := binary.BigEndian.Uint16(content)
		c.seen.note(func() { c.seen.outcomes[fmt.Sprintf("closed with %d", code)]++ })
	}
	c.input = c.input[head+size:]
	return true
}

// status is what a message of the server says, in the words of HTTP: behind a header of one byte.
func status(message []byte) string {
	var said protobufs.ServerToAgent
	switch err := proto.Unmarshal(message[1:], &said); {
	case err != nil:
		return "not understood"
	case said.GetErrorResponse() == nil:
		return "200"
	default:
		kind, _ := strings.CutPrefix(said.GetErrorResponse().GetType().String(), "ServerErrorResponseType_")
		return kind
	}
}

// answered counts the answer to what was sent first.
func (c *counted) answered(status string) {
	if len(c.sentAt) == 0 {
		return
	}
	wait := max(1, float64(time.Since(c.sentAt[0]).Microseconds())/1000)
	c.sentAt = c.sentAt[1:]
	c.seen.note(func() {
		if status != "200" {
			c.seen.outcomes[status]++
			return
		}
		c.seen.answered++
		if c.seen.waits == nil {
			c.seen.waits = map[int]int{}
		}
		c.seen.waits[int(math.Log(wait)/math.Log(growth))]++
		c.seen.longest = max(c.seen.longest, wait)
	})
}

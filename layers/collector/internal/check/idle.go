package check

import (
	"runtime"
	"runtime/metrics"
	"time"

	"github.com/headgate/headgate/layers/collector/internal/operation"
	"go.opentelemetry.io/collector/otelcol"
)

// rest is how long nothing must be asked before the process works ahead. Questions that follow each other closely come first.
const rest = 50 * time.Millisecond

// idle does while nothing is asked what an answer would wait for: it makes the factories of the next question, and collects
// garbage. In a question, collecting takes a processor that the answer needs, or one that another program has.
type idle struct {
	timer     *time.Timer
	factories chan otelcol.Factories
	env       *operation.Environment
}

// newIdle begins to rest. Questions are asked of the environment that it returns, whose factories may be ready.
func newIdle(env *operation.Environment) (*idle, *operation.Environment) {
	ahead := &idle{factories: make(chan otelcol.Factories, 1), env: env}
	asked := *env
	asked.Factories = ahead.next
	ahead.timer = time.AfterFunc(rest, ahead.work)
	return ahead, &asked
}

// asked puts the work off; what has begun goes on beside the question.
func (i *idle) asked() { i.timer.Stop() }

func (i *idle) answered() { i.timer.Reset(rest) }

func (i *idle) next() (otelcol.Factories, error) {
	select {
	case factories := <-i.factories:
		return factories, nil
	default:
		return i.env.Factories()
	}
}

func (i *idle) work() {
	if len(i.factories) == 0 && i.env.Factories != nil {
		// Whoever asks for the next ones is told of an error.
		if factories, err := i.env.Factories(); err == nil {
			select {
			case i.factories <- factories:
			default:
			}
		}
	}
	if worthCollecting() {
		runtime.GC()
	}
}

// worthCollecting tells whether there is as much garbage as memory in use.
func worthCollecting() bool {
	samples := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/gc/heap/live:bytes"}}
	metrics.Read(samples)
	return samples[0].Value.Uint64() >= 2*samples[1].Value.Uint64()
}

package trace

import (
	"errors"
	"fmt"
	"os"

	"github.com/headgate/headgate/layers/collector/internal/tracefile"
)

// file is the one of the two that is written to.
type file struct {
	folder  string
	current *os.File
	// turn counts the files so far, size is that of the current one, lost the bytes that were overwritten or did not fit.
	turn  int
	sizes [2]int64
	lost  int64
	// contents are those that the current file has, texts its statements.
	contents map[key]int
	texts    map[string]int
	// steps are the lines that each file begins with.
	steps []byte
	next  int
}

// write appends an event. compose is given a page on which the event and the contents that the file does not have yet are
// to be written; it is called again if a new file is begun.
func (f *file) write(compose func(*page)) error {
	for attempt := 0; ; attempt++ {
		if f.current == nil {
			if err := f.begin(); err != nil {
				return err
			}
		}
		p := &page{file: f}
		compose(p)
		at := (f.turn - 1) % 2
		if f.sizes[at]+int64(len(p.text)) <= tracefile.Largest {
			p.remember()
			f.sizes[at] += int64(len(p.text))
			_, err := f.current.Write(p.text)
			return err
		}
		if attempt > 0 {
			f.lost += int64(len(p.text))
			return errTooLarge
		}
		if err := f.current.Close(); err != nil {
			return err
		}
		f.current = nil
	}
}

// errTooLarge is the error of an event that no file has room for.
var errTooLarge = errors.New("the event is too large")

func (f *file) begin() error {
	name := tracefile.First
	if f.turn%2 == 1 {
		name = tracefile.Second
	}
	f.lost += f.sizes[f.turn%2]
	created, err := os.OpenFile(f.folder+"/"+name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("making the trace: %w", err)
	}
	f.turn++
	f.current, f.contents, f.texts = created, map[key]int{}, map[string]int{}
	head := fmt.Appendf(nil, "[\"v\",%d,%d,%d]\n", tracefile.Format, f.turn, f.lost)
	head = append(head, f.steps...)
	f.sizes[(f.turn-1)%2] = int64(len(head))
	_, err = created.Write(head)
	return err
}

// describe adds a line that every file is to begin with.
func (f *file) describe(line []byte) error {
	err := f.write(func(p *page) { p.text = append(p.text, line...) })
	f.steps = append(f.steps, line...)
	return err
}

// page is one event on its way to the file.
type page struct {
	file *file
	text []byte
	// contents and texts are new in the file.
	contents map[key]int
	texts    map[string]int
	next     int
}

func (p *page) remember() {
	for content, number := range p.contents {
		p.file.contents[content] = number
	}
	for text, number := range p.texts {
		p.file.texts[text] = number
	}
	p.file.next += p.next
}

func (p *page) number() int {
	p.next++
	return p.file.next + p.next
}

// content returns the number of a content, and writes it if the file does not have it.
func (p *page) content(of key, bytes []byte) int {
	if number, known := p.file.contents[of]; known {
		return number
	}
	if number, known := p.contents[of]; known {
		return number
	}
	if p.contents == nil {
		p.contents = map[key]int{}
	}
	number := p.number()
	p.contents[of] = number
	p.text = append(p.text, newLine("c").int(number).text(encoded(bytes)).end()...)
	return number
}

// string returns the number of a text.
func (p *page) string(text string) int {
	if number, known := p.file.texts[text]; known {
		return number
	}
	if number, known := p.texts[text]; known {
		return number
	}
	if p.texts == nil {
		p.texts = map[string]int{}
	}
	number := p.number()
	p.texts[text] = number
	p.text = append(p.text, newLine("t").int(number).text(text).end()...)
	return number
}

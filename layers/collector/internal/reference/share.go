package reference

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
)

// shared holds which structs occur at several places of a document, so that each is written once.
type shared struct {
	count map[[sha256.Size]byte]int
	// names are those of the definitions that are written.
	names   map[[sha256.Size]byte]string
	used    map[string]int
	written int
}

func newShared() *shared {
	return &shared{count: map[[sha256.Size]byte]int{}, names: map[[sha256.Size]byte]string{}, used: map[string]int{}}
}

// mark counts the structs below a schema. What is inside of one that was counted before is not counted again.
func (s *shared) mark(schema *Schema) error {
	if schema.origin != "" {
		hash, err := schema.hash()
		if err != nil {
			return err
		}
		s.count[hash]++
		if s.count[hash] > 1 {
			return nil
		}
	}
	var failed error
	schema.children(func(inner *Schema) {
		if failed == nil {
			failed = s.mark(inner)
		}
	})
	return failed
}

// hash is the same for structs that accept the same and describe it alike, whatever their places say of them.
func (s *Schema) hash() ([sha256.Size]byte, error) {
	bare := *s
	bare.note = ""
	written, err := json.Marshal(&bare)
	return sha256.Sum256(written), err
}

// replace puts references in the place of the structs that occur several times, and writes their definitions.
func (s *shared) replace(to io.Writer, schema *Schema) error {
	if schema.origin != "" {
		hash, err := schema.hash()
		if err != nil {
			return err
		}
		if s.count[hash] > 1 {
			name, is := s.names[hash]
			if !is {
				name = s.name(schema.origin)
				s.names[hash] = name
				definition := *schema
				definition.note, definition.origin = "", ""
				if err := s.below(to, &definition); err != nil {
					return err
				}
				if err := s.define(to, name, &definition); err != nil {
					return err
				}
			}
			*schema = Schema{Ref: reference(name), note: schema.note, Deprecated: schema.Deprecated}
			return nil
		}
	}
	return s.below(to, schema)
}

func (s *shared) below(to io.Writer, schema *Schema) error {
	var failed error
	schema.children(func(inner *Schema) {
		if failed == nil {
			failed = s.replace(to, inner)
		}
	})
	return failed
}

func (s *shared) name(origin string) string {
	s.used[origin]++
	if n := s.used[origin]; n > 1 {
		return fmt.Sprintf("%s.%d", origin, n)
	}
	return origin
}

// define writes a definition as a member of the object `$defs`.
func (s *shared) define(to io.Writer, name string, definition *Schema) error {
	key, err := json.Marshal(name)
	if err != nil {
		return err
	}
	written, err := json.Marshal(definition)
	if err != nil {
		return err
	}
	separator := ",\n"
	if s.written == 0 {
		separator = "\n"
	}
	s.written++
	_, err = fmt.Fprintf(to, "%s%s:%s", separator, key, written)
	return err
}

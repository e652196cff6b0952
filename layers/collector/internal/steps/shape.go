package steps

import (
	"encoding/json"
	"errors"
	"strings"
)

// shape reads the contents of a batch.
func (r *reader) shape(raw json.RawMessage, signal string, e *event) error {
	bottom := levelScope
	if signal == "metrics" {
		bottom = levelMetric
	}
	decoder := json.NewDecoder(strings.NewReader(string(raw)))
	var own item
	count := [3]int32{-1, -1, -1}
	delimiter := func(wanted rune) error {
		token, err := decoder.Token()
		if found, is := token.(json.Delim); err != nil || !is || rune(found) != wanted {
			return errors.New("a batch is not understood")
		}
		return nil
	}
	number := func(level int) error {
		var value int
		if err := decoder.Decode(&value); err != nil {
			return errors.New("a batch is not understood")
		}
		own.parts[level] = r.content[value]
		return nil
	}
	add := func() error {
		if r.records++; r.records > mostRecords {
			return errTooMany
		}
		own.under = count
		e.items = append(e.items, own)
		return nil
	}
	var groups func(level int) error
	groups = func(level int) error {
		if err := delimiter('['); err != nil {
			return err
		}
		for decoder.More() {
			if err := errors.Join(delimiter('['), number(level)); err != nil {
				return err
			}
			count[level]++
			if level < bottom {
				if err := groups(level + 1); err != nil {
					return err
				}
			} else {
				if err := delimiter('['); err != nil {
					return err
				}
				for decoder.More() {
					if err := errors.Join(number(levelRecord), add()); err != nil {
						return err
					}
				}
				if err := delimiter(']'); err != nil {
					return err
				}
			}
			if err := delimiter(']'); err != nil {
				return err
			}
		}
		return delimiter(']')
	}
	return groups(levelResource)
}

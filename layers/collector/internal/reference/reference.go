// Package reference describes what every component of the build accepts, as JSON Schemas that are read off the
// component's own configuration.
package reference

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"runtime/debug"
	"sync"

	"github.com/headgate/headgate/layers/collector/internal/comments"
	"github.com/headgate/headgate/layers/collector/internal/operation"
)

// The forms of a reference.
const (
	Components = "components"
	Document   = "document"
)

// Answer is a reference: the SHA-256 of its JSON, and the JSON compressed, in base64 on the wire.
type Answer struct {
	Digest string `json:"digest"`
	Gzip   []byte `json:"gzip"`
}

// Request names the form.
type Request struct {
	Form string `json:"form"`
}

// Handler answers `reference {"form": "components" | "document"}`. A form is made once.
func Handler() operation.Handler {
	var mutex sync.Mutex
	made := map[string]Answer{}
	return func(_ context.Context, env *operation.Environment, request json.RawMessage) (any, error) {
		var asked Request
		if err := json.Unmarshal(request, &asked); err != nil {
			return nil, operation.BadRequest("form: %v", err)
		}
		if asked.Form != Components && asked.Form != Document {
			return nil, operation.BadRequest("form: %q is neither %q nor %q", asked.Form, Components, Document)
		}
		mutex.Lock()
		defer mutex.Unlock()
		if answer, is := made[asked.Form]; is {
			return answer, nil
		}
		answer, err := compressed(env, asked.Form)
		if err != nil {
			return nil, err
		}
		made[asked.Form] = answer
		return answer, nil
	}
}

func compressed(env *operation.Environment, form string) (Answer, error) {
	// Making it takes some 90 MB, which the process would keep for a while.
	defer debug.FreeOSMemory()
	var packed bytes.Buffer
	digest := sha256.New()
	packer, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return Answer{}, err
	}
	if err := Write(io.MultiWriter(packer, digest), env, form); err != nil {
		return Answer{}, err
	}
	if err := packer.Close(); err != nil {
		return Answer{}, err
	}
	return Answer{Digest: hex.EncodeToString(digest.Sum(nil)), Gzip: bytes.Clone(packed.Bytes())}, nil
}

// Write writes the reference of a build in one form, as JSON.
func Write(to io.Writer, env *operation.Environment, form string) error {
	factories, err := env.Components()
	if err != nil {
		return fmt.Errorf("making the factories: %w", err)
	}
	texts, err := comments.Load()
	if err != nil {
		return err
	}
	w := newWalker(texts)
	components := all(&factories, texts)
	if form == Document {
		return w.writeDocument(to, env, components)
	}
	return w.writeComponents(to, env, components)
}

func newWalker(texts *comments.Texts) *walker {
	return &walker{texts: texts, definitions: map[string]*Schema{}, seen: seen{
		closed: map[reflect.Type]bool{}, undecided: map[reflect.Type]string{}, texts: map[reflect.Type]bool{},
	}}
}

// writeComponents writes one component after the other, so that only one is held at a time.
func (w *walker) writeComponents(to io.Writer, env *operation.Environment, components []made) error {
	head, err := json.Marshal(struct {
		Version      string `json:"version"`
		Distribution string `json:"distribution"`
	}{env.BuildInfo.Version, env.BuildInfo.Command})
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(to, "%s,\n\"components\":[", head[:len(head)-1]); err != nil {
		return err
	}
	for i, one := range components {
		entry := one.Entry
		entry.Schema = w.component(one)
		entry.Schema.Dialect = dialect
		entry.Schema.Defs = w.referredTo(entry.Schema, map[string]*Schema{Variable: variable()})
		if err := writeAfter(to, i, entry); err != nil {
			return fmt.Errorf("%s %s: %w", one.Kind, one.Type, err)
		}
	}
	_, err = io.WriteString(to, "\n]}\n")
	return err
}

// dialect is the JSON Schema that these are written in.
const dialect = "https://json-schema.org/draft/2020-12/schema"

// component describes a component, with what the document form says of it.
func (w *walker) component(one made) *Schema {
	found := w.configuration(one.factory)
	found.Title = one.Type + " " + one.Kind
	found.note = one.Summary
	found.Kind, found.Aliases, found.Stability = one.Kind, one.Aliases, one.Stability
	found.Deprecated = one.Deprecated != nil
	return found
}

// writeAfter writes a value on a line of its own, behind a comma if it is not the first.
func writeAfter(to io.Writer, before int, value any) error {
	written, err := json.Marshal(value)
	if err != nil {
		return err
	}
	separator := ",\n"
	if before == 0 {
		separator = "\n"
	}
	_, err = fmt.Fprintf(to, "%s%s", separator, written)
	return err
}

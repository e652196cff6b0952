// Program extract writes what the sources of a build say of its settings and components: a gzipped JSON object, which
// the build embeds into the program (internal/comments).
//
//	go list -deps -f FORMAT . | go run . FILE
//
// A line of standard input is a package: its path, its folder, its module's path and folder, and its files, separated by
// tabs, the files by blanks.
package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"os"
	"strings"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) != 2 {
		log.Fatal("usage: extract FILE, with the packages on standard input")
	}
	if err := run(os.Stdin, os.Args[1]); err != nil {
		log.Fatal(err)
	}
}

func run(input io.Reader, output string) error {
	packages, err := readPackages(input)
	if err != nil {
		return err
	}
	found, err := extract(packages)
	if err != nil {
		return err
	}
	text, err := found.compressed()
	if err != nil {
		return err
	}
	if err := os.WriteFile(output, text, 0o644); err != nil {
		return err
	}
	log.Printf("comments: %s", found.statistics(len(text)))
	return nil
}

// goPackage is a package that the program links.
type goPackage struct {
	path, folder         string
	module, moduleFolder string
	files                []string
}

func readPackages(input io.Reader) ([]goPackage, error) {
	var packages []goPackage
	lines := bufio.NewScanner(input)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		fields := strings.Split(lines.Text(), "\t")
		if len(fields) != 5 {
			return nil, fmt.Errorf("a package has 5 fields, separated by tabs: %q", lines.Text())
		}
		packages = append(packages, goPackage{fields[0], fields[1], fields[2], fields[3], strings.Fields(fields[4])})
	}
	return packages, lines.Err()
}

// result is what is embedded. Its shape is that of internal/comments.
type result struct {
	Comments   map[string]string    `json:"comments"`
	Components map[string]component `json:"components"`

	fields int // that have a key in a configuration, with a comment or without
	named  int // of them with a comment
}

func (r *result) count(field *fieldText) {
	if field.setting == "" {
		return
	}
	r.fields++
	if field.text != "" {
		r.named++
	}
}

// compressed has the same bytes for the same content: encoding/json sorts the keys, and the header has no time.
func (r *result) compressed() ([]byte, error) {
	var buffer bytes.Buffer
	writer, err := gzip.NewWriterLevel(&buffer, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	encoder := json.NewEncoder(writer)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(r); err != nil {
		return nil, err
	}
	if err := writer.Close(); err != nil {
		return nil, err
	}
	return buffer.Bytes(), nil
}

func (r *result) statistics(size int) string {
	summaries := 0
	for _, one := range r.Components {
		if one.Summary != "" {
			summaries++
		}
	}
	return fmt.Sprintf("%d of %d fields, %d texts in all, %d of %d components with a summary, %d KB compressed",
		r.named, r.fields, len(r.Comments), summaries, len(r.Components), size>>10)
}

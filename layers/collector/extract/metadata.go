package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// metadata is what we read of the file metadata.yaml of a component or a scraper.
type metadata struct {
	Description string `yaml:"description"`
	Status      struct {
		Class       string   `yaml:"class"`
		Warnings    []string `yaml:"warnings"`
		Platforms   []string `yaml:"unsupported_platforms"`
		Deprecation map[string]struct {
			Date      string `yaml:"date"`
			Migration string `yaml:"migration"`
		} `yaml:"deprecation"`
	} `yaml:"status"`
	Metrics            map[string]described `yaml:"metrics"`
	Events             map[string]described `yaml:"events"`
	Attributes         map[string]described `yaml:"attributes"`
	ResourceAttributes map[string]described `yaml:"resource_attributes"`
}

type described struct {
	Description string `yaml:"description"`
	Unit        string `yaml:"unit"`
}

// readMetadata returns nil if the folder has none.
func readMetadata(folder string) (*metadata, error) {
	text, err := os.ReadFile(filepath.Join(folder, "metadata.yaml"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	read := &metadata{}
	if err := yaml.Unmarshal(text, read); err != nil {
		return nil, fmt.Errorf("metadata.yaml: %w", err)
	}
	return read, nil
}

// component is what a module says of itself. Its shape is that of internal/comments.
type component struct {
	Summary              string   `json:"summary,omitempty"`
	Deprecated           string   `json:"deprecated,omitempty"`
	Warnings             []string `json:"warnings,omitempty"`
	UnsupportedPlatforms []string `json:"unsupported_platforms,omitempty"`
}

func (m *metadata) isComponent() bool {
	return slices.Contains([]string{
		"receiver", "processor", "exporter", "connector", "extension", "scraper", "provider",
	}, m.Status.Class)
}

func (m *metadata) component(folder, packageText string) *component {
	return &component{
		Summary:              m.summary(folder, packageText),
		Deprecated:           m.deprecated(),
		Warnings:             slices.DeleteFunc(m.Status.Warnings, func(title string) bool { return title == "Other" }),
		UnsupportedPlatforms: m.Status.Platforms,
	}
}

// deprecated names the signals only if they differ.
func (m *metadata) deprecated() string {
	var texts []string
	signals := slices.Sorted(maps.Keys(m.Status.Deprecation))
	for _, signal := range signals {
		of := m.Status.Deprecation[signal]
		text := strings.TrimSuffix(clean(of.Migration), ".")
		if of.Date != "" {
			text = strings.TrimPrefix(text+", deprecated since "+of.Date, ", ")
		}
		if text != "" && !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	if len(texts) < 2 {
		return strings.Join(texts, "")
	}
	for i, signal := range signals[:len(texts)] {
		texts[i] = signal + ": " + texts[i]
	}
	return strings.Join(texts, "; ")
}

// describeGenerated gives the metrics, events and attributes their descriptions. In the types that the collector's
// tool generates, the settings are their names.
func (t *packageTexts) describeGenerated(by *metadata) {
	for name, declared := range t.types {
		var of map[string]described
		switch {
		case strings.HasSuffix(name, "ResourceAttributesConfig"):
			of = by.ResourceAttributes
		case strings.HasSuffix(name, "MetricsConfig"):
			of = by.Metrics
		case strings.HasSuffix(name, "EventsConfig"):
			of = by.Events
		}
		for _, field := range declared.fields {
			about := of[field.setting]
			text := clean(about.Description)
			if unit := about.Unit; text != "" && unit != "" && unit != "1" {
				text = fmt.Sprintf("%s. Unit: %s", strings.TrimSuffix(text, "."), unit)
			}
			field.text = cmp.Or(field.text, text)
		}
	}
}

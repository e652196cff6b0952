package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v3"
)

// schemaFile is a package's own schema, which newer modules have. It describes the type Config, and others in $defs by
// their names in snake case. What it says goes before the comments.
const schemaFile = "config.schema.yaml"

type schema struct {
	Description string             `yaml:"description"`
	Properties  map[string]*schema `yaml:"properties"`
	Items       *schema            `yaml:"items"`
	Defs        map[string]*schema `yaml:"$defs"`
}

func (t *packageTexts) readSchema(folder string) error {
	text, err := os.ReadFile(filepath.Join(folder, schemaFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var whole schema
	if err := yaml.Unmarshal(text, &whole); err != nil {
		return fmt.Errorf("%s: %w", schemaFile, err)
	}
	for name, declared := range t.types {
		if name == "Config" {
			declared.describe(&whole)
		}
		for key, definition := range whole.Defs {
			if definition != nil && plain(key) == plain(name) {
				declared.describe(definition)
			}
		}
	}
	return nil
}

// plain is a name without its spelling: `HTTPClientConfig` is `http_client_config`.
func plain(name string) string { return strings.ToLower(strings.ReplaceAll(name, "_", "")) }

func (t *typeTexts) describe(by *schema) {
	if text := clean(by.Description); text != "" {
		t.text = text
	}
	t.describeFields("", by)
}

func (t *typeTexts) describeFields(prefix string, by *schema) {
	for _, field := range t.fields {
		name, within := strings.CutPrefix(field.path, prefix)
		property := by.Properties[field.setting]
		if !within || strings.Contains(name, ".") || field.setting == "" || property == nil {
			continue
		}
		if text := clean(property.Description); text != "" {
			field.text = text
		}
		if property.Items != nil {
			property = property.Items
		}
		t.describeFields(field.path+".", property)
	}
}

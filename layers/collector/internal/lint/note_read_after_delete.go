package lint

import (
	"fmt"
	"slices"
	"strings"
)

var readAfterDelete = &note{
	code:   "read_after_delete",
	wayOut: "Move the statement before the one that deletes, or delete at the end.",
	noted: []noteExample{
		{"log_statements", []string{
			`delete_key(log.attributes, "user")`, `set(log.attributes["who"], log.attributes["user"])`}},
		{"log_statements", []string{
			`keep_keys(log.attributes, ["a"])`, `set(log.body, log.attributes["b"])`}},
		{"trace_statements", []string{
			`delete_key(span.attributes, "a")`, `set(span.name, "x") where span.attributes["a"] == "y"`}},
		{"log_statements", []string{
			`delete_matching_keys(log.attributes, "^http\\.")`, `set(log.body, log.attributes["http.url"])`}},
		{"log_statements", []string{
			`delete_key(log.attributes, "user")`, `replace_pattern(log.attributes["user"], "a", "b")`}},
		{"log_statements", []string{
			inGroup("log", "", `delete_key(attributes, "user")`), inGroup("log", "", `set(log.body, log.attributes["user"])`)}},
	},
	silent: []noteExample{
		{"log_statements", []string{
			`set(log.attributes["who"], log.attributes["user"])`, `delete_key(log.attributes, "user")`}},
		{"log_statements", []string{
			`delete_key(log.attributes, "user")`, `set(log.attributes["user"], "x")`, `set(log.body, log.attributes["user"])`}},
		{"log_statements", []string{
			`delete_key(log.attributes, "user") where log.body == "x"`, `set(log.body, log.attributes["user"])`}},
		{"log_statements", []string{`keep_keys(log.attributes, ["a"])`, `set(log.body, log.attributes["a"])`}},
		{"log_statements", []string{
			inGroup("log", `body == "x"`, `delete_key(attributes, "user")`), inGroup("log", "", `set(log.body, log.attributes["user"])`)}},
	},
	check: func(e *parsedExpression) string {
		for _, path := range e.reads() {
			holder, key, indexed := lastKey(path)
			if !indexed {
				continue
			}
			deleted := ""
			holder, path := e.full(holder), e.full(path)
			for _, earlier := range e.before {
				if earlier.context != e.context {
					continue
				}
				if earlier.writes(holder, path) {
					deleted = ""
				} else if (earlier.group == e.group || len(earlier.conditions) == 0) && earlier.deletes(holder, key) {
					deleted = earlier.text
				}
			}
			if deleted != "" {
				return fmt.Sprintf("%s is read here, and a statement before deletes it: %s", path, shortened(deleted))
			}
		}
		return ""
	},
}

func shortened(text string) string {
	const most = 100
	if len(text) > most {
		return strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}

// reads returns the paths that a statement reads: all but the target of its editor.
func (e *parsedExpression) reads() []string {
	statement, condition := e.where()
	all := calls(statement)
	if e.kind != Statement || len(all) == 0 || len(all[0].arguments) == 0 {
		return nil
	}
	read := paths(condition)
	arguments := all[0].arguments
	if !slices.Contains(changing, all[0].name) {
		arguments = arguments[1:]
	}
	for _, argument := range arguments {
		read = append(read, paths(argument)...)
	}
	return read
}

// changing are the editors that read their target as well.
var changing = []string{"replace_pattern", "replace_match", "append"}

// full returns a path with its context: `log.attributes` for `attributes`.
func (e *parsedExpression) full(path string) string {
	if levelOf(path, "") != "" {
		return path
	}
	return e.context + "." + path
}

// lastKey splits `log.attributes["a"]` into `log.attributes` and `a`.
func lastKey(path string) (holder, key string, indexed bool) {
	start := strings.LastIndex(path, `["`)
	if start < 0 || !strings.HasSuffix(path, `"]`) {
		return "", "", false
	}
	return path[:start], path[start+2 : len(path)-2], true
}

// editor returns the function of a statement and its target, "" if it has a condition.
func (e *parsedExpression) editor() (one call, target string) {
	statement, condition := e.where()
	all := calls(statement)
	if len(condition) > 0 || len(all) == 0 || len(all[0].arguments) == 0 {
		return call{}, ""
	}
	return all[0], e.full(strings.Join(paths(all[0].arguments[0]), ""))
}

// deletes tells whether a statement deletes a key of a map in any case.
func (e *parsedExpression) deletes(holder, key string) bool {
	one, target := e.editor()
	if target == "" || target != holder || len(one.arguments) < 2 {
		return false
	}
	switch one.name {
	case "delete_key":
		name, isText := literalText(one.arguments[1])
		return isText && name == key
	case "keep_keys":
		list := one.arguments[1]
		if len(list) < 2 || list[0].Text != "[" || len(paths(list)) > 0 {
			return false
		}
		return !slices.ContainsFunc(splitAtCommas(list[1:len(list)-1]), func(entry []token) bool {
			name, isText := literalText(entry)
			return !isText || name == key
		})
	case "delete_matching_keys":
		return matches(one.arguments[1], key)
	case "keep_matching_keys":
		_, isText := literalText(one.arguments[1])
		return isText && !matches(one.arguments[1], key)
	}
	return false
}

// writes tells whether a statement may set a key, or all of its map.
func (e *parsedExpression) writes(holder, path string) bool {
	statement, _ := e.where()
	all := calls(statement)
	if len(all) == 0 || len(all[0].arguments) == 0 {
		return false
	}
	target := e.full(strings.Join(paths(all[0].arguments[0]), ""))
	return target == path || target == holder && !strings.HasPrefix(all[0].name, "delete_") && !strings.HasPrefix(all[0].name, "keep_")
}

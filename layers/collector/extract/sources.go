package main

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
)

// typeTexts is what the sources say of a named type.
type typeTexts struct {
	text   string
	fields []*fieldText
	// as is the type that this one is declared as, with its package: `type Config other.Config`.
	as string
}

// fieldText is what the sources say of a field. Its path is `Field`, or `Field.Inner` in a struct without a name; setting
// is its key in a configuration, empty if it has none of its own.
type fieldText struct {
	path, setting, text string
	// typeName is the name of its type, or of its elements' type, if that is in the same package.
	typeName   string
	isSquashed bool
}

// resolved are the fields of the type, or of the type that it is declared as.
func (t *typeTexts) resolved(types map[string]*typeTexts) []*fieldText {
	for range 4 { // far more than any chain has
		next, known := types[t.as]
		if len(t.fields) > 0 || !known {
			break
		}
		t = next
	}
	return t.fields
}

// readSources reads the types of a package if one of them has fields for a configuration, and its comment.
func (t *packageTexts) readSources(one goPackage) error {
	files := token.NewFileSet()
	var parsed []*ast.File
	for _, name := range one.files {
		text, err := os.ReadFile(filepath.Join(one.folder, name))
		if err != nil {
			return err
		}
		isConfiguration := bytes.Contains(text, []byte(`mapstructure:"`)) || bytes.Contains(text, []byte(`yaml:"`))
		if !isConfiguration && name != "doc.go" && !bytes.Contains(text, []byte("\n// Package ")) {
			continue
		}
		mode := parser.ParseComments | parser.SkipObjectResolution
		if !isConfiguration {
			mode |= parser.PackageClauseOnly
		}
		file, err := parser.ParseFile(files, name, text, mode)
		if err != nil {
			return err
		}
		parsed = append(parsed, file)
	}
	for _, file := range parsed {
		if t.text == "" {
			t.text = clean(file.Doc.Text())
		}
		t.readTypes(file)
	}
	return nil
}

func (t *packageTexts) readTypes(file *ast.File) {
	for _, declaration := range file.Decls {
		general, is := declaration.(*ast.GenDecl)
		if !is || general.Tok != token.TYPE {
			continue
		}
		for _, spec := range general.Specs {
			declared := spec.(*ast.TypeSpec)
			comment := declared.Doc
			if comment == nil && len(general.Specs) == 1 {
				comment = general.Doc
			}
			read := &typeTexts{text: clean(comment.Text())}
			switch underlying := declared.Type.(type) {
			case *ast.StructType:
				read.readFields(underlying, "")
			case *ast.Ident:
				read.as = t.path + "." + underlying.Name
			case *ast.SelectorExpr:
				read.as = imported(file, underlying.X) + "." + underlying.Sel.Name
			}
			t.types[declared.Name.Name] = read
		}
	}
}

// imported is the path of a package, by its name in this file.
func imported(file *ast.File, name ast.Expr) string {
	identifier, is := name.(*ast.Ident)
	if !is {
		return ""
	}
	for _, spec := range file.Imports {
		path, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue
		}
		if spec.Name != nil && spec.Name.Name == identifier.Name ||
			spec.Name == nil && path[strings.LastIndex(path, "/")+1:] == identifier.Name {
			return path
		}
	}
	return ""
}

func (t *typeTexts) readFields(structure *ast.StructType, prefix string) {
	for _, field := range structure.Fields.List {
		comment := field.Doc.Text()
		if comment == "" {
			comment = field.Comment.Text()
		}
		text := clean(comment)
		for _, name := range fieldNames(field) {
			key, isSquashed := setting(field)
			t.fields = append(t.fields, &fieldText{prefix + name, key, text, localName(field.Type), isSquashed})
			if inner := structWithoutName(field.Type); inner != nil {
				t.readFields(inner, prefix+name+".")
			}
		}
	}
}

func fieldNames(field *ast.Field) []string {
	var names []string
	for _, name := range field.Names {
		names = append(names, name.Name)
	}
	if len(names) > 0 {
		return names
	}
	embedded := field.Type
	for {
		switch of := embedded.(type) {
		case *ast.StarExpr:
			embedded = of.X
		case *ast.IndexExpr:
			embedded = of.X
		case *ast.SelectorExpr:
			return []string{of.Sel.Name}
		case *ast.Ident:
			return []string{of.Name}
		default:
			return nil
		}
	}
}

// structWithoutName finds the struct in `struct{…}`, `*struct{…}` and `[]struct{…}`.
func structWithoutName(expression ast.Expr) *ast.StructType {
	switch of := expression.(type) {
	case *ast.StructType:
		return of
	case *ast.StarExpr:
		return structWithoutName(of.X)
	case *ast.ArrayType:
		return structWithoutName(of.Elt)
	}
	return nil
}

// localName is the name in `T`, `*T`, `[]T` and `Optional[T]`.
func localName(expression ast.Expr) string {
	switch of := expression.(type) {
	case *ast.Ident:
		return of.Name
	case *ast.StarExpr:
		return localName(of.X)
	case *ast.ArrayType:
		return localName(of.Elt)
	case *ast.IndexExpr:
		return localName(of.Index)
	}
	return ""
}

// setting is the key of a field in a configuration by its tag, empty if it has none, and whether the fields of its type
// stand in its place.
func setting(field *ast.Field) (key string, isSquashed bool) {
	if field.Tag == nil {
		return "", false
	}
	tag, err := strconv.Unquote(field.Tag.Value)
	if err != nil {
		return "", false
	}
	for _, name := range []string{"mapstructure", "yaml"} {
		if value, has := reflect.StructTag(tag).Lookup(name); has {
			key, options, _ := strings.Cut(value, ",")
			return strings.TrimPrefix(key, "-"), strings.Contains(options, "squash") || strings.Contains(options, "inline")
		}
	}
	return "", false
}

package main

import (
	"cmp"
	_ "embed"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strconv"
	"strings"
)

// switches is the file that a package gets: the functions that its mutants call.
//
//go:embed switches.go.txt
var switches string

// Mutant is a small mistake that the built tests can make at one place, by its number.
type Mutant struct {
	ID   int
	File string
	Line int
	// Text is the line as it stands, and Mistake what becomes of which part of it.
	Text, Mistake string
}

// rewriter writes all mutants of a package into its sources. Each place asks at run time whether its mistake is made.
type rewriter struct {
	files   *token.FileSet
	info    *types.Info
	source  string
	edits   []edit
	mutants []Mutant
}

// edit replaces bytes of a source. At one place, ends come before what follows, those of inner expressions first.
type edit struct {
	at, length, order int
	text              string
}

var (
	comparisons = map[token.Token][2]token.Token{
		token.LSS: {token.LEQ, token.GEQ}, token.LEQ: {token.LSS, token.GTR},
		token.GTR: {token.GEQ, token.LEQ}, token.GEQ: {token.GTR, token.LSS},
	}
	arithmetic = map[token.Token]token.Token{
		token.ADD: token.SUB, token.SUB: token.ADD, token.MUL: token.QUO, token.QUO: token.MUL, token.REM: token.MUL,
	}
	functions = map[token.Token]string{
		token.LSS: "Less", token.LEQ: "AtMost", token.GTR: "More", token.GEQ: "AtLeast", token.LAND: "And", token.LOR: "Or",
		token.ADD: "Add", token.SUB: "Subtract", token.MUL: "Multiply", token.QUO: "Divide", token.REM: "Remainder",
	}
)

// rewritten returns the source of a file with its mutants.
func (r *rewriter) rewritten(file *ast.File, source string) string {
	r.source, r.edits = source, nil
	ast.Inspect(file, r.visit)
	slices.SortStableFunc(r.edits, func(a, b edit) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.order, b.order)) })
	var text strings.Builder
	at := 0
	for _, edit := range r.edits {
		text.WriteString(source[at:edit.at] + edit.text)
		at = edit.at + edit.length
	}
	text.WriteString(source[at:])
	return text.String()
}

// visit reports whether to look into the node.
func (r *rewriter) visit(node ast.Node) bool {
	switch node := node.(type) {
	case *ast.GenDecl:
		return node.Tok == token.VAR
	case *ast.ArrayType, *ast.LabeledStmt:
		// A label has to stand before its loop.
		_, isLabel := node.(*ast.LabeledStmt)
		return isLabel
	case *ast.KeyValueExpr:
		ast.Inspect(node.Value, r.visit)
		return false
	case *ast.IfStmt:
		if _, isBinary := node.Cond.(*ast.BinaryExpr); !isBinary && r.isBool(node.Cond) {
			r.wrap(node.Cond, r.call("Not", node.Cond.Pos(), "not"), ")")
		}
	case *ast.IncDecStmt:
		counted := r.source[r.offset(node.X.Pos()):r.offset(node.X.End())]
		name, sign, mistake := "Add", " + 1", "--"
		if node.Tok == token.DEC {
			name, sign, mistake = "Subtract", " - 1", "++"
		}
		r.edits = append(r.edits, edit{r.offset(node.TokPos), 2, len(r.edits),
			" = " + r.call(name, node.TokPos, counted+sign+" as "+mistake) + counted + ", 1)"})
	case ast.Expr:
		return r.expression(node)
	}
	return true
}

func (r *rewriter) expression(node ast.Expr) bool {
	if literal, ok := node.(*ast.BasicLit); ok {
		if literal.Kind == token.INT && types.Identical(r.info.TypeOf(literal), types.Typ[types.Int]) {
			r.wrap(literal, r.call("NumberOf", literal.Pos(), literal.Value+" + 1"), ")")
		}
		return false
	}
	// What the compiler computes cannot be changed while the tests run.
	if r.info.Types[node].Value != nil {
		return false
	}
	binary, ok := node.(*ast.BinaryExpr)
	if !ok {
		return true
	}
	switch operator, at := binary.Op, binary.OpPos; {
	case operator == token.EQL || operator == token.NEQ:
		r.wrap(node, r.call("Not", at, operator.String()+" negated"), ")")
	case comparisons[operator] != [2]token.Token{}:
		first, second := comparisons[operator][0], comparisons[operator][1]
		call := r.call(functions[operator], at, operator.String()+" as "+first.String(), operator.String()+" as "+second.String())
		r.split(binary, call, ", ", ")")
	case operator == token.LAND && r.isBool(node), operator == token.LOR && r.isBool(node):
		instead := map[token.Token]string{token.LAND: "||", token.LOR: "&&"}[operator]
		r.split(binary, r.call(functions[operator], at, operator.String()+" as "+instead), ", func() bool { return (", ")})")
	case arithmetic[operator] != 0 && r.isNumber(node):
		r.split(binary, r.call(functions[operator], at, operator.String()+" as "+arithmetic[operator].String()), ", ", ")")
	}
	return true
}

// call begins the call of a switch, which has as many numbers as there are mistakes.
func (r *rewriter) call(name string, at token.Pos, mistakes ...string) string {
	id, position := len(r.mutants), r.files.Position(at)
	for n, mistake := range mistakes {
		line := strings.TrimSpace(strings.Split(r.source, "\n")[position.Line-1])
		r.mutants = append(r.mutants, Mutant{id + n, position.Filename, position.Line, line, mistake})
	}
	return "mutated" + name + "(" + strconv.Itoa(id) + ", "
}

func (r *rewriter) wrap(node ast.Node, before, after string) {
	order := len(r.edits)
	r.edits = append(r.edits, edit{r.offset(node.Pos()), 0, order, before}, edit{r.offset(node.End()), 0, -order - 1, after})
}

// split also replaces the operator.
func (r *rewriter) split(node *ast.BinaryExpr, before, between, after string) {
	r.wrap(node, before, after)
	r.edits = append(r.edits, edit{r.offset(node.OpPos), len(node.Op.String()), 0, between})
}

func (r *rewriter) offset(at token.Pos) int { return r.files.Position(at).Offset }

func (r *rewriter) isBool(node ast.Expr) bool {
	basic, ok := r.info.TypeOf(node).(*types.Basic)
	return ok && basic.Info()&types.IsBoolean != 0
}

func (r *rewriter) isNumber(node ast.Expr) bool {
	basic, ok := r.info.TypeOf(node).Underlying().(*types.Basic)
	return ok && basic.Info()&(types.IsInteger|types.IsFloat) != 0
}

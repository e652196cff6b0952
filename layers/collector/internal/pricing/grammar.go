package pricing

import "github.com/headgate/headgate/layers/collector/generation"

// The grammar of OTTL, as in grammar.go of pkg/ottl with its alternatives in the same order, for pricing only. A test
// compares its prices with the time that the real parser takes.

var (
	upper = ofKind(UpperToken)
	lower = ofKind(LowerToken)

	editorName    = inTurn(lower, repeated(firstOf(upper, lower)))
	converterName = inTurn(upper, repeated(firstOf(upper, lower)))
	operatorAhead = firstOf(ofKind(AddSubToken), ofKind(MultDivToken))
)

var (
	statementRule rule
	conditionRule rule
	valueRule     rule
)

func init() {
	// Rules that contain each other refer to each other through these.
	condition := remembered("condition", func() rule { return conditionRule })
	value := remembered("value", func() rule { return valueRule })
	var mathRule, keyRule rule
	math := remembered("math", func() rule { return mathRule })
	key := remembered("key", func() rule { return keyRule })

	argument := inTurn(optional(inTurn(editorName, text("="))), firstOf(value, converterName))
	arguments := optional(inTurn(argument, repeated(inTurn(text(","), argument))))
	editorRule := inTurn(editorName, text("("), arguments, text(")"), repeated(key))
	editor := remembered("editor", func() rule { return editorRule })
	converterRule := inTurn(converterName, text("("), arguments, text(")"), repeated(key))
	converter := remembered("converter", func() rule { return converterRule })

	field := inTurn(lower, repeated(key))
	pathRule := inTurn(optional(inTurn(lower, text("."))), field, repeated(inTurn(text("."), field)))
	path := remembered("path", func() rule { return pathRule })

	literalRule := firstOf(editor, converter, ofKind(FloatToken), ofKind(IntToken), path)
	literal := remembered("literal", func() rule { return literalRule })
	keyRule = inTurn(text("["), firstOf(ofKind(StringToken), ofKind(IntToken), math, literal), text("]"))

	operand := firstOf(literal, inTurn(text("("), math, text(")")))
	lambda := never
	if generation.Lambdas {
		operand = inTurn(optional(ofKind(AddSubToken)), operand)
		parameter := firstOf(lower, ofKind(UnderscoreToken))
		parameters := optional(inTurn(parameter, repeated(inTurn(text(","), parameter))))
		body := firstOf(inTurn(value, notBefore(firstOf(ofKind(OrToken), ofKind(AndToken), ofKind(ComparisonToken)))), condition)
		lambda = inTurn(text("("), parameters, text(")"), ofKind(ArrowToken), body)
	}
	product := inTurn(operand, repeated(inTurn(ofKind(MultDivToken), operand)))
	mathRule = inTurn(product, repeated(inTurn(ofKind(AddSubToken), product)))

	pairs := inTurn(text("{"), repeated(inTurn(ofKind(StringToken), text(":"), value, optional(text(",")))), text("}"))
	list := inTurn(text("["), repeated(value), repeated(inTurn(text(","), value)), text("]"))
	valueRule = firstOf(
		text("nil"), inTurn(literal, notBefore(operatorAhead)), lambda, math, ofKind(BytesToken), ofKind(StringToken),
		ofKind(BooleanToken), inTurn(upper, notBefore(lower)), pairs, list,
	)

	comparison := inTurn(value, ofKind(ComparisonToken), value)
	constant := firstOf(ofKind(BooleanToken), converter)
	boolean := inTurn(
		optional(ofKind(NotToken)), firstOf(comparison, constant, inTurn(text("("), condition, text(")"))),
	)
	factor := remembered("factor", func() rule { return boolean })
	term := inTurn(factor, repeated(inTurn(ofKind(AndToken), factor)))
	conditionRule = inTurn(term, repeated(inTurn(ofKind(OrToken), term)))
	statementRule = inTurn(firstOf(editor, converter), optional(inTurn(text("where"), condition)))
}

package reference

import "reflect"

// groups describes a configuration with lists whose entries are OTTL texts or groups of them.
func groups(lists ...string) describer {
	return func(w *walker, v reflect.Value, at place) *Schema {
		at = w.entered(v, at)
		found := w.structure(v, at)
		for _, key := range lists {
			if list, is := found.Properties[key]; is && list.Items != nil {
				list.Items = &Schema{AnyOf: []*Schema{{Type: Types{"string"}}, list.Items}}
			}
		}
		return found
	}
}

// acknowledgements describes Kafka's producer, which takes a word in the place of a number.
func acknowledgements(w *walker, v reflect.Value, at place) *Schema {
	at = w.entered(v, at)
	found := w.structure(v, at)
	if number, is := found.Properties["required_acks"]; is {
		number.AnyOf = append(number.AnyOf, &Schema{Enum: []any{"all"}})
	}
	return found
}

// readLater is why the settings of a receiver in receiver_creator are open.
const readLater = "the receiver's settings are read once the rule matches: each may be an expression"

// discovery describes receiver_creator.
func discovery(w *walker, v reflect.Value, at place) *Schema {
	at = w.entered(v, at)
	found := w.structure(v, at)
	template := object()
	template.Properties = map[string]*Schema{
		"rule": {Type: Types{"string"}},
		"config": {
			Type: Types{"object", "null", "string"}, Pattern: placeholder,
			Open: readLater,
		},
		"resource_attributes": object(),
	}
	template.Required = []string{"rule"}
	template.needed()
	template.MinProperties = 0
	receivers := object()
	receivers.AdditionalProperties = template
	found.Properties["receivers"] = receivers
	return found
}

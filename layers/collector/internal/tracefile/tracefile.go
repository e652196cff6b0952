// Package tracefile is what the writer and the readers of a trace agree on.
package tracefile

const (
	// Flag makes the collector write a trace into the folder that it names.
	Flag = "headgate-trace"
	// First and Second are the names of the files. They are written in turn, so that the newest records win and what a
	// collector wrote before it crashed is there. Each file is complete in itself.
	First  = "steps.0"
	Second = "steps.1"
	// Largest is the size of each in bytes. Both together travel in one question, as a JSON string.
	Largest = 6 << 20
	// Format is the number of the format, at the start of each file.
	Format = 1
)

package seccomp

import (
	"fmt"
	"math"

	"golang.org/x/sys/unix"
)

// architecture distinguishes calls of this machine's table from those of other tables.
type architecture struct {
	audit uint32
	// x32 is set if numbers with x32Bit are a second table under the same architecture.
	x32 bool
}

const x32Bit = 0x40000000

// Offsets in struct seccomp_data, on little-endian machines.
const (
	offsetNumber       = 0
	offsetArchitecture = 4
	offsetArguments    = 16
	argumentSize       = 8
	arguments          = 6
	// longestProgram is BPF_MAXINSNS.
	longestProgram = 4096
)

// assemble returns the program that Linux runs at each system call.
func (f Filter) assemble(machine architecture) ([]unix.SockFilter, error) {
	program := []unix.SockFilter{
		load(offsetArchitecture), jumpIfEqual(machine.audit, 1, 0), end(Kill), load(offsetNumber),
	}
	if machine.x32 {
		program = append(program, jumpIfAtLeast(x32Bit, 0, 1), end(Kill))
	}
	for _, rule := range f.Rules {
		body, err := rule.body()
		if err != nil {
			return nil, err
		}
		for _, number := range rule.Calls {
			program = append(append(program, jumpIfEqual(number, 0, uint8(len(body)))), body...)
		}
	}
	program = append(program, end(f.Otherwise))
	if len(program) > longestProgram {
		return nil, fmt.Errorf("the filter has %d instructions, more than the %d that Linux takes", len(program), longestProgram)
	}
	return program, nil
}

// body returns the instructions after the call's number has matched: the rule's action if every condition holds, else
// the number is loaded again for the next rules.
func (r Rule) body() ([]unix.SockFilter, error) {
	verdict := end(r.Action)
	if len(r.When) == 0 {
		return []unix.SockFilter{verdict}, nil
	}
	var checks []unix.SockFilter
	for _, argument := range r.When {
		if argument.index < 0 || argument.index >= arguments {
			return nil, fmt.Errorf("a system call has no argument %d", argument.index)
		}
		if argument.value&^argument.mask != 0 {
			return nil, fmt.Errorf("the value %#x has bits outside of the mask %#x", argument.value, argument.mask)
		}
		offset := uint32(offsetArguments + argumentSize*argument.index)
		for _, half := range []struct{ offset, mask, value uint32 }{
			{offset, uint32(argument.mask), uint32(argument.value)},
			{offset + 4, uint32(argument.mask >> 32), uint32(argument.value >> 32)},
		} {
			if half.mask == 0 {
				continue
			}
			checks = append(checks, load(half.offset), and(half.mask), jumpIfEqual(half.value, 0, 0))
		}
	}
	for i := range checks {
		if checks[i].Code == codeJumpIfEqual {
			checks[i].Jf = uint8(len(checks) - i) // over the rest of the checks and the verdict
		}
	}
	body := append(append(checks, verdict), load(offsetNumber))
	if len(body) > math.MaxUint8 {
		return nil, fmt.Errorf("a rule of %d conditions is longer than a jump", len(r.When))
	}
	return body, nil
}

const codeJumpIfEqual = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K

func load(offset uint32) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: offset}
}

func and(mask uint32) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_ALU | unix.BPF_AND | unix.BPF_K, K: mask}
}

func jumpIfEqual(value uint32, yes, no uint8) unix.SockFilter {
	return unix.SockFilter{Code: codeJumpIfEqual, K: value, Jt: yes, Jf: no}
}

func jumpIfAtLeast(value uint32, yes, no uint8) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K, K: value, Jt: yes, Jf: no}
}

func end(action Action) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: uint32(action)}
}

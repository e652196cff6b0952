package seccomp

import (
	"encoding/binary"
	"errors"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

var (
	amd64 = architecture{audit: unix.AUDIT_ARCH_X86_64, x32: true}
	arm64 = architecture{audit: unix.AUDIT_ARCH_AARCH64}
)

type call struct {
	audit, number uint32
	arguments     [6]uint64
}

// verdict runs the filter on a call as Linux does. The interpreter reads words in the network's order, so each word of
// the call is written in that order.
func verdict(t *testing.T, filter Filter, machine architecture, made call) Action {
	t.Helper()
	program, err := filter.assemble(machine)
	if err != nil {
		t.Fatal(err)
	}
	instructions := make([]bpf.Instruction, len(program))
	for i, raw := range program {
		instructions[i] = bpf.RawInstruction{Op: raw.Code, Jt: raw.Jt, Jf: raw.Jf, K: raw.K}.Disassemble()
	}
	virtual, err := bpf.NewVM(instructions)
	if err != nil {
		t.Fatal(err)
	}
	data := make([]byte, 64)
	binary.BigEndian.PutUint32(data[offsetNumber:], made.number)
	binary.BigEndian.PutUint32(data[offsetArchitecture:], made.audit)
	for i, argument := range made.arguments {
		binary.BigEndian.PutUint32(data[offsetArguments+argumentSize*i:], uint32(argument))
		binary.BigEndian.PutUint32(data[offsetArguments+argumentSize*i+4:], uint32(argument>>32))
	}
	result, err := virtual.Run(data)
	if err != nil {
		t.Fatal(err)
	}
	return Action(uint32(result))
}

func TestTheFirstRuleThatFitsDecides(t *testing.T) {
	denied := Fail(syscall.EACCES)
	filter := Filter{
		Rules: []Rule{
			{Calls: []uint32{10, 11}, Action: Allow},
			{Calls: []uint32{12}, When: []Argument{Equal(1, 1<<40|5)}, Action: Allow},
			{Calls: []uint32{13}, When: []Argument{Int(0, 7), Flags(2, 0x10000, 0x10000)}, Action: Allow},
			{Calls: []uint32{13}, When: []Argument{Int(0, 9)}, Action: Fail(syscall.ESRCH)},
			{Calls: []uint32{14}, When: []Argument{Int(0, -100)}, Action: Allow},
			{Calls: []uint32{12, 15}, Action: Kill},
		},
		Otherwise: denied,
	}
	for name, row := range map[string]struct {
		number    uint32
		arguments [6]uint64
		expected  Action
	}{
		"a rule's first call":                        {10, [6]uint64{}, Allow},
		"a rule's second call":                       {11, [6]uint64{}, Allow},
		"no rule's":                                  {9, [6]uint64{}, denied},
		"all 64 bits are right":                      {12, [6]uint64{0, 1<<40 | 5}, Allow},
		"the upper half is wrong":                    {12, [6]uint64{0, 5}, Kill},
		"the lower half is wrong":                    {12, [6]uint64{0, 1 << 40}, Kill},
		"both conditions hold":                       {13, [6]uint64{7, 0, 0x10000}, Allow},
		"more flags than asked for":                  {13, [6]uint64{7, 0, 0x3d0f00 | 0x10000}, Allow},
		"the second condition fails":                 {13, [6]uint64{7, 0, 0}, denied},
		"the first condition fails":                  {13, [6]uint64{8, 0, 0x10000}, denied},
		"an int's upper half does not count":         {13, [6]uint64{1<<32 | 7, 0, 0x10000}, Allow},
		"a later rule for the same call":             {13, [6]uint64{9, 0, 0x10000}, Fail(syscall.ESRCH)},
		"a negative int":                             {14, [6]uint64{0xFFFFFF9C}, Allow},
		"a negative int, extended to 64 bits":        {14, [6]uint64{0xFFFFFFFFFFFFFF9C}, Allow},
		"another int":                                {14, [6]uint64{3}, denied},
		"the number is found after arguments failed": {15, [6]uint64{}, Kill},
	} {
		for machineName, machine := range map[string]architecture{"amd64": amd64, "arm64": arm64} {
			t.Run(name+" on "+machineName, func(t *testing.T) {
				got := verdict(t, filter, machine, call{machine.audit, row.number, row.arguments})
				if got != row.expected {
					t.Errorf("%#x, not %#x", got, row.expected)
				}
			})
		}
	}
}

func TestCallsOfOtherTablesEndTheProcess(t *testing.T) {
	open := Filter{Otherwise: Allow}
	for name, row := range map[string]struct {
		machine  architecture
		made     call
		expected Action
	}{
		"its own on amd64": {amd64, call{audit: unix.AUDIT_ARCH_X86_64}, Allow},
		"i386's on amd64":  {amd64, call{audit: unix.AUDIT_ARCH_I386}, Kill},
		"x32's on amd64":   {amd64, call{audit: unix.AUDIT_ARCH_X86_64, number: x32Bit | 41}, Kill},
		"its own on arm64": {arm64, call{audit: unix.AUDIT_ARCH_AARCH64}, Allow},
		"arm's on arm64":   {arm64, call{audit: unix.AUDIT_ARCH_ARM}, Kill},
	} {
		t.Run(name, func(t *testing.T) {
			if got := verdict(t, open, row.machine, row.made); got != row.expected {
				t.Errorf("%#x, not %#x", got, row.expected)
			}
		})
	}
}

func TestWhatCannotBeAFilterIsRefused(t *testing.T) {
	for name, filter := range map[string]Filter{
		"a seventh argument":   {Rules: []Rule{{Calls: []uint32{1}, When: []Argument{Equal(6, 0)}}}},
		"a negative argument":  {Rules: []Rule{{Calls: []uint32{1}, When: []Argument{Equal(-1, 0)}}}},
		"bits out of the mask": {Rules: []Rule{{Calls: []uint32{1}, When: []Argument{Flags(0, 1, 2)}}}},
		"too many conditions":  {Rules: []Rule{{Calls: []uint32{1}, When: slices.Repeat([]Argument{Equal(0, 0)}, 100)}}},
		"too long":             {Rules: []Rule{{Calls: make([]uint32, longestProgram)}}},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := filter.assemble(thisArchitecture); err == nil {
				t.Error("assembled")
			}
		})
	}
}

const inChild = "HEADGATE_SECCOMP_TEST"

// TestAnInstalledFilterHoldsForEveryThread installs one in a process of its own, for it cannot be taken off.
func TestAnInstalledFilterHoldsForEveryThread(t *testing.T) {
	if os.Getenv(inChild) != "" {
		installAndTry(t)
		return
	}
	command := exec.Command("/proc/self/exe", "-test.run", "^"+t.Name()+"$", "-test.v")
	command.Env = []string{inChild + "=1"}
	said, err := command.CombinedOutput()
	if err != nil || !strings.Contains(string(said), "--- PASS") {
		t.Errorf("%v:\n%s", err, said)
	}
}

func installAndTry(t *testing.T) {
	begin, tried := make(chan struct{}), make(chan error)
	go func() {
		runtime.LockOSThread() // a thread that lived before the filter
		<-begin
		_, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
		tried <- err
	}()
	filter := Filter{
		Rules:     []Rule{{Calls: []uint32{unix.SYS_SOCKET}, When: []Argument{Int(0, unix.AF_UNIX)}, Action: Fail(syscall.EACCES)}},
		Otherwise: Allow,
	}
	if err := filter.Install(); err != nil {
		t.Fatal(err)
	}
	close(begin)
	if err := <-tried; !errors.Is(err, syscall.EACCES) {
		t.Errorf("the thread from before: %v", err)
	}
	if descriptor, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0); err != nil {
		t.Errorf("another kind of socket: %v", err)
	} else {
		unix.Close(descriptor)
	}
}

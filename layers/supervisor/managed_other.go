//go:build !windows

package main

import "context"

// managed runs the work under what manages services here: systemd and launchd start programs as they are.
func managed(work func(stop context.Context) int) int { return untilASignal(work) }

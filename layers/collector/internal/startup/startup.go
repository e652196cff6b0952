// Package startup keeps garbage from being collected while some 5,000 packages are initialized: nearly all that they make
// stays, and collecting it took a quarter of a start's processor time.
package startup

import "runtime/debug"

// This package imports few others, so it is initialized before nearly all.
var configured = debug.SetGCPercent(-1)

// End lets garbage be collected from here on, as Go's environment says.
func End() { debug.SetGCPercent(configured) }

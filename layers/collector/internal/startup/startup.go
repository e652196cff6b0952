// Package startup keeps garbage from being collected while some 5,000 packages are initialized: nearly all that they make
// stays, and collecting it took a quarter of a start's processor time.
package startup

import "runtime/debug"

// This package imports the standard library only, so it is initialized before most others.
var configured = debug.SetGCPercent(-1)

// End lets garbage be collected from here on, as Go's environment says.
func End() { debug.SetGCPercent(configured) }

//go:build linux && !amd64 && !arm64

package run

// launcherCode returns nothing: no launcher has been written for this machine.
func launcherCode() string { return "" }

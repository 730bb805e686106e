//go:build amd64 || arm64

package run

// launcherCode returns the machine code of the launcher, and some bytes after it.
// It refers to nothing outside of it, and can stand anywhere.
func launcherCode() string

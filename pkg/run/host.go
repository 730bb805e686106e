package run

import (
	"bufio"
	"bytes"
	"os"
	"runtime"
	"strings"

	"golang.org/x/sys/unix"
)

// A Machine is where a measurement was made. What is not known is "".
type Machine struct {
	OS, Arch string // in Go's words: linux, amd64
	CPU      string // the model, as the CPU or the system names it
	Cores    int    // logical CPUs that we may use
	Kernel   string // release
	Libc     string // name and version of the C library of this system
	Image    string // of the runner, else of the system

	Microcode  string // revision
	Hypervisor string // "yes" where the CPU says that it is a guest's
	Governor   string // the policy by which the CPU's frequency is chosen
}

// Host describes this machine. imageOS and imageVersion are how a runner names
// its image (ImageOS and ImageVersion in a GitHub runner's environment), and may
// be empty.
func Host(imageOS, imageVersion string) Machine {
	m := Machine{
		OS:    runtime.GOOS,
		Arch:  runtime.GOARCH,
		CPU:   cpuModel(),
		Cores: runtime.NumCPU(),
		Libc:  libc(),
		Image: strings.TrimSpace(imageOS + " " + imageVersion),
	}
	m.Microcode, m.Hypervisor, m.Governor = cpuState()
	var u unix.Utsname
	if unix.Uname(&u) == nil {
		m.Kernel = unix.ByteSliceToString(u.Release[:])
	}
	if m.Image == "" {
		m.Image = system()
	}
	return m
}

// system names the distribution by os-release(5).
func system() string {
	for _, name := range []string{"/etc/os-release", "/usr/lib/os-release"} {
		if b, err := os.ReadFile(name); err == nil {
			return parseOSRelease(b)
		}
	}
	return ""
}

func parseOSRelease(b []byte) string {
	var id, version string
	for sc := bufio.NewScanner(bytes.NewReader(b)); sc.Scan(); {
		k, v, _ := strings.Cut(sc.Text(), "=")
		switch v = strings.Trim(v, `"'`); k {
		case "ID":
			id = v
		case "VERSION_ID":
			version = v
		}
	}
	return strings.TrimSpace(id + " " + version)
}

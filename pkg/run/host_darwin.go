package run

import "golang.org/x/sys/unix"

func cpuModel() string {
	s, err := unix.Sysctl("machdep.cpu.brand_string")
	if err != nil {
		return ""
	}
	return s
}

// libc: macOS has one, and its version is the system's.
func libc() string { return "" }

// cpuState is not told here.
func cpuState() (microcode, hypervisor, governor string) { return "", "", "" }

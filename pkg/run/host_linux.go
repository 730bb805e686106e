package run

import (
	"bufio"
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

func cpuModel() string {
	b, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return ""
	}
	return parseCPUInfo(b)
}

// parseCPUInfo reads /proc/cpuinfo, whose words differ by architecture. On ARM
// no name is told, but the numbers of who made which part.
func parseCPUInfo(b []byte) string {
	v := map[string]string{}
	for sc := bufio.NewScanner(bytes.NewReader(b)); sc.Scan(); {
		key, value, ok := strings.Cut(sc.Text(), ":")
		if key = strings.TrimSpace(key); ok && v[key] == "" {
			v[key] = strings.Join(strings.Fields(value), " ")
		}
	}
	for _, key := range []string{"model name", "Model Name", "cpu", "uarch", "processor 0"} {
		if v[key] != "" {
			return v[key]
		}
	}
	if v["CPU part"] != "" {
		return "implementer " + v["CPU implementer"] + " part " + v["CPU part"]
	}
	return ""
}

// cpuState tells what of the CPU is not its model, and moves its speed: its
// microcode, whether it is a guest's, and who chooses its frequency.
func cpuState() (microcode, hypervisor, governor string) {
	if b, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		microcode, hypervisor = parseCPUState(b)
	}
	if b, err := os.ReadFile("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"); err == nil {
		governor = strings.TrimSpace(string(b))
	}
	return microcode, hypervisor, governor
}

func parseCPUState(b []byte) (microcode, hypervisor string) {
	for sc := bufio.NewScanner(bytes.NewReader(b)); sc.Scan(); {
		key, value, _ := strings.Cut(sc.Text(), ":")
		switch strings.TrimSpace(key) {
		case "microcode":
			microcode = strings.TrimSpace(value)
		case "flags":
			if slices.Contains(strings.Fields(value), "hypervisor") {
				hypervisor = "yes"
			}
		}
	}
	return microcode, hypervisor
}

// glibcVersion is in what glibc prints when its library is executed.
var glibcVersion = regexp.MustCompile(`GNU C Library [^\n]*version (\d+\.\d+(?:\.\d+)?)`)

// libc reads the version from the library, so that no process need be started.
func libc() string {
	for _, glob := range []string{
		"/lib/*-linux-gnu*/libc.so.6", "/usr/lib/*-linux-gnu*/libc.so.6",
		"/lib64/libc.so.6", "/usr/lib64/libc.so.6", "/lib/libc.so.6", "/usr/lib/libc.so.6",
	} {
		found, _ := filepath.Glob(glob) // the patterns are well-formed
		for _, name := range found {
			if b, err := os.ReadFile(name); err == nil {
				if m := glibcVersion.FindSubmatch(b); m != nil {
					return "glibc " + string(m[1])
				}
			}
		}
	}
	if found, _ := filepath.Glob("/lib/ld-musl-*.so.1"); len(found) > 0 {
		return "musl"
	}
	return ""
}

package run

import (
	"bufio"
	"bytes"
	"os"
	"path/filepath"
	"regexp"
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

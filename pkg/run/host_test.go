package run

import (
	"runtime"
	"strings"
	"testing"
)

func TestHost(t *testing.T) {
	m := Host("ubuntu26", "20261101.1")
	if m.OS != runtime.GOOS || m.Arch != runtime.GOARCH || m.Cores < 1 || m.Kernel == "" || m.Image != "ubuntu26 20261101.1" {
		t.Errorf("got %+v", m)
	}
	for _, s := range []string{m.CPU, m.Kernel, m.Libc, Host("", "").Image} {
		if s != strings.TrimSpace(s) || strings.ContainsAny(s, "\x00\n\t") {
			t.Errorf("got %q, want it fit to be shown", s)
		}
	}
}

func TestParseOSRelease(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"PRETTY_NAME=\"Ubuntu 26.04 LTS\"\nID=ubuntu\nID_LIKE=debian\nVERSION_ID=\"26.04\"\n", "ubuntu 26.04"},
		{"ID=arch\n", "arch"},
		{"", ""},
	} {
		if got := parseOSRelease([]byte(tt.in)); got != tt.want {
			t.Errorf("parseOSRelease(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
}

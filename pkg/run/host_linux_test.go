package run

import "testing"

func TestParseCPUInfo(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"amd64", "processor\t: 0\nvendor_id\t: AuthenticAMD\nmodel\t\t: 1\nmodel name\t: AMD EPYC 7763   64-Core Processor\n\nprocessor\t: 1\nmodel name\t: Another\n", "AMD EPYC 7763 64-Core Processor"},
		{"arm64", "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd49\n", "implementer 0x41 part 0xd49"},
		{"ppc64le", "processor\t: 0\ncpu\t\t: POWER9, altivec supported\n", "POWER9, altivec supported"},
		{"s390x", "vendor_id       : IBM/S390\nprocessor 0: version = FF,  identification = 2B8F58,  machine = 3906\n", "version = FF, identification = 2B8F58, machine = 3906"},
		{"nothing", "", ""},
	} {
		if got := parseCPUInfo([]byte(tt.in)); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestParseCPUState(t *testing.T) {
	const info = "processor\t: 0\nmodel name\t: AMD EPYC\nmicrocode\t: 0xa101148\nflags\t\t: fpu vme hypervisor sse\n\nprocessor\t: 1\n"
	if microcode, hypervisor := parseCPUState([]byte(info)); microcode != "0xa101148" || hypervisor != "yes" {
		t.Errorf("microcode %q, hypervisor %q", microcode, hypervisor)
	}
	if microcode, hypervisor := parseCPUState([]byte("flags: fpu vme\n")); microcode != "" || hypervisor != "" {
		t.Errorf("of a bare machine: microcode %q, hypervisor %q", microcode, hypervisor)
	}
}

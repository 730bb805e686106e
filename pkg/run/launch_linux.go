package run

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"
)

// launch starts cmd as cmd.Start does, but from a process that is smaller than
// any program, where that can be had; clean tells whether it was.
//
// Linux keeps the peak memory of a process over exec (exec_mmap in fs/exec.c
// raises ru_maxrss to that of the memory given up), and a Go program lends its
// own memory to its child until then. A small command that we start ourselves
// would so be charged with our own peak. The launcher stands between: it is
// charged instead, makes the command as a sibling of itself and so as a child of
// ours, tells us its pid, and ends.
func launch(cmd *exec.Cmd) (p *os.Process, clean bool, err error) {
	if cmd.Err != nil {
		return nil, false, cmd.Err
	}
	image, err := launcher()
	if err == nil {
		p, err = launchBy(image, cmd)
		if !errors.Is(err, errNoLauncher) {
			return p, true, err
		}
	}
	// Without one the peak is not known, but all the rest is.
	err = cmd.Start()
	return cmd.Process, false, err
}

// errNoLauncher says that the launcher did not run: a system may forbid that what
// has no file is executed.
var errNoLauncher = errors.New("no launcher")

// launchBy is launch by the launcher whose program is image.
func launchBy(image *os.File, cmd *exec.Cmd) (*os.Process, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errNoLauncher, err)
	}
	defer r.Close()
	by := exec.Cmd{
		Path:        "/proc/self/fd/" + strconv.Itoa(int(image.Fd())),
		Args:        append([]string{cmd.Path}, cmd.Args...),
		Dir:         cmd.Dir,
		Env:         cmd.Env,
		Stdin:       cmd.Stdin,
		Stdout:      cmd.Stdout,
		Stderr:      cmd.Stderr,
		ExtraFiles:  []*os.File{w},
		SysProcAttr: cmd.SysProcAttr,
	}
	err = by.Start()
	w.Close()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errNoLauncher, err)
	}
	told := make([]byte, 16)
	_, err = io.ReadFull(r, told)
	// How it ends says nothing that it has not told.
	_ = by.Wait()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errNoLauncher, err)
	}
	executed, pid := int64(binary.NativeEndian.Uint64(told)), int64(binary.NativeEndian.Uint64(told[8:]))
	if pid < 0 { // as where another system's calls are translated, which know no CLONE_PARENT
		return nil, fmt.Errorf("%w: clone: %w", errNoLauncher, unix.Errno(-pid))
	}
	p, err := os.FindProcess(int(pid))
	if err != nil {
		return nil, err
	}
	if executed < 0 {
		if _, err := p.Wait(); err != nil {
			return nil, err
		}
		return nil, &fs.PathError{Op: "fork/exec", Path: cmd.Path, Err: unix.Errno(-executed)}
	}
	return p, nil
}

// launcher returns the launcher as a program in memory.
var launcher = sync.OnceValues(func() (*os.File, error) {
	program, err := launcherProgram(launcherCode())
	if err != nil {
		return nil, err
	}
	const flags = unix.MFD_CLOEXEC | unix.MFD_ALLOW_SEALING
	fd, err := unix.MemfdCreate("launcher", flags|unix.MFD_EXEC)
	if errors.Is(err, unix.EINVAL) { // before Linux 6.3 they all could be executed
		fd, err = unix.MemfdCreate("launcher", flags)
	}
	if err != nil {
		return nil, os.NewSyscallError("memfd_create", err)
	}
	image := os.NewFile(uintptr(fd), "launcher")
	if _, err := image.Write(program); err != nil {
		return nil, errors.Join(err, image.Close())
	}
	const seals = unix.F_SEAL_SEAL | unix.F_SEAL_SHRINK | unix.F_SEAL_GROW | unix.F_SEAL_WRITE
	if _, err := unix.FcntlInt(image.Fd(), unix.F_ADD_SEALS, seals); err != nil {
		return nil, errors.Join(os.NewSyscallError("fcntl", err), image.Close())
	}
	return image, nil
})

// launcherProgram makes an executable of the launcher's machine code, which
// begins at its entry.
func launcherProgram(code string) ([]byte, error) {
	machine, ok := map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}[runtime.GOARCH]
	if !ok {
		return nil, fmt.Errorf("no launcher for %s", runtime.GOARCH)
	}
	const (
		address   = 0x400000
		alignment = 0x10000 // the largest page
		header    = 64
		segment   = 56
		segments  = 2
		entry     = header + segments*segment
	)
	size := uint64(entry + len(code))
	var b bytes.Buffer
	for _, part := range []any{
		elf.Header64{
			Ident: [elf.EI_NIDENT]byte{
				0x7f, 'E', 'L', 'F', byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT),
			},
			Type: uint16(elf.ET_EXEC), Machine: uint16(machine), Version: uint32(elf.EV_CURRENT),
			Entry: address + entry,
			Phoff: header, Ehsize: header, Phentsize: segment, Phnum: segments,
		},
		elf.Prog64{
			Type: uint32(elf.PT_LOAD), Flags: uint32(elf.PF_R | elf.PF_X),
			Vaddr: address, Paddr: address, Filesz: size, Memsz: size, Align: alignment,
		},
		// Without it an old kernel makes the stack executable, and the command's too.
		elf.Prog64{Type: uint32(elf.PT_GNU_STACK), Flags: uint32(elf.PF_R | elf.PF_W)},
		[]byte(code),
	} {
		if err := binary.Write(&b, binary.LittleEndian, part); err != nil {
			return nil, err
		}
	}
	return b.Bytes(), nil
}

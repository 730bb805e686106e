package run

import "os"

// ReadLoad returns how busy the machine is now.
func ReadLoad() Load {
	read := func(path string) string {
		data, err := os.ReadFile(path)
		if err != nil {
			return ""
		}
		return string(data)
	}
	return parseLoad(read("/proc/stat"), read("/proc/loadavg"), read("/proc/pressure/cpu"))
}

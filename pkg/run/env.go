package run

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// ContainerEnv returns the part of environ, given as NAME=VALUE, that a command
// gets in a container: PATH, HOME, LANG, LC_*, TZ, TMPDIR, and the names in
// allow.
func ContainerEnv(environ, allow []string) []string {
	return filter(environ, allow, func(name, _ string) bool {
		return matches(name, "PATH", "HOME", "LANG", "LC_*", "TZ", "TMPDIR")
	})
}

// HostEnv returns the part of environ, given as NAME=VALUE, that a command gets
// on a host: all of it, so that toolchains find their caches, but what looks
// like a credential, what the runner means for us, and the files by which a step
// gives the runner commands. The names in allow are let through all the same.
func HostEnv(environ, allow []string) []string {
	return filter(environ, allow, func(name, value string) bool {
		if passwordInURL.MatchString(value) && !isGitConfig(name) {
			return false
		}
		return !matches(strings.ToUpper(name),
			"*TOKEN*", "*SECRET*", "*PASSWORD*", "*PASSWD*", "*PASSPHRASE*", "*CREDENTIAL*",
			"*PRIVATE_KEY*", "*ACCESS_KEY*", "*API_KEY*", "*APIKEY*", "*_KEY", "*_PAT", "PAT", "*JWT*",
			// An agent signs for whoever reaches it. PWD and OLDPWD are folders.
			"SSH_AUTH_SOCK", "MYSQL_PWD",
			"ACTIONS_*", "INPUT_*", "STATE_*",
			// Gitea and Forgejo take GITHUB_…; newer ones also go by their own name.
			"GITHUB_ENV", "GITHUB_OUTPUT", "GITHUB_PATH", "GITHUB_STATE", "GITHUB_STEP_SUMMARY",
			"GITEA_ENV", "GITEA_OUTPUT", "GITEA_PATH", "GITEA_STATE", "GITEA_STEP_SUMMARY",
			"FORGEJO_ENV", "FORGEJO_OUTPUT", "FORGEJO_PATH", "FORGEJO_STATE", "FORGEJO_STEP_SUMMARY")
	})
}

// passwordInURL matches a URL that has one, alone or among others:
// postgres://user:password@host/database.
var passwordInURL = regexp.MustCompile(`[A-Za-z][A-Za-z0-9+.-]*://[^\s/?#:@]*:[^\s/]+@`)

// isGitConfig reports whether a variable is one of those in which git is told
// its settings: it refuses them all where one is missing.
func isGitConfig(name string) bool { return matches(name, "GIT_CONFIG_KEY_*", "GIT_CONFIG_VALUE_*") }

func matches(name string, patterns ...string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		ok, err := path.Match(p, name)
		return ok && err == nil
	})
}

// filter keeps the variables that allow names or keep wants.
func filter(environ, allow []string, keep func(name, value string) bool) []string {
	env := []string{}
	for _, kv := range environ {
		name, value, ok := strings.Cut(kv, "=")
		if ok && (slices.Contains(allow, name) || keep(name, value)) {
			env = append(env, kv)
		}
	}
	return env
}

// MergeSafeDirectory returns environ with the git setting safe.directory for the
// given path, for a workspace whose owner is not the user that git runs as.
func MergeSafeDirectory(environ []string, path string) []string {
	return MergeGitConfig(environ, "safe.directory", path)
}

// MergeGitConfig returns environ with a setting of git. Those that environ holds
// already stay.
func MergeGitConfig(environ []string, key, value string) []string {
	// https://git-scm.com/docs/git-config#Documentation/git-config.txt-GITCONFIGCOUNT
	count := lookup(environ, "GIT_CONFIG_COUNT")
	n, err := strconv.Atoi(count)
	if count == "" {
		n, err = 0, nil
	}
	env := slices.Clone(environ)
	if err != nil || n < 0 {
		return env // git refuses it, in better words than we could
	}
	env = slices.DeleteFunc(env, func(kv string) bool { return strings.HasPrefix(kv, "GIT_CONFIG_COUNT=") })
	return append(env,
		fmt.Sprintf("GIT_CONFIG_COUNT=%d", n+1),
		fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", n, key),
		fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", n, value))
}

// lookup returns the value of a variable in environ, of which the last counts.
func lookup(environ []string, name string) string {
	for _, kv := range slices.Backward(environ) {
		if v, ok := strings.CutPrefix(kv, name+"="); ok {
			return v
		}
	}
	return ""
}

// CountingEnv returns the environment, small and the same from one machine to the
// next as far as it can be, in which a command is counted: PATH, HOME, TMPDIR,
// LD_LIBRARY_PATH and the names in allow as in environ; LC_ALL is C and TZ is
// UTC0, and the hashes of Python and Perl have the seed 0, unless allow names
// these.
func CountingEnv(environ, allow []string) []string {
	env := filter(environ, allow, func(name, _ string) bool {
		return matches(name, "PATH", "HOME", "TMPDIR", "LD_LIBRARY_PATH")
	})
	for _, kv := range []string{"LC_ALL=C", "TZ=UTC0", "PYTHONHASHSEED=0", "PERL_HASH_SEED=0", "PERL_PERTURB_KEYS=0"} {
		name, _, _ := strings.Cut(kv, "=")
		if !slices.Contains(allow, name) {
			env = append(env, kv)
		}
	}
	// Whatever the order was in which they came to us.
	slices.Sort(env)
	return env
}

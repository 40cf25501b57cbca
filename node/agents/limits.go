package agents

import (
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/internal/environ"
	"github.com/parleyfleet/parley/internal/keeper"
	"github.com/parleyfleet/parley/node/control"
)

// KeptLimits are the limits of an agent's runs that a keeper sets.
func KeptLimits(a configs.Agent) keeper.Limits {
	l := a.Limits
	return keeper.Limits{Nice: l.Nice, Memory: l.Memory, CPU: l.CPU, Files: l.Files, Processes: l.Processes, NoNetwork: l.NoNetwork}
}

// CheckLimits returns an error for agents whose limits cannot be enforced here: nobody should run a
// command without a limit that was asked for. `keeps` says that runs have keepers.
func CheckLimits(keeps bool, agents ...configs.Agent) error {
	for _, a := range agents {
		l := KeptLimits(a)
		if l == (keeper.Limits{}) {
			continue
		}
		why := "this program keeps no runs"
		if keeps {
			var as *keeper.User
			if a.RunAs != "" {
				as = &keeper.User{} // which user makes no difference
			}
			err := l.Check(as)
			if err == nil {
				continue
			}
			why = err.Error()
		}
		var set []string
		for _, text := range a.Limits.Texts() {
			if name, _, _ := strings.Cut(text, "="); name != "output" {
				set = append(set, text)
			}
		}
		return control.Errorf(control.KindRefused, "leave that limit out; of an agent that is there: parley agent set "+a.Name.String()+" --limit NAME=",
			"cannot set the limits of %s (%s): %s", a.Name, strings.Join(set, ", "), why)
	}
	return nil
}

// Inherited is what an agent's command gets of the node's environment. `bare` says that this is not
// all of it.
func Inherited(a configs.Agent) (some []string, bare bool) {
	if a.Env == nil && a.RunAs == "" {
		return nil, false
	}
	for _, kv := range environ.Clean(os.Environ()) {
		name, _, _ := strings.Cut(kv, "=")
		if saysHowToRead(name) || a.RunAs == "" && isBasic(name) || a.Env.Let(name) {
			some = append(some, kv)
		}
	}
	return some, true
}

// Passed are the names of the variables of the node's environment that an agent's command gets only
// because no setting of the agent says which it gets. Variables that every command gets are left
// out.
func Passed(a configs.Agent) []string {
	names := []string{}
	if a.Env != nil || a.RunAs != "" || a.Door == configs.DoorInbox && a.Wake == "" {
		return names
	}
	for _, kv := range environ.Clean(os.Environ()) {
		name, _, _ := strings.Cut(kv, "=")
		if !saysHowToRead(name) && !isBasic(name) && !slices.Contains([]string{"", "_", "PATH", "PWD", "OLDPWD", "SHLVL", "PARLEY_HOME"}, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// saysHowToRead reports whether a variable says in which language and form to read and show text.
func saysHowToRead(name string) bool {
	return name == "LANG" || name == "TZ" || strings.HasPrefix(name, "LC_")
}

// isBasic reports whether programs of all kinds need a variable to run as the node's user. PATH is
// always given.
func isBasic(name string) bool {
	if runtime.GOOS != "windows" {
		return slices.Contains([]string{"HOME", "USER", "LOGNAME", "SHELL", "TERM", "TMPDIR"}, name)
	}
	return slices.Contains([]string{
		"ALLUSERSPROFILE", "APPDATA", "COMPUTERNAME", "COMSPEC", "HOMEDRIVE", "HOMEPATH", "LOCALAPPDATA", "NUMBER_OF_PROCESSORS", "OS", "PATHEXT",
		"PROCESSOR_ARCHITECTURE", "PROGRAMDATA", "PROGRAMFILES", "PROGRAMFILES(X86)", "PUBLIC", "SYSTEMDRIVE", "SYSTEMROOT", "TEMP", "TMP",
		"USERDOMAIN", "USERNAME", "USERPROFILE", "WINDIR",
	}, strings.ToUpper(name))
}

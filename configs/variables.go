package configs

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/parleyfleet/parley/internal/pattern"
)

// Variables say which variables of the environment an agent's command gets, besides the basic ones:
// "env" in its file. Each entry is NAME or PREFIX* for the node's own variables, or NAME=VALUE.
// Without entries, the command gets all that the node has.
type Variables []string

// variable is the name of a variable, or the beginning of several.
var variable = pattern.New(`^[A-Za-z_][A-Za-z0-9_().-]*\*?$`)

func checkVariable(v string) error {
	name, value, given := strings.Cut(v, "=")
	switch {
	case v == "*":
		return errors.New(`"*" would be all of the environment: leave env out`)
	case !variable.MatchString(name) || given && strings.HasSuffix(name, "*"):
		return fmt.Errorf("%q is not of the form NAME, NAME=VALUE or PREFIX*", v)
	case given && strings.HasPrefix(name, "PARLEY_"):
		return fmt.Errorf("%s is set by parley itself", name)
	}
	return wrongIf(strings.ContainsRune(value, 0) || !isText(value), "the value of %s contains control characters or bytes that are not UTF-8", name)
}

// Let reports whether a variable of the node's own is given to the command.
func (vs Variables) Let(name string) bool {
	if runtime.GOOS == "windows" { // there, PATH and Path are the same
		name = strings.ToUpper(name)
	}
	for _, v := range vs {
		if runtime.GOOS == "windows" {
			v = strings.ToUpper(v)
		}
		if begin, some := strings.CutSuffix(v, "*"); v == name || some && strings.HasPrefix(name, begin) {
			return true
		}
	}
	return false
}

// Values are the entries NAME=VALUE.
func (vs Variables) Values() []string {
	return slices.DeleteFunc(slices.Clone(vs), func(v string) bool { return !strings.Contains(v, "=") })
}

// WithoutValues are the entries in a form that others may see: a value may be a secret.
func (vs Variables) WithoutValues() []string {
	var shown []string
	for _, v := range vs {
		name, _, given := strings.Cut(v, "=")
		if given {
			name += "=…"
		}
		shown = append(shown, name)
	}
	return shown
}

// variablesSetting are variables. People see no values of them.
func variablesSetting(key string, vs *Variables) Setting {
	s := listSetting(key, vs, asIs[string], toText[string]).checked(func() error { return checkEach(*vs, checkVariable) })
	s.isSecret = true
	s.text = func() string { return strings.Join(vs.WithoutValues(), " ") }
	read := s.read
	s.read = func(n *yaml.Node) error {
		err := read(n)
		if err == nil && len(*vs) == 0 {
			return errors.New("is empty: name what the command gets of the environment (PATH and a few others it always gets), or leave env out, which gives it all")
		}
		return err
	}
	return s
}

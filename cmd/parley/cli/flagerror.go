package cli

import (
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/internal/each"
	"github.com/parleyfleet/parley/node/control"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// flagError says what is wrong with a flag, in the words of the person who typed it. It names the
// flag that the person may have meant.
func flagError(cmd *cobra.Command, err error) error {
	var (
		unknown *pflag.NotExistError
		bare    *pflag.ValueRequiredError
		value   *pflag.InvalidValueError
		number  *strconv.NumError
	)
	switch {
	case errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() != "":
		typed := unknown.GetSpecifiedShortnames()
		if name, _, _ := strings.Cut(typed, "="); cmd.Flags().Lookup(name) != nil {
			return UsageErrorf(cmd, "%s has no flag -%s; with two dashes it has: --%s", cmd.CommandPath(), name, name)
		}
		return UsageErrorf(cmd, "%s has no flag -%s%s", cmd.CommandPath(), unknown.GetSpecifiedName(), aboutDash(cmd, typed))
	case errors.As(err, &unknown):
		name := unknown.GetSpecifiedName()
		if near := configs.Nearest(name, flagNames(cmd)); near != "" {
			return UsageErrorf(cmd, "%s has no flag --%s; the nearest is --%s", cmd.CommandPath(), name, near)
		}
		return UsageErrorf(cmd, "%s has no flag --%s", cmd.CommandPath(), name)
	case errors.As(err, &bare):
		return UsageErrorf(cmd, "%s needs a value", shownFlag(bare.GetFlag()))
	case errors.As(err, &value) && errors.As(err, &number):
		return UsageErrorf(cmd, "%s needs %s, not %q", shownFlag(value.GetFlag()), wanted(value.GetFlag()), value.GetValue())
	case errors.As(err, &value):
		return UsageErrorf(cmd, "%s: %v", shownFlag(value.GetFlag()), errors.Unwrap(value))
	}
	return UsageErrorf(cmd, "%v", err)
}

// aboutDash is what else there is to say about a word with one dash whose first letter is no flag.
func aboutDash(cmd *cobra.Command, typed string) string {
	text := ""
	if len(typed) > 1 {
		text = ", as in -" + typed
	}
	if strings.Contains(cmd.Use, "TEXT") {
		text += `; a text that begins with a dash stands behind whom it is for, or behind "--"`
	}
	return text
}

// RefuseEmpty returns an error if a flag was given without a value, as from a variable of a script
// that is not set. Otherwise what the flag is for would be left out, and nobody would notice.
func RefuseEmpty(cmd *cobra.Command) (err error) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if f.Value.String() == "" && err == nil {
			err = UsageErrorf(cmd, "%s needs a value, and is empty", shownFlag(f))
		}
	})
	return err
}

func shownFlag(f *pflag.Flag) string {
	if f.Shorthand != "" {
		return "-" + f.Shorthand + " (--" + f.Name + ")"
	}
	return "--" + f.Name
}

func wanted(f *pflag.Flag) string {
	if strings.HasPrefix(f.Value.Type(), "bool") {
		return "true or false, or no value at all"
	}
	return "a whole number"
}

func flagNames(cmd *cobra.Command) []string {
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	return names
}

// below are the commands of that name beneath others.
func below(commands []*cobra.Command, name string) (found []*cobra.Command) {
	for _, cmd := range commands {
		for _, sub := range cmd.Commands() {
			if sub.Name() == name && sub.Short != "" {
				found = append(found, sub)
			}
		}
		found = append(found, below(cmd.Commands(), name)...)
	}
	return found
}

// UnknownCommand returns an error for words that are no command. It names the commands
// of that name in groups, or the nearest command.
func UnknownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, sub := range cmd.Commands() {
		if sub.Short != "" {
			names = append(append(names, sub.Name()), sub.Aliases...)
		}
	}
	if !cmd.HasParent() {
		names = slices.AppendSeq(names, maps.Keys(cmd.Annotations)) // see Today
	}
	if deeper := each.Of(below(cmd.Commands(), args[0]), (*cobra.Command).CommandPath); len(deeper) > 0 {
		return control.Errorf(control.KindUsage, deeper[0]+" --help", "%s has no command %q; there is %s", cmd.CommandPath(), args[0], strings.Join(deeper, " and "))
	}
	if near := configs.Nearest(args[0], names); near != "" {
		if now, moved := cmd.Annotations[near]; moved && !cmd.HasParent() {
			near = now
		}
		return control.Errorf(control.KindUsage, cmd.CommandPath()+" "+near+" --help", "%s has no command %q; the nearest is %s", cmd.CommandPath(), args[0], near)
	}
	return UsageErrorf(cmd, "%s has no command %q", cmd.CommandPath(), args[0])
}

package cli

import (
	"slices"
	"strconv"
	"strings"

	"github.com/parleyfleet/parley/configs"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// textAfter is the annotation of a command that ends in a text. Its value is the number of words
// before the text.
const textAfter = "text-after"

// TakesText says that a command ends in a text, after `after` words. People and language models
// write texts that begin with a dash, such as "- an item" or "---". In such a command line, only
// the command's own flags count as flags.
func TakesText(cmd *cobra.Command, after int) {
	cmd.Annotations = map[string]string{textAfter: strconv.Itoa(after)}
}

// SortText changes a command line that ends in a text: it puts the flags before a "--", and the
// words after it. Other command lines stay as they are.
func SortText(root *cobra.Command, args []string) ([]string, error) {
	cmd, rest, err := root.Find(args)
	if err != nil {
		return args, nil // Program.Run reports the error
	}
	after, err := strconv.Atoi(cmd.Annotations[textAfter])
	if err != nil {
		return args, nil // it takes no text
	}
	cmd.InitDefaultHelpFlag()
	cmd.InheritedFlags() // makes them the command's own
	var flags, words []string
	for i := 0; i < len(rest); i++ {
		word := rest[i]
		if word == "--" {
			words = append(words, rest[i+1:]...)
			break
		}
		flag, needsNext := flagOf(cmd, word)
		switch {
		case needsNext && i+1 == len(rest):
			return nil, UsageErrorf(cmd, "%s needs a value", shownFlag(flag))
		case needsNext:
			flags = append(flags, word, rest[i+1])
			i++
		case flag != nil:
			flags = append(flags, word)
		case len(words) < after && dashed(word):
			flags = append(flags, word) // no flag of the command; pflag will say so
		default:
			if err := mistypedFlag(cmd, word); err != nil {
				return nil, err
			}
			words = append(words, word)
		}
	}
	path := strings.Fields(cmd.CommandPath())[1:]
	return slices.Concat(path, flags, []string{"--"}, words), nil
}

func dashed(word string) bool { return len(word) > 1 && word[0] == '-' }

// flagOf returns the flag of the command to which a word belongs; nil if there is none. `needsNext`
// reports whether the flag's value is the next word.
func flagOf(cmd *cobra.Command, word string) (flag *pflag.Flag, needsNext bool) {
	name, value, has := strings.Cut(word, "=")
	switch {
	case strings.HasPrefix(name, "--") && len(name) > 2:
		flag = cmd.Flags().Lookup(name[2:])
	case len(word) == 2 && word[0] == '-':
		flag = cmd.Flags().ShorthandLookup(word[1:])
	case dashed(word) && isNumber(word[2:]): // -n20
		flag, has = cmd.Flags().ShorthandLookup(word[1:2]), true
	case dashed(name) && len(name) == 2 && isNumber(value): // -n=20
		flag = cmd.Flags().ShorthandLookup(name[1:])
	}
	return flag, flag != nil && !has && flag.NoOptDefVal == ""
}

func isNumber(s string) bool {
	_, err := strconv.ParseUint(s, 10, 64)
	return err == nil
}

// mistypedFlag returns an error if a word of a text is most likely a flag with a slip in it. Sent
// as text, it would not do what was wanted, and nobody would notice.
func mistypedFlag(cmd *cobra.Command, word string) error {
	name, _, _ := strings.Cut(word, "=")
	if !dashed(word) || strings.ContainsAny(name, " \t\n") {
		return nil
	}
	if name, two := strings.CutPrefix(name, "--"); two {
		if near := configs.Nearest(name, flagNames(cmd)); near != "" {
			return UsageErrorf(cmd, "%s has no flag --%s; the nearest is --%s; %s", cmd.CommandPath(), name, near, asText)
		}
		var others []string
		for _, other := range cmd.Parent().Commands() {
			if other.Annotations[textAfter] != "" && other.Flags().Lookup(name) != nil {
				others = append(others, other.CommandPath())
			}
		}
		if len(others) > 0 {
			return UsageErrorf(cmd, "%s has no flag --%s; it is a flag of %s; %s", cmd.CommandPath(), name, strings.Join(others, " and "), asText)
		}
		return nil
	}
	if name = name[1:]; cmd.Flags().Lookup(name) != nil {
		return UsageErrorf(cmd, "%s has no flag -%s; with two dashes it has: --%s; %s", cmd.CommandPath(), name, name, asText)
	}
	return nil
}

// asText tells how to write a word that looks like a flag in a text.
const asText = `if it belongs to the text, put "--" before it`

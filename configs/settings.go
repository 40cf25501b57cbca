package configs

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/parleyfleet/parley/internal/each"
	"github.com/parleyfleet/parley/internal/span"
	"github.com/parleyfleet/parley/protocol"
)

// Setting is all that there is to know of one setting, bound to the value that it sets. Settings and
// AgentSettings are the tables of them, from which everything else follows.
type Setting struct {
	Key    string // in the file, such as "takeover_after" or "bus.listen"
	Name   string // for people and of its flag, such as "takeover-after", or in JSON; "": nobody else sees it
	Doc    string // what it means, which is the help of its flag
	InAdd  bool   // agent add has a flag for it
	InSet  bool   // agent set has one
	List   bool   // the flag can be given several times
	IsBool bool   // the flag needs no value
	IsPath bool   // a relative path on the command line begins where the command is typed

	read  func(n *yaml.Node) error
	take  func(texts []string) error // from a command line; an empty text takes the setting back
	yaml  func() string
	text  func() string // for people
	value func() any    // for JSON
	unset func() bool   // it has its usual value
	reset func()
	check func() error

	usual    string      // what holds if it is not set, for people
	where    func() bool // whether it counts for the agent; nil: always
	why      string      // why it does not; "": nobody minds
	isSecret bool        // text does not show all of it
}

// means says what a setting is called in JSON, and what it means there.
func (s Setting) means(doc string) Setting {
	s.Name, s.Doc = strings.TrimPrefix(s.Key, "bus."), doc
	return s
}

// commas has each text on a command line stand for several, with commas between them.
func (s Setting) commas() Setting {
	take := s.take
	s.take = func(texts []string) error { return take(strings.Split(strings.Join(texts, ","), ",")) }
	return s
}

// used has JSON show the value that is used in place of the one that is set.
func (s Setting) used(value func() any) Setting {
	s.value = value
	return s
}

func (s Setting) shown(name string) Setting {
	s.Name = name
	return s
}

// flag is shown, by the name of a flag of agent add and agent set.
func (s Setting) flag(name, doc string) Setting { return s.flagIn(true, true, name, doc) }

// flagIn is flag for one of the two commands, or both.
func (s Setting) flagIn(add, set bool, name, doc string) Setting {
	s.InAdd, s.InSet, s.Name, s.Doc = add, set, name, doc
	return s
}

// or says what holds if the setting is not set.
func (s Setting) or(usual string) Setting {
	s.usual = usual
	return s
}

// counts says for which agents the setting counts, and why it does not for others.
func (s Setting) counts(where func() bool, why string) Setting {
	s.where, s.why = where, why
	return s
}

func wrongIf(wrong bool, format string, args ...any) error {
	if wrong {
		return fmt.Errorf(format, args...)
	}
	return nil
}

func checkEach[T any](list []T, check func(T) error) error {
	return errors.Join(each.Of(list, check)...)
}

func twice[T comparable](list []T) error {
	for i, v := range list {
		if slices.Contains(list[:i], v) {
			return fmt.Errorf("%q stands twice", fmt.Sprint(v))
		}
	}
	return nil
}

// checked has the value checked, besides what the setting checks already.
func (s Setting) checked(check func() error) Setting {
	if before := s.check; before != nil {
		s.check = func() error { return errors.Join(before(), check()) }
	} else {
		s.check = check
	}
	return s
}

// Take sets the setting to what was given on a command line: one text, or several for a list.
func (s Setting) Take(texts []string) error {
	if err := s.take(texts); err != nil {
		return fmt.Errorf("%s: %w", s.Name, err)
	}
	return nil
}

// Reset takes the setting back, if it does not count for the agent.
func (s Setting) Reset() {
	if s.where != nil && !s.where() {
		s.reset()
	}
}

// Show is the value that holds, in the form for people and without secrets; "" for none.
func (s Setting) Show() string {
	switch {
	case s.text == nil:
		return ""
	case s.unset == nil || !s.unset():
		return s.text()
	case s.where != nil && !s.where():
		return ""
	}
	return s.usual
}

// Differs reports whether people should be told that a setting has another value than `was`.
func (s Setting) Differs(was Setting) (differs, inSecret bool) {
	if s.Show() != was.Show() {
		return true, false
	}
	inSecret = s.isSecret && s.yaml() != was.yaml()
	return inSecret, inSecret
}

// Value is the value that is used, in the form that JSON has, where a time.Duration is a number of
// seconds.
func (s Setting) Value() any { return s.value() }

func resetAll(all []Setting) {
	for _, s := range all {
		s.reset()
	}
}

// wrongIn are the values of settings that are wrong. `prefix` stands before their keys.
func wrongIn(prefix string, all []Setting) (problems []Problem) {
	for _, s := range all {
		if s.where != nil && s.why != "" && !s.where() && !s.unset() {
			problems = append(problems, Problem{Key: prefix + s.Key, Text: s.why})
		} else if s.check != nil {
			problems = append(problems, problemsIn(prefix+s.Key, s.check())...)
		}
	}
	return problems
}

// problemsIn are what an error says of a key. Of several errors that are joined, each is a problem.
func problemsIn(key string, err error) (problems []Problem) {
	var nested *Error
	joined, several := err.(interface{ Unwrap() []error })
	switch {
	case err == nil:
		return nil
	case several:
		for _, one := range joined.Unwrap() {
			problems = append(problems, problemsIn(key, one)...)
		}
		return problems
	case errors.As(err, &nested):
		return nested.Problems
	}
	return []Problem{{Key: key, Text: err.Error()}}
}

// keyed are the settings in the form KEY: VALUE of YAML: all, or those that are set.
func keyed(of []Setting, all bool) (parts []string) {
	for _, s := range of {
		if all || !s.unset() {
			parts = append(parts, s.Key+": "+s.yaml())
		}
	}
	return parts
}

// valueSetting is a setting with one value. `quote` makes YAML of its text.
func valueSetting[T comparable](key string, at *T, usual T, parse func(string) (T, error), text func(T) string, quote func(string) string) Setting {
	set := func(s string) error {
		v, err := parse(s)
		if err == nil {
			*at = v
		}
		return err
	}
	s := Setting{
		Key: key,
		read: func(n *yaml.Node) error {
			text, err := scalar(n)
			if err != nil {
				return err
			}
			return set(text)
		},
		text:  func() string { return text(*at) },
		value: func() any { return *at },
		unset: func() bool { return *at == usual },
		reset: func() { *at = usual },
	}
	s.yaml = func() string { return quote(s.text()) }
	s.take = func(texts []string) error {
		last := strings.Join(texts[max(0, len(texts)-1):], "")
		if last == "" {
			s.reset()
			return nil
		}
		return set(last)
	}
	return s
}

func asIs[T ~string](s string) (T, error) { return T(s), nil }

func toText[T ~string](v T) string { return string(v) }

func nameSetting(key string, at *protocol.Name) Setting {
	return valueSetting(key, at, "", optionalName, protocol.Name.String, plainOrQuoted).checked(func() error {
		_, err := optionalName(at.String())
		return err
	})
}

// optionalName accepts the empty name. Validate says if a name is needed.
func optionalName(s string) (protocol.Name, error) {
	if s == "" {
		return "", nil
	}
	return protocol.ParseName(s)
}

// needed refuses the empty name.
func needed(at *protocol.Name, what string) func() error {
	return func() error { return wrongIf(*at == "", "is missing: it names %s", what) }
}

func textSetting(key string, at *string) Setting {
	s := wordSetting(key, at)
	s.yaml = func() string { return quoted(*at) }
	return s
}

// wordSetting is a text that is quoted in the file if YAML could take it for something else.
func wordSetting(key string, at *string) Setting {
	return valueSetting(key, at, "", asIs[string], toText[string], plainOrQuoted).checked(func() error {
		return wrongIf(!isText(*at), "contains control characters or bytes that are not UTF-8") // what it is may be a secret
	})
}

func pathSetting(key string, at *string) Setting {
	s := wordSetting(key, at).checked(func() error { return wrongIf(*at != "" && !filepath.IsAbs(*at), "%q is not an absolute path", *at) })
	s.IsPath = true
	return s
}

// matchSetting is a word that a regular expression matches, as a whole. `wrong` says of another
// word what it is not.
func matchSetting(key string, at *string, usual, form, wrong string) Setting {
	return valueSetting(key, at, usual, asIs[string], toText[string], plainOrQuoted).checked(func() error {
		return wrongIf(!regexp.MustCompile(`^(?:`+form+`)$`).MatchString(*at), "%q %s", *at, wrong)
	})
}

// choiceSetting is one of some words, the first of which is the usual one: it is the same as "".
// `wrong` says of another word that it is none of them.
func choiceSetting(key string, at *string, wrong string, words ...string) Setting {
	s := valueSetting(key, at, "", func(word string) (string, error) {
		if word == words[0] {
			word = ""
		}
		return word, nil
	}, toText[string], plainOrQuoted).or(words[0]).checked(func() error {
		return wrongIf(*at != "" && !slices.Contains(words, *at), "%q %s: use %s", *at, wrong, strings.Join(words, " or "))
	})
	s.unset = func() bool { return *at == "" || *at == words[0] }
	return s
}

// rangeSetting is a value from `low` to `high`, or else the usual one.
func rangeSetting[T int | time.Duration](key string, at *T, parse func(string) (T, error), text func(T) string, usual, low, high T) Setting {
	return valueSetting(key, at, usual, parse, text, func(s string) string { return s }).checked(func() error {
		return wrongIf(*at != usual && (*at < low || *at > high), "%s is not from %s to %s", text(*at), text(low), text(high))
	})
}

func durationSetting(key string, at *time.Duration, usual, low, high time.Duration) Setting {
	return rangeSetting(key, at, span.Parse, span.Exact, usual, low, high)
}

func numberSetting(key string, at *int, usual, low, high int) Setting {
	return rangeSetting(key, at, parseNumber, strconv.Itoa, usual, low, high)
}

func parseNumber(s string) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0, fmt.Errorf("%q is not a whole number", s)
	}
	return n, nil
}

// autoSetting is a value that is written as "auto" if it is 0. `such` is an example of another one.
func autoSetting[T int | time.Duration](key string, at *T, parse func(string) (T, error), text func(T) string, such string, low, high T) Setting {
	return rangeSetting(key, at, func(s string) (T, error) {
		if s == "auto" {
			return 0, nil
		}
		v, err := parse(s)
		if err == nil && v == 0 {
			err = fmt.Errorf("%q is no value above zero: write auto, or one such as %s", s, such)
		}
		return v, err
	}, func(v T) string {
		if v == 0 {
			return "auto"
		}
		return text(v)
	}, 0, low, high)
}

func boolSetting(key string, at *bool) Setting {
	s := valueSetting(key, at, false, func(s string) (bool, error) {
		if s != "true" && s != "false" {
			return false, fmt.Errorf("%q is neither true nor false", s)
		}
		return s == "true", nil
	}, strconv.FormatBool, func(s string) string { return s }).or("false")
	s.IsBool = true
	return s
}

func timeSetting(key string, at *time.Time) Setting {
	return valueSetting(key, at, time.Time{}, func(s string) (time.Time, error) {
		t, err := time.Parse(time.RFC3339, s)
		if err != nil || t.UTC().Year() < 1 || t.UTC().Year() > 9999 {
			return time.Time{}, fmt.Errorf("%q is not a time such as 2026-05-23T19:01:00Z", s)
		}
		return t.UTC().Truncate(time.Second), nil
	}, func(t time.Time) string { return t.UTC().Format(time.RFC3339) }, quoted)
}

func listSetting[L ~[]T, T any](key string, at *L, parse func(string) (T, error), text func(T) string) Setting {
	set := func(texts []string) error {
		var list L
		for _, s := range texts {
			v, err := parse(s)
			if err != nil {
				return err
			}
			list = append(list, v)
		}
		*at = list
		return nil
	}
	texts := func() []string { return each.Of(*at, text) }
	return Setting{
		Key: key, List: true,
		read: func(n *yaml.Node) error {
			elements, err := items(n)
			if err != nil {
				return err
			}
			var list []string
			for _, element := range elements {
				s, err := scalar(element)
				if err != nil {
					return err
				}
				list = append(list, s)
			}
			return set(list)
		},
		take: func(texts []string) error {
			if strings.Join(texts, "") == "" {
				texts = nil
			}
			return set(texts)
		},
		yaml: func() string {
			return "[" + strings.Join(each.Of(texts(), plainInFlow), ", ") + "]"
		},
		text:  func() string { return strings.Join(texts(), " ") },
		value: func() any { return texts() },
		unset: func() bool { return len(*at) == 0 },
		reset: func() { *at = nil },
	}
}

// mappingsSetting is a list of mappings, each with settings of its own.
func mappingsSetting[T any](key string, at *[]T, of func(*T) []Setting) Setting {
	prefix := func(i int) string { return fmt.Sprintf("%s[%d].", key, i) }
	return Setting{
		Key: key,
		read: func(n *yaml.Node) error {
			elements, err := items(n)
			if err != nil {
				return err
			}
			var list []T
			var problems []Problem
			for i, element := range elements {
				var one T
				fields := of(&one)
				resetAll(fields)
				problems = append(problems, readMapping(element, prefix(i), fields, nil)...)
				list = append(list, one)
			}
			*at = list
			return asError("", problems)
		},
		yaml: func() string {
			list := each.Of(*at, func(one T) string { return "{" + strings.Join(keyed(of(&one), false), ", ") + "}" })
			return "[" + strings.Join(list, ", ") + "]"
		},
		unset: func() bool { return len(*at) == 0 },
		reset: func() { *at = nil },
		check: func() error {
			var problems []Problem
			for i := range *at {
				problems = append(problems, wrongIn(prefix(i), of(&(*at)[i]))...)
			}
			return asError("", problems)
		},
	}
}

// plainOrQuoted quotes a text that YAML could take for something else.
func plainOrQuoted(s string) string {
	var n yaml.Node
	if yaml.Unmarshal([]byte(s), &n) == nil && len(n.Content) == 1 {
		if word := n.Content[0]; word.Kind == yaml.ScalarNode && word.Tag == "!!str" && word.Style == 0 && word.Value == s && isLine(s) {
			return s
		}
	}
	return quoted(s)
}

// plainInFlow is plainOrQuoted within [] and {}.
func plainInFlow(s string) string {
	if strings.ContainsAny(s, ",[]{}") {
		return quoted(s)
	}
	return plainOrQuoted(s)
}

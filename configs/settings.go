package configs

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/parleyfleet/parley/internal/span"
	"github.com/parleyfleet/parley/protocol"
	"gopkg.in/yaml.v3"
)

// setting is one key of config.yaml: how it is read from the file, and how it is written.
type setting struct {
	key  string // "remote", "bus.listen"
	set  func(n *yaml.Node) error
	show func() string // YAML
}

// settings returns all keys of config.yaml, bound to c, in the order of the file.
func settings(c *Config) []setting {
	return []setting{
		nameSetting("fleet", &c.Fleet),
		nameSetting("alias", &c.Alias),
		nameSetting("human", &c.Human),
		textSetting("remote", &c.Remote),
		textSetting("bus.listen", &c.Bus.Listen),
		textSetting("bus.links", &c.Bus.Links),
		listSetting("bus.advertise", &c.Bus.Advertise),
		listSetting("bus.hubs", &c.Bus.Hubs),
		textSetting("bus.url", &c.Bus.URL),
		textSetting("bus.creds", &c.Bus.Creds),
		textSetting("bus.nkey", &c.Bus.NKey),
		textSetting("bus.ca", &c.Bus.CA),
		textSetting("bus.context", &c.Bus.Context),
		durationSetting("fetch_interval", &c.FetchInterval),
		autoSetting("push_interval", &c.PushInterval),
		durationSetting("courier_grace", &c.CourierGrace),
		numberSetting("max_hops", &c.MaxHops),
		numberSetting("max_runs", &c.MaxRuns),
		numberSetting("max_conversation_runs", &c.MaxConversationRuns),
		autoNumberSetting("max_commands", &c.MaxCommands),
		sizeSetting("message_limit", &c.MessageLimit),
		durationSetting("command_timeout", &c.CommandTimeout),
		durationSetting("claim_for", &c.ClaimFor),
		wordSetting("log_level", &c.LogLevel),
		textSetting("metrics", &c.Metrics),
		notifySetting(&c.Notify),
	}
}

// valueSetting is a setting with one value of any type.
func valueSetting[T any](key string, at *T, parse func(string) (T, error), show func(T) string) setting {
	return setting{
		key: key,
		set: func(n *yaml.Node) error {
			s, err := scalar(n)
			if err != nil {
				return err
			}
			v, err := parse(s)
			if err != nil {
				return err
			}
			*at = v
			return nil
		},
		show: func() string { return show(*at) },
	}
}

func nameSetting(key string, at *protocol.Name) setting {
	return valueSetting(key, at, optionalName, func(n protocol.Name) string { return plainOrQuoted(n.String()) })
}

// optionalName accepts the empty name. Validate says if a name is needed.
func optionalName(s string) (protocol.Name, error) {
	if s == "" {
		return "", nil
	}
	return protocol.ParseName(s)
}

func textSetting(key string, at *string) setting {
	return valueSetting(key, at, func(s string) (string, error) { return s, nil }, quoted)
}

func wordSetting(key string, at *string) setting {
	return valueSetting(key, at, func(s string) (string, error) { return s, nil }, plainOrQuoted)
}

func durationSetting(key string, at *time.Duration) setting {
	return valueSetting(key, at, parseDuration, span.Exact)
}

// autoSetting is a duration that is written as "auto" if it is 0.
func autoSetting(key string, at *time.Duration) setting {
	parse := func(s string) (time.Duration, error) {
		if s == "auto" {
			return 0, nil
		}
		d, err := parseDuration(s)
		if err == nil && d == 0 {
			err = fmt.Errorf("%q is no interval: write auto, or a duration such as 5s", s)
		}
		return d, err
	}
	show := func(d time.Duration) string {
		if d == 0 {
			return "auto"
		}
		return span.Exact(d)
	}
	return valueSetting(key, at, parse, show)
}

func numberSetting(key string, at *int) setting {
	return valueSetting(key, at, parseNumber, strconv.Itoa)
}

func parseNumber(s string) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0, fmt.Errorf("%q is not a whole number", s)
	}
	return n, nil
}

// autoNumberSetting is a number above 0. If it is 0, it is written as "auto".
func autoNumberSetting(key string, at *int) setting {
	parse := func(s string) (int, error) {
		if s == "auto" {
			return 0, nil
		}
		n, err := parseNumber(s)
		if err != nil || n == 0 {
			return 0, fmt.Errorf("%q is no number above zero: write auto, or one such as 8", s)
		}
		return n, nil
	}
	show := func(n int) string {
		if n == 0 {
			return "auto"
		}
		return strconv.Itoa(n)
	}
	return valueSetting(key, at, parse, show)
}

func sizeSetting(key string, at *int) setting { return valueSetting(key, at, parseSize, showSize) }

func listSetting(key string, at *[]string) setting {
	return setting{
		key: key,
		set: func(n *yaml.Node) error {
			elements, err := items(n)
			if err != nil {
				return err
			}
			list := make([]string, 0, len(elements))
			for _, element := range elements {
				s, err := scalar(element)
				if err != nil {
					return err
				}
				list = append(list, s)
			}
			if len(list) == 0 {
				list = nil
			}
			*at = list
			return nil
		},
		show: func() string {
			quotes := make([]string, len(*at))
			for i, s := range *at {
				quotes[i] = quoted(s)
			}
			return "[" + strings.Join(quotes, ", ") + "]"
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

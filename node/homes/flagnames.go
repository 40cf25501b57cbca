package homes

import (
	"errors"
	"regexp"
	"strings"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/internal/each"
	"github.com/parleyfleet/parley/node/control"
)

// wrong says what is wrong with the options, in the words of the one who gave them. A setting of
// the configuration has the name of its flag, unless somebody has written it into a prepared file.
func (o Options) wrong(hint string, err error) error {
	text := err.Error()
	var all *configs.Error
	if errors.As(err, &all) {
		text = strings.Join(each.Of(all.Problems, func(p configs.Problem) string { return o.settingName(p.Key) + ": " + p.Text }), "; ")
	}
	return control.Errorf(control.KindUsage, o.inFlags(hint), "cannot make a node: %s", o.inFlags(text))
}

// settingName is the name of a setting for the one who made the options.
func (o Options) settingName(key string) string {
	switch {
	case o.From != "":
		return key
	case key == "remote" && o.Join:
		return "the URL"
	case strings.HasPrefix(key, "bus."):
		return key // inFlags replaces it
	}
	return "--" + key
}

// inFlags is a text with flags of the command line in the place of settings. Settings that are
// parts of other words stay, such as in the name of a file. The setting for where links are taken
// has no flag.
func (o Options) inFlags(text string) string {
	if o.From != "" {
		return text
	}
	text = strings.NewReplacer(", bus.links", "", " or bus.links", "").Replace(text)
	setting := regexp.MustCompile(`(^|[ (])bus\.(listen|advertise|hubs|url|creds|nkey|ca|context)\b`)
	return setting.ReplaceAllStringFunc(text, func(found string) string {
		before, name, _ := strings.Cut(found, "bus.")
		switch name {
		case "listen", "advertise":
			return before + "--" + name
		case "hubs":
			return before + "--hub"
		}
		return before + "--bus-" + name
	})
}

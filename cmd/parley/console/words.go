package console

import (
	"cmp"
	"fmt"
	"html/template"
	"net/url"
	"reflect"
	"strings"
	"time"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/cmd/parley/frame/report"
	"github.com/parleyfleet/parley/internal/visible"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// words are the functions of the templates. What others wrote goes through line, text or prose: signs
// that nobody sees are written out there.
func (c *console) words() template.FuncMap {
	v := c.view()
	return template.FuncMap{
		"line":    line,
		"some":    func(list any) any { return reflect.ValueOf(list).Slice(0, shownOf(list)).Interface() },
		"rest":    func(list any) int { return reflect.ValueOf(list).Len() - shownOf(list) },
		"text":    func(words any) string { return visible.Text(fmt.Sprint(words)) },
		"brief":   func(words string) string { return visible.Line(strings.Join(strings.Fields(words), " ")) }, // lines as one
		"prose":   func(words string) template.HTML { return report.Prose(words, 3) },                          // it lets no markup of others through
		"time":    func(t time.Time) template.HTML { return moment(t, v.Stamp(t), v) },
		"clock":   func(t time.Time) template.HTML { return moment(t, v.At(t, "15:04:05.000"), v) },
		"ago":     func(t time.Time) template.HTML { return moment(t, v.Age(t), v) },
		"after":   func(s control.Seconds) string { return roughly(s.Duration()) },
		"short":   func(p protocol.Path) string { return visible.Line(p.Short()) },
		"count":   cli.Count,
		"message": func(p any) string { return "/message/" + escaped(fmt.Sprint(p)) },
		"path":    func(p any) string { return escaped(fmt.Sprint(p)) },
		"ending":  ending,
		"watch":   func(c control.Channel) string { return "parley attach " + cli.ShellWord(cmp.Or(c.Name, c.ID.String())) },
		"channel": func(id any) string { return "/talk/" + escaped(fmt.Sprint(id)) },
		"seg":     func(word any) string { return url.PathEscape(fmt.Sprint(word)) },
		"command": v.Command,
		"typed":   func(hint string) bool { return strings.HasPrefix(hint, "parley ") }, // it is a command
		"join":    func(words []string) string { return line(strings.Join(words, ", ")) },
		"score":   func(s protocol.Score) string { return s.Percent() },
		"dict":    dict,
		"who":     whoPage,
		"tone":    tone,
		"spark":   spark,
	}
}

// mostListed is how many things of one kind are listed on a page.
const mostListed = 200

func shownOf(list any) int { return min(reflect.ValueOf(list).Len(), mostListed) }

// line is text in one line, which goes on at the terminal or on the page of its message if it is long.
func line(words any) string {
	whole := fmt.Sprint(words)
	if cut := begin(whole, mostText); len(cut) < len(whole) {
		whole = cut + "…"
	}
	return visible.Line(whole)
}

// begin is the beginning of a text.
func begin(text string, bytes int) string {
	return strings.ToValidUTF8(text[:min(len(text), bytes)], "")
}

// roughly is a length of time with no more digits than anybody reads.
func roughly(d time.Duration) string {
	for _, unit := range []time.Duration{time.Second, time.Millisecond, time.Microsecond} {
		if d >= 10*unit {
			return d.Round(unit / 10).String()
		}
	}
	return d.String()
}

// moment is a time of which the words stand on the page, and the whole is shown on hover.
func moment(t time.Time, words string, v cli.View) template.HTML {
	if t.IsZero() {
		return "never"
	}
	return template.HTML(fmt.Sprintf(`<time datetime="%s" title="%s">%s</time>`, t.UTC().Format(time.RFC3339), template.HTMLEscapeString(v.At(t, cli.TimeForm)), template.HTMLEscapeString(words)))
}

// ending is how people name the message at a path that somebody wrote down.
func ending(path string) string {
	if p, err := protocol.ParsePath(path); err == nil {
		return p.Short()
	}
	return path
}

// escaped is a path in an address.
func escaped(path string) string {
	words := strings.Split(path, "/")
	for i := range words {
		words[i] = url.PathEscape(words[i])
	}
	return strings.Join(words, "/")
}

// dict makes a map of pairs, for a template that takes several values.
func dict(pairs ...any) (map[string]any, error) {
	m := map[string]any{}
	for i := 0; i+1 < len(pairs); i += 2 {
		key, ok := pairs[i].(string)
		if !ok {
			return nil, fmt.Errorf("the name of a value is no text: %v", pairs[i])
		}
		m[key] = pairs[i+1]
	}
	return m, nil
}

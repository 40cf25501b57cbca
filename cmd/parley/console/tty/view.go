package tty

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/internal/each"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/protocol"
)

const (
	accent = "cyan"
	margin = 2 // columns before each line, for the mark of what is chosen
)

const help = `1-4, Tab  talk, fleet, queue, gates
↑↓, j k   choose; PgUp PgDn, Home End (b space, g G) go further
Enter     open the thread of a message, a whole gate
r         answer a message; in the fleet: write to somebody
a         in a gate: decide it here, with your passphrase
/         show only what has these letters; Esc shows all again
Esc, q    back, and out

While you write: Enter sends, Alt-Enter begins a line, Esc gives it up.
What is for you counts as read when you have seen its end in a thread.
Inbox, topics, parties and all else: parley --help`

// bodyHeight is the lines between the tabs and the two lines at the bottom.
func (m *model) bodyHeight() int { return max(1, m.height-3) }

// arrange makes the lines of what is shown.
func (m *model) arrange() {
	if m.width == 0 {
		return
	}
	width := m.width - margin
	if m.over != nil {
		m.over.set(nil, m.over.of(width), m.bodyHeight())
		return
	}
	head, rows := [tabs]func(int) ([]string, []row){m.talkRows, m.fleetRows, m.queueRows, m.gateList}[m.tab](width)
	m.lists[m.tab].set(head, rows, m.bodyHeight())
}

// View implements tea.Model.
func (m *model) View() tea.View {
	var v tea.View
	v.AltScreen = true
	if m.width == 0 {
		return v
	}
	body := &m.lists[m.tab]
	if m.over != nil {
		body = &m.over.list
	}
	screen := m.view.Out
	lines := append([]string{m.tabLine(screen)}, body.lines(screen)...)
	for len(lines) < m.bodyHeight()+1 {
		lines = append(lines, "")
	}
	said := screen.Warn(term.Line(m.notice))
	switch {
	case m.input != nil:
		line, at := m.input.line(screen, m.width)
		v.Cursor = tea.NewCursor(at, len(lines))
		if said = line; m.notice != "" && len(lines) > 2 { // what is wrong with it stands above it
			lines[len(lines)-1] = screen.Warn(term.Line(m.notice))
		}
	case m.notice == "" && m.filter[m.tab] != "" && m.over == nil:
		said = screen.Colour(accent, "filter: "+term.Line(m.filter[m.tab])) + screen.Dim("  Esc shows all")
	case m.notice == "" && body.below() > 0:
		said = screen.Dim(fmt.Sprintf("  ↓ %d more", body.below()))
	}
	lines = append(lines, said, m.statusLine(screen))
	for i, line := range lines {
		if bare := ansi.ReplaceAllString(line, ""); term.Width(bare) > m.width {
			lines[i] = term.Cut(bare, m.width)
		}
	}
	v.Content = strings.Join(lines, "\n")
	return v
}

// tabLine names the tabs, each with what is to be done there.
func (m *model) tabLine(s term.Screen) string {
	counts := [tabs]int{tabQueue: len(m.now.jobs) + len(m.now.dead), tabGates: len(m.now.gates.Gates)}
	line := ""
	for i, name := range []string{"Talk", "Fleet", "Queue", "Gates"} {
		text := fmt.Sprintf("%d %s", i+1, name)
		if counts[i] > 0 {
			text += fmt.Sprintf(" %d", counts[i])
		}
		switch {
		case i == m.tab:
			text = s.Colour(accent, "["+text+"]")
		case i == tabGates && counts[i] > 0:
			text = " " + s.Warn(text) + " "
		default:
			text = " " + text + " "
		}
		line += text
	}
	if m.over != nil {
		line += s.Dim(" › ") + m.over.title
	}
	return line
}

// statusLine says who looks, at which node, and whether that is there; and what keys do.
func (m *model) statusLine(s term.Screen) string {
	who := fmt.Sprintf("%s@%s · %s", m.now.status.Human, m.now.status.Host, m.now.status.Fleet)
	dot, state, style := "●", "live", s.Good
	if !m.live {
		dot, state, style = "○", "connection lost: waiting for the node", s.Bad
	}
	who = term.Cut(dot+" "+term.Line(who)+" · "+state, m.width)
	keys := ""
	for _, one := range m.keys() {
		if next := keys + "  " + one; term.Width(who)+term.Width(next)+1 <= m.width {
			keys = next
		}
	}
	space := strings.Repeat(" ", max(0, m.width-term.Width(who)-term.Width(keys)))
	return strings.Replace(who, dot, style(dot), 1) + space + s.Dim(keys)
}

// keys are those that do something now, the most useful first.
func (m *model) keys() []string {
	switch {
	case m.input != nil && m.input.typed != nil:
		return []string{"Enter keep", "Esc all"}
	case m.input != nil:
		return []string{"Enter send", "Esc give up"}
	case m.over != nil && m.over.tree != nil:
		return []string{"r answer", "Esc back"}
	case m.over != nil && m.over.gate != nil:
		return []string{"a decide", "Esc back"}
	case m.over != nil:
		return []string{"Esc back"}
	}
	return append([][]string{{"Enter open", "r answer"}, {"r write"}, {"Enter thread"}, {"Enter open"}}[m.tab], "/ filter", "? keys", "q quit")
}

// ansi matches what a screen of ours styles a text with.
var ansi = regexp.MustCompile("\x1b\\[[0-9;]*m")

// printed are the lines that a command would print on a screen of some width.
func (m *model) printed(width int, print func(cli.View)) []string {
	var out bytes.Buffer
	v := m.view
	v.Out.Writer, v.Out.Width = &out, width
	print(v)
	return strings.Split(strings.TrimRight(out.String(), "\n"), "\n")
}

// plain are lines of which none can be chosen.
func plain(lines []string) []row {
	return each.Of(lines, func(text string) row { return row{text: text} })
}

// table are the lines of a table whose first line is its heading, with `n` things that can be chosen,
// from number `from` on.
func table(lines []string, n, from int, key func(i int) string) []row {
	rows := plain(lines)
	for i := range n {
		rows[i+1].key, rows[i+1].item = key(i), from+i
	}
	return rows
}

// fits reports whether what is filtered by letters has them.
func (m *model) fits(tab int, words ...string) bool {
	return m.filter[tab] == "" || strings.Contains(strings.ToLower(strings.Join(words, " ")), strings.ToLower(m.filter[tab]))
}

// thread shows a conversation. It stays where it is if it is shown already.
func (m *model) thread(o opened) {
	if m.over != nil && m.over.tree != nil && m.over.path == o.path {
		m.over.tree = o.tree
		return
	}
	if m.over != nil || o.again || len(o.tree) == 0 {
		return // the human has gone on to something else
	}
	m.over = &over{list: list{text: true}, title: "thread", path: o.path, tree: o.tree, read: map[protocol.Path]bool{}}
	top := m.over
	m.over.of = func(width int) []row { return m.threadRows(top.tree, width) }
	if m.width == 0 {
		return
	}
	m.arrange()
	for i, r := range top.rows {
		if r.key == o.path.String() {
			top.at, top.top = i, i
			top.clamp()
		}
	}
}

package tty

import (
	"fmt"
	"slices"
	"strings"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/cmd/parley/host"
	"github.com/parleyfleet/parley/cmd/parley/party"
	"github.com/parleyfleet/parley/cmd/parley/runs"
	"github.com/parleyfleet/parley/cmd/parley/standing"
	"github.com/parleyfleet/parley/cmd/parley/talk"
	"github.com/parleyfleet/parley/internal/each"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// line is a message in one line.
type line struct {
	message control.Message
	path    string
	words   string // what a filter looks at
	text    string // as it is shown
	form    string // for which width and on which day the text was made
}

const searched = 2000 // bytes of a message at which a filter looks

func (l *line) set(m control.Message) {
	m.Body = m.Body[:min(len(m.Body), searched)]
	l.message, l.path, l.form = m, m.Path.String(), ""
	l.words = strings.ToLower(strings.Join([]string{talk.Sender(m), strings.Join(m.To, " "), m.ChannelName, string(m.Act), m.Body}, " "))
}

// listed are the messages that the filter lets through.
func (m *model) listed() []*line {
	filter := strings.ToLower(m.filter[tabTalk])
	if filter == "" {
		return m.talk
	}
	return each.Only(m.talk, func(l *line) bool { return strings.Contains(l.words, filter) })
}

// columns are how wide the columns of a message in a line are; 0: it has none.
type columns struct{ when, who, channel, text, stage int }

func columnsOf(width int) columns {
	c := columns{when: 5, who: max(8, min(36, width*30/100)), stage: 9}
	if width >= 110 {
		c.channel, c.stage = 14, 30
	}
	if width < 60 {
		c.stage = 0
	}
	c.text = width - c.when - 2 - c.who - 2
	for _, w := range []int{c.channel, c.stage} {
		if w > 0 {
			c.text -= w + 2
		}
	}
	return c
}

// joined are cells in their columns.
func (c columns) joined(when, who, channel, text, stage string) string {
	var cells []string
	for i, w := range []int{c.when, c.who, c.channel, c.text, c.stage} {
		if cell := [...]string{when, who, channel, text, stage}[i]; w > 0 {
			cells = append(cells, cell+strings.Repeat(" ", max(0, w-term.Width(ansi.ReplaceAllString(cell, "")))))
		}
	}
	return strings.Join(cells, "  ")
}

func (m *model) talkRows(width int) ([]string, []row) {
	c, s := columnsOf(width), m.view.Out
	today := m.view.At(m.view.Now(), "2006-01-02")
	form := fmt.Sprint(width, today)
	listed := m.listed()
	rows := make([]row, len(listed))
	for i, l := range listed {
		if l.form != form {
			l.form, l.text = form, m.messageLine(l.message, c, today)
		}
		rows[i] = row{l.text, l.path, i}
	}
	if len(rows) == 0 {
		text := "No message yet."
		if m.filter[tabTalk] != "" {
			text = "No message has these letters."
		}
		return nil, plain([]string{text})
	}
	return []string{s.Dim(strings.TrimRight(c.joined("TIME", "FROM → TO", "CHANNEL", "TEXT", "STAGE"), " "))}, rows
}

// messageLine is a message in a line.
func (m *model) messageLine(msg control.Message, c columns, today string) string {
	s := m.view.Out
	when := m.view.At(msg.Timestamp, cli.ClockForm)
	if m.view.At(msg.Timestamp, "2006-01-02") != today {
		when = m.view.At(msg.Timestamp, "01-02")
	}
	stage, style := stageOf(msg), s.Dim
	if c.channel > 0 {
		stage = term.Line(talk.Stages(msg))
	}
	if msg.Stage == protocol.StageAnswered {
		style = s.Good
	}
	me := m.now.status.Human.String()
	who, text := fromTo(msg, c.who), term.Cut(talk.Summary(msg), c.text)
	if msg.From != me && slices.ContainsFunc(msg.Addressees, func(a control.Addressee) bool { return a.Name == me && a.Stage < protocol.StageRead }) {
		who = s.Colour(accent, who) // it waits for who looks
	}
	if len(talk.Doubts(msg)) > 0 {
		text = s.Warn(text)
	}
	return c.joined(s.Dim(when), who, s.Dim(term.Cut(term.Line(msg.ChannelName), c.channel)), text, style(term.Cut(stage, c.stage)))
}

// fromTo is who wrote a message, and to whom. If both do not fit, both are cut.
func fromTo(m control.Message, width int) string {
	const arrow = " → "
	from, to := term.Line(talk.Sender(m)), term.Line(strings.Join(m.To, ", "))
	room := width - term.Width(arrow)
	to = term.Cut(to, max(room/2, room-term.Width(from)))
	return term.Cut(from, room-term.Width(to)) + arrow + to
}

// stageOf is how far a message has come, in a word.
func stageOf(m control.Message) string {
	if m.Stage < protocol.StageRead && len(talk.Woken(m)) > 0 {
		return protocol.TraceWoken
	}
	return m.Stage.String()
}

// threadRows are the whole messages of a conversation, each indented by its depth.
func (m *model) threadRows(tree []control.ThreadMessage, width int) []row {
	s := m.view.Out
	var rows []row
	for i, msg := range tree {
		indent := strings.Repeat("  ", min(msg.Depth, max(0, width-30)/10))
		who := term.Line(talk.Sender(msg.Message) + " → " + strings.Join(msg.To, ", "))
		rows = append(rows, row{text: indent + s.Colour(accent, term.Cut(who, width-term.Width(indent))), key: msg.Path.String(), item: i})
		indent += "  "
		add := func(text string, style func(string) string) {
			for _, part := range term.Wrap(text, width-term.Width(indent)) {
				rows = append(rows, row{text: indent + style(part), item: i})
			}
		}
		about := []string{m.view.Stamp(msg.Timestamp), m.view.ID(msg.Path)}
		if msg.Act != protocol.ActHey && msg.Act != protocol.ActReply {
			about = append(about, term.Line(string(msg.Act)))
		}
		if stages := term.Line(talk.Stages(msg.Message)); stages != "" {
			about = append(about, stages)
		}
		add(strings.Join(about, " · "), s.Dim)
		for _, doubt := range talk.Doubts(msg.Message) {
			add("⚠ "+term.Line(doubt), s.Warn)
		}
		add(strings.ReplaceAll(term.Visible(strings.TrimRight(msg.Body, "\n")), "\t", "    "), func(text string) string { return text })
		rows = append(rows, row{item: i})
	}
	return rows
}

// people are those of the directory that the filter lets through.
func (m *model) people() []control.Participant {
	return each.Only(m.now.people, func(one control.Participant) bool {
		return m.fits(tabFleet, one.Name.String(), one.Kind, one.Host.String(), standing.Host(one.State), string(one.Presence))
	})
}

func addressOf(one control.Participant) string { return one.Name.String() + "@" + one.Host.String() }

// fleetRows are who can be reached, hosts with the links to them, and what is wrong.
func (m *model) fleetRows(width int) ([]string, []row) {
	people := m.people()
	all := m.printed(width, func(v cli.View) { host.ShowPeople(v, people) })
	rows := table(all, len(people), 0, func(i int) string { return addressOf(people[i]) })[1:]
	hosts := m.printed(width, func(v cli.View) {
		host.ShowStanding(v, m.now.status.Hosts)
		v.Out.Printf("\n")
		for _, link := range each.Of(m.now.status.Bus.Peers, standing.LinkLine) {
			if link.Level == "" {
				v.Labelled(len("link:"), link.Name, link.Text)
			} else {
				v.Alarm(len("link:"), link.Name, link.Text)
			}
		}
	})
	rows = append(rows, plain(append([]string{""}, hosts...))...)
	warned := m.printed(width, func(v cli.View) {
		for _, text := range m.now.status.Warned {
			v.Note("⚠ " + text)
		}
	})
	return all[:1], append(rows, plain(append([]string{""}, warned...))...)
}

// work is what agents have to do and what they failed on, of what the filter lets through.
func (m *model) work() (jobs []control.Job, dead []control.DeadLetter) {
	jobs = each.Only(m.now.jobs, func(j control.Job) bool {
		return m.fits(tabQueue, j.Agent.String(), j.From, j.Text, string(j.State), string(j.Why), j.Problem)
	})
	return jobs, each.Only(m.now.dead, func(d control.DeadLetter) bool {
		return m.fits(tabQueue, d.Agent, d.Host.String(), d.Message.From, d.Problem, d.Message.Body, "dead")
	})
}

func (m *model) queueRows(width int) ([]string, []row) {
	jobs, dead := m.work()
	queue := m.printed(width, func(v cli.View) { runs.ShowQueue(v, jobs, 0) })
	letters := m.printed(width, func(v cli.View) { runs.ShowDeadLetters(v, dead) })
	heading := func(text string) row { return row{text: m.view.Out.Bold(text)} }
	rows := append([]row{heading("Runs and what waits")}, table(queue, len(jobs), 0, func(i int) string { return jobs[i].Agent.String() + jobs[i].Path.String() })...)
	rows = append(rows, row{}, heading("Dead letters"))
	return nil, append(rows, table(letters, len(dead), len(jobs), func(i int) string { return "dead" + dead[i].Agent + dead[i].Message.Path.String() })...)
}

// gates are those of this human that the filter lets through.
func (m *model) gates() []control.Gate {
	return each.Only(m.now.gates.Gates, func(g control.Gate) bool { return m.fits(tabGates, g.ID, g.Title, g.Party, g.By, g.Shown) })
}

func (m *model) gateList(width int) ([]string, []row) {
	gates := m.gates()
	if len(gates) == 0 {
		return nil, plain([]string{"Nothing waits for " + m.now.status.Human.String() + " to decide."})
	}
	lines := m.printed(width, func(v cli.View) {
		t := term.Table{Heading: []string{"ID", "ASKS", "PARTY", "BY", "ASKED", "STATE"}, Flexible: 1}
		for _, g := range gates {
			t.Rows = append(t.Rows, []string{g.ID, g.Title, g.Party, g.By, v.Age(g.Time), string(g.Outcome)})
		}
		v.Table(t, cli.Squeeze{Column: 1, Least: 16}, cli.Squeeze{Column: 2, Least: 8}, cli.Squeeze{Column: 4}, cli.Squeeze{Column: 3})
	})
	rows := table(lines, len(gates), 0, func(i int) string { return gates[i].Path })[1:]
	if !m.now.gates.HasKey {
		rows = append(rows, plain([]string{"", "A gate needs a key of your own: " + m.view.Command("parley gates key add")})...)
	}
	return lines[:1], rows
}

// gateRows are all that is shown of a gate, and the commands that answer it.
func (m *model) gateRows(g control.Gate, width int) []row {
	var lines []string
	for _, line := range m.printed(width, func(v cli.View) { party.ShowGate(v, g) }) {
		if bare := ansi.ReplaceAllString(line, ""); term.Width(bare) > width {
			lines = append(lines, term.Wrap(bare, width)...) // a command that would be cut could not be copied
		} else {
			lines = append(lines, line)
		}
	}
	return plain(lines)
}

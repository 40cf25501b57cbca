package tty

import (
	"context"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/cmd/parley/talk"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// The tabs.
const (
	tabTalk = iota
	tabFleet
	tabQueue
	tabGates
	tabs
)

// model is what the console shows. Only the goroutine of its program touches it.
type model struct {
	ctx           context.Context
	client        control.Service
	view          cli.View
	decide        func(control.Gate) tea.Cmd // has the human decide at the terminal
	width, height int

	tab    int
	lists  [tabs]list
	filter [tabs]string
	over   *over  // what lies over the tabs: a thread, a gate, the help
	input  *input // what is typed; nil: keys are commands
	notice string // what was last said to the human

	live   bool
	talk   []*line
	seen   map[protocol.Path]*line
	now    answers
	stale  map[protocol.Path]bool // listed messages of which something has changed
	asking bool
	again  bool // something has happened since what is being asked was asked
}

// over is a list that lies over the tabs.
type over struct {
	list
	of    func(width int) []row  // makes its lines
	path  protocol.Path          // of a thread: the message with which it was opened
	read  map[protocol.Path]bool // of a thread: the messages that the human has seen to their end
	tree  []control.ThreadMessage
	gate  *control.Gate
	title string
}

// What the model is told besides the answers and events of the node.
type (
	told    []tea.Msg           // messages and events, as they came
	lost    struct{ why error } // the node went away
	rested  struct{}            // the node may be asked again
	idle    struct{}            // nothing may have happened for a while
	failed  struct{ err error } // a request of the human
	visited struct{}            // they are back from a gate
	sent    struct {            // what they wrote is stored, or is not
		input *input
		far   string // how far it has come
		err   error
	}
	opened struct {
		path  protocol.Path
		tree  []control.ThreadMessage
		again bool // it was open when it was asked for
	}
)

// answers are what the node says of the moment.
type answers struct {
	status  control.Status
	people  []control.Participant
	jobs    []control.Job
	dead    []control.DeadLetter
	gates   control.GateList
	changed []control.Message
	err     error
}

func newModel(ctx context.Context, client control.Service, v cli.View, now answers) *model {
	m := &model{ctx: ctx, client: client, view: v, live: true, now: now, seen: map[protocol.Path]*line{}, stale: map[protocol.Path]bool{}}
	m.lists[tabTalk].followed = true
	return m
}

// Init implements tea.Model.
func (m *model) Init() tea.Cmd { return later(askAlways, idle{}) }

func later(d time.Duration, msg tea.Msg) tea.Cmd {
	return tea.Tick(d, func(time.Time) tea.Msg { return msg })
}

// Update implements tea.Model.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	cmd := m.update(msg)
	m.arrange()
	return m, tea.Batch(cmd, m.markRead())
}

func (m *model) update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
	case tea.KeyPressMsg:
		return m.key(msg)
	case tea.PasteMsg:
		if m.input != nil && !m.input.busy {
			m.input.insert(msg.Content)
		}
	case told:
		var cmds []tea.Cmd
		for _, one := range msg {
			cmds = append(cmds, m.update(one))
		}
		return tea.Batch(cmds...)
	case control.Message:
		m.back()
		m.add(msg)
		if m.over != nil && m.over.tree != nil && m.over.tree[0].Channel == msg.Channel {
			return m.ask()
		}
	case control.Event:
		return m.happened(msg)
	case lost:
		m.live = false
		if msg.why != nil { // a node that stops ends what it tells without an error
			m.complain(msg.why)
		}
	case answers:
		m.take(msg)
		return later(askEvery, rested{})
	case rested:
		if m.asking = false; m.again {
			m.again = false
			return m.ask()
		}
	case idle:
		return tea.Batch(m.ask(), later(askAlways, idle{}))
	case opened:
		m.thread(msg)
	case sent:
		msg.input.busy = false
		if msg.err != nil {
			return m.update(failed{msg.err})
		}
		if m.notice = "sent: " + msg.far; m.input == msg.input {
			m.input = nil
		}
	case failed:
		e := control.AsError(msg.err)
		m.notice = strings.TrimSuffix(e.Message+" ("+m.view.Command(e.Hint)+")", " ()")
	case visited:
		m.over = nil
		return m.ask()
	}
	return nil
}

// complain says what nobody asked for went wrong with; that the node is away is said elsewhere.
func (m *model) complain(err error) {
	if e := control.AsError(err); e.Kind != control.KindUnavailable {
		m.notice = e.Message
	}
}

// back notes that the node is there.
func (m *model) back() {
	if !m.live {
		m.live, m.notice = true, ""
	}
}

// happened notes what an event changes, and asks for it.
func (m *model) happened(e control.Event) tea.Cmd {
	m.back()
	switch e.Kind {
	case control.EventStage:
		if m.seen[e.Stage.Path] != nil {
			m.stale[e.Stage.Path] = true
		}
	case control.EventSession:
		for _, l := range m.talk[max(0, len(m.talk)-20):] { // a bell is about mail of the moment
			if slices.Contains(l.message.To, e.Session.Agent.String()) && l.message.Stage < protocol.StageRead {
				m.stale[l.message.Path] = true
			}
		}
	case control.EventTrouble:
		m.notice = e.Trouble.Change + ": " + e.Trouble.Text
	case control.EventMissed: // what was missed may be about any of them
		for _, l := range m.talk[max(0, len(m.talk)-100):] {
			m.stale[l.message.Path] = true
		}
	case control.EventMessage: // the log tells it
		return nil
	}
	return m.ask()
}

// ask asks the node for all that is shown besides messages, and for messages that have changed. While
// it is asked, and for a while after, nothing more is.
func (m *model) ask() tea.Cmd {
	if m.asking {
		m.again = true
		return nil
	}
	m.asking = true
	stale := m.stale
	m.stale = map[protocol.Path]bool{}
	asks := []tea.Cmd{func() tea.Msg {
		ctx, cancel := context.WithTimeout(m.ctx, askWithin)
		defer cancel()
		a := look(ctx, m.client)
		for path := range stale {
			if message, err := control.Show.Ask(ctx, m.client, control.ShowRequest{Path: path.String()}); err == nil {
				a.changed = append(a.changed, message)
			}
		}
		return a
	}}
	if m.over != nil && m.over.tree != nil {
		asks = append(asks, m.open(m.over.path, true))
	}
	return tea.Batch(asks...)
}

// look asks for all that is shown besides messages.
func look(ctx context.Context, client control.Service) (a answers) {
	put(&a, &a.status, control.ShowStatus.Verb, control.None{}, ctx, client)
	put(&a, &a.people, control.List, control.HostsRequest{}, ctx, client)
	put(&a, &a.jobs, control.Queue, control.QueueRequest{}, ctx, client)
	put(&a, &a.dead, control.DeadLetters, control.DeadLettersRequest{}, ctx, client)
	put(&a, &a.gates, control.Gates, control.GatesRequest{}, ctx, client)
	return a
}

// put asks one question for `a`, unless one before it has failed.
func put[Q, A any](a *answers, into *A, verb control.Verb[Q, A], request Q, ctx context.Context, client control.Service) {
	if a.err == nil {
		*into, a.err = verb.Ask(ctx, client, request)
	}
}

func (m *model) take(a answers) {
	if a.err != nil {
		m.complain(a.err)
		return
	}
	m.back()
	m.now = a
	for _, message := range a.changed {
		m.add(message)
	}
}

// add takes in a message that is new, or has reached another stage.
func (m *model) add(message control.Message) {
	l := m.seen[message.Path]
	if l == nil {
		l = &line{}
		m.seen[message.Path] = l
		m.talk = append(m.talk, l)
		if len(m.talk) > kept {
			delete(m.seen, m.talk[0].message.Path)
			m.talk[0] = nil
			m.talk = m.talk[1:]
		}
	}
	l.set(message)
}

// open asks for the thread of a message, which may be open.
func (m *model) open(path protocol.Path, again bool) tea.Cmd {
	return func() tea.Msg {
		tree, err := control.Thread.Ask(m.ctx, m.client, control.ThreadRequest{Path: path.String()})
		switch {
		case err == nil:
			return opened{path, tree, again}
		case again:
			return nil // what is shown stays
		}
		return failed{err}
	}
}

// answer begins a line that goes to somebody.
func (m *model) answer(whom string, r control.SendRequest) {
	in := &input{prompt: "to " + term.Line(whom) + ": "}
	in.done = func() tea.Cmd {
		r.As, r.Body, r.HeardWithin = m.now.status.Human.String(), protocol.NormalBody(string(in.text)), time.Second
		if strings.TrimSpace(r.Body) == "" {
			return nil
		}
		in.busy = true
		return func() tea.Msg {
			message, err := control.Send.Ask(m.ctx, m.client, r)
			return sent{in, talk.Stages(message), err}
		}
	}
	m.input = in
}

// find begins a line by which what is listed is filtered as it is typed.
func (m *model) find() {
	tab := m.tab
	in := &input{prompt: "filter: ", text: []rune(m.filter[tab]), at: len([]rune(m.filter[tab]))}
	in.typed = func(text string) { m.filter[tab] = text }
	in.done = func() tea.Cmd { m.input = nil; return nil }
	m.input = in
}

func (m *model) key(k tea.KeyPressMsg) tea.Cmd {
	switch key := k.String(); {
	case key == "ctrl+c":
		return tea.Quit
	case key == "ctrl+z":
		return tea.Suspend
	case m.input == nil:
		m.notice = ""
		return m.command(key)
	case m.input.busy && key != "esc":
	case key == "enter":
		return m.input.done()
	case key == "esc":
		if m.input.typed != nil {
			m.filter[m.tab] = ""
		}
		m.input = nil
	default:
		m.input.key(k)
	}
	return nil
}

// command does what a key says.
func (m *model) command(key string) tea.Cmd {
	at := &m.lists[m.tab]
	if m.over != nil {
		at = &m.over.list
	}
	switch key {
	case "down", "j":
		at.move(1)
	case "up", "k":
		at.move(-1)
	case "pgdown", "space", " ":
		at.page(1)
	case "pgup", "b":
		at.page(-1)
	case "home", "g":
		at.end(-1)
	case "end", "G":
		at.end(1)
	case "1", "2", "3", "4":
		m.over, m.tab = nil, int(key[0]-'1')
	case "tab", "right", "l":
		m.over, m.tab = nil, (m.tab+1)%tabs
	case "shift+tab", "left", "h":
		m.over, m.tab = nil, (m.tab+tabs-1)%tabs
	case "?":
		if m.over == nil {
			m.over = &over{list: list{text: true}, title: "keys", of: func(width int) []row { return plain(term.Wrap(help, width)) }}
		}
	case "/":
		if m.over == nil {
			m.find()
		}
	case "q", "esc":
		switch {
		case m.over != nil:
			m.over = nil
		case key == "esc" && m.filter[m.tab] != "":
			m.filter[m.tab] = ""
		default:
			return tea.Quit
		}
	case "enter", "r", "a":
		return m.choose(key)
	}
	return nil
}

// choose does something with what is chosen: it opens or answers it.
func (m *model) choose(key string) tea.Cmd {
	item := m.lists[m.tab].chosen()
	switch {
	case m.over != nil && m.over.tree != nil && key == "r":
		if i := m.over.chosen(); i != none {
			m.reply(m.over.tree[i].Message)
		}
	case m.over != nil && m.over.gate != nil && key == "a":
		return m.decide(*m.over.gate)
	case m.over != nil, item == none:
	case m.tab == tabTalk && key == "enter":
		return m.open(m.listed()[item].message.Path, false)
	case m.tab == tabTalk && key == "r":
		m.reply(m.listed()[item].message)
	case m.tab == tabFleet:
		one := m.people()[item]
		whom := addressOf(one)
		m.answer(whom, control.SendRequest{To: []string{whom}})
	case m.tab == tabQueue && key == "enter":
		jobs, dead := m.work()
		if item < len(jobs) {
			return m.open(jobs[item].Path, false)
		}
		return m.open(dead[item-len(jobs)].Message.Path, false)
	case m.tab == tabGates && key != "r":
		g := m.gates()[item]
		m.over = &over{list: list{text: true}, title: "gate " + term.Line(g.ID), gate: &g, of: func(width int) []row { return m.gateRows(g, width) }}
	}
	return nil
}

func (m *model) reply(to control.Message) {
	whom := talk.Sender(to)
	if to.From == m.now.status.Human.String() {
		whom = strings.Join(to.To, ", ")
	}
	m.answer(whom, control.SendRequest{Re: to.Path.String(), Act: protocol.ActReply})
}

// markRead tells the node which messages of the thread the human has seen to their end.
func (m *model) markRead() tea.Cmd {
	if m.over == nil || m.over.tree == nil || m.height == 0 {
		return nil
	}
	var paths []protocol.Path
	o := m.over
	for i := o.top; i < min(len(o.rows), o.top+o.height); i++ {
		message := o.tree[o.rows[i].item]
		if last := i+1 == len(o.rows) || o.rows[i+1].key != ""; !last || o.read[message.Path] {
			continue
		}
		o.read[message.Path] = true
		if message.Type == protocol.TypeText && message.Unreadable == "" {
			paths = append(paths, message.Path)
		}
	}
	if len(paths) == 0 {
		return nil
	}
	me := m.now.status.Human.String()
	return func() tea.Msg {
		if _, err := control.Shown.Ask(m.ctx, m.client, control.ShownRequest{As: me, Paths: paths}); err != nil {
			return failed{err}
		}
		return nil
	}
}

package console

import (
	"cmp"
	"slices"
	"strings"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/cmd/parley/talk"
	"github.com/parleyfleet/parley/internal/each"
	"github.com/parleyfleet/parley/internal/pattern"
	"github.com/parleyfleet/parley/internal/visible"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

const (
	mostRows     = 50   // messages on one page of talk
	mostMail     = 30   // messages of the inbox
	mostChannels = 60   // channels in the list
	mostText     = 4000 // bytes of a text in a list
	mostLines    = 40   // lines of a text in a list
	mostReached  = 8    // addressees of whom a list says how far a message has come
)

// said is a message as a page shows it.
type said struct {
	control.Message
	Label  string // name of its channel, if people gave it one
	Doubts []string
	Text   string
	Cut    bool // the text goes on
	Stages string
	Reach  []reached
	Others int    // addressees that are not in Reach
	Inside bool   // the page is that of its channel
	Form   bool   // lines that programs read; a list shows the gist
	Gist   string // the message in one line
	Does   string // what a message of its act does
}

// reached is how far a message has come with an addressee.
type reached struct{ Name, Stage, Waits string }

func (c *console) said(m control.Message) said {
	s := said{Message: m, Label: visible.Line(m.ChannelName), Doubts: talk.Doubts(m), Text: m.Body, Stages: talk.Stages(m)}
	s.Form = talk.IsForm(m)
	if s.Gist = talk.Gist(m); !s.Form {
		s.Gist = marked.Regexp().ReplaceAllString(s.Gist, "$2")
	}
	if act, known := protocol.FindAct(m.Act); known {
		s.Does = act.Doc
	}
	for _, a := range m.Addressees {
		r := reached{Name: a.Name, Stage: a.Stage.String()}
		switch {
		case a.Woken && a.Stage < protocol.StageRead:
			r.Stage = protocol.TraceWoken
		case a.Stage < protocol.StageRead:
			r.Stage = "not read"
		}
		if a.Waits != nil {
			r.Waits, _ = c.view().Waits(*a.Waits)
		}
		if len(m.Addressees) > 1 || r.Waits != "" {
			s.Reach = append(s.Reach, r)
		}
	}
	return s
}

// marked are words that stand between signs of Markdown.
var marked = pattern.New("(\\*\\*|`)([^*`\\n]+)(\\*\\*|`)")

// inList is a message of a list: a text or a list of addressees that is long stands on its own page.
func (c *console) inList(m control.Message) said {
	s := c.said(m)
	s.Text = begin(s.Text, mostText)
	if lines := strings.SplitN(s.Text, "\n", mostLines+1); len(lines) > mostLines {
		s.Text = strings.Join(lines[:mostLines], "\n")
	}
	s.Cut = len(s.Text) < len(m.Body)
	if s.Others = len(s.Reach) - mostReached; s.Others > 0 {
		s.Reach = s.Reach[:mostReached]
	}
	return s
}

// timeline are messages in the order of time, and what is needed to see more of them, and to write
// some.
type timeline struct {
	At     string // address of the page
	Rows   []said
	Before string // the message before which the rows stand; "" if they are the last ones
	First  string // the first of the rows, if something stands before it; else ""
	Write  write
}

// write is a box to write into.
type write struct {
	Channel, Re, To string
	Names           []string // who can be written to
	Wide            bool     // it stands at the end of the window
}

func (a *asking) timeline(at, channel string) timeline {
	t := timeline{At: at, Before: a.FormValue("before")}
	r := control.LogRequest{Channel: channel, Last: mostRows + 1, Before: t.Before}
	err := control.Log.Ask(a.Context(), a.c.node, r, func(m control.Message) error {
		s := a.c.inList(m)
		s.Inside = channel != ""
		t.Rows = append(t.Rows, s)
		return nil
	})
	a.err = cmp.Or(a.err, err)
	if len(t.Rows) > mostRows {
		t.Rows = t.Rows[1:]
		t.First = t.Rows[0].Path.String()
	}
	t.Write = write{Channel: channel, Names: a.names(), Wide: true}
	return t
}

// names are those who can be written to. If nobody knows, a name can still be typed.
func (a *asking) names() []string {
	all, _ := ask(a, control.List, control.HostsRequest{})
	names := []string{protocol.All}
	for _, one := range all {
		names = append(names, one.Name.String()+"@"+one.Host.String())
	}
	return names
}

// human is the name of the person at whose terminal the console runs: in it the pages speak and read.
func (a *asking) human() string {
	return need(a, control.Whoami.Verb, control.None{}).Human.String()
}

// talkPage is the page of all that is said, with what waits for the human.
type talkPage struct {
	timeline
	Mail     []said
	More     bool // more is waiting than Mail
	Channels []channelLine
	Left     int // channels that are not in Channels
}

type channelLine struct {
	control.Channel
	Label string
}

func showTalk(a *asking) (any, string) {
	mail := need(a, control.Inbox, control.InboxRequest{As: a.human(), Limit: mostMail + 1})
	page := talkPage{timeline: a.timeline("/talk", ""), More: len(mail) > mostMail}
	page.Mail = each.Of(mail[:min(len(mail), mostMail)], a.c.inList)
	page.Write.To = a.FormValue("to")
	channels := need(a, control.Channels.Verb, control.None{})
	slices.SortStableFunc(channels, func(a, b control.Channel) int { return b.Last.Compare(a.Last) })
	page.Left = len(channels) - mostChannels
	for _, c := range channels[:min(len(channels), mostChannels)] {
		page.Channels = append(page.Channels, channelLine{c, channelLabel(c)})
	}
	return page, "Talk"
}

// channelLabel is what people call a channel: its name, or who takes part.
func channelLabel(c control.Channel) string {
	if c.Name == "" && len(c.Participants) > 0 {
		return visible.Line(strings.Join(c.Participants, ", "))
	}
	return talk.ChannelName(c)
}

type channelPage struct {
	timeline
	control.Channel
	Label    string
	Parent   *channelLine
	Children []channelLine
	Others   int // children that are not in Children
}

func showChannel(a *asking) (any, string) {
	c := need(a, control.ShowChannel, control.ChannelRequest{Channel: a.PathValue("channel")})
	page := channelPage{Channel: c, Label: channelLabel(c), timeline: a.timeline("/talk/"+escaped(c.ID.String()), c.ID.String())}
	line := func(id protocol.ChannelID) channelLine {
		c, err := ask(a, control.ShowChannel, control.ChannelRequest{Channel: id.String()})
		if err != nil {
			return channelLine{control.Channel{ID: id}, id.String()}
		}
		return channelLine{c, channelLabel(c)}
	}
	if c.Parent != "" {
		parent := line(c.Parent)
		page.Parent = &parent
	}
	page.Children = each.Of(c.Children[:min(len(c.Children), mostChannels)], line)
	page.Others = len(c.Children) - len(page.Children)
	page.Write.To = toWhom(c, a.human())
	return page, page.Label
}

// toWhom is for whom a message in a channel is, unless its author names others: all of a channel with
// a name or with members, or in which somebody has written to all, else the others who take part.
func toWhom(c control.Channel, human string) string {
	if c.Name != "" || len(c.Members) > 0 || slices.Contains(c.Participants, protocol.All) {
		return protocol.All
	}
	others := each.Except(c.Participants, func(name string) bool { return name == human })
	return strings.Join(others, ", ")
}

// say sends what was written on a page, as its human.
func say(a *asking) (done, error) {
	r := control.SendRequest{
		As: a.human(), To: cli.SplitNames([]string{a.FormValue("to")}), Re: a.FormValue("re"), Channel: a.FormValue("channel"), Body: a.FormValue("text"),
		Request: a.FormValue("request"), HeardWithin: talk.HeardWithin,
	}
	switch {
	case len(r.To) == 0 && r.Re == "":
		return done{}, control.Errorf(control.KindUsage, "a name, several with commas between, or all", "cannot send it: it is for nobody")
	case a.FormValue("fyi") != "":
		r.Act = protocol.ActNote
	case r.Re != "":
		r.Act = protocol.ActReply
	}
	m := need(a, control.Send, r)
	if a.err != nil {
		e := control.AsError(a.err)
		if e.Kind == control.KindSecret {
			e.Hint = "leave it out, or send it at the terminal: --mask replaces it"
		}
		return done{}, e
	}
	words := []string{"Sent: " + talk.SentStages(m)}
	for _, name := range m.Unserved {
		words = append(words, name+" is served by no host any more")
	}
	words = append(words, talk.Delays(a.Context(), m, a.c.node, a.c.view())...)
	return done{Said: strings.Join(words, ". ") + "."}, nil
}

// read leaves a receipt for a message, or for all that waits.
func read(a *asking) (done, error) {
	if path := a.FormValue("path"); path != "" {
		need(a, control.Read, control.ReadRequest{As: a.human(), Path: path})
		return done{Said: "Marked as read."}, a.err
	}
	marked := need(a, control.ReadAll, control.ReadAllRequest{As: a.human()})
	return done{Said: cli.Count(marked.Read, "message") + " marked as read."}, a.err
}

// view shows what a person reads on a page: times are those of a person's screen, wherever the
// console was started.
func (c *console) view() cli.View {
	v := c.p.View()
	v.Out.Terminal = true
	v.Out.Width = cmp.Or(v.Out.Width, 80)
	return v
}

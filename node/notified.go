package node

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/internal/each"
	"github.com/parleyfleet/parley/internal/wait"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/feed"
	"github.com/parleyfleet/parley/node/homes"
	"github.com/parleyfleet/parley/node/notify"
	"github.com/parleyfleet/parley/node/prompt"
	"github.com/parleyfleet/parley/protocol"
)

// watchForHuman has this host's human notified of what concerns them, until `stop` is called: of
// gates that already wait, and of what comes. Mail that came while nobody watched is in the inbox.
func (n *Node) watchForHuman() (stop func()) {
	came := n.messages.Follow(feed.MaxMessages, nil)
	n.notifyOfGates()
	ended := n.notify.Start()
	end := wait.Background(func(ctx context.Context) {
		defer came.End()
		for {
			select {
			case <-ctx.Done():
				return
			case <-came.Wake():
			}
			paths, missed := came.Drain()
			if n.notify.Idle() {
				continue
			}
			for _, p := range paths {
				n.lookForHuman(p)
			}
			if missed > 0 {
				n.notify.Tell(notify.Matter{Kind: configs.NotifyMention, ID: fmt.Sprintf("missed %d", n.now().UnixNano()), Text: fmt.Sprintf("%d messages came at once; see parley inbox and parley gates", missed)})
			}
		}
	})
	return func() {
		end()
		ended()
	}
}

// notifyOfGates notifies this host's human of the gates that wait for them, if that was not done.
func (n *Node) notifyOfGates() {
	if n.notify.Idle() {
		return
	}
	if list, err := n.Gates(context.Background(), control.GatesRequest{}); err == nil {
		for _, g := range list.Gates {
			n.notify.Tell(gateMatter(g))
		}
	}
}

// mostNamed is how many characters of a party's name a notification has.
const mostNamed = 60

// gateMatter begins with who asks, as the record tells it. The name of a party is any text of others,
// and could look like an asker, or push the true one out of the line.
func gateMatter(g control.Gate) notify.Matter {
	party := []rune(g.Party)
	if len(party) > mostNamed {
		party = append(party[:mostNamed-1:mostNamed-1], '…')
	}
	return notify.Matter{
		Kind: configs.NotifyGate, ID: g.Path, Text: fmt.Sprintf("parley: asked by %s (parley gates %s): %s: %s", g.Asker.Short(), g.ID, prompt.Quote(string(party)), g.Title), More: g.Asker.Text() + "\n\n" + g.Shown,
	}
}

// lookForHuman notifies this host's human of a message that has come, if it concerns them.
func (n *Node) lookForHuman(p protocol.Path) {
	var it *fleet.Item
	var g control.Gate
	gate, mine, own, from, whom := false, false, false, "", []string{}
	n.folded(func(s *fleet.State) {
		var ok bool
		if it, ok = s.Ledger.Item(p); !ok || it.Type != protocol.TypeText || it.Act.HostWord() {
			it = nil
			return
		}
		g, gate = n.gateAt(s, p)
		human := fleet.Who{Name: n.cfg.Human.String(), Host: n.cfg.Alias}
		author := it.Author()
		from = protocol.Address{Name: author.Name, Host: cmp.Or(author.Host, it.Host.String())}.Shown() + prompt.InParentheses(protocol.Doubts(s.Signature(it), it.Unattended))
		whom = each.Of(it.To, protocol.Address.Shown)
		own = it.Host == n.cfg.Alias && author.Name != human.Name
		mine = s.Talk.Reaches(it, human) && !(it.Host == n.cfg.Alias && author.Name == human.Name) && !it.ToAll()
	})
	if it == nil {
		return
	}
	m := notify.Matter{ID: p.String()}
	switch {
	case gate:
		m = gateMatter(g)
	case it.Act == protocol.ActFailed && mine && n.stops(it):
		m.Kind, m.Text = configs.NotifyFailure, "parley: "+from+" stopped a conversation of agents"
	case it.Act == protocol.ActFailed && mine:
		m.Kind, m.Text = configs.NotifyFailure, "parley: "+from+" failed on what you sent"
	case it.Act == protocol.ActFailed && own:
		m.Kind, m.Text = configs.NotifyDeadLetter, "parley: "+from+" failed on a message of "+strings.Join(whom, ", ")+" for good (parley agent dlq list)"
	case mine && (it.Act.Mail() || it.Act == protocol.ActTalkHeld || it.Act == protocol.ActRunHeld):
		m.Kind, m.Text = configs.NotifyMention, "parley: mail from "+from
	default:
		return
	}
	if whole, err := n.talk.Views.Load(it); err == nil && m.More == "" {
		m.More = whole.Body
		if line, _, _ := strings.Cut(strings.TrimSpace(whole.Body), "\n"); !gate && line != "" {
			m.Word = ": " + line
		}
	}
	n.notify.Tell(m)
}

// stops reports whether a host has written a message to say that it stopped a conversation. An agent
// can be named as its host, but what an agent failed on names its attempts.
func (n *Node) stops(it *fleet.Item) bool {
	if it.From != it.Host.String() {
		return false
	}
	whole, err := n.talk.Views.Load(it)
	if err != nil {
		return false
	}
	_, err = protocol.Failed.Parse(whole.Body)
	return err != nil
}

// ChangeNotifications changes by what the human of a host is told what happens, in a home on which no
// node runs. The error is homes.ErrLocked if one does.
func ChangeNotifications(ctx context.Context, home configs.Home, r control.ChangeNotificationsRequest) (done control.TriedNotification, err error) {
	cfg, err := homes.LoadConfig(home)
	if err != nil {
		return done, err
	}
	lock, err := homes.TakeLock(home)
	if err != nil {
		return done, err
	}
	defer lock.Unlock()
	return notify.New(notify.Options{Config: home.Config(), Host: cfg.Alias, Wrong: func(string, string) {}, Changed: func() {}}).Change(ctx, r)
}

// forget takes texts that are redacted out of the files of topics, notifications that wait, and prompts.
func forget(n *Node) error {
	n.notebook.WriteAll()
	instead := map[string]string{}
	n.folded(func(s *fleet.State) {
		for _, file := range s.Redactions.Files() {
			r, _ := s.Redactions.OfFile(file)
			instead[strings.TrimPrefix(file, protocol.ChannelsDir+"/")] = r.String()
		}
	})
	n.notify.Hide(instead)
	return n.serving.ForgetPrompts()
}

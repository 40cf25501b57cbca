package demo

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/cmd/parley/host"
	"github.com/parleyfleet/parley/cmd/parley/talk"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

func (d *demonstration) hosts(ctx context.Context) error {
	if err := d.add(ctx, demoHub, "init", "--fleet", "demo", "--remote", d.remote, "--listen", "127.0.0.1:0"); err != nil {
		return err
	}
	if err := d.start(ctx, demoHub); err != nil {
		return err
	}
	err := d.until(ctx, demoHub+" has told where it is reached", func() (bool, error) {
		s, err := control.ShowStatus.Ask(ctx, d.nodes[demoHub].client)
		return s.Record.Unrecorded+s.Record.Unpushed == 0, err
	})
	if err != nil {
		return err
	}
	if err := d.add(ctx, demoOther, "join", d.remote); err != nil {
		return err
	}
	if err := d.start(ctx, demoOther); err != nil {
		return err
	}
	return d.linked(ctx)
}

// linked waits until each host sees the other one live.
func (d *demonstration) linked(ctx context.Context) error {
	for _, n := range d.nodes {
		err := d.until(ctx, "the hosts are linked", func() (bool, error) {
			s, err := control.ShowStatus.Ask(ctx, n.client)
			live := 0
			for _, h := range s.Hosts {
				if h.Live {
					live++
				}
			}
			return live == len(d.nodes), err
		})
		if err != nil {
			return err
		}
	}
	d.say("The nodes are linked live over NATS.")
	return nil
}

func (d *demonstration) agents(ctx context.Context) error {
	if _, err := d.run(ctx, demoHub, "agent", "add", "words", "--exec", cli.ShellWord(d.binary)+" demo-agent words"); err != nil {
		return err
	}
	if _, err := d.run(ctx, demoOther, "agent", "add", "calc", "--exec", cli.ShellWord(d.binary)+" demo-agent calc"); err != nil {
		return err
	}
	err := d.until(ctx, demoHub+" knows calc", func() (bool, error) {
		all, err := control.List.Ask(ctx, d.nodes[demoHub].client, control.HostsRequest{})
		return slices.ContainsFunc(all, func(p control.Participant) bool { return p.Name == "calc" }), err
	})
	if err != nil {
		return err
	}
	return d.look(ctx, demoHub, "ls", func(ctx context.Context, client control.Service, v cli.View) error {
		return host.RunLs(ctx, false, control.HostsRequest{}, client, v)
	})
}

func (d *demonstration) hey(ctx context.Context) error {
	return d.ask(ctx, "2 words", "hey", "words", "--wait", "10s", "hello there")
}

func (d *demonstration) wormhole(ctx context.Context) error {
	return d.ask(ctx, "19 + 23 = 42", "wormhole", demoOther+":calc", "--wait", "10s", "What is 19 + 23?")
}

// ask sends a question from the first host, and checks the answer.
func (d *demonstration) ask(ctx context.Context, want string, args ...string) error {
	answer, err := d.run(ctx, demoHub, args...)
	if err == nil && !strings.Contains(answer, want) {
		err = fmt.Errorf("the answer was %q, not %q", answer, want)
	}
	return err
}

func (d *demonstration) broadcast(ctx context.Context) error {
	if _, err := d.run(ctx, demoHub, "broadcast", "We ship 3 things on Friday and 4 on Monday."); err != nil {
		return err
	}
	err := d.until(ctx, "both agents have answered", func() (bool, error) {
		mail, err := control.Inbox.Ask(ctx, d.nodes[demoHub].client, control.InboxRequest{})
		return len(mail) >= 2, err // one of each agent; what --wait showed counts as read
	})
	if err != nil {
		return err
	}
	return d.look(ctx, demoHub, "inbox", func(ctx context.Context, client control.Service, v cli.View) error {
		return talk.RunInbox(ctx, control.InboxRequest{}, client, v)
	})
}

func (d *demonstration) away(ctx context.Context) error {
	if _, err := d.run(ctx, demoOther, "stop"); err != nil {
		return err
	}
	if err := d.nodes[demoOther].stop(); err != nil {
		return err
	}
	for _, text := range []string{"What is 1 + 1?", "What is 2 + 2?", "What is 3 + 3?"} {
		out, err := d.run(ctx, demoHub, "wormhole", demoOther+":calc", text)
		if err != nil {
			return err
		}
		p, err := protocol.ParsePath(strings.Fields(out)[0])
		if err != nil {
			return err
		}
		d.asked = append(d.asked, p)
	}
	if err := d.start(ctx, demoOther); err != nil {
		return err
	}
	for _, p := range d.asked {
		m, err := control.Wait.Ask(ctx, d.nodes[demoHub].client, control.WaitRequest{Re: p.String(), Within: demoWait})
		if err != nil {
			return err
		}
		d.out.Printf("    %s answers: %s\n", m.From, term.Line(m.Body))
	}
	return d.linked(ctx)
}

// everything is the record as one host sees it, including the fleet's book-keeping.
func (d *demonstration) everything(ctx context.Context, alias string) ([]control.Message, error) {
	var all []control.Message
	err := control.Log.Ask(ctx, d.nodes[alias].client, control.LogRequest{Everything: true}, func(m control.Message) error {
		all = append(all, m)
		return nil
	})
	return all, err
}

// settled waits until every message of both hosts is on the remote, and both hosts have the same
// messages.
func (d *demonstration) settled(ctx context.Context) error {
	return d.until(ctx, "everything is pushed and fetched", func() (bool, error) {
		var tips []string
		for _, n := range d.nodes {
			s, err := control.ShowStatus.Ask(ctx, n.client)
			if err != nil {
				return false, err
			}
			if s.Record.Unrecorded+s.Record.Unpushed > 0 {
				return false, nil
			}
			tips = append(tips, s.Record.Tip)
		}
		return len(slices.Compact(tips)) == 1, nil
	})
}

// conversation leaves out receipts, and what hosts say of themselves: they would puzzle a reader
// here.
func conversation(all []control.Message) []control.Message {
	return slices.DeleteFunc(all, func(m control.Message) bool { return m.Type != protocol.TypeText || m.Act.HostWord() })
}

func (d *demonstration) stages(ctx context.Context) error {
	if err := d.settled(ctx); err != nil {
		return err
	}
	all, err := d.everything(ctx, demoHub)
	if err != nil {
		return err
	}
	t := term.Table{Heading: []string{"MESSAGE", "FROM", "TO", "STAGE", "TEXT"}, Flexible: 4}
	for _, m := range conversation(all) {
		text, _, _ := strings.Cut(m.Body, "\n")
		t.Rows = append(t.Rows, []string{"  " + m.Path.Suffix(), talk.Sender(m), strings.Join(m.To, ", "), m.Stage.String(), term.Line(text)})
	}
	t.Heading[0] = "  " + t.Heading[0]
	d.out.Table(t)
	return nil
}

// measure asks calc a number of times and shows the medians.
func (d *demonstration) measure(ctx context.Context) error {
	const times = 25
	var stored, heard, answered []time.Duration
	client := d.nodes[demoHub].client
	for i := range times {
		began := time.Now()
		r := control.SendRequest{To: []string{"calc@" + demoOther}, Cross: true, Body: fmt.Sprintf("%d + %d", i, i)}
		m, err := control.Send.Ask(ctx, client, r)
		if err != nil {
			return err
		}
		stored = append(stored, time.Since(began))
		if _, err := control.Wait.Ask(ctx, client, control.WaitRequest{Re: m.Path.String(), Within: demoWait}); err != nil {
			return err
		}
		answered = append(answered, time.Since(began))
		began = time.Now()
		r.HeardWithin = demoWait
		if _, err = control.Send.Ask(ctx, client, r); err != nil {
			return err
		}
		heard = append(heard, time.Since(began))
	}
	line := func(what string, all []time.Duration) {
		slices.Sort(all)
		d.out.Printf("    %-52s median %s\n", what, all[len(all)/2].Round(10*time.Microsecond))
	}
	line("stored (safe on this disk, and the call returns)", stored)
	line("heard by "+demoOther+" (safe on its disk as well)", heard)
	line("question to answer, a program run on the other host", answered)
	return nil
}

// git stops both nodes, so that only git is left, and looks at the record.
func (d *demonstration) git(ctx context.Context) error {
	if err := d.settled(ctx); err != nil {
		return err
	}
	all, err := d.everything(ctx, demoHub)
	if err != nil {
		return err
	}
	for _, alias := range []string{demoHub, demoOther} {
		if _, err := d.run(ctx, alias, "stop"); err != nil {
			return err
		}
		if err := d.nodes[alias].stop(); err != nil {
			return err
		}
	}
	if err := d.gitShow(ctx, "log", "--oneline", "--graph", "-n", "12", "main"); err != nil {
		return err
	}
	for _, repository := range []string{d.remote, d.nodes[demoHub].home.Record(), d.nodes[demoOther].home.Record()} {
		if err := d.verify(ctx, repository, all); err != nil {
			return err
		}
	}
	d.say(fmt.Sprintf("All %d messages and receipts, those of the measurement included, are in the shared record and in both nodes' records, "+
		"each exactly once; git fsck --strict finds nothing wrong in any of the three.", len(all)))
	return nil
}

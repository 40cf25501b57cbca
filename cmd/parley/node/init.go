package node

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/internal/redact"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node"
	"github.com/parleyfleet/parley/node/homes"
	"github.com/parleyfleet/parley/protocol"
	"github.com/rs/zerolog"
	"github.com/spf13/cobra"
)

// NewInitCommand is parley init.
func NewInitCommand(p *cli.Program) *cobra.Command {
	o := homes.Options{Version: cli.Version}
	var adopt adoptFlags
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Make a node: a key, a record in git, your name",
		Long: `Make a node in its home (--home, else PARLEY_HOME, else $XDG_DATA_HOME/parley).

With --remote the record is shared: an empty repository becomes a new record,
one that holds a record is joined, and anything else is refused. Without it the
record stays on this machine.

With --adopt a record that another program of the Crosstalk format began (5.0,
or an older one) is taken over as it is: what parley would add, and what it
cannot read, is shown first, and nothing that is there is changed or removed.

The answers go into config.yaml, which only people change from then on. With
--from they come from a folder in which somebody has laid ready a config.yaml
and the agents to serve.`,
		Example: `  parley init
  parley init --alias white --remote git@example.org:fleet/record.git
  parley init --remote /srv/record.git --listen 192.0.2.7:4222
  parley init --remote git@example.org:team/transport.git --adopt --fleet team
  parley init --listen 0.0.0.0:4222 --advertise white.example:4223`,
		Args: cli.Exactly(0, "nothing"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := making(cmd, p, &o); err != nil {
				return err
			}
			if adopt.yes && !adopt.on {
				return cli.UsageErrorf(cmd, "--yes is for --adopt: nothing else is asked")
			}
			if adopt.on && o.Remote == "" && o.From == "" {
				return cli.UsageErrorf(cmd, "--adopt needs the repository that holds the record: --remote URL")
			}
			adopt.register(cmd.Context(), p, &o)
			return runInit(cmd.Context(), p, o, false)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&adopt.on, "adopt", false, "take over a record that another program of the Crosstalk format began")
	f.BoolVar(&adopt.yes, "yes", false, "with --adopt: do not ask")
	f.StringVar(&o.Fleet, "fleet", "", "name of the fleet (default: that of the remote's record, else the human's name)")
	f.StringVar(&o.Remote, "remote", "", "git URL or path of the repository that the fleet shares")
	makingFlags(cmd, &o)
	return cmd
}

// Begin makes a node in the home that the person means, with all that is usual: one that begins a
// fleet, or one that joins the fleet whose record is at `remote`, or whose invitation line that is. It
// does nothing if there is one already of that fleet. An empty alias or human is the usual one. If a
// person is at the terminal, the node is started too.
func Begin(ctx context.Context, p *cli.Program, remote, alias, human string) (err error) {
	o := homes.Options{Version: cli.Version, Join: remote != "", Alias: alias, Human: human, Ask: p.Err.Terminal && term.IsTerminal(p.Stdin)}
	if o.Home, err = p.HomeDir(); err != nil {
		return err
	}
	if strings.HasPrefix(remote, protocol.InviteScheme) {
		if o.Invited, err = byLine(p, remote); err != nil {
			return err
		}
		o.Remote = o.Invited.Remote()
	} else if o.Remote, err = absoluteRemote(remote); err != nil {
		return err
	}
	if cfg, err := configs.Load(o.Home.Config()); err == nil && (remote == "" || cfg.Remote == o.Remote) {
		return nil
	}
	if err := runInit(ctx, p, o, true); err != nil || !o.Ask {
		return err
	}
	v := p.View()
	return runDetached(ctx, p, o.Home, false, false, v, func() {
		v.Say("Its node runs in the background; " + v.Command("parley stop") + " ends it.")
		v.Out.Printf("\n")
	})
}

// absoluteRemote makes a remote that is a path on this machine independent of the folder in which
// the node will run.
func absoluteRemote(remote string) (string, error) {
	if _, err := os.Stat(remote); err != nil && !looksLikePath(remote) {
		return remote, nil
	}
	err := absolute(&remote)
	return remote, err
}

// looksLikePath reports whether a remote that does not exist is a path and no URL.
func looksLikePath(remote string) bool {
	plain := remote != "" && strings.TrimSpace(remote) == remote && !strings.HasPrefix(remote, "-")
	return plain && !strings.Contains(remote, ":")
}

// runInit makes a home and says what was made; what may be looked up later only if not `brief`.
func runInit(ctx context.Context, p *cli.Program, o homes.Options, brief bool) error {
	v := p.View()
	o.Log = zerolog.Nop()
	done := func() {}
	if o.Remote != "" && o.Invited == nil {
		done = v.Busy("looking at " + term.Line(redact.Remote(o.Remote)))
	}
	if agree := o.Adopt; agree != nil {
		o.Adopt = func(a homes.Adoption) error {
			done() // else the line of the wait would be in the way of the question
			return agree(a)
		}
	}
	r, err := node.Init(ctx, o)
	done()
	if err != nil {
		return err
	}
	v.Out.Printf("%s is a host of the fleet %s now.\n", v.Out.Bold(r.Config.Alias.String()), v.Out.Bold(r.Config.Fleet.String()))
	key := "parley gates key add"
	file := filepath.Join(o.Home.Humans(), r.Config.Human.String()+".key")
	if _, err := os.Stat(file); r.TakenOver && err == nil {
		key += " --key " + file // the new record does not know it
	}
	if !brief {
		showMade(r, o.Home, v)
	}
	foundHosts(r.Hosts, o.Invited, v)
	if !brief || len(r.Hosts) > 0 {
		v.Out.Printf("\n")
	}
	if r.TakenOver {
		v.Say("The keys and agents that were here stay. The record that was here, in which nobody had said anything, is gone.")
	}
	v.Say("Every message is kept for good and can be read by all who can read the record.")
	for _, note := range r.Notes {
		v.Note("note: " + note)
	}
	if !brief {
		if o.Ask && o.From == "" {
			v.Out.Printf("\n")
			offerNotifications(ctx, p, o.Home, v)
		}
		v.Say("What asks for your decision, such as an invite into a party, needs a key of your own: " + v.Command(key) + ".")
		v.Next("parley up -d", "start the node in the background; without -d it stays here")
	}
	return nil
}

func showMade(r homes.Result, home configs.Home, v cli.View) {
	v.Out.Printf("\n")
	field := func(name, value string) {
		label := v.Out.Dim(term.Pad(name, 11))
		for _, line := range cli.WrapWords(term.Line(value), v.Out.Width-len("  fingerprint ")) {
			v.Out.Printf("  %s %s\n", label, line)
			label = term.Pad("", 11)
		}
	}
	field("home", home.Dir)
	field("human", r.Config.Human.String())
	field("key", r.Key)
	if fingerprint, err := protocol.Fingerprint(r.Key); err == nil {
		field("fingerprint", fingerprint)
	}
	field("record", r.Record+recordOrigin(r))
	if len(r.Reached) > 0 {
		field("links at", cli.Names(r.Reached))
	}
}

// foundHosts shows which hosts were found in the record. They are trusted from now on, so it tells
// a person what to compare.
func foundHosts(hosts []homes.Found, by *homes.Invited, v cli.View) {
	if len(hosts) == 0 {
		return
	}
	v.Out.Printf("\n")
	if by != nil {
		v.Say("The record holds these hosts, as " + by.Line.Alias.String() + " has it. They are trusted from now on.")
	} else {
		v.Say("The record holds these hosts. They are trusted from now on. So compare: on each of them, " +
			"\"parley fleet show ALIAS\" prints its fingerprint, and \"parley status\" the record's id.")
	}
	v.Out.Printf("\n")
	t := term.Table{Heading: []string{"HOST", "FINGERPRINT", "LINKS AT"}, Flexible: 2}
	for _, h := range hosts {
		name := h.Alias.String()
		if h.Founder {
			name += ", the founder"
		}
		t.Rows = append(t.Rows, []string{name, h.Fingerprint, cli.Names(h.Addresses)})
	}
	v.Table(t, cli.Squeeze{Column: 2}) // a cut address would be useless: it stands below then
	for i, h := range hosts {
		if len(h.Addresses) > 0 && t.Rows[i][2] == "" {
			v.Say(h.Alias.String() + " takes links at " + cli.Names(h.Addresses))
		}
	}
}

func recordOrigin(r homes.Result) string {
	remote := redact.Remote(r.Config.Remote)
	switch {
	case r.Adopted:
		return ", joined from " + remote
	case remote != "":
		return ", new, shared at " + remote
	}
	return ", new, on this machine alone"
}

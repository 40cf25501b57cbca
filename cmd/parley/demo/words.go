package demo

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/internal/wait"
	"github.com/parleyfleet/parley/node/control"
)

// words are the words of scripts. A COMMAND is a program and what it is given; variables of its
// environment may stand before it. A line fails if its command does, or, with "!" before it, if
// its command does not.
var words = map[string]func(d *demonstration, ctx context.Context, refused bool, args []string) error{
	"at":      (*demonstration).moves,      // at PLACE: commands are typed at this host, or in this folder, from now on
	"exec":    (*demonstration).exec,       // exec COMMAND: shows it, and what it prints; with &NAME& at its end it runs in the background
	"type":    (*demonstration).typed,      // type COMMAND: shows it, and not what it prints
	"only":    (*demonstration).only,       // only FROM TO COMMAND: shows it, and what it prints from one line on to before another
	"quiet":   (*demonstration).run,        // quiet COMMAND: shows nothing of it
	"until":   (*demonstration).until,      // until REGEXP COMMAND: runs it again and again until what it prints matches; shows nothing
	"wait":    (*demonstration).wait,       // wait NAME: until what runs in the background has ended
	"look":    (*demonstration).look,       // look COMMAND: shows a command of parley, and what it prints at this terminal
	"stdout":  (*demonstration).printed,    // stdout REGEXP: fails if the last command has printed nothing like it
	"stderr":  (*demonstration).complained, // stderr REGEXP: the same for its complaint
	"count":   (*demonstration).count,      // count N REGEXP: fails if it matches more or less often
	"capture": (*demonstration).capture,    // capture NAME REGEXP: keeps what its group matches as $NAME
	"cut":     (*demonstration).shorten,    // cut REGEXP TEXT: shows the text in place of what matches, from now on
	"say":     (*demonstration).say,        // say TEXT
	"settled": (*demonstration).settled,    // settled HOST…: waits until they have the same record, and all of it is pushed
	"measure": (*demonstration).measure,    // measure AGENT HOST: asks the agent there a number of times, and shows the medians
}

func (d *demonstration) moves(_ context.Context, _ bool, args []string) error {
	d.at = args[0]
	return nil
}

func (d *demonstration) exec(ctx context.Context, refused bool, args []string) error {
	last := args[len(args)-1]
	if name := strings.Trim(last, "&"); name != last {
		d.show(args[:len(args)-1])
		return d.start(name, args[:len(args)-1])
	}
	d.show(args)
	err := d.run(ctx, refused, args)
	d.indent(d.stderr)
	d.indent(d.stdout)
	return err
}

func (d *demonstration) typed(ctx context.Context, refused bool, args []string) error {
	d.show(args)
	return d.run(ctx, refused, args)
}

func (d *demonstration) only(ctx context.Context, refused bool, args []string) error {
	if err := d.run(ctx, refused, args[2:]); err != nil {
		return err
	}
	from := pattern(args[0]).FindStringIndex(d.stdout)
	if from == nil {
		return fmt.Errorf("it printed:\n%s", d.stdout)
	}
	head, rest := d.stdout[from[0]:from[1]], d.stdout[from[1]:]
	if to := pattern(args[1]).FindStringIndex(rest); to != nil {
		rest = rest[:to[0]]
	}
	d.show(args[2:])
	d.indent(head + strings.TrimRight(rest, "\n") + "\n")
	return nil
}

func pattern(text string) *regexp.Regexp { return regexp.MustCompile("(?m)" + text) }

func (d *demonstration) until(ctx context.Context, _ bool, args []string) error {
	return d.again(ctx, func() bool {
		err := d.run(ctx, false, args[1:]) // fails as long as there is nothing of that name
		return err == nil && pattern(args[0]).MatchString(d.stdout)
	})
}

func (d *demonstration) again(ctx context.Context, so func() bool) error {
	ctx, cancel := context.WithTimeout(ctx, demoWait)
	defer cancel()
	for !so() {
		for _, b := range d.behind {
			if err := b.failed(); err != nil {
				return err
			}
		}
		if !wait.Sleep(ctx, 20*time.Millisecond) {
			return fmt.Errorf("waited %s in vain; the last that was said:\n%s%s", demoWait, d.stdout, d.stderr)
		}
	}
	return nil
}

func (d *demonstration) wait(ctx context.Context, _ bool, args []string) error {
	i := slices.IndexFunc(d.behind, func(b *background) bool { return b.name == args[0] })
	select {
	case <-d.behind[i].ended:
	case <-time.After(demoWait):
		return fmt.Errorf("waited %s in vain", demoWait)
	case <-ctx.Done():
		return ctx.Err()
	}
	err := d.behind[i].failed()
	d.behind = slices.Delete(d.behind, i, i+1)
	return err
}

func (d *demonstration) look(ctx context.Context, _ bool, args []string) error {
	d.show(args)
	p := cli.New(strings.NewReader(""), nil, nil, func(key string) string {
		if key == "PARLEY_HOME" {
			return d.home().Dir
		}
		if strings.HasPrefix(key, "PARLEY_") {
			return ""
		}
		return os.Getenv(key)
	})
	screen := d.out
	screen.Writer, screen.Width = margin{d.out}, max(0, d.out.Width-len(marginText))
	p.Out, p.Err = screen, screen
	if code := p.Run(ctx, d.root(p), args[1:]); code != cli.ExitDone {
		return fmt.Errorf("exit %d", code)
	}
	return nil
}

func (d *demonstration) printed(_ context.Context, _ bool, args []string) error {
	return matches(args[0], d.stdout)
}

func (d *demonstration) complained(_ context.Context, _ bool, args []string) error {
	return matches(args[0], d.stderr)
}

func matches(want, text string) error {
	if !pattern(want).MatchString(text) {
		return fmt.Errorf("it printed:\n%s", text)
	}
	return nil
}

func (d *demonstration) count(_ context.Context, _ bool, args []string) error {
	if n := len(pattern(args[1]).FindAllString(d.stdout, -1)); strconv.Itoa(n) != args[0] {
		return fmt.Errorf("there are %d", n)
	}
	return nil
}

func (d *demonstration) capture(_ context.Context, _ bool, args []string) error {
	m := pattern(args[1]).FindStringSubmatch(d.stderr + d.stdout)
	if m == nil {
		return fmt.Errorf("it printed:\n%s", d.stdout)
	}
	d.found[args[0]] = m[1]
	return nil
}

func (d *demonstration) shorten(_ context.Context, _ bool, args []string) error {
	d.cut, d.instead = pattern(args[0]), args[1]
	return nil
}

func (d *demonstration) say(_ context.Context, _ bool, args []string) error {
	for _, line := range term.Wrap(strings.Join(args, " "), d.out.Width-2) {
		d.out.Printf("  %s\n", line)
	}
	return nil
}

func (d *demonstration) settled(ctx context.Context, _ bool, hosts []string) error {
	return d.again(ctx, func() bool {
		var tips []string
		for _, host := range hosts {
			s, err := control.ShowStatus.Ask(ctx, d.client(host))
			if err != nil || s.Record.Unrecorded+s.Record.Unpushed > 0 {
				return false
			}
			tips = append(tips, s.Record.Tip)
		}
		return len(slices.Compact(tips)) == 1
	})
}

func (d *demonstration) client(host string) control.Service {
	return control.NewClient(configs.Home{Dir: filepath.Join(d.dir, host)}.Socket(), cli.Version)
}

func (d *demonstration) measure(ctx context.Context, _ bool, args []string) error {
	const times = 25
	agent, host := args[0], args[1]
	var stored, heard, answered []time.Duration
	client := d.client(d.at)
	for i := range times {
		began := time.Now()
		r := control.SendRequest{To: []string{agent + "@" + host}, Cross: true, Body: fmt.Sprintf("%d + %d", i, i)}
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
	line("heard by "+host+" (safe on its disk as well)", heard)
	line("question to answer, a program run on the other host", answered)
	return nil
}

package doctor

import (
	"archive/tar"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/internal/process"
	"github.com/parleyfleet/parley/internal/testkit/clitest"
	"github.com/parleyfleet/parley/node/causes"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
	"github.com/spf13/cobra"
)

// patient is a host that a doctor looks at: its home, and what its node answers.
type patient struct {
	*clitest.Run
	*testing.T
	home   configs.Home
	status control.Status
	fleet  control.FleetStatus
	down   error // of the node
}

// aPatient is a healthy host of a fleet of two.
func aPatient(t *testing.T) *patient {
	t.Helper()
	r := clitest.New(t, func(p *cli.Program) *cobra.Command { return cli.NewRoot(p, NewCommand(p)) })
	now := time.Now()
	r.Program.Now = func() time.Time { return now }
	r.Env["HOME"], r.Env["PATH"] = t.TempDir(), t.TempDir()
	own, err := os.Executable()
	if err == nil {
		err = os.Symlink(own, filepath.Join(r.Env["PATH"], "parley"))
	}
	if err != nil {
		t.Fatal(err)
	}
	home := configs.Home{Dir: r.Env["PARLEY_HOME"]}
	p := &patient{Run: r, T: t, home: home}
	if err := home.Create(); err != nil {
		t.Fatal(err)
	}
	cfg := configs.Default()
	cfg.Fleet, cfg.Alias, cfg.Human = "lab", "here", "nat"
	p.file("config.yaml", string(configs.Render(cfg)))
	p.file("keys/host.nk", "x")
	p.file("record.git/HEAD", "ref: refs/heads/main\n")
	p.status = control.Status{
		Version: cli.Version, Fleet: "lab", Host: "here", Human: "nat", Home: home.Dir, Since: now.Add(-time.Hour),
		Record: control.RecordStatus{ID: "0123", Messages: 3, Remote: "/srv/record.git", LastPush: now.Add(-time.Minute)},
		Bus:    control.BusStatus{Peers: []control.LinkStatus{{Peer: "white", Host: "white", Up: true}}},
		Hosts:  []control.HostStatus{{Alias: "here", State: control.HostHere, Here: true, Live: true, Version: cli.Version}, {Alias: "white", State: control.HostLive, Live: true, LastSeen: now, Version: cli.Version}},
		Agents: []control.Agent{{Name: "mawjs", Door: "exec", Command: "cat", Profile: "mawjs", ProfileState: control.ProfileAccepted}},
	}
	p.fleet = control.FleetStatus{Fleet: "lab", Asked: "here", Hosts: []control.FleetHost{
		{Host: control.Host{Alias: "here", State: control.HostHere}, Answered: true},
		{Host: control.Host{Alias: "white", State: control.HostLive, Version: cli.Version}, Answered: true, Messages: 3, Links: []control.LinkStatus{{Peer: "here", Up: true}}},
	}}
	return p
}

// file writes a file of the home, open to its owner alone.
func (p *patient) file(name, text string) string {
	p.Helper()
	path := filepath.Join(p.home.Dir, filepath.FromSlash(name))
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
		p.Fatal(err)
	}
	return path
}

func (p *patient) chmod(name string, mode os.FileMode) {
	p.Helper()
	if err := os.Chmod(filepath.Join(p.home.Dir, name), mode); err != nil {
		p.Fatal(err)
	}
}

// examine runs doctor, and returns what it found that is not green.
func (p *patient) examine(line ...string) (found []causes.Found, code int) {
	p.Helper()
	p.Run.Failure = p.down
	clitest.On(p.Run, control.ShowStatus.Verb, p.status)
	clitest.On(p.Run, control.AskFleet, p.fleet)
	p.Out.Reset()
	code = p.Do(append([]string{"doctor", "--json"}, line...)...)
	var all []causes.Found
	if err := json.Unmarshal(p.Out.Bytes(), &all); err != nil {
		p.Fatalf("%v: %s %s", err, p.Out.String(), p.Err.String())
	}
	for _, f := range all {
		if f.Level != causes.Green {
			found = append(found, f)
		}
	}
	return found, code
}

// Nothing is said to be wrong where nothing is, and each fault that is planted is found, alone, with its
// own line.
func TestPlantedFaults(t *testing.T) {
	if found, code := aPatient(t).examine("--fleet"); len(found) > 0 || code != cli.ExitDone {
		t.Fatalf("on a healthy host: exit %d, %+v", code, found)
	}
	agent := func(change func(*control.Agent)) func(*patient) {
		return func(p *patient) { change(&p.status.Agents[0]) }
	}
	old := time.Now().Add(-time.Hour)
	for i, fault := range []struct {
		plant func(*patient)
		want  causes.ID
		says  string
	}{
		// the home
		{func(p *patient) { p.chmod(".", 0o755) }, causes.HomeOpen, "chmod 700"},
		{func(p *patient) { p.chmod("config.yaml", 0o644) }, causes.HomeOpen, "config.yaml has the mode 0644"},
		{func(p *patient) { p.chmod("record.git", 0o755) }, causes.HomeOpen, "record.git has the mode"},
		{func(p *patient) { p.chmod("keys/host.nk", 0o640) }, causes.KeyOpen, "host.nk has the mode 0640"},
		{func(p *patient) { _ = os.Remove(filepath.Join(p.home.Dir, "keys", "host.nk")) }, causes.KeyMissing, "backup"},
		{func(p *patient) { p.file("config.yaml", "fleet: [") }, causes.ConfigWrong, "config.yaml"},
		{func(p *patient) { p.file("agents/mawjs.yaml", "door: window\n") }, causes.ConfigWrong, "mawjs.yaml"},
		{func(p *patient) { _ = os.Remove(filepath.Join(p.home.Dir, "record.git", "HEAD")) }, causes.RecordGone, "no repository"},
		// the node
		{func(p *patient) {
			p.down = control.Errorf(control.KindUnavailable, "parley up -d", "no node is running")
		}, causes.NoNode, "disk"},
		{func(p *patient) { p.down = control.Errorf(control.KindFailed, "parley restart", "it hangs") }, causes.NodeSilent, "it hangs"},
		{func(p *patient) { p.status.Version, p.status.Hosts[1].Version = "0.0.1", "0.0.1" }, causes.NodeVersion, "0.0.1"},
		{func(p *patient) { p.status.Warned = []string{"something is wrong"} }, causes.Warned, "something is wrong"},
		{func(p *patient) {
			p.status.Warned, p.status.Causes = []string{"changed"}, []causes.Found{causes.Of(causes.ConfigChanged, causes.Facts{Text: "changed"})}
		}, causes.ConfigChanged, "changed"},
		{func(p *patient) {
			p.status.Warned, p.status.Causes = []string{"lost"}, []causes.Found{causes.Of(causes.RecordLost, causes.Facts{Text: "lost"})}
		}, causes.RecordLost, "lost"},
		{func(p *patient) {
			p.status.Warned, p.status.Causes = []string{"the clock of white is 2h ahead"}, []causes.Found{causes.Of(causes.ClocksDiffer, causes.Facts{Text: "the clock of white is 2h ahead"})}
		}, causes.ClocksDiffer, "2h ahead"},
		{func(p *patient) { p.status.Record.StoreError = "no space left on device" }, causes.DiskFull, "no space left"},
		{func(p *patient) { p.status.Record.CommitError = "record.git/main.lock" }, causes.NotRecorded, "main.lock"},
		// remote and backup
		{func(p *patient) {
			p.status.Record.Trouble = &control.Trouble{Kind: "content", Text: "secret scanning", Advice: "withhold"}
		}, causes.RemoteFails, "content: secret scanning; withhold"},
		{func(p *patient) {
			p.status.Record.Trouble = &control.Trouble{Kind: "protected", Text: "protected branch"}
		}, causes.RemoteFails, "protected branch"},
		{func(p *patient) { p.status.Record.Trouble = &control.Trouble{Kind: "unreachable", Text: "no route"} }, causes.RemoteFails, "no route"},
		{func(p *patient) { p.status.Record.Unpushed, p.status.Record.LastPush = 4, old }, causes.Unpushed, "4 messages"},
		{func(p *patient) { p.status.Record.Withheld = []protocol.Path{{}, {}} }, causes.KeptBack, "2 messages"},
		{func(p *patient) { p.status.Flags = []control.Flag{{Kind: "replay", Count: 2}} }, causes.Flagged, "2 replay"},
		{func(p *patient) { p.status.Refused = 5 }, causes.Refused, "5 messages"},
		{func(p *patient) { p.status.Record.Remote, p.status.Hosts = "", p.status.Hosts[:1] }, causes.NoBackup, "7 days"},
		{func(p *patient) { p.status.Record.Remote, p.status.Hosts = "parley://here", p.status.Hosts[:1] }, causes.NoBackup, "7 days"},
		{func(p *patient) {
			p.status.Record.Remote, p.status.Hosts = "", p.status.Hosts[:1]
			p.file("backup.yaml", "time: "+time.Now().Add(-8*24*time.Hour).Format(time.RFC3339)+"\n")
		}, causes.NoBackup, "7 days"},
		// the bus and the fleet
		{func(p *patient) {
			p.status.Bus.Peers[0] = control.LinkStatus{Peer: "white", Host: "white", Problem: "connection refused"}
		}, causes.LinkDown, "connection refused"},
		{func(p *patient) {
			p.status.Bus.Peers[0] = control.LinkStatus{Peer: "white at 192.0.2.7:4223", Problem: "no route"}
		}, causes.LinkDown, "the link to white is down"},
		{func(p *patient) {
			p.status.Bus.Peers[0] = control.LinkStatus{Peer: "192.0.2.7:4223", Problem: "no route"}
		}, causes.LinkDown, "the link to 192.0.2.7:4223 is down"},
		{func(p *patient) { p.status.Bus.Peers = nil }, causes.NoLinks, "git alone"},
		{func(p *patient) {
			p.status.Bus.Offended, p.status.Bus.Letters, p.status.Bus.Letter = time.Now(), 3, "its key"
		}, causes.BusRefuses, "3 letters"},
		{func(p *patient) {
			p.status.Bus.Refused = []control.BusRefusal{{From: "white", Count: 2, Last: "a fork", At: time.Now()}}
		}, causes.BusRefuses, "a fork"},
		{func(p *patient) { p.status.Bus.Held = 7 }, causes.HeldBack, "7 messages"},
		{func(p *patient) { p.status.Hosts[1].State, p.status.Hosts[1].Live = control.HostAway, false }, causes.Away, "white is away"},
		{func(p *patient) { p.status.Hosts[1].State, p.status.Hosts[1].Live = control.HostGit, false }, causes.ByGit, "git alone"},
		{func(p *patient) { p.status.Hosts[1].Version = "0.0.9" }, causes.FleetVersion, "white is of version 0.0.9"},
		{func(p *patient) { p.fleet.Hosts[1].Problem = "white did not answer within 2s" }, causes.HostSilent, "within 2s"},
		{func(p *patient) { p.fleet.Hosts[1].Behind = 9 }, causes.HostBehind, "9 messages"},
		{func(p *patient) { p.fleet.Hosts[1].Remote, p.fleet.Hosts[1].Trouble = "permission", "403" }, causes.HostRemote, "permission: 403"},
		{func(p *patient) { p.fleet.Hosts[1].Links = []control.LinkStatus{{Peer: "black", Problem: "deaf"}} }, causes.HostLink, "black: deaf"},
		{func(p *patient) { p.fleet.Hosts[1].Clock = control.Seconds(-5 * time.Minute) }, causes.ClockOff, "5m behind"},
		// agents
		{agent(func(a *control.Agent) { a.Missing = "no program cat is in PATH" }), causes.Missing, "no program cat"},
		{agent(func(a *control.Agent) { a.Stalled = "runs.log: read-only" }), causes.Stalled, "read-only"},
		{agent(func(a *control.Agent) { a.Paused = true }), causes.Paused, "paused"},
		{agent(func(a *control.Agent) { a.Over = 2 }), causes.OverBudget, "2 messages"},
		{agent(func(a *control.Agent) { a.Failing = 1 }), causes.Failing, "1 message"},
		{agent(func(a *control.Agent) { a.Dead = 3 }), causes.DeadLetters, "3 messages"},
		{agent(func(a *control.Agent) { a.ProfileState = control.ProfileUnaccepted }), causes.NoProfile, "unaccepted"},
		{func(p *patient) { p.status.Gates = 2 }, causes.Gates, "2 gates"},
	} {
		t.Run(fmt.Sprintf("%d %s", i, fault.want), func(t *testing.T) {
			p := aPatient(t)
			fault.plant(p)
			found, code := p.examine("--fleet")
			if len(found) != 1 || found[0].Cause != fault.want {
				t.Fatalf("found %+v, want %s alone", found, fault.want)
			}
			f := found[0]
			if said := f.Verdict + " " + f.Reason; !strings.Contains(said, fault.says) || f.Command == "" || strings.ContainsAny(said+f.Command, "{}") {
				t.Errorf("it says %+v, want %q and a command", f, fault.says)
			}
			if want := map[causes.Level]int{causes.Red: cli.ExitFailed, causes.Yellow: cli.ExitDone}[f.Level]; code != want {
				t.Errorf("%s: exit %d, want %d", f.Level, code, want)
			}
		})
	}
}

// What a program that ended at once has left, a notification whose program is gone, and settings with a
// password in them are found where no node runs too.
func TestFaultsOnTheDisk(t *testing.T) {
	p := aPatient(t)
	p.down = control.Errorf(control.KindUnavailable, "parley up -d", "no node is running")
	cfg, err := configs.Load(p.home.Config())
	if err != nil {
		t.Fatal(err)
	}
	cfg.Notify = []configs.Notification{{Command: "no-such-bell -x"}}
	p.file("config.yaml", string(configs.Render(cfg)))
	lock := p.file("record.git/HEAD.lock", "")
	long := p.Program.Now().Add(-time.Hour)
	if err := os.Chtimes(lock, long, long); err != nil {
		t.Fatal(err)
	}
	p.file("record.git/index.lock", "") // a git may work at this moment
	p.file("control.sock", "")
	p.chmod("config.yaml", 0o644)
	p.chmod(".", 0o750)
	want := func(found []causes.Found, ids ...causes.ID) {
		t.Helper()
		got := map[causes.ID]int{}
		for _, f := range found {
			got[f.Cause]++
		}
		for _, id := range ids {
			got[id]--
		}
		for id, n := range got {
			if n != 0 {
				t.Errorf("%d too many of %s in %+v", n, id, found)
			}
		}
	}
	found, _ := p.examine()
	want(found, causes.NoNode, causes.HomeOpen, causes.Leftover, causes.Leftover, causes.NotifyFails)

	// What can be put right without harm is, and the rest stays.
	clitest.On(p.Run, control.ShowStatus.Verb, p.status)
	p.Out.Reset()
	p.Do("doctor", "--fix")
	for _, said := range []string{"is closed to other users (it had the mode 0644)", "HEAD.lock is taken away", "control.sock is taken away"} {
		if !strings.Contains(p.Out.String()+p.Err.String(), said) {
			t.Errorf("%q is not in\n%s%s", said, p.Out.String(), p.Err.String())
		}
	}
	found, _ = p.examine()
	want(found, causes.NoNode, causes.NotifyFails)

	p = aPatient(t)
	p.Env["PARLEY_AGENT"] = "mawjs"
	if code := p.Do("doctor", "--fix"); code != cli.ExitFailed || !strings.Contains(p.Err.String(), "is for a person to decide") {
		t.Errorf("an agent mends: exit %d, %s", code, p.Err.String())
	}
	p = aPatient(t)
	if err := os.Remove(p.home.Config()); err != nil {
		t.Fatal(err)
	}
	found, code := p.examine()
	if want(found, causes.NoHome); code != cli.ExitFailed {
		t.Errorf("without a home: exit %d", code)
	}
}

// A bundle has reports, log and settings, and none of the secrets in them. It prevents: whoever helps
// is given a password.
func TestBundleWithoutSecrets(t *testing.T) {
	p := aPatient(t)
	cfg, err := os.ReadFile(p.home.Config())
	if err != nil {
		t.Fatal(err)
	}
	const seed = "SUAIBDPBAUTWCWBKIO6XHQNINK5FWJW4OHLXC3HQ2KFE4PEJUA44CNHTC4"
	p.file("config.yaml", string(cfg)+"# remote: https://nat:hunter22@example.org/x.git\n# password: hunter22\n")
	p.file("agents/mawjs.yaml", "door: exec\nexec: cat --api-token hunter22\nenv: [MY_KEY=hunter22]\n")
	p.file("node.log", `{"level":"warn","message":"cannot push https://nat:hunter22@example.org/x: Bearer hunter22hunter22"}`+"\nPARLEY_TOKEN=hunter22\n"+seed+"\nplain words stay\n")
	p.file("keys/host.nk", seed)
	p.status.Record.Remote = "https://nat:hunter22@example.org/x.git"
	file := filepath.Join(t.TempDir(), "parley.tar.gz")
	p.examine("--bundle", file)
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	packed, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	all, text := "", strings.Builder{}
	for in := tar.NewReader(packed); ; {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		all += h.Name + " "
		if _, err := io.Copy(&text, in); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"doctor.json", "status.json", "fleet.json", "version.json", "config.yaml", "node.log", "agents/mawjs.yaml"} {
		if !strings.Contains(all, "parley/"+name+" ") {
			t.Errorf("%s is not in it: %s", name, all)
		}
	}
	if got := text.String(); strings.Contains(got, "hunter22") || strings.Contains(got, seed) || strings.Contains(all, "host.nk") || !strings.Contains(got, "plain words stay") || !strings.Contains(got, "alias: here") {
		t.Errorf("it holds\n%s", got)
	}
	if code := p.Do("doctor", "--bundle", file); code != cli.ExitUsage {
		t.Errorf("over another file: exit %d", code)
	}
}

// The page is for people, in 80 columns.
func TestDoctorForPeople(t *testing.T) {
	p := aPatient(t)
	p.status.Agents[0].Paused = true
	clitest.On(p.Run, control.ShowStatus.Verb, p.status)
	clitest.On(p.Run, control.AskFleet, p.fleet)
	p.AtTerminal(80)
	if code := p.Do("doctor", "--fleet"); code != cli.ExitDone {
		t.Errorf("exit %d, %s", code, p.Err.String())
	}
	out := p.Out.String()
	for _, line := range []string{
		"agents    yellow  mawjs is paused on here\n", "                    do: parley agent resume mawjs\n", "hosts     green   2 hosts\n", "          here    white\n", "links     0 of 0  1 of 1\n",
	} {
		if !strings.Contains(out, line) {
			t.Errorf("%q is not in\n%s", line, out)
		}
	}
	for line := range strings.Lines(out) {
		if len(line) > 81 {
			t.Errorf("too long: %q", line)
		}
	}
}

// A host alone is well with a backup of this week. It prevents: who backs up every day is told that the
// record is on one machine.
func TestABackupCounts(t *testing.T) {
	p := aPatient(t)
	p.status.Record.Remote, p.status.Hosts = "", p.status.Hosts[:1]
	p.file("backup.yaml", "time: "+time.Now().Add(-time.Hour).Format(time.RFC3339)+"\ndir: /mnt/backup\n")
	if found, _ := p.examine(); len(found) > 0 || !strings.Contains(p.Out.String(), "is in /mnt/backup") {
		t.Errorf("%+v\n%s", found, p.Out.String())
	}
}

// It prevents: of a node that does not run nobody hears when it was backed up last.
func TestBackupsOfAStoppedNode(t *testing.T) {
	for text, want := range map[string]string{
		"": "none of the last 7 days; what the remote", "time: " + time.Now().Add(-time.Hour).Format(time.RFC3339) + "\ndir: /mnt/backup\n": "is in /mnt/backup",
	} {
		p := aPatient(t)
		p.down = control.Errorf(control.KindUnavailable, "parley up", "no node is running")
		if text != "" {
			p.file("backup.yaml", text)
		}
		if found, _ := p.examine(); len(found) != 1 || found[0].Cause != causes.NoNode || !strings.Contains(p.Out.String(), want) {
			t.Errorf("%+v\n%s", found, p.Out.String())
		}
	}
}

// It prevents: the first line of the end of a log is half a token, which nobody takes for one.
func TestTailBeginsWithALine(t *testing.T) {
	file := filepath.Join(t.TempDir(), "node.log")
	const last = "the last line\n"
	if err := os.WriteFile(file, []byte(strings.Repeat("x", 100)+strings.Repeat("hunter22", mostLogged/8)+"\n"+last), 0o600); err != nil {
		t.Fatal(err)
	}
	if text, err := tail(file); err != nil || string(text) != last {
		t.Errorf("%.40q, %v", text, err)
	}
}

// It prevents: an agent cannot find a program that the person finds in every terminal, and nothing says why.
func TestTheNodeLooksElsewhereForPrograms(t *testing.T) {
	if _, known := process.Environment(os.Getpid(), "PATH"); !known {
		t.Skip("this system does not tell the environment of a process")
	}
	p := aPatient(t)
	tools := t.TempDir()
	if err := os.WriteFile(filepath.Join(p.Env["HOME"], ".profile"), []byte("PATH=$PATH:"+tools+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p.status.PID = os.Getpid()
	found, _ := p.examine()
	if i := slices.IndexFunc(found, func(f causes.Found) bool { return f.Cause == causes.NodePath }); i < 0 || !strings.Contains(found[i].Reason, tools) {
		t.Errorf("%+v", found)
	}
}

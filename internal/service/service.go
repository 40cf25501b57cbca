// Package service says how the system itself starts a node and keeps it running: as a unit of
// systemd, or as a job of launchd. It makes texts and command lines, and calls nobody but a person's
// login shell, for their PATH.
package service

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Service is one node as a service.
type Service struct {
	Name   string   // "parley" for the usual home; other homes have names of their own
	Argv   []string // parley as it is called, with --home if the home is not the usual one
	Path   string   // the PATH of the node
	User   string   // whom it runs as, in the system's own manager; "": in the manager of the person who calls
	Log    string   // the log of the node, for what is said when it cannot start
	Groups bool     // systemd hands a control group over: 254 or newer
	Folder string   // where the manager looks for it
}

// Name is what the service of a home is called. `usual` is the home for which none is named.
func Name(home, usual string) string {
	if home == usual {
		return "parley"
	}
	word := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, strings.ToLower(filepath.Base(home)))
	return fmt.Sprintf("parley-%s-%x", word, sha256.Sum256([]byte(home)))[:len("parley-")+len(word)+1+6]
}

// OwnerOf is the person to whom a folder belongs.
func OwnerOf(dir string) (*user.User, error) {
	id, err := ownerID(dir)
	if err != nil {
		return nil, err
	}
	return user.LookupId(id)
}

// OfMachine is the service of a home in the system's own manager, as its name and folder: it runs as
// the owner of the home. Of the homes that are their owner's usual one, the first that has a service
// there is called parley, and the others have names of their own.
func OfMachine(system, home string, owner *user.User) Service {
	s := Service{User: owner.Username, Folder: FolderOf(system, true, "", nil)}
	s.Name = Name(home, filepath.Join(owner.HomeDir, ".local", "share", "parley"))
	if text, err := os.ReadFile(s.File(system)); err == nil && !strings.Contains(string(text), starts(system, home)) {
		s.Name = Name(home, "")
	}
	return s
}

// starts is what stands in the file of a service if it starts the node of a home, which is named.
func starts(system, home string) string {
	if manager(system) == "launchd" {
		return item("--home") + item(home) + item("up")
	}
	return " --home " + word(home) + " up\n"
}

// manager is what starts services on a system, named as Go names it; "" if parley knows none.
func manager(system string) string {
	return map[string]string{"linux": "systemd", "darwin": "launchd"}[system]
}

// FolderOf is where the manager of a system looks for services: of all, or of the person with this
// home. It is "" where there is no manager that parley knows.
func FolderOf(system string, all bool, home string, getenv func(string) string) string {
	switch manager(system) {
	case "systemd":
		if all {
			return "/etc/systemd/system"
		}
		if dir := getenv("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
			return filepath.Join(dir, "systemd", "user")
		}
		return filepath.Join(home, ".config", "systemd", "user")
	case "launchd":
		if all {
			return "/Library/LaunchDaemons"
		}
		return filepath.Join(home, "Library", "LaunchAgents")
	}
	return ""
}

// File is the path of the service's file, and Text is what stands in it.
func (s Service) File(system string) string {
	if manager(system) == "launchd" {
		return filepath.Join(s.Folder, s.label()+".plist")
	}
	return filepath.Join(s.Folder, s.Name+".service")
}

// Text is the content of the service's file.
func (s Service) Text(system string) string {
	if manager(system) == "launchd" {
		return s.job()
	}
	return s.unit()
}

// Begin are the commands that have the manager read the file, start the node, and start it with each
// start of the system or login. A node that it runs already goes on, unless `anew`.
func (s Service) Begin(system string, anew bool) [][]string {
	if manager(system) == "launchd" {
		begin := [][]string{{"launchctl", "bootstrap", s.domain(), s.File(system)}}
		if anew {
			return append([][]string{s.bootout()}, begin...)
		}
		return begin
	}
	if anew {
		return [][]string{s.systemctl("daemon-reload"), s.systemctl("enable", s.Name), s.Restart(system)}
	}
	return [][]string{s.systemctl("daemon-reload"), s.systemctl("enable", "--now", s.Name)}
}

// End are the commands that stop the node, and have it started no more.
func (s Service) End(system string) [][]string {
	if manager(system) == "launchd" {
		return [][]string{s.bootout()}
	}
	return [][]string{s.systemctl("disable", "--now", s.Name)}
}

// Restart is the command that starts the node anew.
func (s Service) Restart(system string) []string {
	if manager(system) == "launchd" {
		return []string{"launchctl", "kickstart", "-k", s.domain() + "/" + s.label()}
	}
	return s.systemctl("restart", s.Name)
}

// Forget has the manager forget the starts that failed. One that has given up would refuse the next.
func (s Service) Forget(ctx context.Context, system string) {
	if manager(system) == "systemd" {
		argv := s.systemctl("reset-failed", s.Name)
		_ = exec.CommandContext(ctx, argv[0], argv[1:]...).Run() // it fails if there is nothing to forget
	}
}

// Journal is the command that shows what a node said that could not start.
func (s Service) Journal(system string) string {
	switch {
	case manager(system) == "launchd":
		return "parley logs"
	case s.User == "":
		return "journalctl --user -n 20 -u " + s.Name
	}
	return "sudo journalctl -n 20 -u " + s.Name
}

// Installed reports whether the service has a file.
func (s Service) Installed(system string) bool {
	if s.Folder == "" {
		return false
	}
	_, err := os.Stat(s.File(system))
	return err == nil
}

// Active reports whether the manager runs the node now. Nobody is asked where the service has no
// file.
func (s Service) Active(ctx context.Context, system string) bool {
	if !s.Installed(system) {
		return false
	}
	ask := s.systemctl("is-active", "--quiet", s.Name)
	if manager(system) == "launchd" {
		ask = []string{"launchctl", "print", s.domain() + "/" + s.label()}
	}
	ctx, done := context.WithTimeout(ctx, 10*time.Second)
	defer done()
	return exec.CommandContext(ctx, ask[0], ask[1:]...).Run() == nil
}

func (s Service) systemctl(words ...string) []string {
	if s.User == "" {
		words = append([]string{"--user"}, words...)
	}
	return append([]string{"systemctl"}, words...)
}

func (s Service) label() string { return "com.github.parleyfleet." + s.Name }

func (s Service) domain() string {
	if s.User == "" {
		return "gui/" + strconv.Itoa(os.Getuid())
	}
	return "system"
}

func (s Service) bootout() []string {
	return []string{"launchctl", "bootout", s.domain() + "/" + s.label()}
}

package service

import "strings"

// unit is the file for systemd. Each line that takes something away from agents' commands says why.
// What they need is not taken: their projects lie anywhere (no ProtectSystem, ProtectHome,
// ReadWritePaths), they make files for others (no UMask), they compile and debug (no
// MemoryDenyWriteExecute, no SystemCallFilter), their terminals and sockets are in /tmp (no
// PrivateTmp), and members of inquiries stand behind namespaces with a /proc of their own (no
// RestrictNamespaces, PrivateUsers, ProtectProc, ProtectKernelTunables, ProtectControlGroups).
func (s Service) unit() string {
	var b strings.Builder
	line := func(text string) { b.WriteString(text + "\n") }
	edit, undo, target := "systemctl --user edit "+s.Name, "parley install service --undo", "default.target"
	if s.User != "" {
		edit, undo, target = "sudo systemctl edit "+s.Name, "sudo parley install service --system --undo", "multi-user.target"
	}
	line("# Written by parley install service. " + undo + " takes it away.")
	line("# To change it, leave this file as it is: " + edit)
	line("")
	line("[Unit]")
	line("Description=parley node")
	line("Documentation=https://github.com/parleyfleet/parley")
	line("# Where no start can work, such as with a copied home, it stays stopped. The journal says why.")
	line("StartLimitIntervalSec=120")
	line("StartLimitBurst=10")
	line("")
	line("[Service]")
	if s.User != "" {
		line("User=" + s.User)
	}
	line("ExecStart=" + each(s.Argv, word) + " up")
	line("# The PATH of your login: git and the commands of agents are looked for there.")
	line("Environment=" + quoted("PATH="+s.Path))
	line("Restart=on-failure")
	line("RestartSec=5")
	line("# The node alone is asked to stop: it lets running commands finish.")
	line("KillMode=mixed")
	line("TimeoutStopSec=30")
	line("# A command that takes too much memory ends, and not the node with it.")
	line("OOMPolicy=continue")
	line("# A crash leaves no image of memory, with the keys in it. A command can ask for one: ulimit -c")
	line("LimitCORE=0:infinity")
	line("# No command of an agent becomes root, by sudo or in another way. Where one has to, or runs")
	line("# containers without root (newuidmap), set it to no by the line at the top.")
	line("NoNewPrivileges=yes")
	line("# No command takes a processor from all others.")
	line("RestrictRealtime=yes")
	if s.Groups {
		line("# What a run may use is counted in a control group, which the node makes below its own.")
		line("Delegate=yes")
		line("DelegateSubgroup=node")
	}
	line("")
	line("[Install]")
	line("WantedBy=" + target)
	return b.String()
}

func each(words []string, form func(string) string) string {
	all := make([]string, len(words))
	for i, w := range words {
		all[i] = form(w)
	}
	return strings.Join(all, " ")
}

// word is a word of a command line in a unit: there, a dollar begins a variable.
func word(text string) string {
	text = strings.ReplaceAll(text, "$", "$$")
	if strings.ContainsAny(text, " \t\"'\\;") {
		return quoted(text)
	}
	return strings.ReplaceAll(text, "%", "%%")
}

// quoted is a text in quotes, as systemd reads it: a percent sign begins a specifier.
func quoted(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "%", "%%", "\n", `\n`).Replace(text) + `"`
}

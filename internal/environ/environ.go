// Package environ tells which variables of an environment belong to a session: to the agent program
// or the run in which somebody typed a command. A node that was started there outlives that
// session. A program that it starts with such a variable would take itself for a part of the
// session, and refuse to run, or speak to it. The same goes for what the manager of the system tells
// the one process that it starts as a service.
package environ

import (
	"slices"
	"strings"

	"github.com/parleyfleet/parley/internal/pattern"
)

// Clean returns the variables of `env` that belong to no session, in the form NAME=VALUE. It
// changes nothing in `env`.
func Clean(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return ofSession(strings.ToUpper(name)) // Windows knows no other names
	})
}

// ofSession reports whether a variable belongs to a session. Variables with which people set up a
// program stay: keys, models, folders, proxies.
func ofSession(name string) bool {
	if rest, ours := strings.CutPrefix(name, "PARLEY_"); ours {
		return slices.Contains(own, rest) || strings.HasPrefix(rest, "NOTIFY_")
	}
	return others.MatchString(name) || slices.Contains(single, name) || slices.Contains(managed, name)
}

// own are the variables, after PARLEY_, that a node gives to the commands that it starts. PARLEY_HOME
// is none of them: people set it too.
var own = []string{"AGENT", "CHANNEL", "CONTEXT", "FROM", "HOST", "MESSAGE", "SESSION", "SOCKET", "TOKEN", "WAITING"}

// others matches what agent programs set for the programs that they start. As most of them form
// such names in the same way, it also knows names that are not used yet: the program's own name
// alone, or with a word that says "you run within it", or a name with a word for a session, for who
// started it, or for a place where it listens.
var others = pattern.New(`^(CLAUDE|CLAUDE_CODE|CODEX|CODEX_CLI|GEMINI|GEMINI_CLI|OPENCODE|QWEN|QWEN_CODE|COPILOT|COPILOT_CLI|GITHUB_COPILOT|CURSOR|AMP|GOOSE|CLINE|ROO|ROO_CODE|KILO|KILOCODE|` +
	`AUGMENT|ANTIGRAVITY|KIRO|CRUSH|DROID|FACTORY|WINDSURF|AIDER|PI|PI_CODING|TRAE|JUNIE|AUGGIE)` +
	`(_(AGENT|ACTIVE|CLI|CLIENT|CALLER|CI|TERMINAL|SHELL)|(_[A-Z0-9_]+)?` +
	`_(SESSION|SESSIONID|THREAD|CONVERSATION|INTERACTION|MESSAGING|SSE|IDE|PID|PPID|SOCKET|SOCK|IPC|ENTRYPOINT|EXECPATH|ORIGINATOR|PARENT|TRACE|RUN|ROLE|JOB|TURN|ATTENDED|PROJECT_DIR|ENV_FILE|PLUGIN_ROOT|PLUGIN_DATA)(_[A-Z0-9_]+)?)?$`)

// single are such variables with names of another form.
var single = []string{
	"CLAUDECODE", "CLAUDE_AGENT_SDK_VERSION", "CLAUDE_CODE_CHILD_NOTES_DIR", "CLAUDE_CODE_IS_COWORK", "CLAUDE_CODE_PROVIDER_MANAGED_BY_HOST", "CLAUDE_CODE_REMOTE", "CLAUDE_CODE_SDK_HAS_OAUTH_REFRESH",
	"CLAUDE_CODE_TASK_LIST_ID", "CLAUDE_EFFORT", "CLAUDE_INTERNAL_FC_OVERRIDES",
	"CODEX_MANAGED_BY_BUN", "CODEX_MANAGED_BY_NPM", "CODEX_MANAGED_PACKAGE_ROOT", "CODEX_SANDBOX", "CODEX_SANDBOX_NETWORK_DISABLED",
	"COPILOT_CLI_BINARY_VERSION", "GEMINI_CLI_NO_RELAUNCH", "GEMINI_CWD",
	"OPENCODE_APP_INFO", "OPENCODE_BIN_PATH", "OPENCODE_MODES", "OPENCODE_SERVER",
	"AGENT", "AGENT_SESSION_ID", "AI_AGENT", // set by several programs
}

// managed are the variables by which systemd and launchd tell a process which service it is, where its
// output goes, and how it speaks to them.
var managed = []string{
	"INVOCATION_ID", "JOURNAL_STREAM", "LISTEN_FDNAMES", "LISTEN_FDS", "LISTEN_PID", "MANAGERPID", "MANAGERPIDFDID", "MEMORY_PRESSURE_WATCH",
	"MEMORY_PRESSURE_WRITE", "NOTIFY_SOCKET", "SYSTEMD_EXEC_PID", "WATCHDOG_PID", "WATCHDOG_USEC", "XPC_SERVICE_NAME",
}

package agentprogram

import (
	"strings"
	"testing"
)

// Agent programs are known however they were installed. Editors, terminal multiplexers, shells and
// programs with such a path among their arguments are none.
func TestKnown(t *testing.T) {
	for _, c := range []struct{ exe, argv, want string }{
		{"/usr/lib/node_modules/@anthropic-ai/claude-code/bin/claude.exe", "claude", "claude"},
		{"/home/u/.local/share/claude/versions/2.1.332", "claude --resume x", "claude"},
		{"/home/u/.local/share/claude/versions/2.1.331 (deleted)", "claude", "claude"},
		{"/home/u/.vscode/extensions/anthropic.claude-code-2/resources/native-binary/claude", "claude --output-format stream-json", "claude"},
		{"/usr/bin/node", "node /usr/lib/node_modules/@anthropic-ai/claude-code/cli.js", "claude"},
		{"/usr/bin/node", "node --no-warnings -r /x/hook.js /home/u/.local/bin/claude -p hi", "claude"},
		{`C:\npm\node_modules\@anthropic-ai\claude-code\bin\claude.exe`, "claude", "claude"},
		{"/n/@openai/codex/vendor/x86_64-unknown-linux-musl/codex/codex", "codex", "codex"},
		{"/usr/bin/node", "node /usr/local/bin/codex exec hi", "codex"},
		{"/opt/codex-x86_64-unknown-linux-musl", "codex", "codex"},
		{"/usr/bin/node", "node --max-old-space-size=4096 /usr/bin/gemini", "gemini"},
		{"/usr/bin/node", "/usr/bin/node /home/nat/.npm/_npx/1/node_modules/@google/gemini-cli/bundle/gemini.js", "gemini"},
		{"/usr/bin/node", "node /n/node_modules/.bin/qwen", "qwen"},
		{"/home/nat/.bun/bin/bun", "bun run /n/node_modules/@qwen-code/qwen-code/cli.js", "qwen"},
		{"/home/u/.opencode/bin/opencode", "opencode", "opencode"},
		{"/usr/bin/node", "node /n/@github/copilot/index.js", "copilot"},
		{"/usr/bin/python3.12", "python3 /home/u/.local/bin/aider --model x", "aider"},
		{"/usr/bin/python3", "python3 -X utf8 -m aider", "aider"},
		{"/home/u/.local/share/cursor-agent/versions/1/node", "/home/u/.local/share/cursor-agent/versions/1/node --use-system-ca /home/u/.local/share/cursor-agent/versions/1/index.js", "cursor-agent"},
		{"/home/u/.amp/bin/amp", "amp", "amp"},
		{"/usr/bin/node", "node /n/node_modules/.bin/amp", "amp"},

		{"/usr/bin/vim.basic", "vim /n/node_modules/@anthropic-ai/claude-code/cli.js", ""},
		{"/usr/bin/emacs", "emacs claude", ""},
		{"/usr/bin/tmux", "tmux new-session -s claude claude", ""},
		{"/usr/bin/screen", "SCREEN codex", ""},
		{"/usr/bin/zellij", "zellij", ""},
		{"/usr/share/code/code", "code /home/u/claude", ""},
		{"/home/u/.cursor-server/bin/1/node", "/home/u/.cursor-server/bin/1/node out/server-main.js", ""},
		{"/usr/bin/node", "node /home/u/.vscode-server/out/server-main.js --x /n/@anthropic-ai/claude-code/cli.js", ""},
		{"/usr/bin/amp", "amp file.go", ""},
		{"/bin/bash", "bash /usr/local/bin/claude", ""},
		{"/bin/sh", "sh -c claude", ""},
		{"/usr/bin/node", "node -e 1 /usr/local/bin/claude", ""},
		{"/usr/bin/node", "node", ""},
		{"/usr/bin/python3", "python3 -c 1 /usr/bin/aider", ""},
		{"/usr/bin/git", "git log /claude/versions/1", ""},
		{"/home/u/claude/versions/none/tool", "tool", "claude"}, // what the program's own folder of versions has is the program
		{"", "", ""},
	} {
		argv := strings.Fields(c.argv)
		if name, ok := Known(c.exe, argv); name != c.want || ok != (c.want != "") {
			t.Errorf("%s %q is %q, want %q", c.exe, c.argv, name, c.want)
		}
		for _, p := range All() {
			if p.Is(c.exe, argv) != (p.Name() == c.want) {
				t.Errorf("%s: %s %q", p.Name(), c.exe, c.argv)
			}
		}
	}
}

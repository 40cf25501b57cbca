package notebook

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/parleyfleet/parley/configs"
)

// Prose returns what people wrote in context.md about an agent's relationship with a partner: how
// the two work, and whatever else. It returns "" if there is nothing, or no such file can be read.
// It makes no files or folders.
func (k *Keeper) Prose(agent, partner string) string {
	agents := k.Agents()
	i := slices.IndexFunc(agents, func(a configs.Agent) bool { return a.Name.String() == agent })
	if i < 0 || agents[i].Dir == "" {
		return ""
	}
	for _, name := range []string{folder, folder + "@" + folderOf(agent)} {
		root, err := os.OpenRoot(filepath.Join(psi(agents[i].Dir), filepath.FromSlash(name)))
		if err != nil {
			continue
		}
		whose, _ := read(root, owner) // a folder whose owner cannot be read is nobody's
		text := ""
		if strings.TrimSpace(string(whose)) == agent {
			if file, err := read(root, path.Join(folderOf(partner), "context.md")); err == nil {
				text = Partner{}.Context().prose(file)
			}
		}
		_ = root.Close() // it was only read
		if text != "" {
			return text
		}
	}
	return ""
}

// prose returns the lines of a file that people wrote: lines outside of sections that a new file
// does not have, and the headings above them.
func (s Sheet) prose(file []byte) string {
	given := map[string]bool{}
	for _, section := range s.Sections {
		if section.Name == "" {
			for _, line := range section.Lines {
				given[strings.TrimSpace(line)] = true
			}
		}
	}
	var out []string
	heading := ""
	for _, p := range s.parse(string(file)) {
		for _, line := range p.lines {
			switch words := strings.TrimSpace(line); {
			case strings.HasPrefix(words, "#"):
				heading = words
			case p.section != "" || words == "" || given[words]:
			default:
				if heading != "" {
					out = append(out, heading)
					heading = ""
				}
				out = append(out, strings.TrimRight(line, " \t\r"))
			}
		}
	}
	return strings.Join(out, "\n")
}

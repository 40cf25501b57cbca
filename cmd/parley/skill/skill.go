// Package skill writes instructions for agent programs into the folders in which these programs
// look for them. So an agent knows the commands with which it works with others.
package skill

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/internal/agentprogram/install"
	"github.com/parleyfleet/parley/internal/durable"
	"github.com/parleyfleet/parley/internal/each"
	"github.com/parleyfleet/parley/internal/schemas"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/spf13/cobra"
)

//go:embed parley/SKILL.md
var talk []byte

//go:embed work-with/SKILL.md
var workWith []byte

//go:embed frame/SKILL.md
var frame []byte

// skill is the instructions for one thing, in a folder of that name.
type skill struct {
	name    string
	text    []byte
	schemas []schemas.Schema // of the files about which it tells
}

func skills() []skill {
	return []skill{{"parley", talk, nil}, {"work-with", workWith, schemas.All()}, {"frame", frame, nil}}
}

// Files are the files of all skills below a folder of skills, for parley install.
func Files(folder string) (all []install.File, err error) {
	for _, one := range skills() {
		info, files, err := one.look(folder, "")
		if err != nil {
			return nil, err
		}
		for _, f := range files {
			all = append(all, install.File{Path: f.path, Text: f.text, Folder: filepath.Dir(info.Path), Optional: one.name != "parley", Ours: func(data []byte) bool { return f.state == stateOlder && bytes.Equal(data, f.old) }})
		}
	}
	return all, nil
}

// place is where a program looks for skills: a folder in a person's home, and one in a project.
type place struct {
	Program, Home, Project string
}

// places are the programs that read skills, and where they look for them (from their own
// documentation, 2026).
func places() []place {
	return []place{
		{"claude", ".claude/skills", ".claude/skills"},
		{"codex", ".agents/skills", ".agents/skills"},
		{"gemini", ".gemini/skills", ".gemini/skills"},
	}
}

// SkillFile is what became of the file of a skill, as --json prints it.
type SkillFile struct {
	Skill   string `json:"skill"`   // its name
	Program string `json:"program"` // the program; "" if a folder was named
	Path    string `json:"path"`    // the file of instructions
	Schemas string `json:"schemas"` // the folder beside it with the forms of the files about which it tells; "" if there is none
	// State is the state of all its files together: written, updated, replaced, current or removed;
	// in a list also missing, older or changed.
	State string   `json:"state"`
	Kept  []string `json:"kept"` // files that somebody had changed: where they were put, or where they stay
}

// NewCommand is parley agent skill and what is below it.
func NewCommand(p *cli.Program) *cobra.Command {
	return cli.Noun(&cobra.Command{
		Use:   "skill",
		Short: "Teach agent programs how to work with others by parley",
		Long: `Teach agent programs how to work with others by parley. A skill is a file of
instructions that the program reads when it needs them. parley has three: the
one called parley tells how to talk, work-with of collaborations, and frame of
inquiries.`,
		Example: `  parley agent skill install claude
  parley agent skill list`,
	}, newInstallCommand(p), newRemoveCommand(p), newListCommand(p), newShowCommand(p))
}

func programs() []string {
	return each.Of(places(), func(at place) string { return at.Program })
}

func newInstallCommand(p *cli.Program) *cobra.Command {
	var dir string
	var project, replace bool
	cmd := &cobra.Command{
		Use:   "install " + strings.Join(programs(), "|"),
		Short: "Write the skills where an agent program looks for them",
		Long: `Write the skills where an agent program looks for them: in your home for all
that you do, with --project in the current folder for that project alone. --dir
names the folder of skills of a program that parley does not know. Beside
work-with, in schema/, are the JSON Schemas of the files that collaborations are
written to.

A file that somebody has changed is left as it is; --replace puts it aside and
writes the new one. What parley itself wrote before is brought up to date.`,
		Example: `  parley agent skill install claude
  parley agent skill install --dir ~/.qwen/skills`,
		Args:      cli.Between(0, 1, "a program"),
		ValidArgs: programs(),
		RunE: func(cmd *cobra.Command, args []string) error {
			folder, err := chosenFolder(cmd, args, dir, project)
			if err != nil {
				return err
			}
			return runInstall(folder, strings.Join(args, ""), replace, p.View())
		},
	}
	cmd.Flags().StringVar(&dir, "dir", "", "the folder of skills, `DIR`")
	cmd.Flags().BoolVar(&project, "project", false, "for the project in the current folder alone")
	cmd.Flags().BoolVar(&replace, "replace", false, "put a file aside that somebody has changed")
	return p.JSONFlag(cmd, "print what became of each skill as a JSON array")
}

func newRemoveCommand(p *cli.Program) *cobra.Command {
	var dir string
	var project bool
	cmd := &cobra.Command{
		Use:   "remove " + strings.Join(programs(), "|"),
		Short: "Take the skills away again",
		Long: `Take the skills away again: the files that parley wrote, from where install put
them. A file that somebody has changed is left, and named.`,
		Example: `  parley agent skill remove claude
  parley agent skill remove codex --project`,
		Args:      cli.Between(0, 1, "a program"),
		ValidArgs: programs(),
		RunE: func(cmd *cobra.Command, args []string) error {
			folder, err := chosenFolder(cmd, args, dir, project)
			if err != nil {
				return err
			}
			return runRemove(folder, strings.Join(args, ""), p.View())
		},
	}
	cmd.Flags().StringVar(&dir, "dir", "", "the folder of skills, `DIR`")
	cmd.Flags().BoolVar(&project, "project", false, "from the project in the current folder")
	return p.JSONFlag(cmd, "print what became of each skill as a JSON array")
}

// runRemove removes what parley wrote and nobody has changed since.
func runRemove(dir, program string, v cli.View) error {
	infos := []SkillFile{}
	for _, one := range skills() {
		info, files, err := one.look(dir, program)
		if err != nil {
			return err
		}
		if err := remove(&info, files); err != nil {
			return err
		}
		infos = append(infos, info)
		if v.JSON {
			continue
		}
		for _, kept := range info.Kept {
			v.Out.Printf("%s was changed by somebody, and stays\n", term.Line(kept))
		}
		if info.State == stateMissing {
			v.Out.Printf("%s is not there\n", term.Line(info.Path))
		} else if len(info.Kept) < len(files) {
			v.Out.Printf("removed what parley wrote in %s\n", term.Line(filepath.Dir(info.Path)))
		}
	}
	if v.JSON {
		return v.WriteJSON(infos)
	}
	return nil
}

// remove removes those files of a skill that are as parley wrote them.
func remove(info *SkillFile, files []file) error {
	if info.State != stateMissing {
		info.State = stateRemoved
	}
	for _, f := range files {
		switch f.state {
		case stateMissing:
		case stateChanged:
			info.Kept = append(info.Kept, f.path)
		default:
			if err := os.Remove(f.path); err != nil {
				return fmt.Errorf("cannot remove the skill: %w", err)
			}
		}
	}
	for _, folder := range []string{info.Schemas, filepath.Dir(info.Path)} {
		_ = os.Remove(folder) // if it has other files in it, it stays
	}
	return nil
}

// chosenFolder is the folder of skills that was named, or that of the program.
func chosenFolder(cmd *cobra.Command, args []string, dir string, project bool) (string, error) {
	if (len(args) == 0) == (dir == "") {
		return "", cli.UsageErrorf(cmd, "name one program (%s), or a folder by --dir", strings.Join(programs(), ", "))
	}
	if dir != "" {
		return dir, nil
	}
	return folderOf(cmd, args[0], project)
}

func folderOf(cmd *cobra.Command, program string, project bool) (string, error) {
	for _, at := range places() {
		if at.Program != program {
			continue
		}
		if project {
			return filepath.FromSlash(at.Project), nil
		}
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("cannot tell where your home is: %w", err)
		}
		return filepath.Join(home, filepath.FromSlash(at.Home)), nil
	}
	return "", cli.UsageErrorf(cmd, "parley does not know where %q looks for skills: it knows %s, and --dir names another folder", program, strings.Join(programs(), ", "))
}

func runInstall(dir, program string, replace bool, v cli.View) error {
	infos, err := writeAll(dir, program, replace)
	return v.Show(infos, err, func() {
		news := false
		for _, info := range infos {
			if info.State == stateCurrent {
				v.Out.Printf("%s is up to date\n", term.Line(info.Path))
				continue
			}
			news = true
			for _, kept := range info.Kept {
				v.Out.Printf("a changed file is kept as %s\n", term.Line(kept))
			}
			v.Out.Printf("%s %s\n", info.State, term.Line(info.Path))
		}
		if news {
			v.Next("parley agent list", "which of your agents may use them")
		}
	})
}

// The states of a skill, and of each of its files.
const (
	stateWritten  = "written"
	stateUpdated  = "updated"
	stateReplaced = "replaced"
	stateCurrent  = "current"
	stateRemoved  = "removed"
	stateMissing  = "missing"
	stateOlder    = "older"
	stateChanged  = "changed"
)

// writeAll writes the skills into a folder: all of their files, or none. It writes none if somebody
// has changed one of them and `replace` is false.
func writeAll(dir, program string, replace bool) ([]SkillFile, error) {
	infos := []SkillFile{}
	var all [][]file
	for _, one := range skills() {
		info, files, err := one.look(dir, program)
		if err != nil {
			return nil, err
		}
		for _, f := range files {
			if f.state == stateChanged && !replace {
				return nil, control.Errorf(control.KindRefused, "read it, then: --replace puts it aside and writes the new one",
					"cannot write the skill: somebody has changed %s", f.path)
			}
		}
		infos, all = append(infos, info), append(all, files)
	}
	for i := range infos {
		if err := write(&infos[i], all[i]); err != nil {
			return nil, err
		}
	}
	return infos, nil
}

// write brings the files of a skill up to date. It puts aside what somebody has changed.
func write(info *SkillFile, files []file) error {
	switch info.State {
	case stateCurrent:
		return nil
	case stateChanged:
		info.State = stateReplaced
	case stateOlder:
		info.State = stateUpdated
	default:
		info.State = stateWritten
	}
	for _, f := range files {
		if f.state == stateChanged {
			hash := sha256.Sum256(f.old)
			kept := fmt.Sprintf("%s.%x.old", f.path, hash[:4])
			if err := durable.WriteFile(kept, f.old, 0o644); err != nil {
				return fmt.Errorf("cannot put the changed file aside: %w", err)
			}
			info.Kept = append(info.Kept, kept)
		}
		if err := os.MkdirAll(filepath.Dir(f.path), 0o755); err != nil {
			return fmt.Errorf("cannot make the skill's folder: %w", err)
		}
		if f.state == stateCurrent {
			continue
		}
		if err := durable.WriteFile(f.path, f.text, 0o644); err != nil {
			return fmt.Errorf("cannot write the skill: %w", err)
		}
	}
	return nil
}

type file struct {
	path, state string
	text, old   []byte // text is the new content; old is the present one, nil if there is none
}

// sums is the name of the list of the schemas that parley wrote for a skill, in the form of
// sha256sum. A schema whose hash is in the list is as parley wrote it.
const sums = "SHA256SUMS"

func (s skill) look(dir, program string) (info SkillFile, files []file, err error) {
	folder, err := filepath.Abs(filepath.Join(dir, s.name))
	if err != nil {
		return SkillFile{}, nil, fmt.Errorf("cannot tell where %s is: %w", dir, err)
	}
	info = SkillFile{Skill: s.name, Program: program, Path: filepath.Join(folder, "SKILL.md"), Kept: []string{}}
	if len(s.schemas) > 0 {
		info.Schemas = filepath.Join(folder, "schema")
	}
	var list bytes.Buffer
	for _, s := range s.schemas {
		base := s.Name + ".schema.json"
		fmt.Fprintf(&list, "%x  %s\n", sha256.Sum256(s.Text), base)
		files = append(files, file{path: filepath.Join(info.Schemas, base), text: s.Text})
	}
	files = append(files, file{path: info.Path, text: sealed(s.text)})
	if len(s.schemas) > 0 { // the list comes last: files that an interrupted write has left are written once more
		files = append(files, file{path: filepath.Join(info.Schemas, sums), text: list.Bytes()})
	}
	for i := range files {
		switch files[i].old, err = os.ReadFile(files[i].path); {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return SkillFile{}, nil, fmt.Errorf("cannot read the skill that is there: %w", err)
		}
	}
	listed := files[len(files)-1].old
	states := map[string]int{}
	for i := range files {
		files[i].state = files[i].stands(listed)
		states[files[i].state]++
	}
	switch {
	case states[stateChanged] > 0:
		info.State = stateChanged
	case states[stateMissing] == len(files):
		info.State = stateMissing
	case states[stateCurrent] == len(files):
		info.State = stateCurrent
	default:
		info.State = stateOlder
	}
	return info, files, nil
}

// stands says what has become of a file since parley wrote it, according to the list beside it.
func (f file) stands(listed []byte) string {
	line := fmt.Appendf(nil, "%x  %s\n", sha256.Sum256(f.old), filepath.Base(f.path))
	switch {
	case f.old == nil:
		return stateMissing
	case bytes.Equal(f.old, f.text):
		return stateCurrent
	case ours(f.old), bytes.Contains(append([]byte("\n"), listed...), append([]byte("\n"), line...)), filepath.Base(f.path) == sums:
		return stateOlder
	}
	return stateChanged
}

// The last line of SKILL.md has the hash of everything before it. So it tells whether somebody has
// changed the file since parley wrote it.
const (
	sealBegin = "\n<!-- written by parley; hash "
	sealEnd   = " -->\n"
)

func sealed(text []byte) []byte {
	return fmt.Appendf(bytes.Clone(text), "%s%x%s", sealBegin, sha256.Sum256(text), sealEnd)
}

// ours reports whether a file is as some version of parley wrote it.
func ours(file []byte) bool {
	i := bytes.LastIndex(file, []byte(sealBegin))
	return i >= 0 && bytes.Equal(file, sealed(file[:i]))
}

func newListCommand(p *cli.Program) *cobra.Command {
	return p.JSONFlag(&cobra.Command{
		Use:     "list",
		Short:   "List the programs that read skills, and what they have",
		Example: `  parley agent skill list --json`,
		Args:    cli.Exactly(0, "nothing"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			var infos []SkillFile
			for _, at := range places() {
				for _, project := range []bool{false, true} {
					dir, err := folderOf(cmd, at.Program, project)
					if err != nil {
						return err
					}
					for _, one := range skills() {
						info, _, err := one.look(dir, at.Program)
						if err != nil {
							return err
						}
						if !project || info.State != stateMissing {
							infos = append(infos, info)
						}
					}
				}
			}
			return runList(infos, p.View())
		},
	}, "print an array of files as JSON")
}

func runList(infos []SkillFile, v cli.View) error {
	if v.JSON {
		return v.WriteJSON(infos)
	}
	t := term.Table{Heading: []string{"PROGRAM", "SKILL", "STATE", "FILE"}}
	for _, i := range infos {
		t.Rows = append(t.Rows, []string{i.Program, i.Skill, i.State, term.Line(i.Path)})
	}
	v.Table(t)
	return nil
}

func newShowCommand(p *cli.Program) *cobra.Command {
	names := each.Of(skills(), func(one skill) string { return one.name })
	return &cobra.Command{
		Use:       "show [" + strings.Join(names, "|") + "]",
		Short:     "Print a skill, as it is written",
		Example:   "  parley agent skill show\n  parley agent skill show frame",
		Args:      cli.Between(0, 1, "at most one skill"),
		ValidArgs: names,
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, one := range skills() {
				if len(args) == 0 || args[0] == one.name {
					p.View().Out.Printf("%s", one.text)
					return nil
				}
			}
			return cli.UsageErrorf(cmd, "there is no skill %q: there are %s", args[0], strings.Join(names, ", "))
		},
	}
}

// Written are the skills that parley has written for all that a person does; `home` is the folder of
// the person.
func Written(home string) (all []SkillFile) {
	for _, at := range places() {
		for _, one := range skills() {
			info, _, err := one.look(filepath.Join(home, filepath.FromSlash(at.Home)), at.Program)
			if err == nil && info.State != stateMissing {
				all = append(all, info)
			}
		}
	}
	return all
}

// TakeAway removes the files of skills that parley has written. One that somebody has changed stays.
func TakeAway(written []SkillFile) error {
	for _, info := range written {
		for _, one := range skills() {
			if one.name != info.Skill {
				continue
			}
			info, files, err := one.look(filepath.Dir(filepath.Dir(info.Path)), info.Program)
			if err == nil {
				err = remove(&info, files)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// Package skill writes instructions for agent programs into the folders where those look
// for them, so that an agent knows the commands by which it works with others.
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
	"github.com/parleyfleet/parley/internal/durable"
	"github.com/parleyfleet/parley/internal/schemas"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/spf13/cobra"
)

//go:embed work-with/SKILL.md
var workWith []byte

// name is that of the skill, and of its folder.
const name = "work-with"

// place is where a program looks for skills: a folder in a person's home, and one in a
// project.
type place struct {
	Program, Title, Home, Project string
}

// places are the programs that read skills, and where (their own documentation, 2026).
func places() []place {
	return []place{
		{"claude", "Claude Code", ".claude/skills", ".claude/skills"},
		{"codex", "Codex CLI", ".agents/skills", ".agents/skills"},
		{"gemini", "Gemini CLI", ".gemini/skills", ".gemini/skills"},
	}
}

// SkillFile is what became of the file of a skill, as --json prints it.
type SkillFile struct {
	Skill   string `json:"skill"`   // what it is called
	Program string `json:"program"` // "" where a folder was named
	Path    string `json:"path"`    // the file
	State   string `json:"state"`   // written, updated, replaced, current; listed also: missing, older, changed
	Kept    string `json:"kept"`    // where a changed file was put; "" where none was
	// Schemas are the JSON Schemas beside it that were written now: where other programs look
	// for the form of the files of collaborations.
	Schemas []string `json:"schemas"`
}

// NewCommand is parley skill and what is below it.
func NewCommand(p *cli.Program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "skill",
		Short: "Teach agent programs how to work with others by parley",
		Long: `Teach agent programs how to work with others by parley. A skill is a file of
instructions that the program reads when it needs them; the one of parley calls
"parley work-with".`,
		Example: `  parley skill install claude
  parley skill list`,
		Args: cli.UnknownCommand,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return cli.UsageErrorf(cmd, "%s needs install, list or show", cmd.CommandPath())
		},
	}
	cmd.AddCommand(newInstallCommand(p), newListCommand(p), newShowCommand(p))
	return cmd
}

func programs() (names []string) {
	for _, at := range places() {
		names = append(names, at.Program)
	}
	return names
}

func newInstallCommand(p *cli.Program) *cobra.Command {
	var dir string
	var project, replace bool
	cmd := &cobra.Command{
		Use:   "install " + strings.Join(programs(), "|"),
		Short: "Write the skill where an agent program looks for it",
		Long: `Write the skill where an agent program looks for it: in your home for all that
you do, with --project in the current folder for that project alone. --dir names
the folder of skills of a program that parley does not know.

The JSON Schemas of the files of collaborations are put beside it, in the folder
schema. A file that somebody has changed is left as it is; --replace puts it
aside and writes the new one. What parley itself wrote before is brought up to
date.`,
		Example: `  parley skill install claude
  parley skill install --dir ~/.qwen/skills`,
		Args:      cli.Between(0, 1, "a program"),
		ValidArgs: programs(),
		RunE: func(cmd *cobra.Command, args []string) error {
			if (len(args) == 0) == (dir == "") {
				return cli.UsageErrorf(cmd, "name one program (%s), or a folder by --dir", strings.Join(programs(), ", "))
			}
			program := strings.Join(args, "")
			if dir == "" {
				var err error
				if dir, err = folderOf(cmd, program, project); err != nil {
					return err
				}
			}
			return runInstall(dir, program, replace, p.View())
		},
	}
	cmd.Flags().StringVar(&dir, "dir", "", "the folder of skills, `DIR`")
	cmd.Flags().BoolVar(&project, "project", false, "for the project in the current folder alone")
	cmd.Flags().BoolVar(&replace, "replace", false, "put a file aside that somebody has changed")
	p.JSONFlag(cmd, "print what became of the file as JSON")
	return cmd
}

// folderOf is where a program looks for skills.
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
	info, err := install(dir, program, replace)
	switch {
	case err != nil:
		return err
	case v.JSON:
		return v.WriteJSON(info)
	case info.Kept != "":
		v.Out.Printf("%s was changed by somebody; it is kept as %s\n", term.Line(info.Path), term.Line(info.Kept))
	case info.State == stateCurrent && len(info.Schemas) == 0:
		v.Out.Printf("%s is up to date\n", term.Line(info.Path))
		return nil
	}
	for _, path := range info.Schemas {
		v.Out.Printf("wrote %s\n", term.Line(path))
	}
	v.Out.Printf("%s %s\n", info.State, term.Line(info.Path))
	v.Next("parley agent list", "which of your agents may use it")
	return nil
}

// The states of a skill's file.
const (
	stateWritten  = "written"
	stateUpdated  = "updated"
	stateReplaced = "replaced"
	stateCurrent  = "current"
	stateMissing  = "missing"
	stateOlder    = "older"
	stateChanged  = "changed"
)

// install writes the skill into a folder of skills, and the schemas beside it.
func install(dir, program string, replace bool) (SkillFile, error) {
	info, old, err := look(dir, program)
	if err != nil {
		return SkillFile{}, err
	}
	switch info.State {
	case stateCurrent:
		return placeSchemas(info)
	case stateChanged:
		if !replace {
			return SkillFile{}, control.Errorf(control.KindRefused, "read it, then: --replace puts it aside and writes the new one",
				"cannot write the skill: somebody has changed %s", info.Path)
		}
		hash := sha256.Sum256(old)
		info.State, info.Kept = stateReplaced, fmt.Sprintf("%s.%x.old", info.Path, hash[:4])
		if err := durable.WriteFile(info.Kept, old, 0o644); err != nil {
			return SkillFile{}, fmt.Errorf("cannot put the changed skill aside: %w", err)
		}
	case stateOlder:
		info.State = stateUpdated
	default:
		info.State = stateWritten
	}
	if err := os.MkdirAll(filepath.Dir(info.Path), 0o755); err != nil {
		return SkillFile{}, fmt.Errorf("cannot make the skill's folder: %w", err)
	}
	if err := durable.WriteFile(info.Path, sealed(workWith), 0o644); err != nil {
		return SkillFile{}, fmt.Errorf("cannot write the skill: %w", err)
	}
	return placeSchemas(info)
}

// placeSchemas writes the schemas that are not there as this version has them. One that is
// otherwise is an older version's, or somebody's own: it is put aside.
func placeSchemas(info SkillFile) (SkillFile, error) {
	dir := filepath.Join(filepath.Dir(info.Path), "schema")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return SkillFile{}, fmt.Errorf("cannot make the folder of schemas: %w", err)
	}
	for _, s := range schemas.All() {
		path := filepath.Join(dir, s.Name+".schema.json")
		old, err := os.ReadFile(path)
		switch {
		case err == nil && bytes.Equal(old, s.Text):
			continue
		case err == nil:
			hash := sha256.Sum256(old)
			err = durable.WriteFile(fmt.Sprintf("%s.%x.old", path, hash[:4]), old, 0o644)
		case errors.Is(err, fs.ErrNotExist):
			err = nil
		}
		if err == nil {
			err = durable.WriteFile(path, s.Text, 0o644)
		}
		if err != nil {
			return SkillFile{}, fmt.Errorf("cannot write the schema %s: %w", path, err)
		}
		info.Schemas = append(info.Schemas, path)
	}
	return info, nil
}

// look is what stands in a folder of skills.
func look(dir, program string) (info SkillFile, old []byte, err error) {
	path, err := filepath.Abs(filepath.Join(dir, name, "SKILL.md"))
	if err != nil {
		return SkillFile{}, nil, fmt.Errorf("cannot tell where %s is: %w", dir, err)
	}
	info = SkillFile{Skill: name, Program: program, Path: path, State: stateMissing, Schemas: []string{}}
	switch old, err = os.ReadFile(path); {
	case errors.Is(err, fs.ErrNotExist):
		return info, nil, nil
	case err != nil:
		return SkillFile{}, nil, fmt.Errorf("cannot read the skill that is there: %w", err)
	case bytes.Equal(old, sealed(workWith)):
		info.State = stateCurrent
	case ours(old):
		info.State = stateOlder
	default:
		info.State = stateChanged
	}
	return info, old, nil
}

// The last line of a skill's file tells whether somebody has changed it since parley wrote
// it: it has the hash of all before it.
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
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List the programs that read skills, and what they have",
		Example: `  parley skill list --json`,
		Args:    cli.Exactly(0, "nothing"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			var infos []SkillFile
			for _, at := range places() {
				for _, project := range []bool{false, true} {
					dir, err := folderOf(cmd, at.Program, project)
					if err != nil {
						return err
					}
					info, _, err := look(dir, at.Program)
					if err != nil {
						return err
					}
					if !project || info.State != stateMissing {
						infos = append(infos, info)
					}
				}
			}
			return runList(infos, p.View())
		},
	}
	p.JSONFlag(cmd, "print an array of files as JSON")
	return cmd
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
	return &cobra.Command{
		Use:     "show",
		Short:   "Print the skill, as it is written",
		Example: `  parley skill show`,
		Args:    cli.Exactly(0, "nothing"),
		RunE: func(*cobra.Command, []string) error {
			p.View().Out.Printf("%s", workWith)
			return nil
		},
	}
}

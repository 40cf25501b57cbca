package agents

import (
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"strconv"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/internal/keeper"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/door"
	"github.com/parleyfleet/parley/node/inquiry/place"
)

// CheckAll returns an error for an agent that is to run as a user as whom this node cannot run
// anything. If the node ran it as its own user, the wall that was asked for would be missing.
func (d *Doorsteps) CheckAll(agents []configs.Agent) error {
	for _, a := range agents {
		if err := d.Check(a); err != nil {
			return err
		}
	}
	return nil
}

// Check is CheckAll for one agent.
func (d *Doorsteps) Check(a configs.Agent) error {
	if a.RunAs == "" {
		return nil
	}
	why := ""
	switch {
	case runtime.GOOS != "linux":
		why = "that is possible on Linux alone"
	case os.Geteuid() != 0:
		why = "only a node that runs as root can do that"
	case !d.keeper:
		why = "this program keeps no runs"
	default:
		if _, _, err := lookUp(a.RunAs); err != nil {
			why = err.Error()
		}
	}
	if why == "" {
		return nil
	}
	return control.Errorf(control.KindRefused, "start the node as root, or take run_as out of agents/"+a.Name.String()+".yaml",
		"cannot run %s as the user %s: %s", a.Name, a.RunAs, why)
}

func lookUp(name string) (*user.User, *keeper.User, error) {
	u, err := user.Lookup(name)
	if err != nil {
		if u, err = user.LookupId(name); err != nil {
			return nil, nil, fmt.Errorf("there is no user %q", name)
		}
	}
	uid, uidErr := strconv.ParseUint(u.Uid, 10, 32)
	gid, gidErr := strconv.ParseUint(u.Gid, 10, 32)
	if uidErr != nil || gidErr != nil {
		return nil, nil, fmt.Errorf("the user %q has no number", name)
	}
	k := &keeper.User{UID: uint32(uid), GID: uint32(gid)}
	if uid == 0 {
		return nil, nil, fmt.Errorf("%q is root itself", name)
	}
	groups, err := u.GroupIds()
	if err != nil {
		return nil, nil, fmt.Errorf("cannot tell the groups of the user %q: %w", name, err)
	}
	for _, text := range groups {
		if n, err := strconv.ParseUint(text, 10, 32); err == nil {
			k.Groups = append(k.Groups, uint32(n))
		}
	}
	return u, k, nil
}

// User is the user that an agent's file names, if this node can run commands as that user.
func (d *Doorsteps) User(a configs.Agent) (*user.User, *keeper.User, error) {
	if err := d.Check(a); err != nil {
		return nil, nil, err
	}
	return lookUp(a.RunAs)
}

// AsUser has a command run as the user that its agent's file names. The command gets that user's
// home. In place of the node's home, it gets a folder with a socket for agents.
func (d *Doorsteps) AsUser(a configs.Agent, c *door.Command) error {
	u, as, err := d.User(a)
	if err != nil {
		return err
	}
	folder, err := d.of(as)
	if err != nil {
		return err
	}
	if c.User = as; c.Dir == "" {
		c.Dir = u.HomeDir
	}
	c.Env = append(c.Env, "HOME="+u.HomeDir, "USER="+u.Username, "LOGNAME="+u.Username,
		"PARLEY_HOME="+folder, "PARLEY_SOCKET="+filepath.Join(folder, doorstepSocket))
	return nil
}

// OwnerOf is the user of the system as whom an agent runs. The agent must have a user of its own.
func OwnerOf(a configs.Agent) (*place.Owner, error) {
	u, as, err := lookUp(a.RunAs)
	if err != nil {
		return nil, err
	}
	owner := &place.Owner{UID: int(as.UID), GID: int(as.GID), Home: u.HomeDir}
	for _, group := range as.Groups {
		owner.Groups = append(owner.Groups, int(group))
	}
	return owner, nil
}

package place

import (
	"fmt"
	"runtime"

	"golang.org/x/sys/unix"
)

// as has something done with the rights that a user has on files. With nil it is done with the
// node's own. Files that are opened meanwhile stay open.
func (o *Owner) as(work func() error) error {
	if o == nil {
		return work()
	}
	ended := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // without an end: the thread ends with this, and nothing else runs on it
		err := o.become()
		if err == nil {
			err = work()
		}
		ended <- err
	}()
	return <-ended
}

// become gives this thread the user's rights on files, and takes root's away.
func (o *Owner) become() error {
	if err := unix.Setgroups(o.Groups); err != nil { // of this thread alone, as the other two
		return fmt.Errorf("cannot act as user %d: %w", o.UID, err)
	}
	for _, set := range []struct {
		set func(int) (int, error)
		id  int
	}{{unix.SetfsgidRetGid, o.GID}, {unix.SetfsuidRetUid, o.UID}} {
		if _, err := set.set(set.id); err != nil {
			return fmt.Errorf("cannot act as user %d: %w", o.UID, err)
		}
		if now, _ := set.set(-1); now != set.id { // it tells no error, only what holds now
			return fmt.Errorf("cannot act as user %d: the system does not let this node", o.UID)
		}
	}
	return nil
}

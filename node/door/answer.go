package door

import (
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/parleyfleet/parley/internal/keeper"
)

// readAnswer reads what the command has left in its answer's file, at most `max` bytes of it. A
// missing file counts as empty. It never blocks, whatever was put in the place of the file, and
// reads only files of the command's user (nil: the node's own user).
func readAnswer(file string, max int, user *keeper.User) (head, error) {
	kept := head{max: max}
	f, err := os.OpenFile(file, os.O_RDONLY|neverBlock, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return kept, nil
	}
	if err != nil {
		return kept, cause(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return kept, cause(err)
	}
	switch {
	case !info.Mode().IsRegular():
		return kept, errors.New("it is no file")
	case user != nil && !belongs(info, user):
		return kept, errors.New("it is a file of another user")
	}
	// One byte more shows that there is more.
	_, err = io.Copy(&kept, io.LimitReader(f, int64(max)+1))
	return kept, err
}

// emptiness says what is wrong with the answer's file if it has no answer.
func emptiness(err error) string {
	if err != nil {
		return "left an answer that cannot be read (" + err.Error() + ")"
	}
	return "wrote no answer to its file"
}

//go:build !linux

package keeper

import "errors"

// CheckWalls returns an error: without keepers, this system puts up no walls.
func CheckWalls(*User) error {
	return errors.New("this system has no keepers of commands, Linux alone has")
}

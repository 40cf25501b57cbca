//go:build !unix

package notebook

import "errors"

func fifo(string) error { return errors.ErrUnsupported }

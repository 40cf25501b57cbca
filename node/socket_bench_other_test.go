//go:build !unix

package node

import "errors"

// sendAsked belongs to BenchmarkSocket, which other systems do not run.
func sendAsked(string) error { return errors.ErrUnsupported }

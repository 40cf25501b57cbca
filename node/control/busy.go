package control

import (
	"context"
	"log"
)

// ServeBusy answers every request at a control socket by the error that `why` returns, until `end`
// is called. `end` may be called in any case.
func ServeBusy(socket, version string, errors *log.Logger, why func() error) (end func(), err error) {
	listener, err := Listen(socket)
	if err != nil {
		return func() {}, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		ended <- Serve(ctx, listener, nil, Info{Version: version, API: API, Errors: errors, Busy: why})
	}() // ends with ctx
	return func() {
		cancel()
		if err := <-ended; err != nil {
			errors.Printf("the control socket did not close cleanly: %v", err)
		}
	}, nil
}

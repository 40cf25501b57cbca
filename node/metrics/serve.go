package metrics

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
)

const (
	// readers is how many may read the metrics at once. patience is how long a client may take to
	// send its request, and how long to take the answer.
	readers  = 4
	patience = 10 * time.Second
	// stopTime is how long answers that are under way may take when the serving ends.
	stopTime = time.Second
)

// Serve answers /metrics and /healthz on a listener until `stop` is called, and closes the listener
// then. Errors of single requests go to `errs`.
func (m *Metrics) Serve(l net.Listener, errs *log.Logger) (stop func()) {
	server := &http.Server{Handler: m.Handler(errs), ErrorLog: errs, ReadTimeout: patience, WriteTimeout: patience, IdleTimeout: time.Minute}
	var serving sync.WaitGroup
	serving.Go(func() { // ends with stop
		if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			errs.Printf("metrics are served no longer: %v", err)
		}
	})
	return func() {
		ctx, cancel := context.WithTimeout(context.Background(), stopTime)
		defer cancel()
		if err := server.Shutdown(ctx); err != nil {
			errs.Printf("a reader of the metrics was cut off: %v", errors.Join(err, server.Close()))
		}
		serving.Wait()
	}
}

// Handler answers GET /metrics, in the forms that Prometheus reads, and GET /healthz.
func (m *Metrics) Handler(errs *log.Logger) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{
		ErrorLog: errs, ErrorHandling: promhttp.ContinueOnError, MaxRequestsInFlight: readers}))
	mux.HandleFunc("GET /healthz", m.health)
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintln(w, "parley: /metrics for Prometheus, /healthz for whether the node does its work")
	})
	return mux
}

// health answers 200 with one line while the node does its work, and 503 with a line for
// each reason why it does not.
func (m *Metrics) health(w http.ResponseWriter, _ *http.Request) {
	h := m.source.Health()
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	if len(h.Down) > 0 {
		w.WriteHeader(http.StatusServiceUnavailable)
		for _, why := range h.Down {
			fmt.Fprintf(w, "down: %s\n", why)
		}
		return
	}
	if len(h.Degraded) > 0 {
		fmt.Fprintf(w, "degraded: %s\n", strings.Join(h.Degraded, "; "))
		return
	}
	fmt.Fprintln(w, "ok")
}

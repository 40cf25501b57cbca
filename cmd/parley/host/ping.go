package host

import (
	"context"
	"fmt"
	"slices"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/cmd/parley/standing"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/spf13/cobra"
)

const maxPings = 1000

func newPingCommand(p *cli.Program) *cobra.Command {
	times := 5
	cmd := &cobra.Command{
		Use:   "ping ALIAS",
		Short: "Ask a live host questions, and measure the round trips",
		Long: `Ask a live host signed questions over the bus, one after the other, and say how
long the answers took: the way there, the host's own work and the way back. It
fails if one is not answered within two seconds.`,
		Example: `  parley fleet ping white
  parley fleet ping white -n 100 --json`,
		Args: cli.Exactly(1, "the host's alias"),
		RunE: p.Asking(func(cmd *cobra.Command, args []string, client control.Service, v cli.View) error {
			if times < 1 || times > maxPings {
				return cli.UsageErrorf(cmd, "-n takes a number from 1 to %d", maxPings)
			}
			return runPing(cmd.Context(), control.PingRequest{Alias: args[0]}, times, client, v)
		}),
		ValidArgsFunction: p.CompleteHosts,
	}
	cmd.Flags().IntVarP(&times, "times", "n", times, "how many questions")
	return p.JSONFlag(cmd, "print alias, asked, min, median, max and clock as JSON, in seconds")
}

// Pinged is the outcome of several pings of a host.
type Pinged struct {
	Alias   string          `json:"alias"`   // the host that was asked
	Asked   int             `json:"asked"`   // how many questions were asked
	Min     control.Seconds `json:"min"`     // the shortest time from a question to its answer
	Median  control.Seconds `json:"median"`  // half of the answers took no longer
	Max     control.Seconds `json:"max"`     // the longest
	Clock   control.Seconds `json:"clock"`   // its clock minus this host's
	Version string          `json:"version"` // of its program
}

func runPing(ctx context.Context, r control.PingRequest, times int, client control.Service, v cli.View) error {
	var took []control.Seconds
	sum := Pinged{Alias: r.Alias, Asked: times}
	for range times {
		ping, err := control.PingHost.Ask(ctx, client, r)
		if err != nil {
			return err
		}
		if took = append(took, ping.RTT); ping.RTT == slices.Min(took) {
			sum.Clock = ping.Clock // the shorter the round trip, the better the clock is known
		}
		sum.Version = ping.Version
	}
	slices.Sort(took)
	sum.Min, sum.Median, sum.Max = took[0], took[len(took)/2], took[len(took)-1]
	return v.Show(sum, nil, func() {
		v.Out.Printf("%s answered %s: min %s, median %s, max %s\n", term.Line(r.Alias), timesOver(times),
			standing.RoundTrip(sum.Min.Duration()), standing.RoundTrip(sum.Median.Duration()), standing.RoundTrip(sum.Max.Duration()))
		v.Out.Printf("version %s%s\n", term.Line(sum.Version), standing.ClockDifference(sum.Clock.Duration(), "; "))
	})
}

func timesOver(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

package bench

// Dispatch is what "parley bench dispatch" measures: how soon a message becomes an
// agent's work, and how much of that a host takes. A burst to another host is measured by
// bench bus too.
func Dispatch() Suite {
	return Suite{Name: "dispatch", Measures: []Measure{
		replyMeasure(), acrossMeasure(), oldMeasure(), rateMeasure(), claimsMeasure(), socketMeasure(), burstMeasure(),
	}}
}

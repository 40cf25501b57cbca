package bench

// Dispatch is what "parley bench dispatch" measures: how soon a message becomes an agent's work,
// and how much of that a host takes. The suite Bus also measures a burst to another host.
func Dispatch() Suite {
	return Suite{Name: "dispatch", Measures: []Measure{
		replyMeasure(), acrossMeasure(), oldMeasure(), rateMeasure(), claimsMeasure(), socketMeasure(), burstMeasure(),
	}}
}

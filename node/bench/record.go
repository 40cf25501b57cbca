package bench

// Record is what "parley bench record" measures: how fast messages are kept, and what it costs to
// keep them. A node is started on `scale` messages; 0 means 100,000.
func Record(scale int) Suite {
	return Suite{Name: "record", Measures: []Measure{
		storedMeasure(), sendMeasure(), throughputMeasure(), lagMeasure(), diskMeasure(),
		pushMeasure(true), pushMeasure(false), pushesMeasure(), startMeasure(scale),
	}}
}

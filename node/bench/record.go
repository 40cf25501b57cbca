package bench

// Record is what "parley bench record" measures: how fast messages are kept, and
// what keeping them costs.
func Record() Suite {
	return Suite{Name: "record", Measures: []Measure{
		storedMeasure(), throughputMeasure(), lagMeasure(), diskMeasure(),
	}}
}
